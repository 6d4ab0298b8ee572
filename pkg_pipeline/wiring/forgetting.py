"""``memory.forgetting``: erasing on request, over the database, the inbox and LangGraph's threads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from pkg_pipeline.adapters.inbox import DONE, FAILED, REPORT
from pkg_pipeline.adapters.postgres import memories
from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.adapters.postgres.archive.forgetting import PostgresForgetting
from pkg_pipeline.place_settings import MEMORIES_FOLDER
from pkg_pipeline.stages.archive.forgetting import (
    Forgetting,
    Receipt,
    Residue,
    Surveyed,
    holds_forgotten,
    residues,
)

if TYPE_CHECKING:
    from pkg_pipeline.memory.message.forgotten import Forgotten
    from pkg_pipeline.wiring.process import Process
    from pkg_pipeline.wiring.sessions import SessionWork

READ_AT_ONCE = 1 << 22


class ForgettingWork:
    """``by``: who asks, as receipts name them."""

    def __init__(self, process: Process, sessions: SessionWork) -> None:
        self._process = process
        self.store = PostgresForgetting(process.connections, sessions.counters)

    # ── what is meant ─────────────────────────────────────────────────────────────────────────

    def person(self, person: UUID, *, with_mentions: bool = False) -> Surveyed:
        return self.store.person(person, with_mentions=with_mentions)

    def chat(self, chat: UUID) -> Surveyed:
        return self.store.chat("chat", chat)

    def session(self, session: UUID) -> Surveyed:
        return self.store.chat("session", session)

    def message(self, chat: UUID, external_id: str) -> Surveyed:
        return self.store.message(chat, external_id)

    def range(self, chat: UUID, from_at: datetime, to_at: datetime) -> Surveyed:
        return self.store.range(chat, from_at, to_at)

    # ── doing it ──────────────────────────────────────────────────────────────────────────────

    def forget(self, found: Surveyed, *, by: str, rewrite: bool = True) -> Receipt:
        """Raises NotForgotten."""
        return self._stage(rewrite=rewrite).forget(found, by=by)

    def resume(self, *, rewrite: bool = True) -> int:
        return self._stage(rewrite=rewrite).resume()

    def _stage(self, *, rewrite: bool) -> Forgetting:
        process = self._process
        return Forgetting(
            self.store,
            PostgresErasure(process.connections),
            process.clock,
            clean_files=self._clean_inbox,
            sweep=lambda: self.store.sweep(rewrite=rewrite),
        )

    def _clean_inbox(self, forgotten: Forgotten) -> int:
        """Entries of the inbox that were dealt with and show something forgotten, or cannot be read, with their
        reports; returns how many.
        """
        removed = 0
        for folder in (self._process.settings.inbox / DONE, self._process.settings.inbox / FAILED):
            for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
                if entry.name.endswith(REPORT) or not self._shows(entry, forgotten):
                    continue
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
                entry.with_name(entry.name + REPORT).unlink(missing_ok=True)
                removed += 1
        return removed

    def _shows(self, entry: Path, forgotten: Forgotten) -> bool:
        from pkg_pipeline.adapters.exports.containers import UnreadableExport
        from pkg_pipeline.adapters.exports.detect import open_export

        try:
            exports = open_export(entry, timezone=self._process.settings.timezone)
            return any(holds_forgotten(export.items(), forgotten) for export in exports)
        except (UnreadableExport, ValueError, OSError):
            return True

    # ── proof ─────────────────────────────────────────────────────────────────────────────────

    def residues(self, words: list[str]) -> list[Residue]:
        """Tables and files of the home in which one of the words still stands."""
        return residues(words, tables=self.store.rows_with, files=self._files_with)

    def _files_with(self, word: str) -> Iterator[Residue]:
        """Counts lower case and the case given: a table's file holds words as they were said."""
        home, others = self._process.settings.home, self._of_others()
        wanted = {word.encode(), word.lower().encode()}
        for path in sorted(home.rglob("*")) if home.is_dir() else ():
            if others & {path, *path.parents}:
                continue
            if path.is_file() and not path.is_symlink() and (count := _times(path, wanted)):
                yield Residue(str(path.relative_to(home)), count)

    def _of_others(self) -> set[Path]:
        """Folders of the home that belong to other memories alone: what they say is none of this one's matter."""
        settings = self._process.settings
        base = settings.database_folder / "base"
        folders = {base / str(number) for number in memories.others(self._process.connections)}
        folders.update((settings.home / MEMORIES_FOLDER).glob("*") if settings.memory is None else ())
        if settings.memory is not None:
            beside = {*settings.home.iterdir(), *settings.memory_home.parent.iterdir()}
            folders |= beside - {settings.database_folder, settings.memory_home.parent, settings.memory_home}
        return folders


def _times(path: Path, wanted: set[bytes]) -> int:
    """How often one of the words stands in a file, which may go meanwhile."""
    count, kept = 0, max(map(len, wanted)) - 1
    try:
        with path.open("rb") as stream:
            rest = b""
            while block := stream.read(READ_AT_ONCE):
                seen = rest + block
                count += sum(seen.count(word) for word in wanted)
                rest = seen[-kept:] if kept else b""
    except OSError:
        return count
    return count
