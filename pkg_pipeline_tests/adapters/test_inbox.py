"""The inbox over real files: what is a drop, when it is complete, where it goes."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.inbox import Inbox, Refused, Taken

LATER = 4102444800.0  # unix seconds, long after any file here was written


class Report:
    def __init__(self, **counts: Any) -> None:
        self.counts = counts

    def to_json(self) -> dict[str, Any]:
        return self.counts


class Importer:
    """Remembers what it was given and that it was still in place."""

    def __init__(self, report: Report | None = None, error: Exception | None = None) -> None:
        self.seen: list[str] = []
        self._report = report or Report(messages_new=2, messages_unchanged=1, rejected=[])
        self._error = error

    def __call__(self, path: Path, /) -> Report:
        assert path.exists()
        self.seen.append(path.name)
        if self._error is not None:
            raise self._error
        return self._report


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path / "inbox", wall=lambda: LATER)


def put(inbox: Inbox, name: str, text: str = "{}") -> Path:
    path = inbox.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def report_of(taken: Taken) -> dict[str, Any]:
    return json.loads(taken.moved_to.with_name(taken.moved_to.name + ".report.json").read_text(encoding="utf-8"))


def test_no_folder_is_an_empty_inbox(inbox: Inbox) -> None:
    assert (inbox.drops(), inbox.take_all(Importer())) == ([], [])


@pytest.mark.parametrize(
    "name",
    [
        ".DS_Store",
        ".hidden/chat.json",
        "a.json.part",
        "b.CRDOWNLOAD",
        "c.json~",
        "d.tmp",
        "done/x.json",
        "failed/y.json",
    ],
)
def test_what_is_no_drop(inbox: Inbox, name: str) -> None:
    put(inbox, name)
    assert inbox.drops() == []


def test_a_folder_is_one_drop_and_waits_while_one_of_its_files_is_unfinished(inbox: Inbox) -> None:
    put(inbox, "ChatExport/result.json")
    part = put(inbox, "ChatExport/photos/1.jpg.part")
    assert [drop.files for drop in inbox.drops()] == [2]
    assert inbox.ready() == []
    part.rename(part.with_suffix(""))
    assert [drop.name for drop in inbox.ready()] == ["ChatExport"]


def test_an_empty_folder_is_still_being_copied(inbox: Inbox) -> None:
    (inbox.folder / "ChatExport" / "photos").mkdir(parents=True)
    assert inbox.drops() == []


def test_a_file_is_ready_two_seconds_after_the_last_write_even_with_an_old_time_of_its_own(tmp_path: Path) -> None:
    import os

    now = [0.0]
    inbox = Inbox(tmp_path, wall=lambda: now[0])
    file = put(inbox, "a.json")
    os.utime(file, (1, 1))  # `cp -p` gives the copy the original's age
    changed = file.stat().st_ctime
    now[0] = changed + 1.9
    assert inbox.ready() == []
    now[0] = changed + 2.1
    assert [drop.name for drop in inbox.ready()] == ["a.json"]


def test_an_imported_drop_lies_in_done_with_its_report(inbox: Inbox) -> None:
    put(inbox, "a.json", "words")
    importer = Importer()
    (taken,) = inbox.take_all(importer)
    assert taken.imported
    assert taken.moved_to == inbox.folder / "done" / "a.json"
    assert taken.moved_to.read_text(encoding="utf-8") == "words"
    assert report_of(taken)["messages_new"] == 2
    assert report_of(taken)["note"] == "2 new, 0 updated, 0 deleted, 1 unchanged messages"
    assert inbox.take_all(importer) == []
    assert importer.seen == ["a.json"]


def test_a_refused_drop_lies_in_failed_with_the_reason_and_stops_no_other(inbox: Inbox) -> None:
    class Choosy(Importer):
        def __call__(self, path: Path, /) -> Report:
            if path.suffix == ".png":
                raise Refused(f"{path.name} is no export")
            return super().__call__(path)

    put(inbox, "a.png")
    put(inbox, "b.json")
    refused, imported = inbox.take_all(Choosy())
    assert (refused.imported, imported.imported) == (False, True)
    assert refused.moved_to == inbox.folder / "failed" / "a.png"
    assert report_of(refused)["error"] == "a.png is no export"
    assert refused.line == "a.png: failed: a.png is no export"


def test_a_lost_database_leaves_the_drop_for_the_next_time(inbox: Inbox) -> None:
    file = put(inbox, "a.json")
    with pytest.raises(ConnectionError):
        inbox.take_all(Importer(error=ConnectionError("gone")))
    assert file.exists()
    assert [taken.name for taken in inbox.take_all(Importer())] == ["a.json"]


def test_the_same_name_again_gets_a_number_and_nothing_is_overwritten(inbox: Inbox) -> None:
    places = []
    for text in ("one", "two", "three"):
        put(inbox, "result.json", text)
        places += [taken.moved_to for taken in inbox.take_all(Importer())]
    assert [place.name for place in places] == ["result.json", "result (2).json", "result (3).json"]
    assert [place.read_text(encoding="utf-8") for place in places] == ["one", "two", "three"]


def test_a_file_imported_before_is_said_to_be_so(inbox: Inbox) -> None:
    put(inbox, "again.json")
    (taken,) = inbox.take_all(Importer(Report(messages_new=0, messages_unchanged=40, rejected=[])))
    assert taken.imported
    assert taken.report["note"] == "already imported: all 40 messages were in the memory"


def test_a_file_of_which_nothing_could_be_read_has_failed(inbox: Inbox) -> None:
    put(inbox, "bad.jsonl")
    rejected = [{"file": "bad.jsonl", "where": "line 1", "reason": "no JSON"}]
    (taken,) = inbox.take_all(Importer(Report(messages_new=0, rejected=rejected, rejected_count=1)))
    assert not taken.imported
    assert report_of(taken)["rejected"] == rejected


def test_rejected_entries_beside_good_ones_are_counted(inbox: Inbox) -> None:
    put(inbox, "mixed.jsonl")
    (taken,) = inbox.take_all(Importer(Report(messages_new=5, rejected=[{}, {}], rejected_count=2)))
    assert taken.report["note"].endswith("; 2 entries rejected")


def test_two_processes_at_once_take_each_drop_once(inbox: Inbox) -> None:
    for number in range(12):
        put(inbox, f"{number}.json")
    importers = [Importer(), Importer()]
    threads = [threading.Thread(target=inbox.take_all, args=(importer,)) for importer in importers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(importers[0].seen + importers[1].seen) == sorted(f"{number}.json" for number in range(12))


def test_a_drop_that_surprises_the_importer_lies_in_failed_and_those_behind_it_are_taken(inbox: Inbox) -> None:
    class Surprised(Importer):
        def __call__(self, path: Path, /) -> Report:
            if path.name == "a.json":
                raise TypeError("secret words")
            return super().__call__(path)

    put(inbox, "a.json")
    put(inbox, "b.json")
    odd, good = inbox.take_all(Surprised())
    assert (odd.imported, good.imported) == (False, True)
    assert report_of(odd)["error"] == "it cannot be read: TypeError over an unforeseen value"


def test_a_damaged_file_lies_in_failed_and_says_what_went_in(inbox: Inbox) -> None:
    put(inbox, "cut.json")
    (taken,) = inbox.take_all(Importer(Report(messages_new=5, rejected=[{}], rejected_count=1, damaged=["cut.json"])))
    assert not taken.imported
    assert report_of(taken)["note"].startswith("damaged, what could be read went in: 5 new")


@pytest.mark.parametrize(
    "name", ["n" * 250 + ".json", "я" * 120 + ".json", b"bytes \xff.json".decode("utf-8", "surrogateescape")]
)
def test_names_that_are_long_or_no_text_are_moved_with_their_report_too(inbox: Inbox, name: str) -> None:
    for _ in range(2):
        put(inbox, name)
        (taken,) = inbox.take_all(Importer())
        assert taken.moved_to.exists()
    assert len([path for path in (inbox.folder / "done").iterdir() if path.name.endswith(".report.json")]) == 2
