"""A memory of a few rows that has one of everything the marts tell apart. The tests only read what is made of it."""

from __future__ import annotations

import json
from typing import Any, LiteralString
from uuid import UUID

import psycopg

NOW = "2024-03-15T12:00:00+00:00"
TASK = "interaction_summary"

DIRECT, GROUP, MASS = UUID(int=1), UUID(int=2), UUID(int=3)
ME, DANIEL, ANN = UUID(int=4), UUID(int=5), UUID(int=6)
FIRST, SECOND, THIRD, YOUNG, GIVEN_UP, NOISE = (UUID(int=10 + number) for number in range(1, 7))
AGREED, WITHDRAWN, OLD, TOGETHER = (UUID(int=20 + number) for number in range(1, 5))
CONTRACT, PARTS, SURVEY, HIDDEN, LOST, LAPSED = (UUID(int=30 + number) for number in range(1, 7))


class Writer:
    """Rows by dictionaries; what a test does not care about has a value already."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def add(self, table: LiteralString, **row: object) -> None:
        names = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, row))
        marks = psycopg.sql.SQL(", ").join(psycopg.sql.Placeholder() * len(row))
        statement = psycopg.sql.SQL("INSERT INTO {} ({}) VALUES ({})")
        values = [json.dumps(one) if isinstance(one, list) and _is_json(one) else one for one in row.values()]
        self.connection.execute(statement.format(psycopg.sql.Identifier(table), names, marks), values)

    def message(self, chat: UUID, number: str, day: str, deleted: str | None = None) -> None:
        self.add(
            "messages", chat_id=chat, external_id=number, sent_at=f"{day} 10:30Z", exported_at=day, deleted_at=deleted,
            token_count=3, importance_score=0, is_outgoing=False, content="x", content_hash="h",
        )  # fmt: skip

    def interaction(self, ident: UUID, chat: UUID, day: str, messages: int = 4) -> None:
        self.add(
            "interactions", id=ident, chat_id=chat, day=day, started_at=f"{day} 10:00Z", ended_at=f"{day} 11:00Z",
            status="completed", message_count=messages, token_count=40, language="en", first_external_id="1",
            input_hash="h",
        )  # fmt: skip
        self.add(
            "interaction_participants", interaction_id=ident, entity_id=ME, role="self", message_count=2,
            token_count=20, started_at=f"{day} 10:00Z", ended_at=f"{day} 11:00Z",
        )  # fmt: skip

    def summary(self, number: int, interaction: UUID, status: str, **row: object) -> UUID:
        ident = UUID(int=100 + number)
        given = {
            "input_hash": "h", "prompt_version": "p/1", "model_version": "m", "language": "en", "summary": "s",
            "message_ids": ["1"], "message_count": 4, "source_token_count": 40, "summary_token_count": 10,
            "compression_ratio": 4, "cost_usd": 0, "generation_seconds": 0,
            "generated_at": f"2024-03-{number:02} 03:00Z", **row,
        }  # fmt: skip
        self.add("interaction_summaries", id=ident, interaction_id=interaction, status=status, **given)
        return ident

    def item(self, ident: UUID, interaction: UUID, kind: str, text: str, *states: dict[str, Any], **row: Any) -> None:
        """Said on the interaction's day; each of ``states`` is a later one: what changes then."""
        people, day = row.pop("people"), {FIRST: "2024-02-01", SECOND: "2024-02-02"}[interaction]
        chat = {FIRST: DIRECT, SECOND: GROUP}[interaction]
        now: dict[str, Any] = {
            "at": f"{day} 10:30Z", "event": "opened", "status": "open", "text": text, "owner": row.pop("owner", "both"),
            "due_date": row.pop("due", None), "probability": 1, "decided_by": "memory", "superseded_by": None,
            "quote": row.get("quote", "I will"), "message_ids": row.pop("message_ids", ["1"]), "chat_id": chat,
            "interaction_id": interaction,
        }  # fmt: skip
        history = [now]
        for state in states:
            history.append({**history[-1], **state})
        last, where = history[-1], {"chat_id": chat, "interaction_id": interaction}
        kept = ("status", "text", "owner", "due_date", "probability", "decided_by", "superseded_by")
        settled = last["at"] if last["status"] in ("done", "cancelled", "superseded") else None
        given = {"importance": "high", **{name: last[name] for name in kept}, **row}
        self.add(
            "items", id=ident, kind=kind, message_ids=now["message_ids"], first_at=now["at"], last_at=last["at"],
            settled_at=settled, **{"quote": now["quote"], **where, **given},
        )  # fmt: skip
        for place, state in enumerate(history):
            self.add("item_states", item_id=ident, place=place, **state)
        for entity in people:
            self.add("item_people", item_id=ident, entity_id=entity)

    def call(
        self, at: str, usd: float, *, lane: str = "live", task: str = "interaction_summary", **row: object
    ) -> None:
        given = {"model": "claude-haiku-5-5", "outcome": "ok", "input_tokens": 100, "output_tokens": 10, **row}
        self.add(
            "llm_calls", request_hash="r", task=task, prompt_version="p/1", lane=lane, cost_usd=usd,
            duration_seconds=1, created_at=at, **given,
        )  # fmt: skip

    def profile(self, number: int, entity: UUID, week: str, **row: object) -> None:
        given = {
            "as_of": week, "covers_until": week, "input_hash": "h", "prompt_version": "p/1", "model_version": "m",
            "language": "en", "relationship_type": "client", "frequency": "monthly", "summary": "s",
            "first_interaction_at": "2023-06-01 10:00Z", "last_interaction_at": "2024-02-02 10:00Z",
            "last_meaningful_contact_at": "2023-11-30 23:30Z", "total_interactions": 4, "total_messages": 16,
            "summarized_interactions": 3, "coverage": 0.75, "source_token_count": 40, "summary_token_count": 10,
            "cost_usd": 0.002, "generation_seconds": 1, **row,
        }  # fmt: skip
        self.add("entity_relationship_profiles", id=UUID(int=200 + number), entity_id=entity, week=week, **given)


