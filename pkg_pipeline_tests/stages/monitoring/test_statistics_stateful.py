"""Imports, publications, failures, deletions and recounts in any sequence: at every moment the figures are those of a
plain recount over whole tables.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore, PostgresStatisticsKeeper
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, Rig, line
from pkg_pipeline_tests.stages.monitoring.statistics_recount import recounted_figures, recounted_ledger

ZONE = ZoneInfo("Asia/Kolkata")  # half an hour off: a local midnight lies within a UTC hour

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)
PUBLISH = """
    WITH room AS (
        UPDATE interaction_summaries SET status = 'superseded'
        WHERE interaction_id = %(i)s AND status IN ('completed', 'dirty')
    )
    DELETE FROM summary_attempts WHERE interaction_id = %(i)s"""
SUMMARY = """
    INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version, language,
        summary, key_points, message_ids, message_count, source_token_count, summary_token_count,
        compression_ratio, cost_usd, generation_seconds)
    SELECT %(id)s, id, 'completed', input_hash, %(prompt)s, 'm', 'en', 's', %(points)s, '{}', 1, 9, 3, 3.25,
           0.125, 0.5
    FROM interactions WHERE id = %(i)s"""
CALL = """
    INSERT INTO llm_calls (request_hash, task, model, prompt_version, lane, outcome, input_tokens, output_tokens,
        cost_usd, duration_seconds, created_at)
    VALUES ('h', %(task)s, 'm', 'p', 'live', 'ok', 10, 2, 0.25, 0.5,
        clock_timestamp() - make_interval(mins => %(ago)s))"""


class Machine(RuleBasedStateMachine):
    rig: ClassVar[Rig]
    store: ClassVar[PostgresMonitoringStore]
    keeper: ClassVar[PostgresStatisticsKeeper]

    def __init__(self) -> None:
        super().__init__()
        self.exported_at = NOW
        self.sent: dict[str, tuple[str, int]] = {}
        self.minimum = 1

    def run(self, statement: str, **values: Any) -> None:
        with self.rig.connection() as connection:
            connection.execute(statement, values)  # type: ignore[arg-type]

    def some(self, data: st.DataObject, table: str, column: str = "id") -> Any:
        found = [row[0] for row in self.rig.rows(f"SELECT DISTINCT {column} FROM {table} ORDER BY 1")]
        return data.draw(st.sampled_from(found)) if found else None

    def take(self, number: str, **more: Any) -> None:
        chat, moment = self.sent[number]
        self.exported_at += timedelta(minutes=1)
        given = line(chat, number, minute=120 * moment, sender=("ann", "bob")[int(number) % 2], **more)
        self.rig.take([given], exported_at=self.exported_at)

    @initialize()
    def begin(self) -> None:
        self.rig.empty()

    @rule(chat=st.sampled_from("cd"), moment=st.integers(0, 30))
    def say(self, chat: str, moment: int) -> None:
        number = str(len(self.sent) + 1)
        self.sent[number] = (chat, moment)
        self.take(number)
        self.rig.build()

    @rule(data=st.data(), change=st.sampled_from(({"text": "edited"}, {"deleted": True})))
    def change(self, data: st.DataObject, change: dict[str, Any]) -> None:
        if self.sent:
            self.take(data.draw(st.sampled_from(sorted(self.sent))), **change)
            self.rig.build()

    @rule(data=st.data(), prompt=st.sampled_from("pq"))
    def publish(self, data: st.DataObject, prompt: str) -> None:
        interaction = self.some(data, "interactions")
        if interaction is None:
            return
        given = {"i": interaction, "id": uuid4(), "prompt": prompt, "item": uuid4(), "points": '["a", "b"]'}
        with self.rig.connection() as connection, connection.transaction():
            for statement in (PUBLISH, SUMMARY):
                connection.execute(statement, given)

    @rule(data=st.data(), state=st.sampled_from(("waiting", "failed")))
    def fail(self, data: st.DataObject, state: str) -> None:
        self.run(
            "INSERT INTO summary_attempts (interaction_id, input_hash, prompt_version, model_version, attempts,"
            " state, last_error) SELECT id, input_hash, 'p', 'm', 1, %(state)s, 'e' FROM interactions WHERE id = %(i)s"
            " ON CONFLICT (interaction_id) DO UPDATE SET state = excluded.state, input_hash = excluded.input_hash",
            i=self.some(data, "interactions"),
            state=state,
        )

    @rule(
        data=st.data(),
        change=st.sampled_from(
            (
                ("summary_attempts", "DELETE FROM summary_attempts WHERE interaction_id = %(i)s"),
                ("interaction_summaries", "DELETE FROM interaction_summaries WHERE interaction_id = %(i)s"),
                (
                    "interaction_summaries",
                    "UPDATE interaction_summaries SET status = 'dirty'"
                    " WHERE interaction_id = %(i)s AND status = 'completed'",
                ),
            )
        ),
    )
    def happen(self, data: st.DataObject, change: tuple[str, str]) -> None:
        self.run(change[1], i=self.some(data, change[0], "interaction_id"))

    @rule(data=st.data(), category=st.sampled_from((None, "mass", "work")))
    def categorise(self, data: st.DataObject, category: str | None) -> None:
        self.run("UPDATE chats SET category = %(c)s WHERE id = %(i)s", c=category, i=self.some(data, "chats"))

    @rule(task=st.sampled_from("st"), ago=st.integers(0, 70 * 24 * 60))
    def ask(self, task: str, ago: int) -> None:
        self.run(CALL, task=task, ago=ago)

    @rule(
        data=st.data(),
        statement=st.sampled_from(("UPDATE llm_calls SET outcome = 'quarantined'", "DELETE FROM llm_calls")),
    )
    def refuse(self, data: st.DataObject, statement: str) -> None:
        self.run(statement + " WHERE id = %(i)s", i=self.some(data, "llm_calls"))

    @rule(minimum=st.sampled_from((1, 2)))
    def recount(self, minimum: int) -> None:
        self.minimum = minimum
        self.keeper.recount(minimum_messages=minimum)
        assert self.store.figures(minimum_messages=minimum).days_counted_now == 0

    @invariant()
    def agrees(self) -> None:
        found = self.store.figures(minimum_messages=self.minimum)
        assert replace(found, days_counted_now=0) == recounted_figures(self.rig.rows, minimum_messages=self.minimum)
        assert self.store.ledger() == recounted_ledger(self.rig.rows, zone=ZONE)


def machine_over(rig: Rig) -> type[RuleBasedStateMachine]:
    store = PostgresMonitoringStore(rig.pool, zone=ZONE)
    keeper = PostgresStatisticsKeeper(rig.pool, timezone=ZONE.key)
    return type("Memory", (Machine,), {"rig": rig, "store": store, "keeper": keeper})


def test_the_figures_are_exact_after_any_sequence(database_url: str) -> None:
    rig = Rig(database_url)
    try:
        run_state_machine_as_test(
            machine_over(rig),
            settings=settings(
                max_examples=10,
                stateful_step_count=25,
                deadline=None,
                derandomize=True,
                database=None,
                phases=(Phase.generate,),
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
    finally:
        rig.close()
