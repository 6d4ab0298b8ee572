"""Finds deleted messages by comparing exports of the same chats (rule: ``memory.message.deletions``), in the caller's
transaction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from psycopg.rows import dict_row

from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.postgres.profiles.marks import dirty_changed
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.sessions.counters import SessionCounters
from pkg_pipeline.memory.message.deletions import KnownExport, Verdict, find_deletions
from pkg_pipeline.stages.ingest.records import ChatExport, Deletions, HeldDeletions


def compare(
    connection: Connection,
    exports: Sequence[ChatExport],
    *,
    verdict: Verdict,
    counters: SessionCounters,
    now: datetime,
) -> Deletions:
    """Save the exports of one file, one per chat, and apply what all exports of these chats say together."""
    chats = [export.chat_id for export in exports]
    connection.execute(query("ingest", "lock_chats"), {"ids": chats, "selves": []})
    _note(connection, exports, _missing(connection, exports), verdict)
    if verdict == "accepted":
        connection.execute(query("deletions", "accept"), {"chats": chats})
    return _apply(connection, chats, counters=counters, now=now)


def _missing(connection: Connection, exports: Sequence[ChatExport]) -> dict[UUID, list[int]]:
    """Known messages within the span of each whole export that are not in it. Usually none, which a count tells."""
    spans = _spans(exports)
    known = {row["place"] - 1: row["known"] for row in _rows(connection, "known_in_spans", spans)}
    lacking = [one for place, one in enumerate(exports) if one.is_whole and known.get(place, 0) > one.taken]
    if not lacking:
        return {}
    connection.execute(query("deletions", "create_shown"))
    with connection.cursor() as cursor, cursor.copy(query("deletions", "copy_shown")) as copy:
        for export in lacking:
            for number in export.numbers.tolist():
                copy.write_row((export.chat_id, number))
    return {row["chat_id"]: row["numbers"] for row in _rows(connection, "missing", _spans(lacking))}


def _note(
    connection: Connection, exports: Sequence[ChatExport], missing: dict[UUID, list[int]], verdict: Verdict
) -> None:
    noted: dict[str, list[Any]] = {
        **_spans(exports),
        "id": [_id(export) for export in exports],
        "evidence_at": [export.evidence_at for export in exports],
        "owner": [export.owner for export in exports],
        "is_whole": [export.is_whole for export in exports],
        "verdict": [verdict] * len(exports),
        "missing": [json.dumps(sorted(missing.get(export.chat_id, ()))) for export in exports],
    }
    connection.execute(query("deletions", "note_exports"), noted)


def _apply(connection: Connection, chats: list[UUID], *, counters: SessionCounters, now: datetime) -> Deletions:
    rows = _rows(connection, "exports", {"chats": chats})
    if not rows:
        return Deletions()
    names = {row["chat_id"]: (row["source"], row["external_id"]) for row in rows}
    candidates: dict[UUID, dict[int, tuple[int, bool]]] = {chat: {} for chat in names}
    for row in _rows(connection, "candidates", {"chats": list(names)}):
        candidates[row["chat_id"]][row["number"]] = row["id"], row["is_missing"]
    exports: dict[UUID, list[KnownExport]] = {chat: [] for chat in names}
    for row in rows:
        missing = frozenset(row["missing"]) & candidates[row["chat_id"]].keys()
        exports[row["chat_id"]].append(replace(_known(row), missing=missing))
    gone, back, held = list[int](), list[int](), list[HeldDeletions]()
    for chat, known in exports.items():
        found = find_deletions(known)
        held += [HeldDeletions(*names[chat], one.missing, one.known) for one in found.held]
        for number, (message, is_missing) in candidates[chat].items():
            if (number in found.gone) != is_missing:
                (back if is_missing else gone).append(message)
    if gone or back:
        change(connection, list(names), gone, back, counters=counters, now=now)
    return Deletions(len(gone), len(back), tuple(held))


def change(
    connection: Connection,
    chats: list[UUID],
    gone: list[int],
    back: list[int],
    *,
    counters: SessionCounters,
    now: datetime,
) -> None:
    """As if the source had reported the deletion: summaries, profiles and sessions over these messages become dirty."""
    touched = counters.touched(connection, chats)
    connection.execute("DROP TABLE IF EXISTS changed")
    connection.execute(query("deletions", "create_changed"), {"gone": gone, "back": back})
    connection.execute(query("deletions", "mark_missing"))
    counters.replace(connection, touched)
    connection.execute(query("ingest", "lock_items"))
    connection.execute(query("ingest", "mark_changed"))
    connection.execute(query("deletions", "delete_missing"), {"now": now})
    dirty_changed(connection)
    counters.settle(connection, touched, now=now)


def _known(row: dict[str, Any]) -> KnownExport:
    return KnownExport(
        id=row["id"],
        evidence_at=row["evidence_at"],
        first=row["first_number"],
        last=row["last_number"],
        owner=row["owner"],
        is_whole=row["is_whole"],
        verdict=row["verdict"],
        known=row["known"],
    )


def _id(export: ChatExport) -> UUID:
    """The same for the same content, whatever the file's name."""
    content = export.numbers.astype("<i8").tobytes().hex()
    return uuid5(export.chat_id, f"{export.evidence_at.isoformat()} {export.owner} {export.is_whole} {content}")


def _spans(exports: Sequence[ChatExport]) -> dict[str, list[Any]]:
    return {
        "chat_id": [export.chat_id for export in exports],
        "first": [int(export.numbers[0]) for export in exports],
        "last": [int(export.numbers[-1]) for export in exports],
    }


def _rows(connection: Connection, name: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query("deletions", name), parameters).fetchall()
