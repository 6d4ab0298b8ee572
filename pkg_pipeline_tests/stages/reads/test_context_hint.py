"""A context with a hint (P5): what bears on the task comes in, within the budget, and nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.stages.reads.context import ContextRequest, entity_context
from pkg_pipeline.stages.reads.stores import BadRequest, Receipt
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline.wiring.recall import relevant_by
from pkg_pipeline_tests.stages.reads.context_memory import (
    OfMuchSaid,
    check,
    counter,
    exact_tokens,
    items,
    settings,
    tier,
)
from pkg_pipeline_tests.stages.recall.chunk_rig import SUMMARIES
from pkg_pipeline_tests.stages.recall.recall_memory import (
    ANNA,
    EVER,
    MASHA,
    NOW,
    TALKS,
    Asked,
    fill,
    key,
    lines,
    opened,
)

HINT = "Who bought the old boat?"


class KeptReceipts:
    def __init__(self) -> None:
        self.kept: list[Receipt] = []

    def put(self, receipt: Receipt) -> None:
        self.kept.append(receipt)


def context(asked: Asked, who: tuple[str, str], **request: Any) -> dict[str, Any]:
    """The answer's JSON by reading connections alone, after the checks that hold for every answer."""
    receipts = request.pop("receipts", None)
    shares = request.pop("shares", {})
    answer = entity_context(
        OfMuchSaid(asked.reads, zone=ZoneInfo("UTC")),
        counter(),
        ContextRequest(entity_id=asked.person(who), now=NOW, **request),
        settings=settings(**shares),
        receipts=receipts,
        relevant=relevant_by(asked.parts, max_tokens=4000),
    ).to_json()
    check(answer)
    return answer


def everywhere(answer: dict[str, Any]) -> list[str]:
    return [message for one in answer["tiers"] for item in one["items"] for message in item["message_ids"]]


def test_the_relevant_tier_holds_the_message(asked: Asked) -> None:
    answer = context(asked, ANNA, hint=HINT, shares={"warm_summaries": 1})  # else it is an excerpt
    first = [item for item in items(answer, "relevant") if item["message_ids"] == [key(1)]]
    assert [item["text"] for item in first] == [f"12 January 2026 10:00 Anna Petrova: {TALKS[0][3]}"]
    assert "## Relevant to the task\n" in answer["text"]
    relevant = items(answer, "relevant")
    assert [item["at"] for item in relevant] == sorted(item["at"] for item in relevant)
    assert answer["tiers"][4]["tokens"] == exact_tokens(answer["text"].split("## Relevant")[1]) + exact_tokens(
        "## Relevant"
    )


def test_only_what_is_of_the_entity_comes_in(asked: Asked) -> None:
    answer = context(asked, MASHA, hint=HINT)
    assert not {key(number) for number in (1, 2, 3, 12, 13)} & set(everywhere(answer))


@pytest.mark.parametrize("max_tokens", [1, 2, 5, 20, 45, 60, 80, 100, 150, 250, 400, 4000])
def test_no_budget_is_exceeded_and_nothing_is_said_twice(asked: Asked, max_tokens: int) -> None:
    answer = context(asked, ANNA, hint=HINT, max_tokens=max_tokens)
    assert answer["tokens"] <= max_tokens
    texts = [text for _, _, _, text in TALKS]
    assert all(answer["text"].count(text) <= 1 for text in texts)
    # the tier's share of less has no room for the whole line
    assert max_tokens < 250 or key(1) in everywhere(answer)


def test_as_of_holds_for_the_hint_too(asked: Asked) -> None:
    before = context(asked, ANNA, hint=HINT, as_of=datetime(2026, 1, 12, 10, 0, 30, tzinfo=UTC))
    assert set(everywhere(before)) == {key(1)}
    assert items(context(asked, ANNA, hint=HINT, as_of=datetime(2026, 1, 12, 9, tzinfo=UTC)), "relevant") == []


