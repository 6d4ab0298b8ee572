"""What relationship profiles are made from, out of the tables. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import Connection, transaction
from pkg_pipeline.adapters.postgres.json_rows import milestones_of, quarantined_of
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.memory.profile.records import OpenItem, ProfileContent
from pkg_pipeline.memory.profile.rules import ITEMS_IN_PROMPT, MEANINGFUL_MESSAGES, Week
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.profiles.stores import (
    CoveredSummary,
    Extent,
    MadeDecision,
    Material,
    PastAttempt,
    ProfilePrompt,
    Words,
)


class PostgresProfileReads:
    """What goes into profiles; ``timezone`` makes days of moments."""

    def __init__(self, connections: ConnectionPool, *, timezone: str) -> None:
        self._connections = connections
        self._timezone = timezone

    def persons(self, week: Week) -> list[Person]:
        """Whom the week's profiles are about (P20), the most important first: nobody's failures before another's first
        try, those without any profile, then by the most recent contact up to the week's end.
        """
        with self._connections.connection() as connection:
            rows = connection.execute(query("profiles", "persons"), _moments(week)).fetchall()
        return [Person(key, name, is_self=False, organization=organization) for key, name, organization in rows]

    def material(self, entity_id: UUID, week: Week) -> Material | None:
        """None where nothing is summarised by then."""
        parameters = {**_moments(week), "entity": entity_id, "timezone": self._timezone}
        with transaction(self._connections) as connection:
            connection.execute(query("profiles", "snapshot"))
            covered = [_covered(row) for row in connection.execute(query("profiles", "covered"), parameters)]
            if not covered:
                return None
            me = connection.execute(query("profiles", "me")).fetchone()
            newest = max(summary.ended_at for summary in covered)
            at_end, at_newest = _extents(connection, {**parameters, "newest": newest, "knows_me": me is not None})
            limited = {**parameters, "limit": ITEMS_IN_PROMPT}
            return Material(
                self_person=None if me is None else Person(me[0], me[1], is_self=True, type=me[2], organization=me[3]),
                at_end=at_end,
                at_newest=at_newest,
                covered=tuple(covered),
                decisions=tuple(
                    MadeDecision(*row) for row in connection.execute(query("profiles", "decisions"), parameters)
                ),
                open_items=tuple(
                    OpenItem(*row) for row in connection.execute(query("profiles", "open_items"), parameters)
                ),
                facts=tuple(row[0] for row in connection.execute(query("profiles", "facts"), limited)),
            )

    def texts(self, summary_ids: Sequence[UUID]) -> Mapping[UUID, tuple[str, str | None]]:
        """(summary, tone) by id."""
        with self._connections.connection() as connection:
            rows = connection.execute(query("profiles", "texts"), {"ids": list(summary_ids)})
            return {key: (summary, tone) for key, summary, tone in rows}

    def words(self, entity_id: UUID, week: Week, *, input_hash: str, prompt: ProfilePrompt) -> Words | None:
        """Words made from this input: the week's own, else those of another week (P23)."""
        with self._connections.connection() as connection:
            row = connection.execute(
                query("profiles", "words"), input_parameters(entity_id, week, input_hash, prompt)
            ).fetchone()
        if row is None:
            return None
        kind, summary, timeline, milestones, quarantined, tokens, cost, seconds, is_carried_over, is_own = row
        return Words(
            content=ProfileContent(kind, summary, timeline, milestones_of(milestones)),
            quarantined=quarantined_of(quarantined),
            summary_tokens=tokens,
            cost_usd=cost if is_own else 0.0,
            seconds=seconds if is_own else 0.0,
            is_carried_over=is_carried_over if is_own else True,
            is_own=is_own,
        )

    def attempt(self, entity_id: UUID, week: Week, *, input_hash: str, prompt: ProfilePrompt) -> PastAttempt | None:
        with self._connections.connection() as connection:
            row = connection.execute(
                query("profiles", "past_attempt"), input_parameters(entity_id, week, input_hash, prompt)
            ).fetchone()
        return None if row is None else PastAttempt(*row)


def input_parameters(entity_id: UUID, week: Week, input_hash: str, prompt: ProfilePrompt) -> dict[str, Any]:
    """What says that words or attempts are of one input."""
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


def _covered(row: tuple[Any, ...]) -> CoveredSummary:
    return CoveredSummary(*row[:7], key_points=tuple(orjson.loads(row[7])), is_dirty=row[8])


def _extents(connection: Connection, parameters: dict[str, Any]) -> tuple[Extent, Extent]:
    row = connection.execute(query("profiles", "extents"), parameters).fetchone()
    assert row is not None, "an aggregate always gives a row"
    at_end = _meaningful(connection, parameters, parameters["ends_at"])
    at_newest = at_end
    if at_end is not None and at_end > parameters["newest"]:
        at_newest = _meaningful(connection, parameters, parameters["newest"])
    return _extent(row[:5], at_end), _extent(row[5:], at_newest)


def _extent(counted: Sequence[Any], last_meaningful_at: datetime | None) -> Extent:
    interactions, messages, first_started_at, last_started_at, last_ended_at = counted
    return Extent(interactions, int(messages), first_started_at, last_started_at, last_ended_at, last_meaningful_at)


def _meaningful(connection: Connection, parameters: dict[str, Any], until: datetime) -> datetime | None:
    found = connection.execute(
        query("profiles", "last_meaningful"), {**parameters, "until": until, "each": MEANINGFUL_MESSAGES}
    ).fetchone()
    return None if found is None else found[0]
