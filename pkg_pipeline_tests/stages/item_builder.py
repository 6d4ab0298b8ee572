"""Rows of items and their histories, written by SQL as the stage of items leaves them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import psycopg
from psycopg import sql

SPACE = uuid.UUID("0b7c9c1e-3c1f-4d54-9d5c-2a4f6f1f9a10")


def made_id(*parts: object) -> uuid.UUID:
    return uuid.uuid5(SPACE, "/".join(str(part) for part in parts))


class ItemBuilder:
    """Items of known people and chats."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self.connection = connection
        self.people: dict[str, uuid.UUID] = {}
        self.chats: dict[str, tuple[uuid.UUID, str, str]] = {}

    def insert(self, table: str, **values: Any) -> None:
        self.connection.execute(
            sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, values)),
                sql.SQL(", ").join(sql.Placeholder() * len(values)),
            ),
            list(values.values()),
        )

    def decision(
        self,
        interaction: uuid.UUID,
        text: str,
        *,
        about: Sequence[str],
        importance: str = "high",
        withheld: bool = False,
        message_ids: Sequence[str] = (),
        replaces: uuid.UUID | None = None,
        probability: float = 1.0,
    ) -> uuid.UUID:
        """In force since the interaction's end; ``replaces``: the decision that it supersedes."""
        given = {"kind": "decision", "importance": importance, "is_withheld": withheld, "probability": probability}
        made = self._item(interaction, text, about, message_ids=list(message_ids), **given)
        if replaces is not None:
            at = self._ended_at(interaction)[0]
            self.state(replaces, "superseded", at, superseded_by=made)
        return made

    def action(
        self,
        interaction: uuid.UUID,
        text: str,
        *,
        about: Sequence[str],
        withheld: bool = False,
        message_ids: Sequence[str] = (),
        owner: str = "them",
        due: date | None = None,
        **more: Any,
    ) -> uuid.UUID:
        """Open since the interaction's end; ``state`` says what became of it."""
        given = {"kind": "action_item", "importance": "medium", "is_withheld": withheld, "owner": owner, **more}
        return self._item(interaction, text, about, message_ids=list(message_ids), due_date=due, **given)

    def _ended_at(self, interaction: uuid.UUID) -> tuple[datetime, uuid.UUID]:
        found = self.connection.execute(
            "SELECT ended_at, chat_id FROM interactions WHERE id = %s", (interaction,)
        ).fetchone()
        assert found is not None
        return found[0], found[1]

    def _item(self, interaction: uuid.UUID, text: str, about: Sequence[str], **values: Any) -> uuid.UUID:
        at, chat = self._ended_at(interaction)
        identity = made_id("item", interaction, values["kind"], text)
        said = {"text": text, "quote": text, "owner": "self", "probability": 1, "due_date": None, **values}
        found = {"chat_id": chat, "interaction_id": interaction, "first_at": at, "last_at": at}
        self.insert("items", id=identity, status="open", **said, **found)
        for name in about:
            self.insert("item_people", item_id=identity, entity_id=self.people[name])
        self._state(identity, 0, "opened", at, chat_id=chat, interaction_id=interaction)
        return identity

    def state(
        self,
        item: uuid.UUID,
        event: str,
        at: datetime,
        *,
        quote: str = "",
        message_ids: Sequence[str] = (),
        withheld: bool = False,
        chat: str | None = None,
        **more: Any,
    ) -> None:
        """A later state; ``more``: what of the item it changes."""
        status = event if event in ("perhaps_done", "done", "cancelled", "superseded") else "open"
        settled = at if status in ("done", "cancelled", "superseded") else None
        now = {"status": status, "last_at": at, "settled_at": settled, **more}
        if not withheld:
            assigned = sql.SQL(", ").join(sql.SQL("{} = %s").format(sql.Identifier(name)) for name in now)
            self.connection.execute(
                sql.SQL("UPDATE items SET {} WHERE id = %s").format(assigned), [*now.values(), item]
            )
        row = self.connection.execute("SELECT count(*) FROM item_states WHERE item_id = %s", (item,)).fetchone()
        assert row is not None
        said = {"quote": quote, "message_ids": list(message_ids), "is_withheld": withheld}
        self._state(item, row[0], event, at, **said, chat_id=None if chat is None else self.chats[chat][0], **more)

    def _state(self, item: uuid.UUID, place: int, event: str, at: datetime, **more: Any) -> None:
        """What is not given is as the item has it."""
        copied = ["status", "text", "owner", "due_date", "probability", "quote", "message_ids", "is_withheld"]
        names = [name for name in copied if name not in more]
        decided_by = "person" if event in ("closed", "reopened", "edited") else "memory"
        self.connection.execute(
            sql.SQL(
                "INSERT INTO item_states (item_id, place, event, at, decided_by, {}, {})"
                " SELECT id, %s, %s, %s, %s, {}, {} FROM items WHERE id = %s"
            ).format(
                sql.SQL(", ").join(map(sql.Identifier, names)),
                sql.SQL(", ").join(map(sql.Identifier, more)),
                sql.SQL(", ").join(map(sql.Identifier, names)),
                sql.SQL(", ").join(sql.Placeholder() * len(more)),
            ),
            [place, event, at, decided_by, *more.values(), item],
        )
