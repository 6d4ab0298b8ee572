"""The inbox folder: which entries (files, zips, folders) are complete, and where they go. An entry is imported, then
moved: after a crash in between it is imported again, which changes nothing (B10).
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import fasteners

from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS, unexpected_error

SETTLE_SECONDS = 2.0
"""Entries changed more recently may still be written to."""

UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".filepart", ".tmp", "~")
"""Suffixes of unfinished files of browsers, copy programs and editors."""

DONE, FAILED = "done", "failed"
REPORT = ".report.json"
LONGEST_NAME_BYTES = 255

_ONE_THREAD = threading.Lock()
"""File locks hold between processes only."""


class Refused(Exception):
    """An entry that can never be imported as it is; one line with reason and remedy."""


class Report(Protocol):
    def to_json(self) -> dict[str, Any]: ...


Importer = Callable[[Path], Report]


@dataclass(frozen=True, slots=True)
class Drop:
    """``changed_at`` (unix seconds): the newest change of any of its files."""

    path: Path
    files: int
    size_bytes: int
    changed_at: float
    is_unfinished: bool

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def signature(self) -> str:
        """Changes with every write to any of its files."""
        return f"{self.files}:{self.size_bytes}:{self.changed_at:.6f}"


@dataclass(frozen=True, slots=True)
class Taken:
    """``report``: contents of ``NAME.report.json``."""

    name: str
    imported: bool
    moved_to: Path
    report: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def line(self) -> str:
        """One line that names the file and quotes nothing of it."""
        return f"{self.name}: {self.report['note']}"


class Inbox:
    """``folder`` is created with the first entry taken; ``wall`` is compared with file times."""

    def __init__(
        self, folder: Path, *, settle_seconds: float = SETTLE_SECONDS, wall: Callable[[], float] = time.time
    ) -> None:
        self.folder = folder
        self._settle_seconds = settle_seconds
        self._wall = wall

    def drops(self) -> list[Drop]:
        """All entries by name, without hidden ones, unfinished downloads and empty folders."""
        try:
            entries = sorted(self.folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = (_drop(entry) for entry in entries if entry.name not in (DONE, FAILED) and not _is_ignored(entry.name))
        return [drop for drop in found if drop is not None]

    def ready(self) -> list[Drop]:
        """Entries unchanged for ``settle_seconds`` without unfinished files."""
        return [drop for drop in self.drops() if self._is_settled(drop)]

    def take_all(self, importer: Importer) -> list[Taken]:
        """Import every ready entry and move it to ``done/`` or ``failed/`` with its report; a failure stops no other.

        ``importer`` raises Refused for a bad entry; other errors (no database) are raised and leave it in place.
        """
        if not self.ready():
            return []
        with _ONE_THREAD, fasteners.InterProcessLock(self.folder / ".lock"):
            # looked at again: another process may have taken some
            return [self._take(drop, importer) for drop in self.ready()]

    def _is_settled(self, drop: Drop) -> bool:
        return not drop.is_unfinished and self._wall() - drop.changed_at >= self._settle_seconds

    def _take(self, drop: Drop, importer: Importer) -> Taken:
        try:
            report = importer(drop.path).to_json()
        except Refused as error:
            return self._move(drop, FAILED, {"note": f"failed: {error}", "error": str(error)})
        except UNEXPECTED_ERRORS as error:  # of this drop; the others go on
            reason = unexpected_error(error)
            return self._move(drop, FAILED, {"note": f"failed: {reason}", "error": reason})
        if _messages(report) == 0 and report.get("rejected"):
            return self._move(drop, FAILED, {"note": "failed: no message could be read", **report})
        if report.get("damaged"):
            note = f"damaged, what could be read went in: {_note(report)}; export it again"
            return self._move(drop, FAILED, {"note": note, **report})
        return self._move(drop, DONE, {"note": _note(report), **report})

    def _move(self, drop: Drop, folder: str, report: dict[str, Any]) -> Taken:
        target = _free_name(self.folder / folder, drop.name)
        target.parent.mkdir(exist_ok=True)
        drop.path.rename(target)
        # the report comes second: a crash in between leaves a file without report, never a report without file
        stamped = {**report, "file": drop.name, "taken_at": datetime.now(UTC).isoformat(timespec="seconds")}
        beside = _report_of(target)
        partial = beside.with_name(f".{beside.name}")
        # file names may be no valid text
        partial.write_text(json.dumps(stamped, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", errors="replace")
        partial.rename(beside)
        return Taken(drop.name, imported=folder == DONE, moved_to=target, report=stamped)


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name.lower().endswith(UNFINISHED)


def _drop(entry: Path) -> Drop | None:
    """None if it vanished, is neither file nor folder, or is empty."""
    files = size = 0
    changed_at = 0.0
    is_unfinished = False
    try:
        for path in _files(entry):
            status = path.stat()
            files += 1
            size += status.st_size
            # ctime changes with every write, even if a copy program sets an old mtime
            changed_at = max(changed_at, status.st_ctime)
            is_unfinished = is_unfinished or path.name.lower().endswith(UNFINISHED)
    except OSError:  # gone or not readable
        return None
    return Drop(entry, files, size, changed_at, is_unfinished) if files else None


def _files(entry: Path) -> Iterator[Path]:
    if entry.is_file():
        yield entry
    elif entry.is_dir():
        for folder, _, names in os.walk(entry):
            yield from (Path(folder) / name for name in names)


def _free_name(folder: Path, name: str) -> Path:
    """``name``, or ``stem (2).suffix`` … if taken, cut so that the report's name fits."""
    stem, suffix = Path(name).stem, Path(name).suffix
    longest = LONGEST_NAME_BYTES - len(os.fsencode(suffix)) - len(REPORT) - len(". (1000)")
    stem = os.fsdecode(os.fsencode(stem)[: max(longest, 1)])
    number = 1
    while True:
        target = folder / (f"{stem}{suffix}" if number == 1 else f"{stem} ({number}){suffix}")
        if not target.exists() and not _report_of(target).exists():
            return target
        number += 1


def _report_of(target: Path) -> Path:
    return target.with_name(target.name + REPORT)


def _messages(report: dict[str, Any]) -> int:
    kinds = ("new", "updated", "unchanged", "deleted")
    return sum(int(report.get(f"messages_{kind}", 0)) for kind in kinds)


def _note(report: dict[str, Any]) -> str:
    new, updated = int(report.get("messages_new", 0)), int(report.get("messages_updated", 0))
    deleted, unchanged = int(report.get("messages_deleted", 0)), int(report.get("messages_unchanged", 0))
    rejected = int(report.get("rejected_count", len(report.get("rejected", ()))))
    if new == updated == deleted == 0:
        note = f"already imported: all {unchanged} messages were in the memory" if unchanged else "holds no messages"
    else:
        note = f"{new} new, {updated} updated, {deleted} deleted, {unchanged} unchanged messages"
    if held := sum(int(one["missing"]) for one in report.get("held_deletions", ())):
        note = f"{note}; {held} messages that a newer export lacks were kept: too many to be deleted unasked"
    return f"{note}; {rejected} entries rejected" if rejected else note
