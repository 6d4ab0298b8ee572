"""Rows for the tests of the reads, written by SQL as the writing stages leave them. Nothing here knows how to read."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests.stages.item_builder import ItemBuilder, made_id


@dataclass(frozen=True)
class Said:
    """One message of a conversation: who, what, how many minutes after its start."""

    sender: str
    text: str
    minute: float = 0
    score: float = 0.0
    deleted: bool = False
    kind: str = "message"
    edited_at: datetime | None = None


class MemoryBuilder(ItemBuilder):
    """A small memory: people, chats, conversations and what was made of them."""

    def __init__(self, url: str) -> None:
        super().__init__(engine.connect(url, autocommit=True))
        self.selves: set[str] = set()

    def close(self) -> None:
        self.connection.close()

    def person(self, name: str, *, is_self: bool = False, source: str = "telegram", kind: str = "person") -> uuid.UUID:
        identity = made_id("entity", name)
        self.people[name] = identity
        if is_self:
            self.selves.add(name)
        self.insert(
            "entities",
            id=identity,
            type=kind,
            name=name,
            name_at=datetime.fromisoformat("2020-01-01T00Z"),
            is_self=is_self,
        )
        self.insert("entity_identities", source=source, external_id=f"user:{name}", entity_id=identity)
        return identity

    def chat(
        self,
        title: str,
        members: Sequence[str],
        *,
        kind: str = "direct",
        source: str = "telegram",
        category: str | None = None,
    ) -> uuid.UUID:
        external = f"{kind}:{title}"
        identity = made_id("chat", source, external)
        self.chats[title] = (identity, kind, external)
        self.insert(
            "chats",
            id=identity,
            source=source,
            external_id=external,
            kind=kind,
            title=title,
            category=category,
            title_at=datetime.fromisoformat("2020-01-01T00Z"),
        )
        for member in members:
            self.insert("chat_members", chat_id=identity, entity_id=self.people[member])
        return identity

    def conversation(
        self,
        chat: str,
        started_at: datetime,
        said: Sequence[Said],
        *,
        language: str = "en",
        belongs: dict[str, Sequence[int]] | None = None,
        sessionised: bool = True,
        tokens: int = 10,
    ) -> uuid.UUID:
        """An interaction with its messages of so many ``tokens`` each. In a group ``belongs`` says which messages (by
        place) are whose.
        """
        chat_id, kind, _ = self.chats[chat]
        interaction = made_id("interaction", chat, started_at)
        times = [started_at + timedelta(minutes=one.minute) for one in said]
        ids = [self._message(chat, place, one, at) for place, (one, at) in enumerate(zip(said, times, strict=True))]
        if not sessionised:
            return interaction
        self.insert(
            "interactions",
            id=interaction,
            chat_id=chat_id,
            day=started_at.date(),
            started_at=started_at,
            ended_at=max(times),
            status="completed",
            message_count=len(said),
            token_count=10 * len(said),
            language=language,
            first_external_id=self.external_id(chat, started_at, 0),
            input_hash="h",
        )
        everybody = {one.sender: range(len(said)) for one in said if one.sender}
        if kind == "direct":
            rows = self.connection.execute(
                "SELECT e.name FROM chat_members m JOIN entities e ON e.id = m.entity_id WHERE chat_id = %s", (chat_id,)
            ).fetchall()
            everybody = {name: range(len(said)) for (name,) in rows}
        for name, places in {**everybody, **(belongs or {})}.items():
            self._participant(name, interaction, places, said, times, ids if kind != "direct" else None, tokens)
        return interaction

    @staticmethod
    def external_id(chat: str, started_at: datetime, place: int) -> str:
        return f"{started_at:%Y%m%d%H%M}-{place}"

    def _message(self, chat: str, place: int, one: Said, at: datetime) -> int:
        chat_id, _, _ = self.chats[chat]
        row = self.connection.execute(
            "INSERT INTO messages (chat_id, sender_entity_id, sent_at, exported_at, edited_at,"
            " deleted_at, token_count, importance_score, is_outgoing, kind, external_id, content, content_hash)"
            " VALUES (%s, %s, %s, %s, %s, %s, 10, %s, %s, %s, %s, %s, 'h') RETURNING id",
            (
                chat_id,
                self.people.get(one.sender),
                at,
                at,
                one.edited_at,
                at if one.deleted else None,
                one.score,
                one.sender in self.selves,
                one.kind,
                self.external_id(chat, at - timedelta(minutes=one.minute), place),
                one.text,
            ),
        ).fetchone()
        assert row is not None
        return row[0]

    def _participant(
        self,
        name: str,
        interaction: uuid.UUID,
        places: Sequence[int],
        said: Sequence[Said],
        times: Sequence[datetime],
        group_ids: Sequence[int] | None,
        tokens: int,
    ) -> None:
        entity = self.people[name]
        self.insert(
            "interaction_participants",
            interaction_id=interaction,
            entity_id=entity,
            role="self" if name in self.selves else "other",
            message_count=len(places),
            token_count=tokens * len(places),
            started_at=min(times),
            ended_at=max(times),
        )
        if group_ids is not None and name not in self.selves:
            for place in places:
                if not said[place].deleted:
                    self.insert(
                        "message_entities",
                        entity_id=entity,
                        message_id=group_ids[place],
                        interaction_id=interaction,
                        sent_at=times[place],
                    )

    def revision(self, chat: str, started_at: datetime, place: int, *, text: str, edited_at: datetime) -> None:
        found = self.connection.execute(
            "SELECT id FROM messages WHERE chat_id = %s AND external_id = %s",
            (self.chats[chat][0], self.external_id(chat, started_at, place)),
        ).fetchone()
        assert found is not None
        self.insert(
            "message_revisions",
            message_id=found[0],
            content_hash=text,
            edited_at=edited_at,
            is_deleted=False,
            content=text,
        )

    def summary(
        self,
        interaction: uuid.UUID,
        text: str,
        *,
        status: str = "completed",
        dirty_reason: str | None = None,
        message_ids: Sequence[str] = (),
        **more: Any,
    ) -> uuid.UUID:
        identity = made_id("summary", interaction, status, text)
        self.insert(
            "interaction_summaries",
            id=identity,
            interaction_id=interaction,
            status=status,
            dirty_reason=dirty_reason,
            input_hash="h",
            prompt_version="p",
            model_version="offline",
            language="en",
            summary=text,
            message_ids=list(message_ids),
            message_count=3,
            source_token_count=30,
            summary_token_count=max(10, len(text) // 3),
            compression_ratio=3,
            cost_usd=0,
            generation_seconds=0.1,
            **{key: Jsonb(value) if isinstance(value, list) else value for key, value in more.items()},
        )
        return identity

    def fact(self, about: str, fact_type: str, value: str, *, status: str = "confirmed", **more: Any) -> uuid.UUID:
        identity = made_id("fact", about, fact_type, value, more.get("interaction_id"))
        self.insert(
            "entity_facts",
            id=identity,
            entity_id=self.people[about],
            fact_type=fact_type,
            value=value,
            confidence=1,
            status=status,
            **{"quote": value, "message_ids": [], **more},
        )
        return identity

    def totals(self) -> None:
        """entity_days from the participants, as the interactions stage keeps them."""
        self.connection.execute("TRUNCATE entity_days")
        self.connection.execute(
            "INSERT INTO entity_days SELECT entity_id, day, messages, tokens, sum(messages) OVER w, sum(tokens) OVER w"
            " FROM (SELECT entity_id, (started_at AT TIME ZONE 'UTC')::date AS day, sum(message_count) AS messages,"
            " sum(token_count) AS tokens FROM interaction_participants GROUP BY 1, 2) AS d"
            " WINDOW w AS (PARTITION BY entity_id ORDER BY day)"
        )
