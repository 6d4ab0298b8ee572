"""Deletions at the source are seen by comparing exports of one chat, in whichever order they come in (B10)."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.adapters.exports.reading import ByteSource
from pkg_pipeline.adapters.exports.telegram import read_telegram
from pkg_pipeline.memory.message.deletions import Verdict
from pkg_pipeline.memory.records import ExportItem
from pkg_pipeline.stages.ingest.records import ImportReport
from pkg_pipeline.stages.ingest.stage import import_export
from pkg_pipeline_tests.adapters.exports.content import account, chat, entry
from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, LinesExport, Rig
from pkg_pipeline_tests.stages.ingest.test_ingest_order import SLOW, assert_same
from pkg_pipeline_tests.stages.recount import assert_recounts

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "telegram"

pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)


class TelegramExport(LinesExport):
    """A ``result.json`` in memory."""

    format = "telegram"

    def __init__(self, content: bytes, *, exported_at: datetime = NOW, name: str = "result.json") -> None:
        super().__init__(content, exported_at=exported_at, name=name)
        self._source = ByteSource(
            name, opener=lambda: io.BytesIO(content), bytes_total=len(content), written_at=exported_at
        )

    def items(self) -> Iterator[ExportItem]:
        return read_telegram(self._source, zone=UTC)


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def taken(rig: Rig, document: Any, *, missing: Verdict = "open", exported_at: datetime = NOW) -> ImportReport:
    content = document if isinstance(document, bytes) else json.dumps(document, indent=1).encode()
    report = ImportReport()
    import_export(
        TelegramExport(content, exported_at=exported_at),
        store=rig.store,
        counter=rig.counter,
        selves=frozenset(),
        report=report,
        batch_id=uuid4(),
        missing=missing,
    )
    return report


def talk(*numbers: int, **header: Any) -> dict[str, Any]:
    """Two people by turns; a number is id and minute at once."""
    said = [
        entry(n, f"text {n}", date_unixtime=str(1709287200 + 60 * n), from_id=f"user{5 - 4 * (n % 2)}") for n in numbers
    ]
    return chat(*said, **header)


def group(*entries: Any, **header: Any) -> dict[str, Any]:
    return chat(*entries, **{"type": "private_supergroup", "id": 9, "name": "G", **header})


def live(rig: Rig) -> list[int]:
    return [
        int(row[0]) for row in rig.rows("SELECT external_id FROM messages WHERE deleted_at IS NULL ORDER BY sent_at")
    ]


ALL = range(1, 31)
OLD, NEW = talk(*ALL), talk(*(n for n in range(1, 41) if n not in (7, 12)))


def test_what_the_newer_export_lacks_is_deleted_here_too(rig: Rig) -> None:
    taken(rig, OLD)
    report = taken(rig, NEW)
    assert (report.counts.new, report.counts.deleted, report.held) == (10, 2, [])
    assert live(rig) == [n for n in range(1, 41) if n not in (7, 12)]
    rig.build()
    assert_recounts(rig)
    again = taken(rig, OLD)
    assert (again.counts.new, again.counts.updated, again.counts.deleted) == (0, 0, 0), "the older one changes nothing"
    assert 7 not in live(rig)


def test_the_older_export_coming_later_ends_the_same(rig: Rig) -> None:
    report = taken(rig, NEW)
    assert report.counts.deleted == 0
    report = taken(rig, OLD)
    assert (report.counts.new, report.counts.deleted) == (2, 2)
    assert live(rig) == [n for n in range(1, 41) if n not in (7, 12)]


def test_a_still_newer_export_that_has_them_again_restores_them(rig: Rig) -> None:
    for document in (OLD, NEW):
        taken(rig, document)
    report = taken(rig, talk(*range(1, 50)))
    assert (report.counts.updated, live(rig)) == (2, list(range(1, 50)))
    assert rig.value("SELECT count(*) FROM messages WHERE is_missing") == 0


def test_a_deletion_and_nothing_else_is_seen_and_not_undone_by_the_older_file(rig: Rig) -> None:
    """Nothing was said in between, and a copied file has a new time: content decides, not the file's time."""
    taken(rig, OLD, exported_at=datetime(2026, 1, 1, tzinfo=UTC))
    less = talk(*(n for n in ALL if n != 9))
    assert taken(rig, less, exported_at=datetime(2026, 1, 2, tzinfo=UTC)).counts.deleted == 1
    taken(rig, OLD, exported_at=datetime(2026, 1, 3, tzinfo=UTC))
    assert 9 not in live(rig)


def test_its_conversation_is_looked_at_again_and_its_words_are_shown_no_more(rig: Rig) -> None:
    taken(rig, OLD)
    rig.build()
    assert rig.value("SELECT count(*) FROM dirty_partitions WHERE asset = 'interactions'") == 0
    taken(rig, NEW)
    marks = "SELECT count(*) > 0 FROM dirty_partitions WHERE asset = 'interactions' AND reason = 'changed messages'"
    assert rig.value(marks)
    assert rig.rows("SELECT content FROM message_texts WHERE external_id = '7'") == [("",)]
    rig.build()
    assert rig.value("SELECT sum(message_count) FROM interactions") == len(live(rig))


CANNOT_TELL = {
    "left": account(left_chats={"list": [group(entry(1), entry(9), entry(3, from_id="user7"))]}),
    "channel": account(group(entry(1), entry(9), entry(3, from_id="user7"), type="private_channel")),
    "only my messages": account(group(entry(1), entry(9))),
    "an entry that cannot be told": account(
        group(entry(1), {**entry(4), "id": "?"}, entry(3, from_id="user7"), entry(9))
    ),
}


