"""Profiles over a memory built by the real import, interactions and summaries, by any model over a real database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import psycopg

from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore, PostgresWeekStore
from pkg_pipeline.memory.profile import rules
from pkg_pipeline.memory.profile.records import ProfileInput
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.stores import LedgerStore
from pkg_pipeline.stages.ports import Billing, Lane, Llm, LlmRequest
from pkg_pipeline.stages.profiles.stage import Profiles, WeekReport
from pkg_pipeline.wiring import PinnedClock
from pkg_pipeline_tests.stages.item_builder import ItemBuilder
from pkg_pipeline_tests.stages.summaries.summary_rig import WORK, ScriptedLlm, SummaryRig, good_answer, taken

FIRST = datetime(2026, 3, 3, 10, 0, tzinfo=UTC)
"""A Tuesday; the first talk of everybody."""

WEEK = date(2026, 6, 14)
"""A Sunday more than ninety days later; the week ends on the 21st and covers what ended before the 14th."""

NOW = datetime(2026, 6, 21, 4, 0, tzinfo=UTC)
"""Sunday morning, when the week is over."""

AGES = {"min_age_days": 90.0, "lag_days": 7.0}
SPOKEN = rules.week(WEEK, ZoneInfo("UTC"), **AGES)
"""That week as the stage sees it."""

DEAL = ("Shall we order the shelves?", "Yes, agreed: 12 shelves for 300 EUR.", "I will send the contract by Friday.")
CHAT = ("Hello, how was the trip?", "Very long, but the lake was fine.", "Then we go there in summer.")


def good_profile(source: ProfileInput, **changes: Any) -> dict[str, Any]:
    """An answer that passes the gate: everything in it stands in the summaries."""
    said = " ".join(source.summaries[-1].text.split()[:20]).rstrip(".?!")
    first = source.summaries[0]
    return {
        "relationship_type": "friend",
        "summary": f"The last talk was about this: {said}.",
        "timeline": f"It began with this: {' '.join(first.text.split()[:20]).rstrip('.?!')}.",
        "milestones": [
            {
                "date": first.day.isoformat(),
                "title": " ".join(first.text.split()[:8]).rstrip(".?!"),
                "importance": "high",
                "summary_numbers": [first.number],
            }
        ],
        **changes,
    }


def profile_llm(
    answer: Callable[[LlmRequest], object] = lambda request: good_profile(request.payload), **options: Any
) -> ScriptedLlm:
    return ScriptedLlm(answer, **options)


CLOCKS = "{generated_at,generation_seconds,known_from,remade_at"
"""Columns that tell when a profile was made and how long it took."""


class ProfileRig(SummaryRig):
    """``talk`` imports and summarises; ``build`` makes profiles. Everything happens at ``now``."""

    def __init__(self, url: str, folder: Path, *, now: datetime = NOW, timezone: str = "UTC", size: int = 6) -> None:
        super().__init__(url, folder, now=now, timezone=timezone, size=size)
        self.reads = PostgresProfileReads(self.connections, timezone=timezone)
        self.writes = PostgresProfileStore(self.connections)
        self.weeks = PostgresWeekStore(self.connections)

    def meet(self, name: str, days: Sequence[float], texts: Sequence[str] = CHAT, *, first: datetime = FIRST) -> None:
        """A dialog with ``name`` on each of these days after ``first``."""
        for day in days:
            self.say(name.lower(), texts, at=first + timedelta(days=day), senders=(name, "Me"))

    def settle(self, llm: Llm | None = None) -> None:
        """Import what was said, cut it, summarise what is due."""
        if self._lines:
            self.take_in()
        self.memory.build_interactions()
        self.summarize(
            llm or ScriptedLlm(lambda request: good_answer(request.payload)), days=(date(2026, 1, 1), self.now.date())
        )
        self._settle_deals()

    @contextmanager
    def items(self) -> Iterator[ItemBuilder]:
        """Rows of items, past the stage."""
        with psycopg.connect(self.url, autocommit=True, options="-c search_path=pkg,public") as connection:
            build = ItemBuilder(connection)
            build.people = dict(self.rows("SELECT name, id FROM entities"))
            yield build

    def _settle_deals(self) -> None:
        """A HIGH decision and an open item wherever the conversation is the deal."""
        deals = self.rows(
            "SELECT i.id, ARRAY(SELECT external_id FROM message_texts WHERE interaction_id = i.id ORDER BY sent_at),"
            " ARRAY(SELECT e.name FROM interaction_participants p JOIN entities e ON e.id = p.entity_id"
            " WHERE p.interaction_id = i.id AND p.role = 'other') FROM interactions i"
            " WHERE EXISTS (SELECT FROM message_texts WHERE interaction_id = i.id AND content = %s)"
            " AND NOT EXISTS (SELECT FROM items WHERE interaction_id = i.id)",
            DEAL[1],
        )
        with self.items() as build:
            for interaction, said, names in deals:
                decided = "They order 12 shelves for 300 EUR"
                build.decision(interaction, decided, about=names, message_ids=[said[1]])
                build.action(interaction, "Send the contract by Friday", about=names, message_ids=[said[2]])

    def at(self, now: datetime) -> None:
        """Another day of the memory's clock."""
        self.now = now

    def profiles(
        self,
        llm: Llm | None = None,
        *,
        ledger: LedgerStore | None = None,
        calls_cap: int | None = None,
        usd_cap: float = 5.0,
        **params: Any,
    ) -> Profiles:
        """``params`` are the stage's and those of ``WorkRules``."""
        llm = llm or profile_llm()
        work = replace(WORK, **taken(params, WorkRules))
        access = self.access(llm, ledger=ledger, calls_cap=calls_cap, usd_cap=usd_cap, period="week", work=work)
        given: dict[str, Any] = {
            "reads": self.reads,
            "writes": self.writes,
            "weeks": self.weeks,
            "partitions": self.partitions,
            "clock": PinnedClock(self.now),
            "zone": ZoneInfo(self.timezone),
            **AGES,
            **params,
        }
        return Profiles(access=access, **given)

    def build(
        self,
        llm: Llm | None = None,
        *,
        weeks: Sequence[date] = (WEEK,),
        lane: Lane = "backfill",
        stage: Profiles | None = None,
        retry_failed: bool = False,
        **params: Any,
    ) -> list[WeekReport]:
        stage = stage or self.profiles(llm, **params)
        return stage.build_weeks(weeks, Billing(lane), retry_failed=retry_failed)

    def due(self, model: str = "scripted-1") -> list[date]:
        stage = self.profiles(profile_llm(model=model))
        stage.revive()
        return stage.due_weeks()

    def profile(self, name: str, week: date = WEEK) -> dict[str, Any]:
        """The row as JSON, so that it can be compared and read."""
        found = self.rows(
            "SELECT to_jsonb(p)::text FROM entity_relationship_profiles p JOIN entities e ON e.id = p.entity_id"
            " WHERE e.name = %s AND p.week = %s",
            name,
            week,
        )
        return json.loads(found[0][0]) if found else {}

    def said_then(self, week: date = WEEK) -> list[tuple[Any, ...]]:
        """All rows of a week, without when they were made and what they cost."""
        return self.rows(
            f"SELECT to_jsonb(p) - '{CLOCKS},cost_usd,is_carried_over}}'::text[]"
            " FROM entity_relationship_profiles p WHERE week = %s ORDER BY entity_id",
            week,
        )

    def profile_retries_are_due(self) -> None:
        self.run("UPDATE profile_attempts SET retry_at = clock_timestamp()")

    def profile_digest(self) -> list[tuple[Any, ...]]:
        """What profiles leave behind, without clocks, costs and serial ids."""
        return [
            *self.rows(
                f"SELECT to_jsonb(p) - '{CLOCKS},cost_usd}}'::text[]"
                " FROM entity_relationship_profiles p ORDER BY entity_id, week"
            ),
            *self.rows("SELECT entity_id, week, state, attempts FROM profile_attempts ORDER BY 1, 2"),
            *self.rows("SELECT asset, partition_key, pending FROM partition_states ORDER BY 1, 2"),
            *self.rows("SELECT asset, partition_key, reason FROM dirty_partitions ORDER BY 1, 2, 3"),
            *self.rows("SELECT count(*) FROM leases"),
        ]
