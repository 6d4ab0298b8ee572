"""The model's service misbehaves in two of five calls: what is summarised, put off or given up, and what it costs."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

from faults.ground import Ground
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.llm.prices import price
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.records import Usage
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, USUAL, SummaryRig

SEED = 11
SHARE = 0.4
CAP_USD = 2.0
TIMEOUT_SECONDS = 0.3
MOST_RUNS = 40
MODEL = "claude-haiku-5-5"

HONEST = (
    Fault(status=429, headers={"retry-after": "0"}),
    Fault(status=429, headers={"retry-after": "3600"}),
    Fault(status=529),
    Fault(status=500),
    Fault(status=504),
    Fault(cut_body=True),
    Fault(drop="before"),
    Fault(drop="half"),
    Fault(html=True),
    Fault(delay_seconds=3 * TIMEOUT_SECONDS),
    Fault(stop_reason="refusal"),
    Fault(stop_reason="max_tokens"),
    Fault(answer="invalid_json"),
    Fault(answer="prose"),
    Fault(answer="empty"),
)
LYING = (
    Fault(usage={"input_tokens": 0, "output_tokens": 0}),
    Fault(usage={"input_tokens": -9, "output_tokens": -9}),
    Fault(usage={"input_tokens": 10**12, "output_tokens": 10**12}),
    Fault(without_usage=True),
)


@fault(
    "the model misbehaves",
    how="429, 529, 500, 504, cut and half answers, no answer, pages, slowness, refusals, bad JSON and lies about usage,"
    f" in {SHARE:.0%} of the calls, under a cap",
    short=40,
    full=200,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """A try is a call. Lost are conversations neither summarised nor on the list of failures, doubled those with two
    live summaries.
    """
    chance = random.Random(SEED)
    bad = {number: chance.choice((*HONEST, *LYING)) for number in range(1, 20 * tries) if chance.random() < SHARE}
    talks = round(0.7 * tries)
    with ground.database() as url:
        rig = SummaryRig(url, ground.folder / "talks")
        for number in range(talks):
            rig.say(f"c{number}", [f"matter {number}. {text}" for text in USUAL], at=OLD + timedelta(hours=number))
        rig.load()
        rules = [replace(rule, call=number) for number, rule in bad.items()]
        with (
            FakeAnthropic(rules=rules) as fake,
            rig.anthropic(fake.url, timeout_seconds=TIMEOUT_SECONDS, sleep=lambda _: None) as llm,
        ):
            for _ in range(MOST_RUNS):
                rig.summarize(llm, usd_cap=CAP_USD)
                if not _waiting(rig):
                    break
                _time_passes(rig)
            fake.stop()
            outcome = _judged(rig, fake, talks, {number for number, rule in bad.items() if rule in LYING})
        rig.close()
    return outcome


def _waiting(rig: SummaryRig) -> int:
    return int(rig.one("SELECT coalesce(sum(pending), 0) FROM partition_states"))


def _time_passes(rig: SummaryRig) -> None:
    """What was put off is due again, and a lane that rested goes on."""
    rig.retries_are_due()
    rig.run("UPDATE llm_calls SET created_at = created_at - interval '61 minutes'")


def _judged(rig: SummaryRig, fake: FakeAnthropic, talks: int, lies: set[int]) -> Outcome:
    live = dict(
        rig.rows(
            "SELECT interaction_id, count(*) FROM interaction_summaries WHERE status IN ('completed', 'dirty')"
            " GROUP BY interaction_id"
        )
    )
    failed = int(rig.one("SELECT count(*) FROM summary_attempts WHERE state = 'failed'"))
    outcome = Outcome(tries=len(fake.journal), lost=talks - len(live) - failed)
    outcome.doubled = sum(count - 1 for count in live.values())
    ledger = float(rig.one("SELECT sum(cost_usd) FROM llm_calls"))
    [(spent, reserved)] = rig.rows("SELECT sum(spent_usd)::float8, sum(reserved_usd)::float8 FROM budgets")
    told = [entry["usage"] for entry in fake.journal if entry.get("usage") and entry["call"] not in lies]
    paid = sum(price(MODEL, Usage(usage["input_tokens"], usage["output_tokens"])) for usage in told)
    if paid > ledger:
        outcome.wrong.append(f"{paid:.4f} USD were charged and {ledger:.4f} booked")
    if ledger > CAP_USD or reserved:
        outcome.wrong.append(f"{ledger:.4f} USD booked under a cap of {CAP_USD}, {reserved:.4f} never settled")
    if abs(ledger - spent) > 1e-6:
        outcome.wrong.append(f"the ledger holds {ledger:.6f} USD, the budget {spent:.6f}")
    unknown = rig.one("SELECT count(*) FROM llm_calls WHERE outcome = 'unknown'")
    outcome.ends = (
        f"{len(live)} of {talks} summarised, {failed} on the list of failures; {unknown} calls unread and booked at"
        f" their most: {paid:.3f} USD charged, {ledger:.3f} booked"
    )
    return outcome
