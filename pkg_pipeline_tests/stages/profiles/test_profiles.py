"""Profiles over a real database: what a row holds, what it costs, and that a week says the same whenever built."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from pkg_pipeline.stages.ports import LlmUnavailable
from pkg_pipeline_tests.stages.profiles.profile_rig import (
    CHAT,
    DEAL,
    FIRST,
    NOW,
    SPOKEN,
    WEEK,
    ProfileRig,
    good_profile,
    profile_llm,
)

LATER = WEEK + timedelta(days=7)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path)
    yield made
    made.close()


def test_a_row_holds_what_is_counted_and_what_is_worded(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 30, 60])
    rig.meet("Anna", [90], DEAL)
    rig.settle()
    [report] = rig.build()
    row = rig.profile("Anna")
    assert (report.persons, report.profiled, report.calls, report.pending) == (1, 1, 1, 0)
    assert (row["total_interactions"], row["total_messages"], row["summarized_interactions"]) == (4, 12, 4)
    assert (row["frequency"], row["mean_gap_days"], row["coverage"]) == ("monthly", 30, 1)
    assert row["first_interaction_at"].startswith("2026-03-03")
    assert row["last_meaningful_contact_at"].startswith("2026-06-01")  # a decision and an open item
    assert [made["description"] for made in row["key_decisions"]] == ["They order 12 shelves for 300 EUR"]
    assert [item["description"] for item in row["open_action_items"]] == ["Send the contract by Friday"]
    assert row["key_decisions"][0]["interaction_id"] == row["open_action_items"][0]["interaction_id"]
    assert row["open_action_items"][0]["since"] == "2026-06-01"
    assert (row["relationship_type"], row["milestones"][0]["day"]) == ("friend", "2026-03-03")
    assert (row["is_carried_over"], row["status"]) == (False, "completed")
    assert row["cost_usd"] == pytest.approx(0.001)
    assert report.compression_ratio == round(row["source_token_count"] / row["summary_token_count"], 2)


def test_only_persons_met_long_enough_ago_and_summarised_have_one(rig: ProfileRig) -> None:
    rig.meet("Old", [0])
    rig.meet("Young", [21])
    rig.say("short", CHAT[:2], at=FIRST, senders=("Short", "Me"))
    rig.settle()
    rig.build()
    assert [
        name
        for (name,) in rig.rows(
            "SELECT e.name FROM entity_relationship_profiles p JOIN entities e ON e.id = p.entity_id"
        )
    ] == ["Old"]


def test_running_it_again_calls_nobody_and_writes_nothing(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 40])
    rig.meet("Bob", [1])
    rig.settle()
    rig.build()
    before = (rig.profile_digest(), rig.rows("SELECT ctid, xmin FROM entity_relationship_profiles"))
    states = rig.rows("SELECT ctid, xmin FROM partition_states")
    llm = profile_llm()
    [again] = rig.build(llm)
    assert (llm.requests, again.unchanged, again.profiled, again.cost_usd) == ([], 2, 0, 0.0)
    assert (rig.profile_digest(), rig.rows("SELECT ctid, xmin FROM entity_relationship_profiles")) == before
    assert rig.rows("SELECT ctid, xmin FROM partition_states") == states


def test_a_week_built_a_year_later_says_what_it_said_then(rig: ProfileRig) -> None:
    """As of: later talks, later summaries and later closings do not reach back."""
    rig.meet("Anna", [0, 30, 60], DEAL)
    rig.meet("Bob", [2, 5])
    rig.settle()
    rig.build()
    then = rig.said_then()
    assert len(then) == 2

    rig.at(NOW + timedelta(days=365))
    rig.meet("Anna", [110, 114, 300], DEAL)  # from the day on which the week was over
    rig.meet("Cleo", [200])
    rig.settle()
    rig.build(weeks=[rig.due()[-1]])
    rig.run("DELETE FROM entity_relationship_profiles")  # no words to carry over, no answer to replay
    rig.run("DELETE FROM llm_calls")
    llm = profile_llm()
    rig.build(llm)
    assert len(llm.requests) == 2
    assert rig.said_then() == then


def test_in_the_week_itself_a_talk_counts_and_its_summary_waits(rig: ProfileRig) -> None:
    """P22: totals up to the week's end, summaries up to seven days before it."""
    rig.meet("Anna", [0])
    rig.meet("Anna", [109.58], DEAL)  # Saturday 20 June, 23:55: ends within the week
    rig.meet("Anna", [109.59])  # and one that ends a minute after midnight
    rig.at(NOW + timedelta(days=30))
    rig.settle()
    rig.build()
    row = rig.profile("Anna")
    assert (row["total_interactions"], row["summarized_interactions"], row["coverage"]) == (1, 1, 1)
    assert row["key_decisions"] == []