def test_a_hint_that_finds_nothing_changes_nothing(asked: Asked) -> None:
    early = datetime(2026, 1, 12, 9, tzinfo=UTC)
    assert context(asked, ANNA, hint=HINT, as_of=early) == context(asked, ANNA, as_of=early)
    store = OfMuchSaid(asked.reads, zone=ZoneInfo("UTC"))
    request = ContextRequest(entity_id=asked.person(ANNA), now=NOW, hint="\u00a0x")
    plain = ContextRequest(entity_id=asked.person(ANNA), now=NOW)
    answers = [
        entity_context(store, counter(), one, settings=settings(), relevant=lambda _: ()).to_json()
        for one in (request, plain)
    ]
    assert answers[0] == answers[1]


def test_the_receipt_names_the_hint_and_no_word_of_the_answer(asked: Asked) -> None:
    sink = KeptReceipts()
    answer = context(asked, ANNA, hint=HINT, receipts=sink)
    (receipt,) = sink.kept
    assert receipt.request["hint"] == HINT
    relevant: Any = receipt.tiers[4]
    assert relevant["tier"] == "relevant"
    assert [item["id"] for item in relevant["items"]] == [item["id"] for item in items(answer, "relevant")]
    assert "Viktor" not in str(receipt)


@pytest.mark.parametrize(
    ("hint", "words"), [("", "must have words"), (" \n", "must have words"), ("x" * 2001, "2,000")]
)
def test_a_hint_that_cannot_be_asked_is_refused_as_a_hint(asked: Asked, hint: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        context(asked, ANNA, hint=hint)
    assert refused.value.field == "hint"
    assert "query" not in str(refused.value)


# ── a full memory ────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def talkative(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    """Sixty long messages of this week; one of the oldest of them has the answer, which a fact repeats."""
    rows = [
        {
            **lines()[0],
            "message_id": f"t{number}",
            "sent_at": (NOW - timedelta(hours=60 - number)).isoformat(),
            "text": f"Number {number}: " + "the weather at the yard was fine and we painted on. " * 4,
        }
        for number in range(60)
    ]
    rows[14]["text"] = "The insurance of the boat is with Lloyds, policy 77-31, it ends in May."
    with opened(database_url, tmp_path, embedder="none") as memory:
        fill(memory, tmp_path, [*rows, {**lines()[1], "sent_at": NOW.isoformat()}])
        yield memory


def of_anna(memory: Memory, **request: Any) -> dict[str, Any]:
    (anna,) = memory.reads.entities_named(ANNA[1], exact=True, limit=2)
    answer = memory.context(anna.id, as_of=None, **{"max_tokens": None, **request}).to_json()
    check(answer)
    return answer


INSURANCE = "where is the boat insured, which policy?"


@pytest.mark.parametrize("max_tokens", [500, 800, 1500, 4000])
def test_the_answer_among_recent_messages_is_said_whatever_the_budget(talkative: Memory, max_tokens: int) -> None:
    """It is one of the newest fifty, which the hot tier asks for as well and cannot hold all of."""
    answer = of_anna(talkative, hint=INSURANCE, max_tokens=max_tokens)
    assert answer["text"].count("policy 77-31") == 1


def test_a_fact_is_not_said_once_more(talkative: Memory) -> None:
    with talkative.connections.connection() as connection:
        connection.execute(
            "INSERT INTO entity_facts"
            " (id, entity_id, interaction_id, fact_type, value, status, confidence, quote, message_ids)"
            " SELECT gen_random_uuid(), e.id, i.id, 'insurance', 'Lloyds 77-31', 'confirmed', 1, 'q', ARRAY['t14']"
            " FROM entities e, interactions i WHERE NOT e.is_self ORDER BY i.id LIMIT 1"
        )
        connection.execute("UPDATE chunk_states SET input_hash = ''")
        connection.execute(SUMMARIES[-1])  # type: ignore[arg-type]
    talkative.chunks.build(EVER)
    assert any(line.text.startswith("fact: Anna") for line in talkative.recall.search(INSURANCE, top_k=50).block.lines)
    answer = of_anna(talkative, hint=INSURANCE)
    facts = [item for one in answer["tiers"] for item in one["items"] if item["kind"] == "fact"]
    assert len(facts) == 1
    assert tier(answer, "permanent") == ["insurance: Lloyds 77-31"]
