"""The block for any memory and any budget, counted by the real tokenizer (P6), and the small rules of its lines."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiktoken import Encoding

from pkg_pipeline.adapters.text.tokens import load_encoding
from pkg_pipeline.memory.context.assembly import assemble, bounded
from pkg_pipeline.memory.context.records import (
    Block,
    BlockRules,
    ContextEntity,
    ContextRows,
    Former,
    HeardMessage,
    KnownFact,
    KnownItem,
    KnownMilestone,
    KnownProfile,
    LeftOut,
    PastSummary,
    Unsummarised,
)
from pkg_pipeline.memory.context.rendering import LineRenderer
from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.records import ContextChat, Language
from pkg_pipeline.memory.text.lines import bullet, fit, one_line
from pkg_pipeline.memory.text.phrases import phrases

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
CHAT = ContextChat("telegram", "1", "direct", "Anna")


@cache
def encoding() -> Encoding:
    return load_encoding()


def count(text: str) -> int:
    return len(encoding().encode_ordinary(text))


def count_many(texts: list[str] | tuple[str, ...]) -> list[int]:
    return [count(text) for text in texts]


def rules(max_tokens: int) -> BlockRules:
    return BlockRules(
        as_of=NOW,
        zone=ZoneInfo("Europe/Berlin"),
        max_tokens=max_tokens,
        shares={"permanent": 300, "hot": 2000, "warm": 1000, "cold": 300, "relevant": 500},
        hot_days=7,
        hot_limit=50,
        summary_limit=10,
        hot_from=NOW - timedelta(days=7),
        warm_from=NOW - timedelta(days=90),
    )


def entity(name: str = "Anna", language: str | None = None) -> ContextEntity:
    return ContextEntity(
        id=UUID(int=1),
        name=name,
        type="person",
        is_self=False,
        organization=None,
        sources=("telegram",),
        language=language,  # type: ignore[arg-type]
        messages=3,
        hypothetical_tokens=100,
        first_contact=NOW - timedelta(days=400),
        last_contact=NOW - timedelta(days=1),
    )


# text that a tokenizer, Markdown or a line counter may trip over
awkward = st.text(st.sampled_from(list("aя中 \n\r\t\v\u2028\u00a0/#-_*.,!?…\"'()0129😀é\u0301")), max_size=60)
words = st.lists(
    st.sampled_from(
        ["договор", "Price:", "120 000", "我们", "周四见", "ok", "https://a.b/c?d=e", "\n- ", "/", "\n\n# "]
    ),
    min_size=1,
    max_size=40,
).map(" ".join)
said = st.one_of(awkward, words)


@st.composite
def memories(draw: st.DrawFn) -> ContextRows:
    """Any memory that a store may hand over, items shared between tiers among them."""

    def message(number: int, age: timedelta) -> HeardMessage:
        return HeardMessage(
            id=f"telegram:1/{number}",
            chat=CHAT,
            speaker=draw(st.sampled_from(["Anna", "Анна\nП", "", None])),
            is_self=draw(st.booleans()),
            sent_at=NOW - age,
            text=draw(said),
            is_cut=draw(st.booleans()),
        )

    talks = [UUID(int=100 + number) for number in range(draw(st.integers(0, 4)))]
    summaries = tuple(
        PastSummary(
            id=UUID(int=200 + number),
            interaction_id=talk,
            chat=CHAT,
            started_at=NOW - timedelta(days=20 + number),
            ended_at=NOW - timedelta(days=20 + number),
            text=draw(said),
            is_stale=draw(st.booleans()),
            message_ids=("x",),
        )
        for number, talk in enumerate(talks)
    )
    items = [
        KnownItem(
            id=UUID(int=300 + number),
            kind=draw(st.sampled_from(["decision", "action_item"])),
            status=draw(st.sampled_from(["open", "perhaps_done", "lapsed"])),
            interaction_id=draw(st.sampled_from([*talks, UUID(int=99)])),
            first_at=NOW - timedelta(days=200),
            at=NOW - timedelta(days=draw(st.integers(0, 50))),
            text=draw(said),
            quote=draw(said),
            message_ids=(),
            importance=draw(st.sampled_from(["high", "medium", "low"])),
            owner=draw(st.sampled_from(["self", "them", "both", "other"])),
            due_date=draw(st.sampled_from([None, date(2026, 3, 1)])),
            former=draw(st.sampled_from([None, Former(draw(said), NOW - timedelta(days=300))])),
            is_withheld=draw(st.booleans()),
            found_with=draw(st.sampled_from([0.5, 0.85, 1.0])),
        )
        for number in range(draw(st.integers(0, 8)))
    ]
    profile = KnownProfile(
        id=UUID(int=600),
        as_of=NOW - timedelta(days=7),
        relationship_type=draw(st.sampled_from(["client", "other"])),
        summary=draw(said),
        milestones=tuple(
            KnownMilestone(
                id=f"m{number}",
                day=date(2026, 1, 1 + number),
                title=draw(st.sampled_from([draw(said), *(item.text for item in items)])),
                importance=draw(st.sampled_from(["high", "medium"])),
                message_ids=("y",),
            )
            for number in range(draw(st.integers(0, 3)))
        ),
        is_stale=draw(st.booleans()),
        message_ids=("x",),
    )
    excerpts = tuple(
        message(1000 + number, timedelta(days=30, minutes=number)) for number in range(draw(st.integers(0, 3)))
    )
    unsummarised = (Unsummarised(UUID(int=400), CHAT, NOW - timedelta(days=31), NOW - timedelta(days=30), excerpts),)
    return ContextRows(
        entity=entity(draw(said), draw(st.sampled_from(["en", "ru", "zh", None]))),
        hot=tuple(message(number, timedelta(hours=number)) for number in range(draw(st.integers(0, 8)))),
        summaries=summaries,
        unsummarised=unsummarised if excerpts else (),
        facts=tuple(
            KnownFact(UUID(int=500 + number), "city", draw(said), NOW, ()) for number in range(draw(st.integers(0, 3)))
        ),
        decisions=tuple(item for item in items if item.kind == "decision"),
        open_items=tuple(item for item in items if item.kind == "action_item"),
        profile=draw(st.sampled_from([profile, None])),
    )


def check(block: Block, max_tokens: int) -> None:
    assert count(block.text) == block.tokens == sum(tier.tokens for tier in block.tiers)
    assert block.tokens <= max_tokens
    assert block.text == "" or block.text.endswith("\n")
    assert all(line.startswith(("- ", "#")) for line in block.text.splitlines())
    assert len(block.text.splitlines()) == block.text.count("\n")
    for tier in block.tiers:
        assert all(bullet(item.text) in block.text for item in tier.items)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(memories(), st.one_of(st.integers(0, 60), st.integers(0, 1500)))
def test_no_memory_overruns_any_budget_and_the_sums_are_exact(rows: ContextRows, max_tokens: int) -> None:
    check(assemble(rows, rules(max_tokens), count_many), max_tokens)


def was_doubted(item: KnownItem) -> bool:
    return item.status == "lapsed" and not item.is_sure and item.importance != "high"


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(memories())
def test_with_room_for_all_everything_that_may_be_said_is_said(rows: ContextRows) -> None:
    block = assemble(rows, rules(100_000), count_many)
    check(block, 100_000)
    assert {entry.reason for entry in block.left_out} <= {"withheld", "shortened", "limit", "over"}
    printed = {item.id for tier in block.tiers for item in tier.items}
    assert printed.isdisjoint(str(item.id) for item in (*rows.decisions, *rows.open_items) if item.is_withheld)
    assert {message.id for message in rows.hot if one_line(message.text)} <= printed
    told = {str(item.id) for item in rows.open_items if not item.is_withheld and not was_doubted(item)}
    assert told <= printed


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(memories(), st.integers(30, 600))
def test_what_is_known_is_printed_or_named_once(rows: ContextRows, max_tokens: int) -> None:
    wide = assemble(rows, rules(100_000), count_many)
    narrow = assemble(rows, rules(max_tokens), count_many)
    printed = [item.id for tier in narrow.tiers for item in tier.items]
    assert len(printed) == len(set(printed))
    named = {entry.id for entry in narrow.left_out}
    texts = {item.text for tier in narrow.tiers for item in tier.items}
    for tier in wide.tiers:
        for item in tier.items:
            assert item.id in printed or item.id in named or item.text in texts


# ── lines ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("  two  blanks ", "two blanks"),
        ("a\nb", "a / b"),
        ("a \r\n\r\n\t b\x0bc\x85d\u2029e", "a / b / c / d / e"),
        ("tab\there\x00\x1b", "tab here"),
        ("\n\n", ""),
        ("no\u00a0break", "no break"),
    ],
)
def test_a_text_becomes_one_line(text: str, expected: str) -> None:
    assert one_line(text) == expected
    assert one_line(expected) == expected


@given(st.text(max_size=80))
def test_one_line_never_breaks(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@settings(deadline=None)
@given(st.one_of(words, awkward).map(one_line), st.integers(0, 80))
def test_a_shortened_line_fits_and_begins_as_the_whole_does(text: str, limit: int) -> None:
    short = fit(text, limit=limit, count=count)
    if short is None:
        assert limit < count(bullet("aa…")) + 8
    else:
        assert count(bullet(short)) <= limit
        assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_a_line_is_cut_between_words() -> None:
    # a token each for the dash and five words, one for the ellipsis with its newline
    assert fit("one two three four five six seven", limit=7, count=count) == "one two three four five…"


def test_entries_beyond_the_limit_are_counted() -> None:
    entries = [LeftOut("message", str(number), "budget") for number in [1, 1, 2, 3, 4]]
    assert bounded(entries, 4) == tuple(dict.fromkeys(entries))
    assert bounded(entries, 2) == (entries[0], entries[2], LeftOut("more", None, "more", 2))


# ── words ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "day", "weekday", "number", "ago"),
    [
        ("en", "2 March 2026", "2 March 2026, Monday", "1,234,567", "13 days ago"),
        ("ru", "2 марта 2026", "2 марта 2026, понедельник", "1\u00a0234\u00a0567", "13 дн. назад"),
        ("zh", "2026年3月2日", "2026年3月2日 星期一", "1,234,567", "13天前"),
    ],
)
def test_dates_and_numbers_read_as_in_the_language(
    language: Language, day: str, weekday: str, number: str, ago: str
) -> None:
    moment, printed = date(2026, 3, 2), phrases(language)
    assert printed.day(moment) == day
    assert printed.weekday(moment) == weekday
    assert printed.number(1_234_567) == number
    assert printed.ago(moment, date(2026, 3, 15)) == ago


def test_facts_are_named_in_the_language_and_unknown_ones_as_they_are() -> None:
    kinds = ("Birthday", "billing_email", "second_phone", "shoe_size")
    assert {language: [phrases(language).fact_name(kind) for kind in kinds] for language in LANGUAGES} == {
        "en": ["birthday", "e-mail for invoices", "phone", "shoe size"],
        "ru": ["день рождения", "почта для счетов", "телефон", "shoe size"],
        "zh": ["生日", "账单邮箱", "电话", "shoe size"],
    }


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("birthday", "08-15", ["15 August", "15 августа", "8月15日"]),
        ("birthday", "1980-02-29", ["29 February 1980", "29 февраля 1980", "1980年2月29日"]),
        ("birthday", "02-29", ["29 February", "29 февраля", "2月29日"]),
        ("birthday", "4 May", ["4 May"] * 3),
        ("phone", "08-15", ["08-15"] * 3),
    ],
)
def test_a_birthday_is_a_day_in_the_language(kind: str, value: str, expected: list[str]) -> None:
    fact = KnownFact(UUID(int=1), kind, value, NOW, ())
    for language, words in zip(("en", "ru", "zh"), expected, strict=True):
        renderer = LineRenderer(rules(100), entity(), names_dialogs=False, words=phrases(language))
        assert renderer.fact(fact, order=0).text.endswith(words)