def test_nothing_new_is_carried_over_at_no_cost(rig: ProfileRig) -> None:
    """Totals of the week are its own; the words are those of the week before, and nobody was asked."""
    rig.meet("Anna", [0, 40], DEAL)
    rig.at(NOW + timedelta(days=7))
    rig.meet("Anna", [112])  # in the later week: counted there, summarised the week after
    rig.settle()
    llm = profile_llm()
    [first] = rig.build(llm, weeks=[WEEK], lane="live", calls_cap=1)
    [second] = rig.build(llm, weeks=[LATER], lane="live", calls_cap=1)
    assert (first.profiled, second.carried_over, len(llm.requests)) == (1, 1, 1)
    old, new = rig.profile("Anna"), rig.profile("Anna", LATER)
    assert (old["total_interactions"], new["total_interactions"]) == (2, 3)
    assert (new["is_carried_over"], new["cost_usd"], new["summary"]) == (True, 0, old["summary"])
    assert new["input_hash"] == old["input_hash"]
    assert old["id"] != new["id"]
    assert rig.one("SELECT sum(calls) FROM budgets WHERE task = 'relationship_profile'") == 1
    assert second.cost_usd == 0


def test_a_new_summary_is_worded_anew(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 40])
    rig.at(NOW + timedelta(days=14))
    rig.meet("Anna", [107])  # in the week itself: covered one week later
    rig.settle()
    llm = profile_llm()
    reports = rig.build(llm, weeks=[WEEK, LATER])
    assert [report.profiled for report in reports] == [1, 1]
    assert len(llm.requests[0].payload.summaries) == 2
    assert len(llm.requests[1].payload.summaries) == 3


def test_what_the_words_are_made_of_is_as_of_the_newest_summary(rig: ProfileRig) -> None:
    rig.meet("Anna", [0, 40])
    rig.meet("Anna", [104])
    rig.at(NOW + timedelta(days=7))
    rig.settle()
    llm = profile_llm()
    rig.build(llm)
    source = llm.requests[0].payload
    assert (source.week, source.aggregate.total_interactions) == (date(2026, 4, 12), 2)
    assert rig.profile("Anna")["total_interactions"] == 3


def test_late_history_changes_the_counts_of_a_row_and_keeps_its_words(rig: ProfileRig) -> None:
    """Two messages of the week itself come in late: no summary, no call, another total."""
    rig.meet("Anna", [0, 40])
    rig.settle()
    rig.build()
    before = rig.profile("Anna")
    rig.say("anna", CHAT[:2], at=FIRST + timedelta(days=106), senders=("Anna", "Me"))
    rig.settle()
    llm = profile_llm()
    [report] = rig.build(llm)
    after = rig.profile("Anna")
    assert (llm.requests, report.carried_over) == ([], 1)
    assert (after["total_messages"], after["summary"]) == (8, before["summary"])
    assert (after["is_carried_over"], after["cost_usd"]) == (False, before["cost_usd"])  # its own words, still


def test_another_prompt_or_model_words_anew(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    rig.build()
    llm = profile_llm(model="scripted-2")
    [report] = rig.build(llm)
    assert (report.profiled, len(llm.requests)) == (1, 1)
    assert rig.profile("Anna")["model_version"] == "scripted-2"


def test_items_are_as_of_the_weeks_end(rig: ProfileRig) -> None:
    """What was done later was open then; a decision superseded since is no key decision."""
    rig.meet("Anna", [0])
    rig.meet("Anna", [90], DEAL)
    rig.settle()
    with rig.items() as build:
        (((action,),), ((deal,),)) = (
            rig.rows("SELECT id FROM items WHERE kind = %s", kind) for kind in ("action_item", "decision")
        )
        build.state(action, "done", SPOKEN.ends_at + timedelta(seconds=1))
        rig.build()
        assert len(rig.profile("Anna")["open_action_items"]) == 1
        build.state(action, "reopened", SPOKEN.ends_at - timedelta(hours=2))
        build.state(action, "perhaps_done", SPOKEN.ends_at - timedelta(hours=1))
        build.state(deal, "superseded", SPOKEN.ends_at - timedelta(hours=1))
    llm = profile_llm()
    rig.build(llm)
    row = rig.profile("Anna")
    assert (row["open_action_items"], row["key_decisions"]) == ([], [])
    assert len(llm.requests) == 1, "its input changed"
    rig.build(llm)
    assert len(llm.requests) == 1


def test_what_lapsed_is_not_open(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], DEAL)
    rig.settle()
    rig.build()
    row = rig.profile("Anna")
    assert (row["open_action_items"], len(row["key_decisions"])) == ([], 1)


