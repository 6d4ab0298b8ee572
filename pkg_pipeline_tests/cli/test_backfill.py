"""``backfill`` over a real database, a real Dagster instance and the local model server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.cli.app import build_app
from pkg_pipeline.cli.terminal import FAILED, CommandFailed
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.stages.summaries.backfill_rig import BackfillRig
from pkg_pipeline_tests.stages.summaries.summary_rig import NOW

Ask = Callable[..., Any]


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture
def rig(
    database_url: str, tmp_path: Path, fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BackfillRig]:
    made = BackfillRig(database_url, tmp_path)
    for name, value in {
        "PKG_HOME": str(made.memory.settings.home),
        "DATABASE_URL": database_url,
        "PKG_NOW": NOW.isoformat(),
        "PKG_LLM": "anthropic",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": fake.url,
        "PKG_LLM_CONCURRENCY": "1",
    }.items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()


@pytest.fixture
def ask(rig: BackfillRig) -> Ask:
    """``ask("--limit", "3")``: the command's JSON document."""

    def run(*options: str, code: int = 0, command: str = "backfill") -> Any:
        done = CliRunner().invoke(build_app(), [command, *options, "--json"])
        assert done.exit_code == code, done.output
        if code == FAILED:
            assert isinstance(done.exception, CommandFailed)
            return str(done.exception)
        return json.loads(done.stdout)

    return run


def test_a_forecast_writes_nothing_and_what_it_cost_is_held_against_it(
    rig: BackfillRig, ask: Ask, fake: FakeAnthropic, database_url: str
) -> None:
    rig.talk(5)
    dry = ask("--limit", "3", "--dry-run")
    assert (dry["id"], dry["dry_run"], dry["forecast"]["interactions"]) == (None, True, 3)
    assert (rig.one("SELECT count(*) FROM backfills"), len(fake.journal)) == (0, 0)
    done = ask("--limit", "3")
    assert done["forecast"] == dry["forecast"]
    assert (done["state"], done["left"], done["actual"]["interactions"]) == ("done", 0, 3)
    assert rig.summarized() == ["c00", "c01", "c02"]
    assert len(fake.journal) == done["actual"]["calls"] == done["forecast"]["calls"] == 1
    billed = "SELECT sum(input_tokens + output_tokens), sum(cost_usd)::float8 FROM llm_calls WHERE backfill_id = %s"
    tokens, usd = rig.rows(billed, done["id"])[0]
    assert (done["actual"]["tokens"], done["actual"]["usd"]) == (tokens, pytest.approx(usd, abs=1e-4))
    assert {row["status"] for row in done["runs"]} == {"done"}
    with dagster_home.instance(rig.memory.settings.dagster_home, database_url) as instance:
        (run,) = instance.get_runs()
    assert (run.tags["pkg/backfill"], run.tags["pkg/lane"], run.tags["dagster/priority"]) == (
        done["id"],
        "backfill",
        "-1",
    )


