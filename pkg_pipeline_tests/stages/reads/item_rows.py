"""Items with their histories for the tests of the reads, written by SQL as the items stage leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from pkg_pipeline.adapters.postgres.json_rows import rows_of
from pkg_pipeline.memory.items.records import ReadItem, TalkReading
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder, made_id

SETTLED = {"done", "cancelled", "superseded"}


def item(
    build: MemoryBuilder,
    talk: UUID,
    text: str,
    *states: dict[str, Any],
    about: Sequence[str],
    at: datetime,
    kind: str = "action_item",
    owner: str = "them",
    due: date | None = None,
    message: str = "m1",
    **more: Any,
) -> UUID:
    """An item that ``talk`` opened. Each of ``states`` is a later one: what changes then."""
    identity = made_id("item", talk, kind, text)
    found = build.connection.execute("SELECT chat_id FROM interactions WHERE id = %s", (talk,)).fetchone()
    assert found is not None
    where = {"chat_id": found[0], "interaction_id": talk}
    now: dict[str, Any] = {
        "at": at, "event": "opened", "status": "open", "text": text, "owner": owner, "due_date": due,
        "probability": 1.0, "decided_by": "memory", "superseded_by": None, "quote": text, "message_ids": [message],
        "is_withheld": False, **where,
    }  # fmt: skip
    history = [now]
    for state in states:
        now = {**now, **state}
        history.append(now)
    taken = {name: now[name] for name in
             ("status", "text", "owner", "due_date", "probability", "superseded_by", "decided_by")}  # fmt: skip
    row = {
        "id": identity, "kind": kind, "importance": "medium", **taken, **where, "quote": text,
        "message_ids": [message], "first_at": at, "last_at": now["at"],
        "settled_at": now["at"] if now["status"] in SETTLED else None, **more,
    }  # fmt: skip
    build.insert("items", **row)
    for place, state in enumerate(history):
        build.insert("item_states", item_id=identity, place=place, **state)
    for name in about:
        build.insert("item_people", item_id=identity, entity_id=build.people[name])
    return identity


def reading(build: MemoryBuilder, talk: UUID, **more: Any) -> None:
    """The reading that the items of ``talk`` follow from, without their later states."""
    found = build.connection.execute(
        "SELECT id, kind, text, owner, due_date, importance, quote, message_ids, first_at AS at, owner_entity_id,"
        " owner_name FROM items WHERE interaction_id = %s ORDER BY id",
        [talk],
    )
    names = [column.name for column in found.description or ()]
    items = [ReadItem(**dict(zip(names, row, strict=True))) for row in found.fetchall()]
    (content,) = rows_of([TalkReading(talk, tuple(items))])
    build.insert(
        "interaction_readings", interaction_id=talk, ended_at=items[0].at, input_hash="h", shown_hash="s",
        prompt_version="p", model_version="offline", content=Jsonb(content), item_ids=[one.id for one in items], **more,
    )  # fmt: skip