def test_the_most_important_come_first_when_the_cap_bites(rig: ProfileRig) -> None:
    """Who has no profile yet, then the most recent contact. What the cap puts off is pending, not failed."""
    rig.meet("Known", [0, 30])
    rig.settle()
    rig.build(weeks=[WEEK - timedelta(days=7)])
    rig.meet("Known", [98])
    rig.meet("Early", [0])
    rig.meet("Recent", [0, 90])
    rig.settle()
    asked: list[str] = []

    def answer(request):
        asked.append(request.payload.entity.name)
        return good_profile(request.payload)

    [report] = rig.build(profile_llm(answer), lane="live", calls_cap=2)
    assert asked == ["Recent", "Early"]
    assert (report.profiled, report.pending, report.deferred, report.failed) == (2, 1, 1, 0)
    assert report.reasons == ["the live lane's 2 calls of this week are used up"]
    assert rig.one("SELECT count(*) FROM profile_attempts") == 0
    assert WEEK not in rig.due()  # not before the next budget week
    resume = rig.one("SELECT resume_at > clock_timestamp() FROM partition_states WHERE partition_key = %s", str(WEEK))
    assert resume
    assert rig.build()[0].profiled == 1  # the backfill lane has no such cap


def test_carrying_over_goes_on_when_the_budget_is_gone(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.at(NOW + timedelta(days=7))
    rig.settle()
    rig.build()
    rig.meet("New", [0, 1])
    rig.settle()
    [report] = rig.build(weeks=[LATER], lane="live", calls_cap=0)
    assert (report.carried_over, report.pending) == (1, 1)


def test_live_the_newest_week_is_served_first(rig: ProfileRig) -> None:
    """One call is left in the cap, and the week before is still unfinished."""
    rig.meet("Anna", [0])
    rig.meet("Anna", [104])
    rig.at(NOW + timedelta(days=7))
    rig.settle()
    reports = rig.build(weeks=[WEEK, LATER], lane="live", calls_cap=1)
    assert [(report.week, report.profiled, report.pending) for report in reports] == [(LATER, 1, 0), (WEEK, 0, 1)]


def test_a_week_that_is_not_over_is_refused(rig: ProfileRig) -> None:
    with pytest.raises(ValueError, match="the week 2026-06-21 is not over"):
        rig.build(weeks=[LATER])
    with pytest.raises(ValueError, match="is none"):
        rig.build(weeks=[WEEK - timedelta(days=1)])


def test_the_newest_week_is_due_once_and_others_by_marks(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    assert rig.due() == [WEEK]
    rig.build(weeks=rig.due())
    assert rig.due() == []
    rig.at(NOW + timedelta(days=7) - timedelta(hours=5))
    assert rig.due() == []
    rig.at(NOW + timedelta(days=7))
    assert rig.due() == [LATER]


def test_transport_trouble_defers_and_counts_no_attempt(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    [report] = rig.build(profile_llm(lambda _: LlmUnavailable("no connection", retry_after_seconds=5)))
    assert (report.deferred, report.pending, report.failed, report.quarantined) == (1, 1, 0, 0)
    assert rig.rows("SELECT attempts, deferrals, state FROM profile_attempts") == [(0, 1, "waiting")]
    assert rig.due() == []
    rig.profile_retries_are_due()
    rig.run("UPDATE partition_states SET resume_at = clock_timestamp() WHERE pending > 0")
    assert rig.due() == [WEEK]
    assert rig.build()[0].profiled == 1
    assert rig.one("SELECT count(*) FROM profile_attempts") == 0
    assert rig.due() == []
