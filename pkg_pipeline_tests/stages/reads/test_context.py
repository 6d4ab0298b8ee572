"""The read as a whole: moments (P9), budget (P6), figures (P8), languages, receipts (B11), on a real database."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.memory.text.timestamps import parse_moment
from pkg_pipeline.stages.reads.context import (
    BadRequest,
    ContextRequest,
    entity_context,
)
from pkg_pipeline.stages.reads.stores import EntityUnknown, Receipt
from pkg_pipeline_tests.stages.memory_builder import Said
from pkg_pipeline_tests.stages.reads.context_memory import (
    LONG,
    NOW,
    Remembered,
    counter,
    items,
    reasons,
    settings,
    tier,
)


def days(count: float) -> timedelta:
    return timedelta(days=count)


# ── as of (P9) ───────────────────────────────────────────────────────────────────────────────


def test_as_of_moves_every_tier_and_shows_nothing_said_later(memory: Remembered) -> None:
    old = memory.build.conversation("Anna", NOW - days(130), [Said("Anna", "old"), Said("Me", "yes", 1)], tokens=LONG)
    memory.build.summary(old, "The old talk.")
    later = memory.build.conversation("Anna", NOW - days(100), [Said("Anna", "then new")])
    memory.build.summary(later, "Not yet over then.")
    memory.build.decision(later, "Decided later", about=["Anna"])
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "today")])
    answer = memory.ask(as_of=NOW - days(100))
    assert tier(answer, "hot") == ["12:00 Anna: then new"]
    assert tier(answer, "warm") == ["The old talk."]
    assert answer["as_of"] == "2025-12-05T12:00:00Z"
    assert "as of 5 December 2025, 12:00" in answer["text"]
    assert "today" not in answer["text"].replace("(today)", "")
    assert tier(memory.ask(as_of=NOW - days(99)), "permanent") == ["Decided (5 December 2025): Decided later"]
    assert tier(memory.ask(as_of=NOW - days(101)), "permanent") == []


def test_an_interaction_that_spans_as_of_is_served_as_messages_up_to_then(memory: Remembered) -> None:
    said = [Said("Anna", "one"), Said("Me", "two", 60), Said("Anna", "three", 120)]
    talk = memory.build.conversation("Anna", NOW - days(40), said)
    memory.build.summary(talk, "All three.")
    answer = memory.ask(as_of=NOW - days(40) + timedelta(minutes=60))
    assert tier(answer, "hot") == ["12:00 Anna: one", "13:00 me: two"]
    assert tier(answer, "warm") == []


def test_an_edited_message_reads_as_it_did_then(memory: Remembered) -> None:
    start = NOW - days(40)
    edited = start + days(3)
    memory.build.conversation("Anna", start, [Said("Anna", "third", edited_at=edited)])
    memory.build.revision("Anna", start, 0, text="first", edited_at=start)
    memory.build.revision("Anna", start, 0, text="second", edited_at=start + days(1))
    memory.build.revision("Anna", start, 0, text="third", edited_at=edited)
    said = {ago: tier(memory.ask(as_of=start + days(ago)), "hot") for ago in (0.5, 2, 4)}
    assert said == {0.5: ["12:00 Anna: first"], 2: ["12:00 Anna: second"], 4: ["12:00 Anna: third"]}


def test_what_rests_on_a_later_wording_is_not_what_stood_then(memory: Remembered) -> None:
    """5000 was said on that day, and became 6000 weeks later."""
    start, edited = NOW - days(60), NOW - days(10)
    said = [Said("Anna", "Agreed: 6000 EUR", edited_at=edited), Said("Me", "ok", 1)]
    talk = memory.build.conversation("Anna", start, said)
    memory.build.revision("Anna", start, 0, text="Agreed: 5000 EUR", edited_at=start)
    key = memory.build.external_id("Anna", start, 0)
    memory.build.summary(talk, "They agreed on 6000 EUR.", message_ids=[key])
    memory.build.decision(talk, "The price is 6000 EUR", about=["Anna"], message_ids=[key])
    memory.build.fact("Anna", "account", "6000", interaction_id=talk, message_ids=[key])
    for ago in (59, 30, 11):
        answer = memory.ask(as_of=NOW - days(ago))
        assert "6000" not in answer["text"], ago
        assert "5000" in answer["text"], ago
        left = {(one["kind"], one["reason"]) for one in answer["left_out"]}
        assert ("decision", "withheld") in left
    now = memory.ask(as_of=NOW - days(9))["text"]
    assert "6000" in now
    assert "5000" not in now


def test_an_item_closed_later_was_open_then(memory: Remembered) -> None:
    talk = memory.build.conversation("Anna", NOW - days(60), [Said("Anna", "a")])
    item = memory.build.action(talk, "Send it", about=["Anna"], due=date(2026, 2, 1))
    memory.build.state(item, "done", NOW - days(33))
    assert tier(memory.ask(), "cold") == []
    assert [item["marks"] for item in items(memory.ask(as_of=NOW - days(34)), "cold")] == [["overdue"]]
    assert tier(memory.ask(as_of=NOW - days(33)), "cold") == []
    assert tier(memory.ask(as_of=NOW - days(61)), "cold") == []


def test_figures_are_those_of_then(memory: Remembered) -> None:
    for ago in (100, 50, 1):
        memory.build.conversation("Anna", NOW - days(ago), [Said("Anna", "a"), Said("Me", "b", 1)])
    # two messages of ten tokens each in every conversation, and ten more for time and speaker of each
    plain = {ago: memory.ask(as_of=NOW - days(ago), is_plain=True) for ago in (101, 100, 60, 0.5)}
    asked = {ago: memory.ask(as_of=NOW - days(ago)) for ago in (101, 100, 60, 0.5)}
    assert {ago: answer["hypothetical_tokens"] for ago, answer in plain.items()} == {101: 0, 100: 40, 60: 40, 0.5: 120}
    assert "no contact yet" in asked[101]["text"]
    assert "messages: 2 (since 5 December 2025) · last contact 5 December 2025 (40 days ago)" in asked[60]["text"]


def test_a_moment_to_come_is_refused(memory: Remembered) -> None:
    with pytest.raises(BadRequest, match="future"):
        memory.ask(as_of=NOW + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-01-31T18:00:00+01:00", "UTC", datetime(2026, 1, 31, 17, tzinfo=UTC)),
        ("2026-01-31T18:00:00Z", "Asia/Tokyo", datetime(2026, 1, 31, 18, tzinfo=UTC)),
        ("2026-01-31T18:00", "Asia/Tokyo", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("2026-01-31T18:00:00 01:00", "UTC", datetime(2026, 1, 31, 17, tzinfo=UTC)),
        # a day means its end, here the day on which Berlin's clocks go forward
        ("2026-03-29", "Europe/Berlin", datetime(2026, 3, 29, 21, 59, 59, 999999, tzinfo=UTC)),
    ],
)
def test_moments_are_read_as_people_and_programs_write_them(text: str, zone: str, expected: datetime) -> None:
    assert parse_moment(text, ZoneInfo(zone), now=NOW) == expected


def test_of_a_day_that_is_not_over_the_end_is_now() -> None:
    zone = ZoneInfo("Europe/Berlin")
    assert parse_moment(NOW.astimezone(zone).date().isoformat(), zone, now=NOW) == NOW


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "0001-01-01", "9999-12-31", "2026-13-01T00:00", "1e9"])
def test_what_is_no_moment_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"ISO time|lies before"):
        parse_moment(text, ZoneInfo("Pacific/Kiritimati"), now=NOW)


# ── budget (P6) ──────────────────────────────────────────────────────────────────────────────


def full_memory(memory: Remembered) -> None:
    """More of everything than four thousand tokens hold."""
    for ago in range(8, 30):
        talk = memory.build.conversation("Anna", NOW - days(ago), [Said("Anna", "x"), Said("Me", "y", 1)], tokens=LONG)
        memory.build.summary(talk, f"On day {ago} we spoke at length. " + "It went on and on about the project. " * 12)
        memory.build.decision(talk, f"Решение номер {ago}: платить вовремя", about=["Anna"])
        memory.build.action(talk, f"第{ago}项任务，请尽快完成", about=["Anna"], due=date(2026, 3, 1))
    for ago in (1, 2, 3):
        said = [Said("Anna", f"Message {ago}-{n}: " + "и так далее, " * 15, n) for n in range(30)]
        memory.build.conversation("Anna", NOW - days(ago), said)
    memory.build.fact("Anna", "birthday", "4 May")


def test_every_budget_is_kept_and_a_larger_one_holds_more(memory: Remembered) -> None:
    full_memory(memory)
    answers = {size: memory.ask(max_tokens=size) for size in (1, 2, 3, 5, 10, 30, 60, 100, 250, 1000, 4000, 20_000)}
    assert answers[1]["text"] == ""
    assert answers[5]["text"] == "# Anna\n"
    used = [answer["tokens"] for answer in answers.values()]
    assert used == sorted(used)
    assert answers[4000]["tokens"] > 3900
    assert all(one["tokens"] > 0 for one in answers[4000]["tiers"] if one["tier"] != "relevant")
    assert answers[20_000]["tokens"] < 20_000
    assert set(reasons(answers[20_000]).values()) == {"limit"}


def test_everything_known_is_printed_or_named(memory: Remembered) -> None:
    full_memory(memory)
    limits = {"warm_summaries": 30}
    wide, narrow = (memory.ask(max_tokens=size, with_settings=limits) for size in (100_000, 700))
    everything = {(one["kind"], one["id"]) for part in wide["tiers"] for one in part["items"]}
    printed = {(one["kind"], one["id"]) for part in narrow["tiers"] for one in part["items"]}
    named = {(one["kind"], one["id"]) for one in narrow["left_out"] if one["reason"] in ("budget", "shortened")}
    assert everything == printed | (named & everything)


def test_left_out_is_bounded_and_says_how_many_more_there_are(memory: Remembered) -> None:
    for ago in range(1, 62):
        said = [Said("Anna", "important", 1, score=0.5)]
        at = NOW - days(8) - timedelta(hours=ago * 8)
        talk = memory.build.conversation("Anna", at, said, tokens=LONG)
        if ago <= 50:
            memory.build.summary(talk, f"Talk {ago}")
        for importance in ("high", "medium", "low"):
            memory.build.decision(talk, importance, about=["Anna"], importance=importance)
        memory.build.action(talk, "to do", about=["Anna"])
    answer = memory.ask(max_tokens=5)
    # read: 61 high, 40 medium, 20 low decisions, 60 items, 11 summaries, 10 excerpts of 11 talks; 200 are named
    assert len(answer["left_out"]) == 201
    assert answer["left_out"][-1] == {"kind": "more", "id": None, "reason": "more", "count": 3}
    assert reasons(memory.ask(max_tokens=100_000))


def test_a_message_that_would_eat_its_tier_is_shortened_at_its_end(memory: Remembered) -> None:
    novel = "Once upon a time there was a pipeline. " * 400
    said = [Said("Anna", novel), Said("Me", "Too long.", 1)]
    memory.build.conversation("Anna", NOW - days(1), said, tokens=4000)
    answer = memory.ask(max_tokens=500)
    long, short = tier(answer, "hot")
    assert short == "12:01 me: Too long."
    assert long.startswith("12:00 Anna: Once upon a time")
    assert long.endswith("…")
    assert answer["tokens"] > 480, "what was cut off comes back as far as there is room"
    assert items(answer, "hot")[0]["marks"] == ["shortened"]
    assert reasons(answer) == {items(answer, "hot")[0]["id"]: "shortened"}
    assert tier(memory.ask(max_tokens=10_000), "hot")[0] == f"12:00 Anna: {novel.strip()}"


def test_a_message_longer_than_is_read_at_all_is_marked_shortened(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "=" * 100_000)])
    answer = memory.ask(max_tokens=50_000)
    assert items(answer, "hot")[0]["text"].endswith("=…")
    assert items(answer, "hot")[0]["marks"] == ["shortened"]


def test_a_context_is_never_longer_than_what_it_is_made_from(memory: Remembered) -> None:
    for ago in range(10, 60, 5):
        said = [Said("Anna", f"It is day {ago}, and all is well here", n) for n in range(4)]
        talk = memory.build.conversation("Anna", NOW - days(ago), said)
        memory.build.summary(talk, "They tell one another at length that all is well there. " * 9)
        memory.build.decision(talk, f"On day {ago} they agree that all is well there", about=["Anna"])
    answer = memory.ask(is_plain=True)
    assert answer["tokens"] <= answer["hypothetical_tokens"] == 800
    assert "day 10, and all is well here" in answer["text"]


@pytest.mark.parametrize("size", [0, -1])
def test_a_budget_below_one_token_is_refused(memory: Remembered, size: int) -> None:
    with pytest.raises(BadRequest, match="at least 1"):
        memory.ask(max_tokens=size)


# ── the rest ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["## Messages of the last 7 days", "### 14 March 2026, Saturday", "- 12:00 me: hm"]),
        ("ru", ["## Сообщения за последние дни (7)", "### 14 марта 2026, суббота", "- 12:00 я: hm"]),
        ("zh", ["## 最近7天的消息", "### 2026年3月14日 星期六", "- 12:00 我：hm"]),
    ],
)
def test_the_block_speaks_the_language_of_the_conversation(
    memory: Remembered, language: str, expected: list[str]
) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Me", "hm")], language=language)
    lines = memory.ask()["text"].splitlines()
    assert [line for line in expected if line in lines] == expected


def test_without_an_interaction_the_texts_decide_the_language(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "Привет, как дела?")], sessionised=False)
    assert "## Сообщения" in memory.ask()["text"]


def test_the_same_question_gives_the_same_bytes(memory: Remembered) -> None:
    full_memory(memory)
    assert [memory.ask(max_tokens=900)["text"]] * 3 == [memory.ask(max_tokens=900)["text"] for _ in range(3)]


def test_somebody_never_spoken_to_has_a_head_and_nothing_else(memory: Remembered) -> None:
    memory.build.person("Newcomer")
    answer = memory.ask("Newcomer")
    assert answer["text"] == "# Newcomer\n- via Telegram · no contact yet · as of 15 March 2026, 12:00\n"
    assert (answer["hypothetical_tokens"], answer["left_out"], answer["brief"]) == (0, [], None)


def test_without_a_self_names_are_used_throughout(memory: Remembered) -> None:
    memory.build.person("Bob")
    memory.build.person("Carol")
    memory.build.chat("Theirs", ["Bob", "Carol"])
    memory.build.conversation("Theirs", NOW - days(1), [Said("Bob", "hi"), Said("Carol", "hello", 1)])
    assert tier(memory.ask("Carol"), "hot") == ["12:00 Bob: hi", "12:01 Carol: hello"]


class KeptReceipts:
    def __init__(self) -> None:
        self.kept: list[Receipt] = []

    def put(self, receipt: Receipt) -> None:
        self.kept.append(receipt)


def test_a_receipt_has_ids_and_tokens_and_no_word_of_the_text(memory: Remembered) -> None:
    memory.build.conversation("Anna", NOW - days(1), [Said("Anna", "confidential words")])
    sink = KeptReceipts()
    request = ContextRequest(entity_id=memory.build.people["Anna"], now=NOW)
    answer = entity_context(memory.store, counter(), request, settings=settings(), receipts=sink)
    (receipt,) = sink.kept
    assert receipt.id == answer.receipt_id
    assert receipt.tokens == answer.block.tokens
    hot: Any = receipt.tiers[1]
    assert [item["id"] for item in hot["items"]] == [items(answer.to_json(), "hot")[0]["id"]]
    assert receipt.request["counter"] == "o200k_base"
    assert "confidential" not in str(receipt)
    assert "Anna" not in str(receipt).replace("direct%3AAnna", "")


def test_an_unknown_entity_is_an_error(memory: Remembered) -> None:
    with pytest.raises(EntityUnknown):
        entity_context(memory.store, counter(), ContextRequest(entity_id=uuid4(), now=NOW), settings=settings())