def _is_json(value: list[Any]) -> bool:
    return any(isinstance(one, dict) for one in value)


def fill(url: str) -> None:
    with psycopg.connect(url, options="-csearch_path=pkg,public") as connection:
        writer = Writer(connection)
        _people(writer)
        _conversations(writer)
        _summaries(writer)
        _items(writer)
        _ledger(writer)
        _profiles(writer)
        _served(writer)


def _people(writer: Writer) -> None:
    writer.add("installation", key="timezone", value="Europe/Berlin")
    for ident, name, is_self in ((ME, "Alex", True), (DANIEL, "Daniel Okafor", False), (ANN, "Ann", False)):
        writer.add("entities", id=ident, name=name, name_at=NOW, is_self=is_self)
    chats = (
        (DIRECT, "user:1", "direct", "personal"),
        (GROUP, "group:2", "group", "work"),
        (MASS, "c:3", "channel", "mass"),
    )
    for ident, key, kind, category in chats:
        writer.add(
            "chats", id=ident, source="telegram", external_id=key, kind=kind, category=category, title=key, title_at=NOW
        )


def _conversations(writer: Writer) -> None:
    for number, deleted in (("1", None), ("2", None), ("3", "2024-03-01")):
        writer.message(DIRECT, number, "2024-02-01", deleted)
    writer.message(GROUP, "1", "2024-02-02")
    writer.interaction(FIRST, DIRECT, "2024-02-01")
    writer.interaction(SECOND, GROUP, "2024-02-02")
    writer.interaction(THIRD, DIRECT, "2024-02-03")
    writer.interaction(GIVEN_UP, DIRECT, "2024-02-03", messages=9)
    writer.interaction(YOUNG, DIRECT, "2024-03-10")
    writer.interaction(NOISE, MASS, "2024-02-05")
    writer.add(
        "summary_attempts", interaction_id=GIVEN_UP, input_hash="h", prompt_version="p/1", model_version="m",
        attempts=3, state="failed", last_error="no answer",
    )  # fmt: skip


def _summaries(writer: Writer) -> None:
    for version in (1, 2):
        writer.summary(version, FIRST, "superseded", revision_count=version)
    writer.summary(3, FIRST, "completed", revision_count=3, key_points=[{"text": "a"}, {"text": "b"}])
    writer.summary(4, SECOND, "dirty", dirty_reason="edited")
    writer.summary(5, THIRD, "quarantined")
    for interaction, input_hash in ((FIRST, "h"), (SECOND, "before")):
        writer.add(
            "interaction_readings", interaction_id=interaction, ended_at="2024-02-01", input_hash=input_hash,
            shown_hash="s", prompt_version="p/1", model_version="m", content=json.dumps({}), item_ids=[],
        )  # fmt: skip


