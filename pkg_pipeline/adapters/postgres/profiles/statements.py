"""Statements of the inputs of profiles' texts and of stored texts; compiled by ``make docs``. Aggregates are in
``profiles.sql``.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from pkg_pipeline.adapters.postgres.schema import conversations, summaries
from pkg_pipeline.adapters.postgres.schema.parts import pick

p = sa.bindparam

attempts = summaries.PROFILE_ATTEMPTS
entities = conversations.ENTITIES.alias("e")
facts = conversations.ENTITY_FACTS
organizations = conversations.ORGANIZATIONS.alias("o")
profiles = summaries.ENTITY_RELATIONSHIP_PROFILES

COVERED = p("covers_until", type_=sa.DateTime(timezone=True))


def _of_input(table: Any) -> list[Any]:
    """Rows of this person, input, prompt and model."""
    given = {
        "entity_id": "entity",
        "input_hash": "input_hash",
        "prompt_version": "prompt_version",
        "model_version": "model",
    }
    return [table.c[column] == p(name) for column, name in given.items()]


def _me() -> sa.ClauseElement:
    known = sa.select(*pick(entities, "id=entity_id name is_self type"), organizations.c.name.label("organization"))
    known = known.select_from(entities).outerjoin(organizations, organizations.c.id == entities.c.organization_id)
    return known.where(entities.c.is_self).order_by(entities.c.id).limit(sa.literal_column("1"))


def _facts() -> sa.ClauseElement:
    """Facts valid at the end of the covered range, each once."""
    since = sa.func.coalesce(facts.c.valid_from, sa.literal_column("'-infinity'"))
    known = (
        sa.select(*pick(facts, "fact_type value"))
        .where(facts.c.entity_id == p("entity"), facts.c.status == "confirmed", since <= COVERED)
        .where(sa.or_(facts.c.valid_to.is_(None), facts.c.valid_to > COVERED))
        .order_by(facts.c.valid_from.desc().nulls_last(), facts.c.id)
        .limit(p("limit"))
        .subquery("f")
    )
    said = (known.c.fact_type + ": " + known.c.value).label("said")
    return sa.select(said).group_by(known.c.fact_type, known.c.value).order_by(said)


def _words() -> sa.ClauseElement:
    """Stored texts of this input: of this week's row, else of the newest other week."""
    is_own = profiles.c.week == p("week")
    return (
        sa.select(
            *pick(
                profiles, "relationship_type summary timeline milestones open_action_items quarantined is_carried_over"
            ),
            *pick(profiles, "summary_token_count=summary_tokens generation_seconds=seconds"),
            sa.cast(profiles.c.cost_usd, sa.Double).label("cost_usd"),
            is_own.label("is_own"),
        )
        .where(*_of_input(profiles), profiles.c.schema_version == p("schema_version"))
        .order_by(is_own.desc(), profiles.c.week.desc())
        .limit(sa.literal_column("1"))
    )


def _past_attempt() -> sa.ClauseElement:
    is_due = sa.func.coalesce(attempts.c.retry_at <= sa.func.clock_timestamp(), sa.true()).label("is_due")
    found = sa.select(*pick(attempts, "attempts deferrals"), (attempts.c.state == "failed").label("is_failed"), is_due)
    return found.where(*_of_input(attempts), attempts.c.week == p("week"))


STATEMENTS: dict[str, sa.ClauseElement] = {
    "me": _me(),
    "facts": _facts(),
    "texts": sa.select(*pick(summaries.INTERACTION_SUMMARIES, "id summary tone")).where(
        summaries.INTERACTION_SUMMARIES.c.id == sa.func.any(p("ids"))
    ),
    "words": _words(),
    "past_attempt": _past_attempt(),
}
