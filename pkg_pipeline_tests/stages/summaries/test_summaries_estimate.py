"""What ``import`` says summarising would cost, against what it then does cost, on the demo account."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from pkg_pipeline import wiring
from pkg_pipeline.demo import account
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries import stage as summaries
from pkg_pipeline.stages.summaries.stores import Scope, Waiting
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_the_forecasts_are_within_a_fifth_of_the_bill(database_url: str, tmp_path: Path) -> None:
    """Of a backfill, by the ledger's rows on its account, and of all that waits."""
    with FakeAnthropic() as fake:
        settings = Settings(
            home=tmp_path / "home",
            database_url=SecretStr(database_url),
            llm="anthropic",
            anthropic_api_key=SecretStr("sk-test"),
            anthropic_base_url=fake.url,
            now=NOW,
        )
        with wiring.open_memory(settings) as memory:
            for path in account.write_exports(tmp_path, now=NOW):
                memory.import_path(path)
            memory.build_interactions()
            asked = memory.backfills.ask(memory.backfills.request(limit=60), requested_by="test").backfill
            assert asked is not None
            span = (date(2015, 1, 1), NOW.date())
            memory.summarize(span, Billing("backfill"), scope=Scope(backfill_id=asked.id))
            backfill = memory.backfills.told(asked.id)
            forecast = memory.summaries.estimate()
            reports = memory.summarize(span, Billing("backfill"))
            left = memory.summaries.estimate()
            both = memory.estimate()
            read = memory.items.run(Billing("backfill"))
    told, made = backfill.forecast, backfill.actual
    assert backfill.progress.summarized == told.interactions == 60
    assert abs(told.calls - made.calls) <= 1, "short ones stand together, as they meet"
    assert made.calls < 10
    assert (told.tokens, told.usd) == (pytest.approx(made.tokens, rel=0.2), pytest.approx(made.usd, rel=0.2))
    spent = sum(report.input_tokens + report.output_tokens for report in reports)
    assert sum(report.summarized for report in reports) == forecast.interactions > 100
    assert forecast.later > 0, "the last week's conversations are too young"
    assert (left.interactions, left.tokens, left.usd, left.later) == (0, 0, 0.0, forecast.later)
    assert forecast.tokens == pytest.approx(spent, rel=0.2)
    assert forecast.usd == pytest.approx(sum(report.cost_usd for report in reports), rel=0.2)

    # the readings that are due are foretold beside the summaries, and both are told as one sum
    assert (both.readings.talks, both.tokens) == (read.read, both.readings.tokens + left.tokens)
    assert abs(both.readings.calls - read.calls) <= 2
    assert both.readings.tokens == pytest.approx(read.input_tokens + read.output_tokens, rel=0.25)
    assert both.usd == pytest.approx(read.cost_usd, rel=0.25)


def test_every_window_takes_a_prompt_and_nothing_waiting_costs_nothing() -> None:
    llm = ScriptedLlm(usd_per_call=0.5)
    one = summaries.estimate(llm, Waiting(interactions=1, prompts=1, messages=500, message_tokens=9_000))
    two = summaries.estimate(llm, Waiting(interactions=1, prompts=2, messages=501, message_tokens=9_000))
    assert (one.usd, two.usd) == (0.5, 1.0)
    around = summaries.PROMPT_TOKENS + summaries.TALK_TOKENS + summaries.MESSAGE_TOKENS
    assert two.tokens - one.tokens == around + summaries.ANSWER_TOKENS
    assert summaries.estimate(llm, Waiting(0, 0, 0, 0)).to_json() == {
        "interactions": 0,
        "tokens": 0,
        "usd": 0.0,
        "later": 0,
    }
    assert summaries.estimate(ScriptedLlm(is_paid=False), Waiting(1, 1, 3, 30)).usd == 0.0