def test_at_the_cap_it_says_what_is_left_and_a_larger_one_lets_it_go_on(
    rig: BackfillRig, ask: Ask, fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.talk(3)
    monkeypatch.setenv("PKG_BACKFILL_USD_PER_DAY", "1")
    taken = (
        "INSERT INTO budgets (day, lane, task, spent_usd) VALUES (current_date, 'backfill', 'relationship_profile', 1)"
    )
    rig.run(taken)  # today's profiles had all of it
    stopped = ask()
    assert (stopped["state"], stopped["left"], len(fake.journal)) == ("running", 3, 0)
    assert stopped["resume_at"] is not None
    assert "the backfill lane's 1.00 USD of today" in stopped["waits_for"]
    shown = CliRunner().invoke(build_app(), ["backfill", "--list"]).stdout
    assert stopped["id"] in shown
    monkeypatch.setenv("PKG_BACKFILL_USD_PER_DAY", "5")
    (done,) = ask("--resume", stopped["id"])["items"]
    assert (done["state"], done["left"], len(fake.journal)) == ("done", 0, 1)
    assert ask("--resume")["items"] == []


def test_the_next_run_goes_on_with_what_somebody_else_asked_for(
    rig: BackfillRig, ask: Ask, fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The talk is too young for ``run`` itself, and a person asked for it by HTTP."""
    rig.say("young", at=NOW - timedelta(days=1))
    rig.load()
    assert {one["asset"] for one in ask(command="run")["runs"]} == {"items", "memory_chunks", "marts"}, (
        "read and searched, not summarised"
    )
    rig.use()
    monkeypatch.setenv("PKG_MARTS", "false")  # dbt takes seconds
    asked = rig.ask(older_than_days=0)
    rows = ask(command="run")["runs"]
    assert (rows[0]["asset"], rows[0]["rows"]) == ("interaction_summaries", 1)
    assert rig.told(asked.id)["state"] == "done"
    assert len(fake.journal) == 2  # the reading, and the summary


def test_a_cancelled_one_is_left_alone(rig: BackfillRig, ask: Ask, fake: FakeAnthropic) -> None:
    rig.talk(2)
    rig.use()
    asked = rig.ask()
    assert ask("--cancel", str(asked.id))["state"] == "cancelled"
    assert "has ended" in ask("--resume", str(asked.id), code=FAILED)
    assert "cancelled already" in ask("--cancel", str(asked.id), code=FAILED)
    assert "there is no backfill" in ask("--resume", str(UUID(int=1)), code=FAILED)
    assert [one["state"] for one in ask("--list")["items"]] == ["cancelled"]
    assert len(fake.journal) == 0


def test_for_people_the_forecast_comes_before_and_beside_the_bill(rig: BackfillRig, ask: Ask) -> None:
    rig.talk(2)
    done = CliRunner().invoke(build_app(), ["backfill"])
    assert done.exit_code == 0, done.output
    assert "A new backfill:" in done.stderr
    assert "2 interactions of 2 days with 6 messages: 1 call, about" in done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["interactions", "calls", "tokens", "USD"]
    again = CliRunner().invoke(build_app(), ["backfill"])
    assert "there is nothing to do" in again.stdout


WRONG = [
    (["--limit", "0"], "--limit"),
    (["--from", "soon"], "--from"),
    (["--from", "2026-02-02", "--to", "2026-02-01"], "--from/--to"),
    (["--dry-run", "--resume"], "choose one"),
    (["--cancel"], "--list shows the ids"),
    (["--resume", "first"], "is no id"),
    (["00000000-0000-0000-0000-000000000001"], "an id goes with"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_wrong_usage_is_code_2(rig: BackfillRig, options: list[str], words: str) -> None:
    done = CliRunner().invoke(build_app(), ["backfill", *options])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.replace("│", " ").split())


def test_stale_readings_are_foretold_and_made_again_though_no_summary_is_stale(
    rig: BackfillRig, ask: Ask, fake: FakeAnthropic
) -> None:
    rig.talk(2)
    done = CliRunner().invoke(build_app(), ["backfill", "--stale", "--json"])
    assert done.exit_code == 0, done.output
    read = "SELECT count(*) FROM interaction_readings WHERE prompt_version <> 'another/1'"
    assert (rig.one(read), len(fake.journal)) == (2, 1)
    rig.run("UPDATE interaction_readings SET prompt_version = 'another/1'")
    dry = ask("--stale", "--dry-run")
    assert dry["readings"]["talks"] == 2
    assert dry["readings"]["usd"] > 0
    assert (rig.one(read), len(fake.journal)) == (0, 1)
    assert "readings" not in ask("--dry-run")
    ask("--stale")
    assert (rig.one(read), len(fake.journal)) == (2, 1), "read again; the same question has its answer already"
    assert ask("--stale", "--dry-run")["readings"]["talks"] == 0


def test_in_batches_it_is_sent_now_and_read_later(rig: BackfillRig, ask: Ask, fake: FakeAnthropic) -> None:
    rig.talk(4)
    foretold = ask("--batch", "--dry-run")["forecast"]
    assert foretold["batched"]
    assert foretold["usd"] == pytest.approx(foretold["usd_at_once"] / 2, abs=1e-4)
    sent = ask("--batch")
    assert (sent["state"], sent["left"], sent["in_batches"]) == ("running", 4, 4)
    assert ask(command="queue")["batches"] == {"open": 1, "questions": 1}
    human = CliRunner().invoke(build_app(), ["backfill", "--resume"])
    assert "4 are asked about in message batches, which take up to a day" in " ".join(human.output.split())
    fake.batches.end_all()
    (done,) = ask("--resume")["items"]
    assert (done["state"], done["actual"]["interactions"]) == ("done", 4)
    assert rig.summarized() == [f"c{index:02}" for index in range(4)]
    assert [entry for entry in fake.journal if entry["path"] == "/v1/messages"] == []
