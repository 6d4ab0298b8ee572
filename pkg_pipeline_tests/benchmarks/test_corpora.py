"""The readers of the benchmark's corpora, on small files of our own, and that the importer takes what they make."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from benchmarks.corpora import (
    LABELLED_RU,
    CorpusMissing,
    corpus,
    demo_rows,
    dialogue_rows,
    fingerprint,
    irc_rows,
    key_of,
    labelled_rows,
    whatsapp_rows,
    write_jsonl,
)
from pkg_pipeline.adapters.exports.containers import files_in
from pkg_pipeline.adapters.exports.jsonl import read_jsonl
from pkg_pipeline.memory.records import ParsedMessage, Rejected

IRC = [
    "=== anna [n=a@host.example]  has joined #lamps",
    "[11:22] <anna> does the long lamp fit?",
    "[11:22] <bo_> anna: it does",
    "=== anna is now known as anna_",
    "[11:23] <anna_> [thanks] <3",
    "not a line of the log",
]
WHATSAPP = [
    "1/4/25, 6:02 PM - Anna Lind created group “lamps”",
    "1/4/25, 6:04 PM - Anna Lind: two lamps: one long",
    "and one short",
    "1/4/25, 6:04 PM - Bo: fine",
    "1/4/25, 6:04 PM - Bo: really",
    "1/5/25, 12:01 AM - Bo changed the group description",
    "the new description",
    "1/5/25, 12:02 AM - Anna Lind: night",
]


def test_a_channels_lines_keep_their_order_within_a_minute() -> None:
    rows = list(irc_rows(IRC, day=date(2008, 4, 27)))
    assert [(row["message_id"], row["sender_id"], row["text"]) for row in rows] == [
        ("2", "anna", "does the long lamp fit?"),
        ("3", "bo_", "anna: it does"),
        ("5", "anna_", "[thanks] <3"),
    ]
    assert [row["sent_at"][11:19] for row in rows] == ["11:22:00", "11:22:30", "11:23:00"]
    assert key_of(rows[0]) == "irc:ubuntu-2008-04-27/2"


def test_a_chat_export_joins_lines_and_leaves_notices_out() -> None:
    rows = list(whatsapp_rows(WHATSAPP, chat="lamps", own="Anna Lind"))
    assert [(row["message_id"], row["sender_name"], row["is_self"], row["text"]) for row in rows] == [
        ("2", "Anna Lind", True, "two lamps: one long\nand one short"),
        ("4", "Bo", False, "fine"),
        ("5", "Bo", False, "really"),
        ("8", "Anna Lind", True, "night"),
    ]
    assert [row["sent_at"] for row in rows] == [
        "2025-01-04T18:04:00+00:00",
        "2025-01-04T18:04:01+00:00",
        "2025-01-04T18:04:02+00:00",
        "2025-01-05T00:02:00+00:00",
    ]


def test_dialogues_without_times_get_an_evening_each() -> None:
    dialogues = [
        {"name": "a", "messages": [{"message": "灯多长？"}, {"message": "两米。"}]},
        {"messages": [{"message": "好"}]},
    ]
    rows = list(dialogue_rows(dialogues, start=date(2024, 2, 28)))
    assert [(row["message_id"], row["sent_at"][:16], row["is_self"]) for row in rows] == [
        ("000-01", "2024-02-28T20:00", True),
        ("000-02", "2024-02-28T20:01", False),
        ("001-01", "2024-02-29T20:00", True),
    ]


def test_the_importer_takes_every_line_of_every_reader(tmp_path: Path) -> None:
    rows = [
        *irc_rows(IRC, day=date(2008, 4, 27)),
        *whatsapp_rows(WHATSAPP, chat="lamps", own="Bo"),
        *dialogue_rows([{"messages": [{"message": "好"}]}], start=date(2024, 2, 28)),
        *demo_rows(),
        *labelled_rows(LABELLED_RU),
    ]
    write_jsonl(rows, tmp_path / "corpus.jsonl")
    sources, _ = files_in(tmp_path / "corpus.jsonl")
    read = list(read_jsonl(sources[0], zone=ZoneInfo("UTC")))
    assert [one for one in read if isinstance(one, Rejected)] == []
    messages = [one for one in read if isinstance(one, ParsedMessage)]
    assert [one.external_id for one in messages] == [row["message_id"] for row in rows]
    assert len({key_of(row) for row in rows}) == len(rows)


def test_our_own_corpus_is_russian_and_lies_in_the_past_of_its_questions() -> None:
    rows = corpus("ru")
    assert len(rows) > 1_000
    assert {row["source"] for row in rows} == {"account", "labelled"}
    assert max(datetime.fromisoformat(row["sent_at"]) for row in rows) < datetime(2025, 12, 15, 12, tzinfo=UTC)


def test_a_missing_sample_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusMissing, match="kdconv_film_dev"):
        corpus("zh", tmp_path)


def test_a_fingerprint_sees_words_and_order_but_not_spaces() -> None:
    assert fingerprint(["one  two", "three"]) == fingerprint(["one two", "three"])
    assert len({fingerprint(texts) for texts in (["a", "b"], ["b", "a"], ["a"], ["ab"])}) == 4
