"""P31: backfills in message batches: half the price, the same summaries, nothing lost and nothing paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline.adapters.llm.prices import price
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.stages.summaries.batch_rig import BATCHES, BatchRig
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, OLD, USUAL


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[BatchRig]:
    made = BatchRig(database_url, tmp_path)
    yield made
    made.close()


def test_a_backfill_goes_in_a_batch_and_comes_back_as_summaries_for_half_the_price(rig: BatchRig) -> None:
    backfill = rig.ask()
    forecast = rig.told(backfill)["forecast"]
    assert forecast["batched"]
    assert forecast["usd"] == pytest.approx(forecast["usd_at_once"] / 2, abs=1e-4)
    rig.send(backfill)
    assert (rig.calls(BATCHES), rig.calls()) == (1, 0)
    assert (rig.told(backfill)["left"], rig.told(backfill)["in_batches"]) == (6, 6)
    assert not rig.memory.batches.ready()
    assert rig.memory.batched.collect() == []  # it is not over yet
    # nobody else takes what is on its way
    rig.memory.summarize(ALL_DAYS, Billing("live"))
    assert rig.calls() == 0
    rig.end()
    assert rig.memory.batches.ready()
    days = rig.memory.batched.collect("later")
    assert sum(day.summarized for day in days) == 6
    assert rig.calls() == 0
    told = rig.told(backfill)
    assert (told["state"], told["left"], told["in_batches"]) == ("done", 0, 0)
    assert rig.left_behind() == (0, 0, 0.0)
    rows = rig.rig.rows("SELECT outcome, input_tokens, output_tokens, cost_usd::float8, run_id FROM llm_calls")
    assert [row[0] for row in rows] == ["ok"] * 3
    for _, read, written, cost, run_id in rows:
        assert cost == pytest.approx(price("claude-haiku-5-5", Usage(read, written)) / 2, abs=1e-6)
        assert run_id == "run"
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)
    assert rig.rig.one("SELECT sum(cost_usd)::float8 FROM interaction_summaries") == pytest.approx(ledger, abs=1e-5)
    # prompts and answers are not left with the service
    assert rig.fake.batches.listed(base_url="", limit=9, after_id=None)["data"] == []
    assert not rig.memory.batches.ready()
    assert rig.memory.batched.collect() == []


def test_a_refused_talk_is_asked_alone_at_once_and_its_group_is_kept(rig: BatchRig) -> None:
    rig.fake.script.replace([Fault(call=0, path=BATCHES, contains="matter 0", answer="invented_quote", times=1)])
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    asked = rig.calls()
    assert asked <= 2
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)
    assert rig.left_behind() == (0, 0, 0.0)


@pytest.mark.parametrize(
    ("fault", "row", "live"),
    [
        # not answered: asked again, by the next batch or at once; nothing is booked
        (Fault(batch_result="expired"), None, 0),
        (Fault(batch_result="canceled"), None, 0),
        (Fault(batch_result="errored", status=529), None, 0),
        # word instead of an answer counts as if it had come at once: the talks of the group are asked alone
        (Fault(batch_result="errored", status=400), None, 2),
        (Fault(stop_reason="refusal"), "refused", 2),
        (Fault(stop_reason="max_tokens"), "truncated", 2),
    ],
)
def test_a_question_without_an_answer(rig: BatchRig, fault: Fault, row: str | None, live: int) -> None:
    rig.fake.script.replace([replace(fault, call=0, path=BATCHES, contains="matter 0", times=1)])
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    rig.memory.batched.collect()
    assert rig.calls() == live
    outcomes = [found for (found,) in rig.rig.rows("SELECT outcome FROM llm_calls WHERE outcome <> 'ok'")]
    assert outcomes == ([] if row is None else [row])
    assert rig.told(backfill)["left"] == (0 if live else 2)
    assert rig.left_behind() == (0, 0, 0.0)
    assert rig.rig.one("SELECT count(*) FROM summary_attempts") == 0
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)
    rig.send(backfill)
    rig.end()
    rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    assert rig.calls(BATCHES) == (1 if live else 2)


def test_a_batch_that_nobody_answered_rests(rig: BatchRig) -> None:
    rig.fake.script.replace([Fault(call=0, path=BATCHES, batch_result="expired")])
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    rig.memory.batched.collect()
    told = rig.told(backfill)
    assert (told["left"], told["waits_for"]) == (6, "a message batch ended without an answer")
    assert rig.memory.backfills.open()[0][1] is not None


@pytest.mark.parametrize("fault", [Fault(drop="before"), Fault(cut_body=True), Fault(html=True), Fault(status=500)])
def test_a_batch_of_which_nobody_knows_is_found_again_or_sent_again(
    database_url: str, tmp_path: Path, fault: Fault
) -> None:
    rig = BatchRig(database_url, tmp_path, overdue_seconds=0.0)
    rig.fake.script.replace([replace(fault, path=BATCHES, times=1)])
    backfill = rig.ask()
    rig.send(backfill)
    assert rig.told(backfill)["in_batches"] == 6
    is_there = bool(rig.fake.batches.listed(base_url="", limit=9, after_id=None)["data"])
    rig.fake.script.replace([])
    rig.end()
    rig.memory.batched.collect()
    if not is_there:
        assert (rig.told(backfill)["in_batches"], rig.left_behind()) == (0, (0, 0, 0.0))
        rig.send(backfill)
        rig.end()
        rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    assert rig.calls() == 0
    assert rig.rig.one("SELECT count(*) FROM llm_calls") == 3
    rig.close()


def test_what_another_memory_sent_with_the_same_key_is_not_taken(database_url: str, tmp_path: Path) -> None:
    rig = BatchRig(database_url, tmp_path, overdue_seconds=0.0)
    rig.fake.script.replace([Fault(path=BATCHES, drop="before", times=1)])
    others = [{"custom_id": f"theirs-{number}", "params": {}} for number in range(3)]
    theirs = rig.fake.batches.create({"requests": others})["id"]
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    for _ in range(2):  # theirs is the older one and is looked at first
        rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    assert [one["id"] for one in rig.fake.batches.listed(base_url="", limit=9, after_id=None)["data"]] == [theirs]
    rig.close()


def test_a_batch_that_the_service_does_not_take_is_given_back(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.fake.script.replace([Fault(path=BATCHES, status=429, headers={"retry-after": "1800"})])
    rig.send(backfill)
    told = rig.told(backfill)
    assert (told["in_batches"], rig.left_behind()) == (0, (0, 0, 0.0))
    assert "the service took no batch" in told["waits_for"]
    assert rig.calls() == 0


def test_a_server_without_batches_is_asked_at_once(rig: BatchRig) -> None:
    rig.fake.script.replace([Fault(path=BATCHES, status=404)])
    backfill = rig.ask(batch=True)
    assert not rig.told(backfill)["forecast"]["batched"]
    rig.send(backfill)
    assert (rig.told(backfill)["state"], rig.calls(BATCHES), rig.calls()) == ("done", 0, 3)


def test_few_calls_or_a_wish_are_asked_at_once(database_url: str, tmp_path: Path) -> None:
    rig = BatchRig(database_url, tmp_path, backfill_batch_from_calls=5)
    backfill = rig.ask(limit=2)
    assert not rig.told(backfill)["forecast"]["batched"]
    rig.send(backfill)
    assert (rig.calls(BATCHES), rig.calls()) == (0, 1)
    assert rig.told(rig.ask(batch=True))["forecast"]["batched"]
    rig.close()


def test_what_a_cap_does_not_cover_waits(database_url: str, tmp_path: Path) -> None:
    rig = BatchRig(database_url, tmp_path, backfill_usd_per_day=0.004)
    backfill = rig.ask()
    rig.send(backfill)
    told = rig.told(backfill)
    assert 0 < told["in_batches"] < 6
    assert "do not cover the next call" in told["waits_for"]
    assert rig.left_behind()[0] == told["in_batches"]
    rig.end()
    rig.memory.batched.collect()
    assert rig.told(backfill)["left"] == 6 - told["in_batches"]
    rig.close()


def test_a_talk_that_changed_meanwhile_is_asked_again_as_it_is_now(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.send(backfill)
    rig.rig.line("c0", "late", "matter 0, one more word on it.", OLD + timedelta(minutes=4), "Anna")
    rig.rig.load()
    rig.end()
    rig.memory.batched.collect()
    assert rig.calls() == 1
    stale = "SELECT count(*) FROM interaction_summaries s JOIN interactions i ON i.id = s.interaction_id"
    assert rig.rig.one(f"{stale} WHERE s.status = 'completed' AND s.input_hash = i.input_hash") == 6
    assert rig.left_behind() == (0, 0, 0.0)


def test_what_is_forgotten_on_its_way_leaves_no_word(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.send(backfill)
    chat = rig.rig.one("SELECT id FROM chats WHERE external_id = 'c0'")
    forgetting = rig.memory.forgetting
    forgetting.forget(forgetting.chat(chat), by="test", rewrite=False)
    rig.end()
    rig.memory.batched.collect()
    assert rig.rig.one("SELECT count(*) FROM llm_calls WHERE outcome = 'erased' AND reply IS NULL") == 1
    assert rig.rig.one("SELECT count(*) FROM llm_calls WHERE reply LIKE '%%matter 0%%'") == 0
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)  # its price stays
    rig.send(backfill)  # the other talk of its question is asked again
    rig.end()
    rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    assert rig.rig.one("SELECT count(*) FROM live_summaries") == 5


def test_windows_of_a_long_talk_go_together(database_url: str, tmp_path: Path) -> None:
    rig = BatchRig(database_url, tmp_path, talks=0, window_messages=10)
    rig.rig.say("long", [f"matter {number}: {USUAL[number % 3]}" for number in range(25)])
    rig.rig.load()
    backfill = rig.ask()
    rig.send(backfill)
    assert rig.rig.one("SELECT questions FROM llm_batches") == 3
    rig.end()
    rig.memory.batched.collect()
    assert (rig.told(backfill)["state"], rig.calls()) == ("done", 0)
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)
    rig.close()


def test_a_cancelled_backfill_keeps_what_was_answered_and_asks_nothing_more(rig: BatchRig) -> None:
    rig.fake.script.replace([Fault(call=0, path=BATCHES, contains="matter 0", answer="prose", times=1)])
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    assert rig.memory.backfills.cancel(backfill)
    rig.memory.batched.collect()
    assert rig.calls() == 0
    assert rig.rig.one("SELECT count(*) FROM live_summaries") == 4
    assert rig.left_behind() == (0, 0, 0.0)
    other = rig.ask()
    rig.send(other)
    assert rig.memory.backfills.cancel(other)
    flying = rig.rig.one("SELECT service_id FROM llm_batches ORDER BY created_at DESC LIMIT 1")
    assert rig.calls(f"{BATCHES}/{flying}/cancel") == 1
    rig.memory.batched.collect()
    assert rig.left_behind() == (0, 0, 0.0)


def test_results_that_are_gone_are_booked_at_the_most_they_can_cost(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    reserved = rig.left_behind()[2]
    rig.fake.batches.delete(rig.rig.one("SELECT service_id FROM llm_batches"))
    rig.memory.batched.collect()
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget) == pytest.approx(reserved)
    assert rig.rig.rows("SELECT DISTINCT outcome FROM llm_calls") == [("unknown",)]
    assert rig.left_behind() == (0, 0, 0.0)


def test_results_that_come_after_they_were_given_up_take_the_place_of_the_guess(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.send(backfill)
    rig.rig.run("UPDATE budget_reservations SET expires_at = clock_timestamp()")
    rig.rig.leases_ran_out()
    rig.memory.budgets.settle_lost()
    assert rig.rig.rows("SELECT DISTINCT outcome FROM llm_calls") == [("unknown",)]
    rig.end()
    rig.memory.batched.collect()
    assert rig.rig.rows("SELECT DISTINCT outcome FROM llm_calls") == [("ok",)]
    ledger, budget = rig.booked()
    assert ledger == pytest.approx(budget)
    assert (rig.told(backfill)["state"], rig.calls()) == ("done", 0)


def test_cut_results_are_read_again(rig: BatchRig) -> None:
    backfill = rig.ask()
    rig.send(backfill)
    rig.end()
    path = f"{BATCHES}/{rig.rig.one('SELECT service_id FROM llm_batches')}/results"
    rig.fake.script.replace([Fault(path=path, cut_body=True, times=1)])
    assert rig.memory.batched.collect() == []
    rig.memory.batched.collect()
    assert rig.told(backfill)["state"] == "done"
    assert rig.rig.one("SELECT count(*) FROM llm_calls") == 3
