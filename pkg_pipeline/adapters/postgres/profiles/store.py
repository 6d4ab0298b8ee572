"""The profiles stage's store: leases, rows, attempts, weeks as partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.json_rows import rows_of
from pkg_pipeline.adapters.postgres.llm.leases import Leasing
from pkg_pipeline.adapters.postgres.profiles.reads import input_parameters
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.profiles.stores import ClaimedProfile, PastAttempt, ProfilePrompt, ProfileRow, Saved

SQL = Statements("profiles")
STORED_ERROR_CHARACTERS = 1_000


class PostgresProfileStore(Leasing):
    _lease_kind = "profile"

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def claim(
        self, persons: Sequence[tuple[UUID, Person]], *, holder: str, lease_seconds: float
    ) -> list[ClaimedProfile]:
        """Of (profile id, person) those that nobody else holds, in the order given."""
        ids = [key for key, _ in persons]
        tokens = self.take(self._connections, ids, holder=holder, lease_seconds=lease_seconds)
        return [ClaimedProfile(key, person, tokens[key]) for key, person in persons if key in tokens]

    def save(self, row: ProfileRow, *, token: int) -> Saved:
        """Save and release the lease in one transaction; unchanged rows are not written. ``lost``, nothing saved:
        another worker has the lease.
        """
        parameters = _columns(row)
        with transaction(self._connections) as connection:
            connection.execute(query("profiles", "lock_alone"))
            if not self.give_back(connection, (row.profile_id, token)):
                return "lost"  # another worker's result counts
            rests = {"entity": row.entity_id, "based_on": list(row.based_on), "items": list(row.items)}
            if SQL.value(connection, "rests_on_deleted", **rests):
                parameters |= {"status": "dirty", "dirty_reason": "deleted"}
            written = connection.execute(query("profiles", "save"), parameters).fetchone()
            connection.execute(query("profiles", "forget_attempt"), parameters)
        return "unchanged" if written is None else "written"

    def fail(
        self,
        claimed: ClaimedProfile,
        failure: Failure,
        *,
        week: Week,
        input_hash: str,
        prompt: ProfilePrompt,
        past: PastAttempt | None,
        attempt_limit: int,
    ) -> bool:
        """Record an attempt (P19), or only postpone it if not ``counts``; release the lease. Whether it was held."""
        attempts = (past.attempts if past else 0) + failure.counts
        is_failed = attempts >= attempt_limit
        parameters = {
            **input_parameters(claimed.entity.entity_id, week, input_hash, prompt),
            "attempts": attempts,
            "deferrals": 0 if failure.counts else (past.deferrals if past else 0) + 1,
            "state": "failed" if is_failed else "waiting",
            "retry_after": failure.retry_after_seconds,
            "error": failure.error[:STORED_ERROR_CHARACTERS],
        }
        with transaction(self._connections) as connection:
            if not self.give_back(connection, (claimed.profile_id, claimed.token)):
                return False
            if failure.counts or failure.retry_after_seconds > 0:
                connection.execute(query("profiles", "record_attempt"), parameters)
        return is_failed


class PostgresWeekStore:
    """Weeks as partitions, beyond the store of partitions."""

    def __init__(self, connections: ConnectionPool) -> None:
        self._connections = connections

    def begin(self, week: Week) -> bool:
        """Start an attempt: what is committed later marks the week again. Whether it was attempted before."""
        with transaction(self._connections) as connection:
            SQL.run(connection, "lock_alone")
            return bool(SQL.value(connection, "begin", key=week.key))

    def is_attempted(self, sunday: date) -> bool:
        return bool(SQL.value(self._connections, "is_attempted", key=sunday.isoformat()))

    def revive(self, prompt: ProfilePrompt) -> int:
        """Rows given up under another prompt or model become due (P19); returns how many."""
        found = SQL.value(self._connections, "revive", prompt_version=prompt.version, model=prompt.model)
        return int(found or 0)

    def resume_at(self, week: Week, profiles: Mapping[UUID, UUID]) -> datetime | None:
        """The earliest moment (database clock) at which one of (profile id → entity) may be retried."""
        ids = {"profiles": list(profiles), "entities": list(profiles.values())}
        return SQL.value(self._connections, "resume_at", week=week.sunday, **ids)


def _open_items(row: ProfileRow) -> list[dict[str, Any]]:
    """What was open, and which of it the text's answer doubted."""
    doubted = set(row.words.content.doubted)
    items = row.aggregate.open_action_items
    rows = zip(rows_of(items), items, strict=True)
    return [{**one, "is_doubted": True} if item.id in doubted else one for one, item in rows]


def _columns(row: ProfileRow) -> dict[str, Any]:
    aggregate, words, content = row.aggregate, row.words, row.words.content
    return {
        **input_parameters(row.entity_id, row.week, row.input_hash, row.prompt),
        "id": row.profile_id,
        "as_of": row.week.ends_at,
        "covers_until": row.week.covers_until,
        "status": "dirty" if row.is_dirty else "completed",
        "dirty_reason": "edited" if row.is_dirty else None,
        "language": row.language,
        "relationship_type": content.relationship_type,
        "summary": content.summary,
        "timeline": content.timeline,
        "milestones": Jsonb(rows_of(content.milestones)),
        "frequency": aggregate.frequency,
        "mean_gap_days": aggregate.mean_gap_days,
        "first_at": aggregate.first_interaction_at,
        "last_at": aggregate.last_interaction_at,
        "meaningful_at": aggregate.last_meaningful_contact_at,
        "interactions": aggregate.total_interactions,
        "messages": aggregate.total_messages,
        "summarized": aggregate.summarized_interactions,
        "coverage": aggregate.coverage,
        "topics": Jsonb(rows_of(aggregate.top_topics)),
        "decisions": Jsonb(rows_of(aggregate.key_decisions)),
        "open_items": Jsonb(_open_items(row)),
        "quarantined": Jsonb(rows_of(words.quarantined)),
        "is_carried_over": words.is_carried_over,
        "source_tokens": row.source_tokens,
        "summary_tokens": words.summary_tokens,
        "cost_usd": words.cost_usd,
        "seconds": words.seconds,
    }
