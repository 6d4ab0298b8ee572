"""The ladder of P19 for profiles: stricter, fewer summaries, an attempt. The old profile stays, nobody stops others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline.stages.ports import LlmMisconfigured, LlmRefused, LlmRequest, LlmTooLong, LlmUnavailable
from pkg_pipeline_tests.stages.profiles.profile_rig import DEAL, NOW, WEEK, ProfileRig, good_profile, profile_llm

NEXT = WEEK + timedelta(days=7)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path)
    yield made
    made.close()


def foreign(request: LlmRequest) -> dict[str, object]:
    """Names somebody that no conversation does."""
    return good_profile(request.payload, summary="Both of them admire Napoleon Bonaparte of Corsica very much.")


def test_a_refused_answer_is_asked_for_more_strictly_then_with_fewer_summaries(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 20, 40, 60])
    rig.settle()
    answers = [lambda _: "no JSON", foreign, lambda request: good_profile(request.payload)]
    llm = profile_llm(lambda request: answers.pop(0)(request))
    [report] = rig.build(llm)
    assert [len(request.payload.summaries) for request in llm.requests] == [4, 4, 2]
    assert len(llm.requests[0].user) < len(llm.requests[1].user)
    assert (report.profiled, report.calls, report.quarantined) == (1, 3, 0)
    assert rig.profile("Anna")["cost_usd"] == pytest.approx(0.003)
    assert [row[0] for row in rig.ledger()][-3:] == ["quarantined", "quarantined", "ok"]


def test_too_long_a_prompt_goes_to_fewer_summaries_at_once(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 20, 40, 60])
    rig.settle()
    answers = [lambda _: LlmTooLong("too long"), lambda request: good_profile(request.payload)]
    llm = profile_llm(lambda request: answers.pop(0)(request))
    assert rig.build(llm)[0].profiled == 1
    assert [len(request.payload.summaries) for request in llm.requests] == [4, 2]


def test_after_three_attempts_it_is_failed_and_the_old_profile_stays(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 20])
    rig.meet("Bob", [0])
    rig.settle()
    rig.build()
    before = rig.profile("Anna")
    rig.meet("Anna", [40], DEAL)  # came in late: the row has another input
    rig.settle()
    for attempt in (1, 2, 3):
        [report] = rig.build(profile_llm(foreign))
        assert (report.quarantined, report.pending, report.failed) == (1, int(attempt < 3), int(attempt == 3))
        assert report.unchanged == 1  # Bob
        rig.profile_retries_are_due()
    assert rig.rows("SELECT attempts, state FROM profile_attempts") == [(3, "failed")]
    assert rig.profile("Anna") == before
    llm = profile_llm()
    [report] = rig.build(llm)
    assert (llm.requests, report.failed, report.pending, rig.due()) == ([], 1, 0, [])
    states = rig.rows("SELECT ctid FROM partition_states")
    rig.build(llm)
    assert rig.rows("SELECT ctid FROM partition_states") == states  # nothing to write down
    assert rig.build(retry_failed=True)[0].profiled == 1
    assert rig.one("SELECT count(*) FROM profile_attempts") == 0


def test_what_failed_is_tried_again_on_another_input_or_model(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 20])
    rig.settle()
    for _ in range(3):
        rig.build(profile_llm(foreign))
        rig.profile_retries_are_due()
    assert rig.due() == []
    assert rig.due(model="scripted-2") == [WEEK]
    assert rig.due(model="scripted-2") == [WEEK]  # marked once
    assert rig.one("SELECT count(*) FROM dirty_partitions WHERE asset = 'entity_relationship_profiles'") == 1
    rig.build(profile_llm(foreign))
    rig.meet("Anna", [40])
    rig.settle()
    assert rig.due() == [WEEK]
    assert rig.build()[0].profiled == 1


def test_a_retry_waits_for_its_time(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    rig.build(profile_llm(foreign))
    llm = profile_llm()
    [report] = rig.build(llm)
    assert (llm.requests, report.pending, report.deferred) == ([], 1, 1)
    assert report.reasons == ["is tried again later"]
    wait = rig.one(
        "SELECT extract(epoch FROM resume_at - clock_timestamp()) FROM partition_states"
        " WHERE asset = 'entity_relationship_profiles'"
    )
    assert 0 < wait <= 60


def test_one_refusal_stops_nobody_else(rig: ProfileRig) -> None:
    for name in ("Anna", "Bob", "Cleo"):
        rig.meet(name, [0])
    rig.settle()

    def answer(request: LlmRequest) -> object:
        is_bob = request.payload.entity.name == "Bob"
        return LlmRefused("declined") if is_bob else good_profile(request.payload)

    [report] = rig.build(profile_llm(answer))
    assert (report.profiled, report.quarantined, report.pending) == (2, 1, 1)


def test_a_service_that_is_down_is_left_alone(rig: ProfileRig) -> None:
    for index in range(6):
        rig.meet(f"Person{index}", [0])
    rig.settle()
    llm = profile_llm(lambda _: LlmUnavailable("overloaded", retry_after_seconds=30))
    [report] = rig.build(llm)
    assert (len(llm.requests), report.deferred, report.pending) == (3, 6, 6)
    assert rig.one("SELECT sum(attempts) FROM profile_attempts") == 0
    assert rig.one("SELECT count(*) FROM leases") == 0
    assert rig.due() == []


def test_a_wrong_key_stops_the_run_and_leaves_no_lease(rig: ProfileRig) -> None:
    for index in range(3):
        rig.meet(f"Person{index}", [0])
    rig.settle()
    with pytest.raises(LlmMisconfigured):
        rig.build(profile_llm(lambda _: LlmMisconfigured("the key is wrong")))
    assert rig.one("SELECT count(*) FROM leases") == 0
    assert rig.due() == [WEEK]  # it was not attempted to the end
    assert rig.build()[0].profiled == 3


def test_threads_work_on_several_and_one_error_among_them_is_told(rig: ProfileRig) -> None:
    for index in range(5):
        rig.meet(f"Person{index}", [0])
    rig.settle()

    def answer(request: LlmRequest) -> object:
        is_last = request.payload.entity.name == "Person4"
        return LlmMisconfigured("the key is wrong") if is_last else good_profile(request.payload)

    with pytest.raises(LlmMisconfigured):
        rig.build(profile_llm(answer), concurrency=4)
    assert rig.one("SELECT count(*) FROM leases") == 0
    [report] = rig.build(concurrency=4)
    assert report.profiled + report.unchanged == 5


def test_a_cap_in_money_puts_off_and_loses_nothing(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.meet("Bob", [1])
    rig.settle()
    rig.run("DELETE FROM budgets")
    # a reservation is twice the price: the answer may have to be asked for again
    [report] = rig.build(profile_llm(), usd_cap=0.002)
    assert (report.profiled, report.pending, report.failed) == (1, 1, 0)
    rig.run("DELETE FROM budgets")
    assert rig.build(profile_llm(), usd_cap=0.002)[0].profiled == 1


def test_an_answer_paid_for_is_not_paid_again(rig: ProfileRig) -> None:
    """B8: the row was lost, the answer is in the ledger."""
    rig.meet("Anna", [0])
    rig.settle()
    rig.build()
    rig.run("DELETE FROM entity_relationship_profiles")
    llm = profile_llm()
    [report] = rig.build(llm)
    assert (llm.requests, report.profiled, report.cost_usd) == ([], 1, 0.0)


def test_a_free_model_knows_no_cap(rig: ProfileRig) -> None:
    rig.at(NOW)
    rig.meet("Anna", [0])
    rig.settle()
    assert rig.build(profile_llm(is_paid=False), lane="live", calls_cap=0)[0].profiled == 1
