"""Imports, edits, deletions, late messages and builds in any sequence: what nothing touched keeps its id, and every
table agrees with a recount after each build.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from pkg_pipeline_tests.stages.ingest.import_rig import GAP_SECONDS, NOW, START, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts

GAP = timedelta(seconds=GAP_SECONDS)
MOMENTS = st.integers(0, 40)  # two hours each; the gap is four

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)


def machine_over(rig: Rig) -> type[RuleBasedStateMachine]:
    class Memory(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.exported_at = NOW
            self.sent: dict[str, int] = {}
            self.touched: list[datetime] = []
            self.known: dict[UUID, tuple[datetime, datetime]] = {}
            self.is_built = True
            self.last_id = 0

        def take(self, number: str, **more: Any) -> None:
            moment = START + timedelta(hours=2 * self.sent[number])
            self.touched.append(moment)
            self.exported_at += timedelta(minutes=1)
            given = line("c", number, minute=120 * self.sent[number], sender=("ann", "bob")[int(number) % 2], **more)
            rig.take([given], exported_at=self.exported_at)
            self.is_built = False

        @initialize()
        def begin(self) -> None:
            rig.empty()

        @rule(moment=MOMENTS)
        def say(self, moment: int) -> None:
            number = str(len(self.sent) + 1)
            self.sent[number] = moment
            self.take(number)
            newest = rig.value("SELECT max(id) FROM messages")
            assert rig.value("SELECT id FROM messages WHERE external_id = %s", number) == newest > self.last_id
            self.last_id = newest

        @rule(data=st.data(), change=st.sampled_from(({"text": "edited"}, {"text": "again"}, {"deleted": True})))
        def change(self, data: st.DataObject, change: dict[str, Any]) -> None:
            if self.sent:
                self.take(data.draw(st.sampled_from(sorted(self.sent))), **change)

        @rule()
        def build(self) -> None:
            rig.build()
            found = {row[0]: row[1:] for row in rig.rows("SELECT id, started_at, ended_at FROM interactions")}
            for interaction, (started_at, ended_at) in self.known.items():
                if not any(started_at - GAP <= moment <= ended_at + GAP for moment in self.touched):
                    assert found.get(interaction) == (started_at, ended_at), "nothing came near it"
            self.known, self.touched, self.is_built = found, [], True

        @invariant()
        def agrees(self) -> None:
            if self.is_built:
                assert_recounts(rig)

    return Memory


def test_any_sequence_leaves_untouched_interactions_alone(database_url: str) -> None:
    rig = Rig(database_url)
    try:
        run_state_machine_as_test(
            machine_over(rig),
            settings=settings(
                max_examples=8,
                stateful_step_count=14,
                deadline=None,
                derandomize=True,
                database=None,
                phases=(Phase.generate,),
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
    finally:
        rig.close()
