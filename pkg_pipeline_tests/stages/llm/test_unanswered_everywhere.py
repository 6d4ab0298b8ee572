"""P32 with answers that nobody reads, in the other hops that ask a model: profiles and folds pay by the same book."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
from pkg_pipeline.adapters.postgres.llm.ledger import PostgresLedgerStore
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.llm.stores import UNANSWERED_LIMIT, recorder
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter
from pkg_pipeline_tests.stages.dying_worker import killed_at
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig
from pkg_pipeline_tests.stages.llm.test_unanswered import books, paid
from pkg_pipeline_tests.stages.profiles.profile_rig import ProfileRig


@pytest.fixture
def profiles(database_url: str, tmp_path: Path):
    rig = ProfileRig(database_url, tmp_path)
    for name in ("Anna", "Bob", "Carla"):
        rig.meet(name, [0, 20])
    rig.settle()
    rig.run("TRUNCATE llm_calls, llm_call_subjects, budgets, budget_reservations")
    yield rig
    rig.close()


def test_profiles_that_break_off_are_booked_and_stop_the_lane(profiles: ProfileRig) -> None:
    with FakeAnthropic(rules=[Fault(drop="half")]) as fake, profiles.anthropic(fake.url) as llm:
        for _ in range(3):
            [report] = profiles.build(llm)
            profiles.profile_retries_are_due()
        assert len(fake.journal) == UNANSWERED_LIMIT
        found = books(profiles)
        assert 0 < paid(fake) <= found["ledger"] == pytest.approx(found["spent"])
    assert (found["unknown"], found["reserved"], report.profiled) == (UNANSWERED_LIMIT, 0.0, 0)
    assert "brought no whole answer" in " ".join(report.reasons)


def test_a_killed_profile_worker_is_booked_when_its_lease_ends(profiles: ProfileRig) -> None:
    with FakeAnthropic() as fake:
        killed_at("profiles", profiles, fake.url, "replied")
        reserved = books(profiles)["reserved"]
        profiles.run("UPDATE budget_reservations SET expires_at = clock_timestamp()")
        profiles.budgets.settle_lost()
        found = books(profiles)
        assert 0 < paid(fake) <= found["ledger"] == pytest.approx(reserved)
    assert (found["unknown"], found["open"], found["reserved"]) == (1, 0, 0.0)


def test_folds_that_break_off_are_booked(database_url: str) -> None:
    rig = FoldRig(database_url)
    ledger = PostgresLedgerStore(rig.pool)

    rig.talk(20)
    with (
        FakeAnthropic(rules=[Fault(cut_body=True)]) as fake,
        AnthropicLlm(
            api_key=SecretStr("sk-test"),
            counter=LetterCounter(),
            base_url=fake.url,
            on_attempt=recorder(ledger),
            sleep=lambda _: None,
        ) as llm,
    ):
        for _ in range(4):
            report = rig.fold_due(llm)
            rig.retries_are_due()
        calls, charged = len(fake.journal), paid(fake)
    with rig.pool.connection() as connection:
        [(booked, unknown)] = connection.execute(
            "SELECT sum(cost_usd)::float8, count(*) FILTER (WHERE outcome = 'unknown') FROM llm_calls"
        ).fetchall()
        [(spent, reserved)] = connection.execute(
            "SELECT sum(spent_usd)::float8, sum(reserved_usd)::float8 FROM budgets"
        ).fetchall()
    rig.close()
    assert calls == unknown == UNANSWERED_LIMIT
    assert charged <= booked == pytest.approx(spent)
    assert (reserved, report.folds) == (0.0, 0)
