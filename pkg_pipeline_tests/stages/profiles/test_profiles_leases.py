"""Leases, fencing and killed workers over profiles: each is worded and paid once, whoever dies when."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.hashing import profile_id
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline.stages.profiles.stores import ClaimedProfile
from pkg_pipeline_tests.stages.dying_worker import PLACES, killed_at
from pkg_pipeline_tests.stages.profiles.profile_rig import DEAL, WEEK, ProfileRig, good_profile, profile_llm


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path, size=12)
    yield made
    made.close()


def claim(rig: ProfileRig, *, holder: str = "the next") -> list[ClaimedProfile]:
    """Anna's profile, for somebody else."""
    anna = rig.one("SELECT id FROM entities WHERE name = 'Anna'")
    named = [(profile_id(anna, WEEK.isoformat()), Person(anna, "Anna", is_self=False))]
    return rig.writes.claim(named, holder=holder, lease_seconds=300)


def test_eight_workers_on_one_week_word_each_profile_once(rig: ProfileRig) -> None:
    for index in range(14):
        rig.meet(f"Person{index}", [index / 10])
    rig.settle()
    together = threading.Barrier(8)
    models = [profile_llm() for _ in range(8)]

    def work(index: int) -> int:
        together.wait()
        return sum(report.profiled for report in rig.build(models[index], holder=f"worker {index}"))

    with ThreadPoolExecutor(8) as workers:
        made = list(workers.map(work, range(8)))
    assert sum(made) == 14
    assert sum(len(model.requests) for model in models) == 14
    assert rig.one("SELECT count(*) FROM entity_relationship_profiles") == 14
    assert rig.one("SELECT count(*) FROM leases") == 0


def test_what_another_worker_holds_is_pending_and_goes_on_when_its_lease_ends(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.meet("Bob", [0])
    rig.settle()
    claim(rig)
    [report] = rig.build()
    assert (report.profiled, report.pending, report.failed) == (1, 1, 0)
    assert report.reasons == ["another worker is at it"]
    assert rig.due() == []
    rig.leases_ran_out()
    rig.run("UPDATE partition_states SET resume_at = clock_timestamp() WHERE pending > 0")
    assert rig.due() == [WEEK]
    assert rig.build()[0].profiled == 1


def test_a_zombies_result_is_refused_and_leaves_nothing_behind(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    seen: list[Any] = []

    def slow(request: LlmRequest) -> object:
        rig.leases_ran_out()
        rig.build(profile_llm(lambda other: good_profile(other.payload, relationship_type="client")), holder="next")
        seen.append(rig.rows("SELECT ctid, xmin, relationship_type FROM entity_relationship_profiles"))
        return good_profile(request.payload, relationship_type="vendor")

    [report] = rig.build(profile_llm(slow), holder="the zombie")
    assert (report.profiled, report.pending) == (0, 1)
    assert "another worker had taken it over" in report.reasons
    assert [rig.rows("SELECT ctid, xmin, relationship_type FROM entity_relationship_profiles")] == seen
    assert seen[0][0][2] == "client"


def test_a_failing_zombie_does_not_count_its_attempt(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()

    def slow(request: LlmRequest) -> object:
        rig.leases_ran_out()
        claim(rig)
        return "bad"

    rig.build(profile_llm(slow))
    assert rig.one("SELECT count(*) FROM profile_attempts") == 0
    assert rig.rows("SELECT holder FROM leases") == [("the next",)]


def test_a_call_slower_than_the_lease_keeps_it(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    stolen: list[ClaimedProfile] = []

    def slow(request: LlmRequest) -> object:
        with engine.connect(rig.url, autocommit=True) as connection:
            first = connection.execute("SELECT expires_at FROM leases").fetchone()
            assert first is not None
            for _ in range(2):  # two lease lengths, by the database's clock
                connection.execute("SELECT pg_sleep_until(%s + interval '0.6 seconds')", first)
                stolen.extend(claim(rig))
        return good_profile(request.payload)

    [report] = rig.build(profile_llm(slow), lease_seconds=0.6)
    assert (stolen, report.profiled) == ([], 1)


def test_release_and_renewal_touch_only_what_is_ours(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    mine = claim(rig, holder="me")
    rig.leases_ran_out()
    claim(rig)
    before = rig.rows("SELECT token, holder, expires_at FROM leases")
    rig.writes.renew(mine, lease_seconds=9_999)
    rig.writes.release(mine)
    assert rig.rows("SELECT token, holder, expires_at FROM leases") == before


# ── SIGKILL ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def undisturbed(rig: ProfileRig) -> tuple[list[Any], int]:
    """The digest of a run that nobody disturbs, and its calls; the memory is as before afterwards."""
    rig.meet("Anna", [0, 30], DEAL)
    rig.meet("Bob", [5])
    rig.meet("Cleo", [7, 9])
    rig.settle()
    with FakeAnthropic() as fake, rig.anthropic(fake.url) as llm:
        [report] = rig.build(llm)
        calls = len(fake.journal)
    digest = rig.profile_digest()
    assert (report.profiled, calls) == (3, 3)
    rig.run("TRUNCATE entity_relationship_profiles, profile_attempts")
    rig.run("DELETE FROM llm_calls WHERE task = 'relationship_profile'")
    rig.run("DELETE FROM budgets WHERE task = 'relationship_profile'")
    rig.run("DELETE FROM partition_states WHERE asset = 'entity_relationship_profiles'")
    return digest, calls


@pytest.mark.parametrize("point", PLACES["profiles"])
def test_killed_anywhere_the_rerun_ends_as_if_nothing_had_happened(rig: ProfileRig, undisturbed, point: str) -> None:
    digest, calls = undisturbed
    with FakeAnthropic() as fake, rig.anthropic(fake.url) as llm:
        killed_at("profiles", rig, fake.url, point)
        assert rig.due(llm.model) == ([] if point == "finished" else [WEEK])
        rig.leases_ran_out()
        rig.build(llm)
        paid = len(fake.journal)
    assert rig.profile_digest() == digest
    # only an answer that nobody had booked yet is asked for again
    assert paid == calls + (point == "replied")
    assert rig.one("SELECT count(*) FROM llm_calls WHERE task = 'relationship_profile' AND outcome = 'ok'") == calls
    assert rig.due(llm.model) == []


def test_a_second_worker_after_the_first_was_killed_does_not_wait_for_its_lease_for_ever(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    claim(rig, holder="dead")
    rig.run("UPDATE leases SET expires_at = clock_timestamp() + %s", timedelta(seconds=30))
    rig.build()
    wait = rig.one(
        "SELECT extract(epoch FROM resume_at - clock_timestamp()) FROM partition_states"
        " WHERE asset = 'entity_relationship_profiles'"
    )
    assert 0 < wait <= 30
