"""The block of recall: within any budget by the real tokenizer, in order of time, nothing told twice."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.recall.block import (
    SHORTEST_REPEAT_CHARS,
    SMALLEST_CUT_TOKENS,
    SPOKEN,
    RecallRules,
    recall_block,
)
from pkg_pipeline.memory.recall.records import Candidate, ChunkSource, RecallBlock
from pkg_pipeline.memory.records import Language
from pkg_pipeline_tests.memory.candidates import CHAT, GROUP, START, candidate, count, count_many, derived, in_order

UTC = ZoneInfo("UTC")


def block(
    *candidates: Candidate,
    max_tokens: int | None = None,
    top_k: int | None = None,
    zone: str = "UTC",
    language: Language = "en",
) -> RecallBlock:
    """The block, after the checks that hold for every one."""
    made = recall_block(in_order(*candidates), RecallRules(max_tokens, top_k, ZoneInfo(zone), language), count_many)
    check(made, max_tokens, top_k)
    return made


def check(made: RecallBlock, max_tokens: int | None, top_k: int | None) -> None:
    assert count(made.text) == made.tokens
    assert max_tokens is None or made.tokens <= max_tokens
    assert top_k is None or len(made.lines) <= top_k
    assert all(f"- {line.text}\n" in made.text for line in made.lines)
    printed = made.text.splitlines()
    assert made.text == "".join(f"{line}\n" for line in printed), "one kind of line break, one at the end"
    assert sum(line.startswith("- ") for line in printed) == len(made.lines)
    assert all(line.startswith(("- ", "## ")) for line in printed)
    headings = [line for line in printed if line.startswith("## ")]
    assert len(headings) == len(set(headings))
    days = [heading[3:13] for heading in headings]
    assert days == sorted(days)
    scores = [line.ranked.score for line in made.lines]
    assert scores == sorted(scores, reverse=True)


# ── how it looks ─────────────────────────────────────────────────────────────────────────────


def test_lines_stand_in_order_of_time_under_their_days_and_are_listed_best_first() -> None:
    made = block(candidate(30, "then"), candidate(2, "b"), candidate(1, "a", is_self=True))
    assert made.text == "## 2026-03-01\n- me: a\n- Anna: b\n## 2026-03-02\n- Anna: then\n"
    assert [line.text for line in made.lines] == ["Anna: then", "Anna: b", "me: a"]
    assert block() == RecallBlock("", 0, ())


def test_one_moment_goes_by_number_so_passages_stay_in_order() -> None:
    parts = [candidate(number, f"part {number}", at=START, passage=number, passages=3) for number in (2, 0, 1)]
    assert block(*parts).text == "## 2026-03-01\n- Anna: part 0\n- Anna: part 1\n- Anna: part 2\n"


def test_the_day_is_the_readers() -> None:
    late = candidate(1, "hi", at=START + timedelta(hours=14))  # 23:00 UTC
    assert block(late).text.startswith("## 2026-03-01\n")
    assert block(late, zone="Asia/Tokyo").text.startswith("## 2026-03-02\n")


def test_headings_name_chats_only_where_there_are_several() -> None:
    here, there = candidate(1, "a"), candidate(2, "b", chat=GROUP)
    assert block(here, candidate(2, "b")).text == "## 2026-03-01\n- Anna: a\n- Anna: b\n"
    assert block(here, there).text == "## 2026-03-01 · Anna\n- Anna: a\n## 2026-03-01 · Boat yard\n- Anna: b\n"
    nameless = candidate(2, "b", chat=GROUP.__class__("telegram", "x", "group", " \n"))
    assert "## 2026-03-01 · Telegram\n" in block(here, nameless).text


@pytest.mark.parametrize(
    ("language", "me", "labels"),
    [
        ("en", "me: a", ["summary", "decided", "to do", "fact", "summary", "tool"]),
        ("ru", "я: a", ["итог", "решено", "сделать", "факт", "итог", "инструмент"]),
        ("zh", "我：a", ["小结", "决定", "待办", "事实", "小结", "工具"]),
    ],
)
def test_labels_speak_the_language(language: Language, me: str, labels: list[str]) -> None:
    assert block(candidate(1, "a", is_self=True), language=language).lines[0].text == me
    colon = me[-2] if language == "zh" else ": "
    sources = ("summary", "decision", "action_item", "fact", "session_fold", "tool_result")
    for source, label in zip(sources, labels, strict=True):
        assert block(derived(1, "x", 1, source=source), language=language).lines[0].text == f"{label}{colon}x"


@pytest.mark.parametrize(
    ("speaker", "text", "line"),
    [
        ("Anna", "one\n\n- two\r\n# three\u2028four", "Anna: one / - two / # three / four"),
        (" An\tna\n", "x", "An na: x"),
        (None, "x", "unknown: x"),
        ("", "x", "unknown: x"),
        ("Anna", " \n\t", None),
        ("Anna", "", None),
    ],
)
def test_any_text_is_one_line(speaker: str | None, text: str, line: str | None) -> None:
    made = block(candidate(1, text, speaker=speaker))
    assert [entry.text for entry in made.lines] == ([] if line is None else [line])


# ── what is taken ────────────────────────────────────────────────────────────────────────────


def test_top_k_counts_printed_lines() -> None:
    twice = "the same words, said once more"
    found = [candidate(1, twice), candidate(2, twice), candidate(3, "\n"), candidate(4, "b"), candidate(5, "c")]
    assert [line.ranked.candidate.no for line in block(*found, top_k=2).lines] == [1, 4]
    assert len(block(*found, top_k=200).lines) == 3


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    long, short = candidate(2, "very " * 60 + "long"), candidate(3, "short")
    first = candidate(1, "first")
    room = block(first, short).tokens
    made = block(first, long, short, max_tokens=room)
    assert [line.ranked.candidate.no for line in made.lines] == [1, 3]
    assert made.tokens == room
    assert [line.ranked.candidate.no for line in block(first, long, short, max_tokens=room - 1).lines] == [1]


def test_a_heading_is_paid_for_once() -> None:
    same = [candidate(1, "a"), candidate(2, "b")]
    other = [candidate(1, "a"), candidate(30, "b")]
    assert len(block(*same, max_tokens=block(*same).tokens).lines) == 2
    assert len(block(*other, max_tokens=block(*same).tokens).lines) == 1, "the second day needs its own"


def test_the_best_hit_is_shortened_where_it_alone_is_too_long() -> None:
    long = candidate(1, "word " * 300)
    made = block(long, candidate(2, "other"), max_tokens=60)
    (line,) = made.lines
    assert (line.is_shortened, line.text[-1], line.ranked.candidate.no) == (True, "…", 1)
    assert line.text.startswith("Anna: word word")
    assert made.tokens > 50, "the room is used"
    heading = count("## 2026-03-01\n")
    assert block(long, max_tokens=heading + SMALLEST_CUT_TOKENS).lines[0].is_shortened
    assert block(long, max_tokens=heading + SMALLEST_CUT_TOKENS - 1) == RecallBlock("", 0, ()), "a scrap helps nobody"


@pytest.mark.parametrize("max_tokens", range(14))
def test_the_smallest_budgets(max_tokens: int) -> None:
    assert len(block(candidate(1, "a"), max_tokens=max_tokens).lines) == (max_tokens >= block(candidate(1, "a")).tokens)


@pytest.mark.parametrize(
    ("first", "second", "is_told_twice"),
    [
        (candidate(1, "see you on Friday at the yard"), candidate(2, "See you  on Friday\nat the yard"), False),
        (candidate(1, "ok"), candidate(2, "ok"), True),
        (candidate(1, "see you on Friday at the yard"),
         candidate(2, "see you on Friday at the yard", speaker="Boris"), True),
        (candidate(1, "we go by train on Friday"), derived(2, "go by train on Friday", 1), False),
        (candidate(1, "we go by train on Friday"), derived(2, "the boat is sold for good", 1), True),
        # of "we go by train today" two of three runs are said: 0.67 < SAID_SHARE
        (candidate(1, "we go by train on Friday"), derived(2, "we go by train today", 1), True),
        (candidate(1, "我们周五坐火车去上海"), derived(2, "周五坐火车去上海", 1), False),
        (candidate(1, "我们周五坐火车去上海"), derived(2, "价格定为五百元", 1), True),
        # the message takes its place
        (derived(1, "go by train on Friday", 2), candidate(2, "we go by train on Friday"), False),
    ],
)  # fmt: skip
def test_nothing_is_told_twice(first: Candidate, second: Candidate, is_told_twice: bool) -> None:
    assert len(block(first, second).lines) == 1 + is_told_twice


# ── any candidates, any budget ───────────────────────────────────────────────────────────────

awkward = st.text(st.sampled_from(list("aя中 \n\r\t\v\u2028\u00a0/#-_*.,!?…\"'()0129😀é\u0301\x1c\x85")), max_size=60)
words = st.lists(
    st.sampled_from(
        ["договор", "Price:", "120 000", "我们", "周四见", "ok", "https://a.b/c?d=e", "\n- ", "/", "\n\n# "]
    ),
    min_size=1,
    max_size=60,
).map(" ".join)
spoken: list[ChunkSource] = ["message", "message", "tool_result"]


@st.composite
def found(draw: st.DrawFn) -> list[Candidate]:
    texts = draw(st.lists(st.one_of(awkward, words), min_size=1, max_size=4))
    return [
        candidate(
            number,
            draw(st.sampled_from(texts)),
            source=draw(st.sampled_from([*spoken, "summary", "decision", "fact"])),
            speaker=draw(st.sampled_from(["Anna", "Анна\nП", "", None])),
            is_self=draw(st.booleans()),
            chat=draw(st.sampled_from([GROUP, CHAT])),
            at=START + timedelta(hours=draw(st.integers(0, 60))),
            interaction_id=UUID(int=1),
        )
        for number in range(draw(st.integers(0, 8)))
    ]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    found(),
    st.none() | st.integers(0, 400),
    st.none() | st.integers(1, 6),
    st.sampled_from(["UTC", "Asia/Tokyo"]),
    st.sampled_from(["en", "ru", "zh"]),
)
def test_every_block_keeps_its_promises(
    given_: list[Candidate], max_tokens: int | None, top_k: int | None, zone: str, language: Language
) -> None:
    made = block(*given_, max_tokens=max_tokens, top_k=top_k, zone=zone, language=language)
    assert made == block(*given_, max_tokens=max_tokens, top_k=top_k, zone=zone, language=language)
    chosen = [line.ranked.candidate for line in made.lines]
    said = [(one.speaker or "", " ".join(one.text.casefold().split())) for one in chosen]
    longer = [one for one in said if len(one[1]) >= SHORTEST_REPEAT_CHARS]
    assert len(longer) == len(set(longer))
    if max_tokens is None and top_k is None:
        kept = {one.no for one in chosen}
        told = {one.text.casefold() for one in chosen}
        for one in given_:
            if one.source in SPOKEN and re.search(r"\w", one.text):
                assert one.no in kept or " ".join(one.text.casefold().split()) in {" ".join(t.split()) for t in told}