@pytest.mark.parametrize("name", CANNOT_TELL)
def test_nothing_follows_from_an_export_that_may_show_a_part(rig: Rig, name: str) -> None:
    header = {"type": "private_channel"} if name == "channel" else {}
    whole = group(*[entry(n, from_id=f"user{5 + n % 3}") for n in range(1, 8)], **header)
    taken(rig, account(whole))
    report = taken(rig, CANNOT_TELL[name])
    assert (report.counts.deleted, report.held) == (0, [])
    assert set(range(1, 8)) <= set(live(rig))


def test_an_unreadable_entry_is_there_and_a_service_entry_is_no_message(rig: Rig) -> None:
    service = {"id": 5, "type": "service", "date_unixtime": "1709287500", "actor_id": "user5", "action": "pin_message"}
    document = talk(1, 2, 3, 4)
    document["messages"] += [service, *talk(6, 7)["messages"]]
    taken(rig, document)
    newer = talk(1, 3, 4, 6, 7, 8)
    newer["messages"].insert(1, {"id": 2, "type": "unsupported"})
    report = taken(rig, newer)
    assert (report.counts.deleted, live(rig)) == (0, [1, 2, 3, 4, 5, 6, 7, 8])


def test_a_damaged_export_deletes_nothing(rig: Rig) -> None:
    taken(rig, OLD)
    content = json.dumps(NEW, indent=1).encode()
    at = content.index(b'"text 20"')
    for damaged in (content[:at], content[:at] + b"#" + content[at + 1 :]):
        report = taken(rig, damaged)
        assert (report.damaged, report.counts.deleted) == (["result.json"], 0)
    assert set(ALL) <= set(live(rig))


def test_many_at_once_wait_for_a_word_and_keep_missing_is_one(rig: Rig) -> None:
    taken(rig, talk(*range(1, 101)))
    newer = talk(1, *range(40, 120))
    report = taken(rig, newer)
    assert (report.counts.deleted, [(h.missing, h.known) for h in report.held]) == (0, [(38, 119)])
    assert report.to_json()["held_deletions"] == [{"chat": "telegram:user:5", "missing": 38, "known": 119}]
    assert taken(rig, newer, missing="kept").held == []
    assert taken(rig, newer).held == [], "it was said before"
    assert taken(rig, newer, missing="accepted").counts.deleted == 38
    assert live(rig) == [1, *range(40, 120)]


def test_an_edit_of_what_is_missing_is_kept_and_stands_when_it_is_back(rig: Rig) -> None:
    taken(rig, OLD)
    taken(rig, talk(*(n for n in range(1, 41) if n != 7)))
    edited = talk(*range(1, 50))
    edited["messages"][6] |= {"text": "edited", "edited_unixtime": "1709999999"}
    taken(rig, edited)
    assert rig.rows("SELECT content, deleted_at FROM messages WHERE external_id = '7'") == [("edited", None)]


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Exports of an account in which two chats grow, are edited and lose messages."""
    chance = random.Random(draw(st.integers(0, 10_000)))
    there: dict[int, dict[int, str]] = {5: {}, 6: {}}
    said, documents = 0, list[dict[str, Any]]()
    for _ in range(draw(st.integers(2, 4))):
        for known in there.values():
            for _ in range(chance.choice((0, 3, 12, 30))):
                said += 1
                known[said] = f"text {said}"
            for number in chance.sample(sorted(known), min(len(known), chance.choice((0, 0, 1, 4, 25)))):
                del known[number]
        shown = [talk(*sorted(known), id=key) for key, known in there.items() if known]
        for one in shown:
            if chance.random() < 0.3:
                one["messages"] = one["messages"][chance.randrange(len(one["messages"])) :]
            if chance.random() < 0.15:
                one["messages"] = [m for m in one["messages"] if m["from_id"] == "user1"] or one["messages"]
        documents.append(account(*shown))
    return documents


@SLOW
@given(histories(), st.randoms(use_true_random=False))
def test_any_order_of_exports_with_deletions_ends_the_same(rig: Rig, documents: Sequence[Any], chance: Any) -> None:
    rig.empty()
    for document in documents:
        taken(rig, document)
    rig.build()
    with rig.connection() as connection:
        clean = tables(connection)
    for _ in range(2):
        rig.empty()
        order = [*documents, *chance.choices(documents, k=1)]
        chance.shuffle(order)
        for document in order:
            taken(rig, document)
            if chance.random() < 0.4:
                rig.build()
        rig.build()
        assert_same(rig, clean)
    assert_recounts(rig)


@pytest.mark.shared
def test_real_exports_with_messages_taken_out_are_noticed_in_either_order(rig: Rig) -> None:
    if not SAMPLES.is_dir():
        pytest.skip(f"THE SAMPLE DATA IS MISSING: there is no {SAMPLES}")
    tried = 0
    for path in sorted(SAMPLES.rglob("*.json")):
        try:
            document = json.loads(path.read_bytes())
        except ValueError:
            continue
        entries = document.get("messages", [])
        at = len(entries) // 2
        if document.get("type") not in ("personal_chat", "saved_messages", "bot_chat") or len(entries) < 9:
            continue
        if entries[at].get("type") != "message" or "ERROR" in str(entries):
            continue
        less = {**document, "messages": entries[:at] + entries[at + 1 :]}
        for order in ((document, less), (less, document)):
            rig.empty()
            assert sum(taken(rig, one).counts.deleted for one in order) == 1, path
            assert rig.rows("SELECT external_id FROM messages WHERE deleted_at IS NOT NULL") == [
                (str(entries[at]["id"]),)
            ]
        tried += 1
    assert tried
