"""Whatever an answer says, what the gate publishes rests on the conversation (B9, P17)."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.gate.records import CandidateFact, CandidateSummary
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import CandidateEnd, CandidateItem, CandidateReading, ReadingInput
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.summary import gate
from pkg_pipeline.memory.text.normalise import comparable, normalised
from pkg_pipeline_tests.memory.conversations import CHINESE, ENGLISH, RUSSIAN

SOURCES = st.sampled_from([RUSSIAN, ENGLISH, CHINESE])
TEXTS = [message.text for source in (RUSSIAN, ENGLISH, CHINESE) for message in source.messages]


@st.composite
def words(draw: st.DrawFn) -> str:
    """Anything: noise, a true text, a piece of one, a piece in other letters' case, two pieces glued."""
    text = draw(st.sampled_from(TEXTS))
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    piece = text[start:end]
    return draw(
        st.sampled_from([text, piece, piece.upper(), f"{piece} {piece}", unicodedata.normalize("NFD", piece)])
        | st.text(max_size=40)
    )


NUMBERS = st.lists(st.integers(-1, 6), max_size=3).map(tuple)
DATES = st.sampled_from(["2024-03-14", "2024-03-20", "", "soon", "2024-13-01"]) | st.none()
ENDS = st.builds(CandidateEnd, state=st.sampled_from(["done", "cancelled"]), quote=words(), numbers=NUMBERS)
ITEMS = st.builds(
    CandidateItem,
    kind=st.sampled_from(["action_item", "decision"]),
    text=words(),
    owner=st.sampled_from(["self", "them", "both", "other"]),
    owner_name=st.none() | st.sampled_from(["Анна", "Ben Carter", "Mallory", ""]),
    due_date=DATES,
    quote=words(),
    numbers=NUMBERS,
    end=st.none() | ENDS,
)
FACTS = st.builds(
    CandidateFact,
    fact_type=st.sampled_from(["email", "phone", "city"]),
    value=words(),
    about=st.none() | st.sampled_from(["Анна", "Ben Carter", "Mallory"]),
    confidence=st.floats(allow_nan=True),
    quote=words(),
    numbers=NUMBERS,
)
READINGS = st.builds(
    CandidateReading,
    items=st.lists(ITEMS, max_size=3).map(tuple),
    facts=st.lists(FACTS, max_size=3).map(tuple),
)
ANSWERS = st.builds(
    CandidateSummary,
    summary=words(),
    key_points=st.lists(words(), min_size=1, max_size=8).map(tuple),
    tone=st.just("neutral"),
    important_numbers=NUMBERS,
)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(answer=READINGS, source=SOURCES)
def test_published_items_always_quote_an_existing_cited_message_verbatim(
    answer: CandidateReading, source: SummaryInput
) -> None:
    given_ = ReadingInput((source,), (), source.language, source.timezone, "hash")
    result = check_reading(answer, given_)
    texts = {message.external_id: message.text for message in source.messages}
    (reading,) = result.readings
    for item in (*reading.items, *reading.changes, *reading.facts):
        assert item.message_ids
        assert set(item.message_ids) <= set(texts)
        assert item.quote
        assert any(item.quote in texts[message_id] for message_id in item.message_ids)
    assert {change.item_id for change in reading.changes} <= {item.id for item in reading.items}
    assert check_reading(answer, given_) == result


@settings(max_examples=200, derandomize=True, deadline=None)
@given(answer=ANSWERS, source=SOURCES)
def test_a_summary_is_published_or_has_a_reason(answer: CandidateSummary, source: SummaryInput) -> None:
    result = gate.check(answer, source)
    assert (result.content is None) is (result.quarantine_reason is not None)
    if result.content is None:
        return
    texts = {message.external_id: message.text for message in source.messages}
    for message in result.content.important_messages:
        assert message.content == texts[message.message_id]
    assert 1 <= len(result.content.key_points) <= gate.MAX_KEY_POINTS
    assert gate.check(answer, source) == result


@settings(max_examples=400, derandomize=True, deadline=None)
@given(text=words(), quote=words())
def test_a_found_span_is_in_the_source_and_folds_to_the_same(text: str, quote: str) -> None:
    found = normalised(text).find(quote)
    if found is not None:
        assert found in text
        parts = [part.strip() for part in comparable(quote).split("...")]
        assert comparable(found) == comparable(quote) or all(part in comparable(found) for part in parts)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    once = comparable(text)
    assert comparable(once).strip() == once.strip()
