"""Text that breaks programs goes all the way in after declared cleaning, or is rejected with its place; its neighbours
go in whatever happens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner
from pkg_pipeline.stages.ingest.records import IngestBatch, IngestCounts, Unstorable
from pkg_pipeline_tests.stages.ingest.import_rig import START, ItemsExport, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


KEPT = {
    "bidi": "\u202eabc\u202c \u2066x\u2069",
    "family": "👨‍👩‍👧‍👦 ok",
    "line separators": "one\u2028two\u2029three\x85four\vfive",
    "quotes": "'; DROP TABLE messages; -- \" $$ \\ \\N \\. %s %(a)s %% {x} _",
    "tabs and returns": "a\tb\r\nc\\t",
    "copy's end": "\\.\n\\.",
    "bom": "\ufeffx",
    "combining": "e" + "\u0301" * 500,
    "astral": "𐍈\U0010ffff",
    "long": "word " * 200_000,
    "controls": "".join(map(chr, range(1, 32))),
}


@pytest.mark.parametrize("name", KEPT)
def test_odd_text_comes_out_as_it_went_in_and_its_neighbours_too(rig: Rig, name: str) -> None:
    text = KEPT[name]
    report = rig.take([line("c", 1), line("c", 2, text=text, metadata={"x": [text]}), line("c", 3)])
    assert (report.counts.new, report.rejected, report.replaced_characters) == (3, [], 0)
    rig.build()
    assert rig.value("SELECT content FROM messages WHERE external_id = '2'") == text
    assert rig.value("SELECT metadata->'x'->>0 FROM messages WHERE external_id = '2'") == text
    assert_recounts(rig)


@pytest.mark.parametrize(
    ("text", "stored", "replaced"),
    [("a\x00b\x00", "a\ufffdb\ufffd", 2), ("x\ud800y", "x\ufffdy", 1), ("\udfff\ud83d", "\ufffd\ufffd", 2)],
)
def test_what_cannot_be_stored_is_replaced_and_counted(rig: Rig, text: str, stored: str, replaced: int) -> None:
    report = rig.take([line("c", 1, text=text, metadata={text: text}, parts=[{"text": text}]), line("c", 2)])
    assert (report.counts.new, report.replaced_characters) == (2, replaced)
    assert rig.rows("SELECT content, metadata, parts FROM messages WHERE external_id = '1'") == [
        (stored, {stored: stored}, [{"text": stored}])
    ]


def said(number: int, **changed: Any) -> ParsedMessage:
    return ParsedMessage(
        **{
            "chat_external_id": "c",
            "external_id": str(number),
            "sent_at": START,
            "text": "hi",
            "sender_external_id": "ann",
            "where": f"messages[{number}]",
            **changed,
        }
    )


BAD = "\x00\ud800%_'"
CLEAN = "\ufffd\ufffd%_'"


def test_names_ids_and_topics_are_cleaned_like_texts(rig: Rig) -> None:
    chat = ParsedChat(
        "jsonl", f"c{BAD}", "group", title=BAD, metadata={BAD: 1}, peer_external_id=f"p{BAD}", peer_name=BAD
    )
    odd = said(
        1,
        chat_external_id=f"c{BAD}",
        external_id=f"m{BAD}",
        sender_external_id=f"name:{BAD}",
        sender_name=BAD,
        reply_to=BAD,
        topic=BAD,
        forwarded_from=BAD,
    )
    report = rig.take_export(ItemsExport([ParsedOwner("jsonl", f"o{BAD}", BAD), chat, odd], name=f"file{BAD}"))
    rig.build()
    assert (report.counts.new, report.rejected) == (1, [])
    assert rig.rows("SELECT external_id, title, metadata FROM chats") == [(f"c{CLEAN}", CLEAN, {CLEAN: 1})]
    assert rig.rows("SELECT external_id, reply_to, topic, forwarded_from FROM messages") == [
        (f"m{CLEAN}", CLEAN, CLEAN, CLEAN)
    ]
    assert rig.rows("SELECT DISTINCT name FROM entities") == [(CLEAN,)]
    assert_recounts(rig)


def test_no_name_breaks_a_line_or_turns_it_around(rig: Rig) -> None:
    odd = "\x9b2J\u202eAnn\r\n- 12:00 me: approved\x1b]0;x\x07"
    chat = ParsedChat("jsonl", "c", "direct", title=odd, peer_external_id="ann", peer_name=odd)
    rig.take_export(
        ItemsExport([ParsedOwner("jsonl", "o", odd), chat, said(1, sender_name=odd, topic=odd, forwarded_from=odd)])
    )
    rig.build()
    clean = "\ufffd2JAnn - 12:00 me: approved\ufffd]0;x\ufffd"
    assert rig.rows("SELECT DISTINCT name FROM entities") == [(clean,)]
    assert rig.rows("SELECT title FROM chats") == [(clean,)]
    assert rig.rows("SELECT topic, forwarded_from FROM messages") == [(clean, clean)]


REFUSED = {
    "long id": ({"external_id": "x" * 501}, "longer than 500"),
    "long sender": ({"sender_external_id": "x" * 501}, "longer than 500"),
    "long reply": ({"reply_to": "x" * 501}, "longer than 500"),
    "long text": ({"text": "x" * 2_000_001}, "2,000,001 characters"),
    "first century": ({"sent_at": datetime(1, 1, 1, tzinfo=UTC)}, "year 1,"),
    "far future": ({"sent_at": datetime(9999, 12, 31, tzinfo=UTC)}, "year 9999"),
    "edited in the far future": ({"edited_at": datetime(9999, 12, 31, tzinfo=UTC)}, "edited in the year 9999"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_where_and_why_and_the_rest_goes_in(rig: Rig, name: str) -> None:
    changed, reason = REFUSED[name]
    report = rig.take_export(ItemsExport([ParsedChat("jsonl", "c", "direct"), said(1), said(2, **changed), said(3)]))
    assert (report.counts.new, report.rejected_count) == (2, 1)
    ((file, where, found),) = report.rejected
    assert (file, where) == ("items", "messages[2]")
    assert reason in found
    assert rig.value("SELECT rejected->0->>'where' FROM import_batches") == "messages[2]"
    assert rig.value("SELECT counts->>'new' FROM import_batches") == "2"
    rig.build()


@pytest.mark.parametrize("source", ["a:b", "", "s" * 1000 + "ж" * 800])
def test_a_source_that_is_no_key_refuses_its_messages_and_no_others(rig: Rig, source: str) -> None:
    items = [ParsedChat(source, "x", "direct", peer_external_id="p"), said(1, chat_external_id="x")]
    report = rig.take_export(
        ItemsExport([*items, ParsedChat("jsonl", "c", "direct"), said(2), ParsedOwner(source, "o")])
    )
    assert (report.counts.new, [where for _, where, _ in report.rejected]) == (1, ["messages[1]"])
    rig.build()
    assert rig.rows("SELECT source FROM chats") == [("jsonl",)]


def test_numbers_that_json_has_and_the_fast_writer_has_not(rig: Rig) -> None:
    big = said(1, metadata={"big": 10**30, "nan": float("nan"), "inf": float("inf")}, parts=[{"n": -(2**70)}])
    rig.take_export(ItemsExport([ParsedChat("jsonl", "c", "direct"), big]))
    assert rig.rows("SELECT metadata, parts FROM messages") == [
        ({"big": 10**30, "nan": None, "inf": None}, [{"n": -(2**70)}])
    ]


def test_an_endless_name_is_cut_and_a_blank_one_is_none(rig: Rig) -> None:
    names = ["n" * 100_000, "   ", "\x00" * 3_000]
    rig.take([line("c", number, sender=f"s{number}", sender_name=name) for number, name in enumerate(names)])
    assert rig.rows("SELECT length(name) FROM entities ORDER BY name") == [(300,), (2,), (300,)]


def test_unreadable_lines_are_counted_apart(rig: Rig) -> None:
    good = json.dumps(line("c", 1))
    report = rig.take([good, "{", "[]", '{"chat_id": 1}', good.replace('"1"', '"2"'), good])
    assert (report.counts.new, report.counts.unchanged, report.rejected_count) == (2, 1, 3)
    assert [where for _, where, _ in report.rejected] == ["line 2", "line 3", "line 4"]
    assert report.to_json()["messages_new"] == 2


class Choosy(PostgresIngestStore):
    """Stands for a value that the database refuses and cleaning did not foresee."""

    def write(self, batch: IngestBatch, *, exported_at: datetime) -> IngestCounts:
        if any(row.content == "poison" for row in batch.messages):
            raise Unstorable("it cannot be stored: NumericValueOutOfRange")
        return super().write(batch, exported_at=exported_at)


def test_one_message_that_cannot_be_stored_costs_itself_only(rig: Rig) -> None:
    lines = [line("c", number, minute=number) for number in range(40)]
    for number in (7, 8, 39):
        lines[number]["text"] = "poison"
    report = rig.take(lines, store=Choosy(rig.pool))
    assert (report.counts.new, [where for _, where, _ in report.rejected]) == (37, ["line 8", "line 9", "line 40"])
    ids = [int(row[0]) for row in rig.rows("SELECT external_id FROM messages ORDER BY id")]
    assert ids == [number for number in range(40) if number not in (7, 8, 39)]


def test_a_message_that_surprises_costs_itself_only(rig: Rig) -> None:
    odd: list[Any] = [said(2, text=5), said(3, external_id=None), said(4, sent_at="x"), said(5, sender_name=["a"])]
    report = rig.take_export(ItemsExport([ParsedChat("jsonl", "c", "direct"), said(1), *odd, said(6)]))
    assert (report.counts.new, report.rejected_count) == (2, 4)
    assert [where for _, where, _ in report.rejected] == [f"messages[{number}]" for number in range(2, 6)]


def test_an_import_left_by_a_dead_process_is_ended_and_a_living_one_is_not(rig: Rig) -> None:
    dead, living = uuid4(), uuid4()
    other = PostgresIngestStore(rig.pool)
    other.begin(batch_id=living, file="living", format_name="jsonl")
    with engine.pool(rig.url, size=1) as pool:
        PostgresIngestStore(pool).begin(batch_id=dead, file="dead", format_name="jsonl")
        # its session ends with the process: here with the backend
        rig.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND datname = current_database()"  # other tests hold locks beside it
            " AND pid <> pg_backend_pid() AND pid <> ALL(%s)",
            [[held.info.backend_pid for held in other._holding.values()]],  # whose import lives
        )
    rig.take([line("c", 1)])
    assert rig.rows("SELECT file, status, finished_at IS NOT NULL FROM import_batches ORDER BY file") == [
        ("dead", "failed", True),
        ("lines.jsonl", "done", True),
        ("living", "running", False),
    ]
    other.finish(batch_id=living, failed=False, sha256=None, counts={}, rejected=[])
    assert rig.value("SELECT status FROM import_batches WHERE file = 'living'") == "done"
