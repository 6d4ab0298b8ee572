"""The whole hop over the real SDK and a local server that misbehaves: what is published, counted, booked and spent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline.adapters.llm.remote import MAX_TRIES
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.summaries.summarize import CALLS_PER_WINDOW
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, USUAL, SummaryRig

TWICE = 2
"""An answer that is cut is asked for again with twice the room; so is what is asked in its place."""


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path)
    for index in range(2):
        words = "Poison" if index == 0 else "Plain"
        made.say(f"c{index}", [f"{words}. {text}" for text in USUAL], at=OLD + timedelta(hours=index))
    made.load()
    yield made
    made.close()


# fault on the poisoned one → its state: attempts counted, deferrals (None: published); outcomes in the ledger
FAULTS = [
    ("nothing", {}, None, {"ok"}),
    ("one overload", {"status": 529, "times": 1}, None, {"unavailable", "ok"}),
    ("a gateway's page", {"html": True, "times": 1}, None, {"unknown", "ok"}),
    ("a cut body", {"cut_body": True, "times": 1}, None, {"unknown", "ok"}),
    ("a broken connection", {"drop": "half", "times": 1}, None, {"unknown", "ok"}),
    ("no usage told", {"without_usage": True}, None, {"ok"}),
    ("bad JSON once", {"answer": "invalid_json", "times": 1}, None, {"quarantined", "ok"}),
    ("an invented number", {"answer": "invented_quote"}, None, {"ok"}),
    ("cut once", {"stop_reason": "max_tokens", "times": 1}, None, {"truncated", "ok"}),
    ("bad JSON always", {"answer": "invalid_json"}, (1, 0), {"quarantined", "ok"}),
    ("another language", {"answer": "other_language"}, (1, 0), {"quarantined", "ok"}),
    ("no words", {"answer": "empty"}, (1, 0), {"empty", "ok"}),
    ("cut always", {"stop_reason": "max_tokens"}, (1, 0), {"truncated", "ok"}),
    ("refusal", {"stop_reason": "refusal"}, (1, 0), {"refused", "ok"}),
    ("rejected", {"status": 400, "message": "bad request"}, (1, 0), {"rejected", "ok"}),
    ("quota", {"status": 429, "headers": {"retry-after": "3600"}}, (0, 1), {"unavailable", "ok"}),
    ("always overloaded", {"status": 529}, (0, 1), {"unavailable", "ok"}),
]


@pytest.mark.parametrize(("fault", "expected", "outcomes"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_one_misbehaves_and_the_books_balance(rig: SummaryRig, fault, expected, outcomes) -> None:
    with FakeAnthropic(rules=[Fault(contains="Poison", **fault)]) as fake, rig.anthropic(fake.url) as llm:
        reports = rig.summarize(llm)
        poisoned = sum("Poison" in str(entry["body"]) for entry in fake.journal)
    assert rig.status_of("c1") == ["completed"]
    assert ("completed" in rig.status_of("c0")) is (expected is None)
    assert rig.rows("SELECT attempts, deferrals FROM summary_attempts") == ([expected] if expected else [])
    assert {row[0] for row in rig.rows("SELECT outcome FROM llm_calls")} <= outcomes
    assert poisoned <= max(MAX_TRIES, TWICE * CALLS_PER_WINDOW)
    # every answer that told its usage is booked, whatever became of it; the budget holds what the ledger holds
    ledger = rig.one("SELECT sum(cost_usd) FROM llm_calls")
    assert rig.rows("SELECT spent_usd, reserved_usd FROM budgets") == [(ledger, 0)]
    assert rig.one("SELECT calls FROM budgets") == rig.one(
        "SELECT count(*) FROM llm_calls WHERE input_tokens + output_tokens > 0 OR outcome = 'unknown'"
    )
    assert float(ledger) == pytest.approx(sum(report.cost_usd for report in reports))
    assert rig.one("SELECT count(*) FROM llm_calls c JOIN llm_call_subjects s ON s.call_id = c.id") == rig.one(
        "SELECT count(*) FROM llm_calls"
    )
    if fault.get("stop_reason") == "refusal":
        assert rig.one("SELECT input_tokens FROM llm_calls WHERE outcome = 'refused'") > 0
    if fault.get("status") == 429:
        assert rig.one("SELECT extract(epoch FROM retry_at - clock_timestamp())::float8 FROM summary_attempts") > 3500


def test_a_wrong_key_is_one_clear_error(rig: SummaryRig) -> None:
    with FakeAnthropic(api_key="another") as fake, rig.anthropic(fake.url) as llm:
        with pytest.raises(LlmMisconfigured, match="ANTHROPIC_API_KEY"):
            rig.summarize(llm)
        assert len(fake.journal) == 1
    assert rig.rows("SELECT spent_usd, reserved_usd, calls FROM budgets") == [(0, 0, 0)]
    assert rig.one("SELECT count(*) FROM leases") == 0
