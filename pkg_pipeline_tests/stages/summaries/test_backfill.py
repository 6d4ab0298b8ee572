"""P31: exactly what was asked for, oldest first; forecast and actual; resumable; no second call for what was done."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline.stages.ports import Billing, LlmUnavailable
from pkg_pipeline.stages.summaries.backfill import BackfillUnknown, BackfillWrong
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline_tests.stages.summaries.backfill_rig import DAY, BackfillRig
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, NOW, OLD, USUAL, ScriptedLlm


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[BackfillRig]:
    made = BackfillRig(database_url, tmp_path)
    made.use()
    yield made
    made.close()


# ten conversations, days 0 to 9 after OLD (2026-02-02), NOW is 41 days after it; request → chats chosen
CHOICES = [
    ({}, range(10)),
    ({"limit": 3}, range(3)),
    ({"older_than_days": 36}, range(6)),  # those that ended by 2026-02-07 12:00: days 0 to 5 at ten o'clock
    ({"first_day": date(2026, 2, 4), "last_day": date(2026, 2, 6)}, range(2, 5)),
    ({"first_day": date(2026, 2, 9), "limit": 2}, range(7, 9)),
    ({"older_than_days": 60}, range(0)),
    ({"stale": True}, range(0)),
    ({"failed": True}, range(0)),
]


@pytest.mark.parametrize(("given", "chosen"), CHOICES)
def test_a_backfill_does_exactly_what_it_chose_oldest_first(rig: BackfillRig, given, chosen) -> None:
    rig.talk(10)
    llm = rig.use()
    request = rig.request(**given)
    forecast = rig.memory.backfills.foretell(request)
    assert rig.one("SELECT count(*) FROM backfills") == 0
    assert (forecast.interactions, forecast.messages, forecast.days) == (len(chosen), 3 * len(chosen), len(chosen))
    asked = rig.memory.backfills.ask(request, requested_by="test")
    assert asked.forecast == forecast
    if asked.backfill is None:
        assert len(chosen) == 0
        return
    rig.work_off(asked.backfill.id)
    assert rig.summarized() == [f"c{index:02}" for index in chosen]
    days = [request.payload.started_at for request in llm.requests]
    assert days == sorted(days)
    told = rig.told(asked.backfill.id)
    assert (told["state"], told["left"], told["actual"]["interactions"]) == ("done", 0, len(chosen))
    assert told["actual"]["calls"] == len(chosen) == told["forecast"]["calls"]


def test_what_is_too_young_for_the_live_lane_can_be_backfilled(rig: BackfillRig) -> None:
    rig.say("young", at=NOW - DAY)
    rig.say("going on", at=NOW - timedelta(hours=1))
    rig.load()
    asked = rig.ask(older_than_days=0)
    rig.work_off(asked.id)
    assert rig.summarized() == ["young"]


def test_the_same_request_again_is_the_open_one_and_a_new_one_once_it_is_done(rig: BackfillRig) -> None:
    rig.talk(5)
    first = rig.ask(limit=2)
    assert rig.ask(limit=2).id == first.id
    assert rig.ask(limit=3).id != first.id
    rig.work_off(first.id)
    again = rig.ask(limit=2)
    assert again.id != first.id
    rig.work_off(again.id)
    assert rig.summarized() == ["c00", "c01", "c02", "c03"]


def test_what_was_done_by_others_meanwhile_is_not_asked_for_again(rig: BackfillRig) -> None:
    rig.talk(4)
    llm = rig.use()
    asked = rig.ask()
    rig.memory.summarize((OLD.date(), OLD.date() + DAY), Billing("live"))
    assert len(llm.requests) == 2
    rig.work_off(asked.id)
    assert len(llm.requests) == 4
    told = rig.told(asked.id)
    assert (told["state"], told["actual"]["interactions"], told["actual"]["calls"]) == ("done", 4, 2)


def test_the_cap_stops_it_and_says_when_it_goes_on(rig: BackfillRig) -> None:
    rig.talk(6)
    llm = rig.use(ScriptedLlm(usd_per_call=0.01), backfill_usd_per_day=0.045)
    asked = rig.ask()
    assert (asked.forecast.usd, asked.forecast.lasts_days) == (pytest.approx(0.06), 2)
    rig.work_off(asked.id)
    made = len(llm.requests)
    told = rig.told(asked.id)
    assert 0 < made < 6
    assert (told["state"], told["left"], told["actual"]["calls"]) == ("running", 6 - made, made)
    assert "the backfill lane's 0.04 USD of today do not cover the next call" in told["waits_for"]
    midnight = rig.one("SELECT date_trunc('day', clock_timestamp()) + interval '1 day'")
    assert rig.one("SELECT resume_at FROM backfills") - midnight < timedelta(seconds=9)
    assert rig.memory.backfills.open()[0][1] is not None
    assert rig.one("SELECT count(*) FROM summary_attempts") == 0  # nothing failed
    # its days are not held back from the live lane
    assert rig.one("SELECT count(*) FROM partition_states WHERE resume_at > clock_timestamp()") == 0
    rig.run("UPDATE budgets SET day = day - 1")
    rig.work_off(asked.id)
    rig.run("UPDATE budgets SET day = day - 1")
    rig.work_off(asked.id)
    told = rig.told(asked.id)
    assert (told["state"], told["waits_for"], told["resume_at"]) == ("done", None, None)
    assert len(llm.requests) == 6


def test_a_restricted_run_keeps_the_marks_of_its_days(rig: BackfillRig) -> None:
    """Another conversation of the same day is still due for whoever works the days off."""
    rig.say("first", at=OLD)
    rig.say("second", at=OLD + timedelta(hours=1))
    rig.load()
    asked = rig.ask(limit=1)
    rig.work_off(asked.id)
    assert rig.summarized() == ["first"]
    due = rig.partitions.due("interaction_summaries", now=NOW)
    assert [one.key for one in due] == [OLD.date().isoformat()]
    rig.memory.summarize(ALL_DAYS, Billing("live"))
    assert rig.summarized() == ["first", "second"]
    assert rig.partitions.due("interaction_summaries", now=NOW) == []


def test_what_is_gone_or_went_on_is_dropped_and_ends_it(rig: BackfillRig) -> None:
    rig.talk(3)
    asked = rig.ask()
    for index in range(3):
        rig.line("c00", f"late{index}", "more of it", NOW - timedelta(hours=2), "Anna")  # it is another, later talk
    rig.line("c01", "more", "the same talk went on", OLD + DAY + timedelta(hours=3), "Anna")  # still long ago
    rig.load()
    rig.run("UPDATE chats SET category = 'mass' WHERE external_id = 'c02'")
    rig.work_off(asked.id)
    assert rig.summarized() == ["c00", "c01"]
    told = rig.told(asked.id)
    assert (told["state"], told["dropped"], told["left"]) == ("done", 1, 0)


def test_an_interaction_that_an_older_export_made_another_one_is_the_live_lanes(rig: BackfillRig) -> None:
    midnight = OLD.replace(hour=0)
    rig.say("night", at=midnight + timedelta(minutes=5))
    rig.load()
    asked = rig.ask()
    rig.line("night", "before", "an earlier word", midnight - timedelta(minutes=5), "Anna")
    rig.load()
    rig.work_off(asked.id)
    assert rig.told(asked.id)["dropped"] == 1
    assert rig.partitions.due("interaction_summaries", now=NOW)[0].key == "2026-02-01"


def test_given_up_ones_are_redone_only_when_asked_for_and_once(rig: BackfillRig) -> None:
    rig.talk(2)
    bad = rig.use(ScriptedLlm(lambda _: "no JSON"))
    rig.memory.settings = rig.memory.settings.model_copy(update={"attempt_limit": 1})
    rig.memory.summarize((OLD.date(), OLD.date()), Billing("live"))
    assert rig.rows("SELECT state FROM summary_attempts") == [("failed",)]
    assert rig.memory.backfills.foretell(rig.request()).interactions == 1  # c01
    asked = rig.ask(failed=True)
    assert asked.forecast.interactions == 1
    before = len(bad.requests)
    rig.work_off(asked.id)
    told = rig.told(asked.id)
    assert (told["state"], told["failed"], told["actual"]["interactions"]) == ("done", 1, 0)
    assert len(bad.requests) > before
    again, tried = rig.ask(failed=True), len(bad.requests)
    rig.use(ScriptedLlm())
    rig.work_off(again.id)
    assert len(bad.requests) == tried
    assert rig.summarized() == ["c00"]


def test_a_service_that_is_down_makes_it_wait(rig: BackfillRig) -> None:
    rig.talk(5)
    rig.use(ScriptedLlm(lambda _: LlmUnavailable("HTTP 503", retry_after_seconds=600.0)))
    asked = rig.ask()
    rig.work_off(asked.id)
    told = rig.told(asked.id)
    assert (told["state"], told["left"]) == ("running", 5)
    assert "the model does not answer" in told["waits_for"]
    rig.use()
    rig.retries_are_due()
    rig.work_off(asked.id)
    assert rig.told(asked.id)["state"] == "done"


def test_a_cancelled_one_has_no_work_and_keeps_what_was_made(rig: BackfillRig) -> None:
    rig.talk(2)
    asked = rig.ask()
    assert rig.memory.backfills.store.cancel(asked.id)
    assert not rig.memory.backfills.store.cancel(asked.id)
    assert rig.work_off(asked.id) == []
    assert rig.told(asked.id)["state"] == "cancelled"
    assert rig.memory.backfills.open() == []


def test_an_unknown_backfill_is_an_error(rig: BackfillRig) -> None:
    with pytest.raises(BackfillUnknown):
        rig.memory.summarize(ALL_DAYS, Billing("backfill"), scope=Scope(backfill_id=UUID(int=1)))


WRONG = [
    ({"limit": 0}, "limit"),
    ({"older_than_days": -1}, "older_than_days"),
    ({"first_day": date(2026, 2, 2), "last_day": date(2026, 2, 1)}, "to"),
]


@pytest.mark.parametrize(("given", "field"), WRONG)
def test_a_request_that_makes_no_sense_names_its_field(rig: BackfillRig, given, field) -> None:
    with pytest.raises(BackfillWrong) as wrong:
        rig.request(**given)
    assert wrong.value.field == field


def test_most_important_first_within_a_day_and_the_oldest_day_before(rig: BackfillRig) -> None:
    """The budget ends after three of four: the least important talk of the younger day waits."""
    dear = [*USUAL, "Deadline is 2026-05-01, we agreed on 5000 EUR."]
    rig.say("plain", ["well", "yes", "right"], at=OLD + DAY)
    rig.say("dear", dear, at=OLD + DAY + timedelta(hours=3))
    rig.say("usual", at=OLD + DAY + timedelta(hours=2))
    rig.say("older", ["well", "yes", "right"], at=OLD)
    rig.load()
    counts = dict(
        rig.rows("SELECT c.external_id, important_count FROM interactions i JOIN chats c ON c.id = i.chat_id")
    )
    assert counts["plain"] == counts["older"] == 0 < counts["usual"] < counts["dear"]
    llm = rig.use()
    rig.memory.summarize(ALL_DAYS, Billing("live"))
    order = [request.payload.chat_key.rpartition(":")[2] for request in llm.requests]
    assert order == ["older", "dear", "usual", "plain"]
