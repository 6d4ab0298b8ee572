"""Reads what relationship profiles are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.json_rows import record_of
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.profile.records import Milestone, OpenItem, ProfileContent, Utterance
from pkg_pipeline.memory.profile.relationship import BEGINNING, MOST_CHARS, MOST_MESSAGES
from pkg_pipeline.memory.profile.rules import ITEMS_IN_PROMPT, MEANINGFUL_MESSAGES, Week
from pkg_pipeline.memory.records import Person, Quarantined
from pkg_pipeline.stages.profiles import aggregation
from pkg_pipeline.stages.profiles.stores import (
    MadeDecision,
    Material,
    PastAttempt,
    ProfilePrompt,
    Words,
)

if TYPE_CHECKING:
    import pandas as pd

SQL = Statements("profiles")
HEARD = {"chars": MOST_CHARS, "limit": MOST_MESSAGES, "beginning": BEGINNING}


class PostgresProfileReads:
    """``timezone`` assigns moments to days."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def persons(self, week: Week) -> list[Person]:
        """Persons of the week's profiles (P20), most important first: untried before failed, those without a profile,
        then by last contact before the week's end.
        """
        return SQL.rows(self._connections, "persons", Person, **_moments(week))

    def material(self, entity_id: UUID, week: Week) -> Material | None:
        """None if nothing is summarised by then."""
        given = {**_moments(week), "entity": entity_id, "timezone": self._timezone}
        with transaction(self._connections) as connection:
            SQL.run(connection, "snapshot")
            talks = _talks(SQL.rows(connection, "talks", **given))
            covered = aggregation.covered(talks)
            if covered.empty:
                return None
            me = SQL.one(connection, "me", Person)
            newest = covered["ended_at"].max().to_pydatetime()
            given |= {"knows_me": me is not None, "each": MEANINGFUL_MESSAGES}
            meaningful = _meaningful(connection, given, week.ends_at)
            at_end = aggregation.extent(talks, meaningful, week.last_day)
            if meaningful is not None and meaningful > newest:
                meaningful = _meaningful(connection, given, newest)
            by_then = talks[talks["ended_at"] <= newest]
            at_newest = aggregation.extent(by_then, meaningful, max(by_then["day"]))
            said = SQL.rows(connection, "said", Utterance, **given, until=newest, **HEARD)
            overheard = [] if said else SQL.rows(connection, "overheard", Utterance, **given, until=newest, **HEARD)
            return Material(
                self_person=me,
                at_end=at_end,
                at_newest=at_newest,
                covered=covered,
                decisions=tuple(SQL.rows(connection, "decisions", MadeDecision, **given)),
                open_items=tuple(SQL.rows(connection, "open_items", OpenItem, **given)),
                facts=tuple(SQL.values(connection, "facts", **given, limit=ITEMS_IN_PROMPT)),
                said=tuple(said or overheard),
                groups=tuple(SQL.values(connection, "groups", **given)),
                is_met_in_groups=bool(overheard),
            )

    def texts(self, summary_ids: Sequence[UUID]) -> Mapping[UUID, tuple[str, str | None]]:
        """(summary, tone) by id."""
        found = SQL.rows(self._connections, "texts", ids=list(summary_ids))
        return {one.id: (one.summary, one.tone) for one in found}

    def words(self, entity_id: UUID, week: Week, *, input_hash: str, prompt: ProfilePrompt) -> Words | None:
        """Texts generated from this input: the week's own, else those of another week (P23)."""
        return SQL.one(self._connections, "words", _words, **input_parameters(entity_id, week, input_hash, prompt))

    def attempt(self, entity_id: UUID, week: Week, *, input_hash: str, prompt: ProfilePrompt) -> PastAttempt | None:
        given = input_parameters(entity_id, week, input_hash, prompt)
        return SQL.one(self._connections, "past_attempt", PastAttempt, **given)


def input_parameters(entity_id: UUID, week: Week, input_hash: str, prompt: ProfilePrompt) -> dict[str, Any]:
    return {
        "entity": entity_id,
        "week": week.sunday,
        "input_hash": input_hash,
        "prompt_version": prompt.version,
        "model": prompt.model,
        "schema_version": prompt.schema_version,
    }


def _moments(week: Week) -> dict[str, Any]:
    return {
        "week": week.sunday,
        "ends_at": week.ends_at,
        "last_day": week.last_day,
        "covers_until": week.covers_until,
        "known_before": week.known_before,
    }


def _talks(rows: Sequence[Any]) -> pd.DataFrame:
    talks = aggregation.framed(rows, aggregation.TALKS)
    points = ",".join(given or "null" for given in talks["key_points"])
    talks["key_points"] = orjson.loads(f"[{points}]")
    return talks


def _meaningful(connection: Connection, given: dict[str, Any], until: datetime) -> datetime | None:
    return SQL.value(connection, "last_meaningful", **given, until=until)


def _words(*, is_own: bool, milestones: Any, open_action_items: Any, quarantined: Any, **columns: Any) -> Words:
    """Answers stored under another week are reused, not paid again."""
    content = {name: columns.pop(name) for name in ("relationship_type", "summary", "timeline")}
    found = Words(
        content=ProfileContent(
            **content,
            milestones=tuple(record_of(Milestone, one) for one in milestones),
            doubted=tuple(UUID(one["id"]) for one in open_action_items if one.get("is_doubted")),
        ),
        quarantined=tuple(record_of(Quarantined, one) for one in quarantined),
        is_own=is_own,
        **columns,
    )
    return found if is_own else replace(found, cost_usd=0.0, seconds=0.0, is_carried_over=True)