def _items(writer: Writer) -> None:
    """The contract was kept, the parts were put off, a call perhaps made, one lapsed, one moved by a person."""
    kept = {"at": "2024-02-08 09:00Z", "event": "done", "status": "done", "message_ids": ["2"], "quote": "here it is"}
    later = {"at": "2024-03-01 09:00Z", "event": "renewed", "due_date": "2024-03-14", "quote": "in March"}
    perhaps = {"at": "2024-03-02 09:00Z", "event": "perhaps_done", "status": "perhaps_done", "probability": 0.7}
    moved = {
        "at": "2024-03-10 09:00Z", "event": "edited", "due_date": "2024-03-15", "decided_by": "person", "chat_id": None,
        "interaction_id": None, "message_ids": [], "quote": "",
    }  # fmt: skip
    over = {"at": "2024-02-01 10:45Z", "event": "superseded", "status": "superseded", "superseded_by": AGREED}
    him, all_of_us = [DANIEL], [DANIEL, ANN]
    writer.item(CONTRACT, FIRST, "action_item", "Send the contract", kept, people=him, owner="self", due="2024-02-09")
    writer.item(PARTS, FIRST, "action_item", "Send the parts", later, people=him, owner="them", due="2024-02-20")
    writer.item(LOST, FIRST, "action_item", "Call back", perhaps, people=him, owner="self")
    writer.item(SURVEY, SECOND, "action_item", "Do the survey", moved, people=all_of_us, owner="self", due="2024-03-01")
    writer.item(
        LAPSED, SECOND, "action_item", "Fix the roof", people=him, owner="other", owner_name="Petros", due="2024-02-10"
    )
    writer.item(HIDDEN, FIRST, "action_item", "Rests on what was deleted", people=him, message_ids=["3"])
    said = {"people": him, "quote": "deal"}
    writer.item(OLD, FIRST, "decision", "Pay 4000 EUR", over, **said)
    writer.item(AGREED, FIRST, "decision", "Pay 5000 EUR", message_ids=["1", "2"], agreed_by=him, **said)
    writer.item(WITHDRAWN, FIRST, "decision", "Gone", message_ids=["2", "3"], **said)
    writer.item(TOGETHER, SECOND, "decision", "Meet in Riga", people=all_of_us, importance="medium")


def _ledger(writer: Writer) -> None:
    writer.call("2024-02-27 10:00Z", 0.01)
    writer.call("2024-02-27 22:59Z", 0.02, outcome="quarantined")
    writer.call("2024-02-27 23:30Z", 0.04, is_usage_estimated=True)  # half past midnight in Berlin
    writer.call("2024-03-01 10:00Z", 0.10, task="profile", lane="backfill")
    writer.add("budgets", day="2024-02-27", lane="live", task="interaction_summary", calls=2, spent_usd=0.03)
    writer.add("budgets", day="2024-02-27", lane="live", task="profile", calls=1, spent_usd=0.01, reserved_usd=0.02)


def _served(writer: Writer) -> None:
    """Contexts on two local days, one longer than what it stands for, and windows, one with a cost."""
    for number, (at, tokens, whole) in enumerate(
        (("2024-02-27 10:00Z", 2000, 6000), ("2024-02-27 11:00Z", 3000, 15000), ("2024-02-27 23:30Z", 900, 700))
    ):
        writer.add(
            "context_receipts", id=UUID(int=900 + number), entity_id=DANIEL, request="{}", tiers="{}", left_out="[]",
            tokens=tokens, hypothetical_tokens=whole, served_at=at,
        )  # fmt: skip
    writer.add("conversation_sessions", id=DIRECT, policy="hysteresis", strategy="hybrid")
    for number, (tokens, whole, cost) in enumerate(((1000, 10000, None), (2000, 30000, 0.02))):
        writer.add(
            "served_windows", id=UUID(int=960 + number), session_id=DIRECT, strategy="hybrid", prompt_tokens=tokens,
            hypothetical_tokens=whole, budget="{}", tiers="{}", cost_usd=cost, served_at="2024-02-28 09:00Z",
        )  # fmt: skip


def _profiles(writer: Writer) -> None:
    milestone = {"day": "2024-02-01", "title": "First order", "importance": "high", "interaction_ids": [str(SECOND)]}
    writer.profile(1, DANIEL, "2024-02-25", frequency="quarterly")
    writer.profile(
        2, DANIEL, "2024-03-03", open_action_items=[{"id": str(PARTS)}],
        milestones=[milestone, {**milestone, "title": "Rests on what was deleted", "interaction_ids": [str(FIRST)]}],
        generated_at="2024-02-28",
    )  # fmt: skip
    writer.profile(3, ANN, "2024-03-03", status="dirty", dirty_reason="deleted", milestones=[milestone])
