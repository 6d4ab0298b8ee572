"""``run`` over a real database: from the inbox to summaries, nothing due, days by name, wrong usage."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from pkg_pipeline.cli.app import build_app
from pkg_pipeline.cli.run import work_off
from pkg_pipeline.defs.keys import MONTH, WEEK
from pkg_pipeline.settings import Settings

PROFILES, ARCHIVE = "entity_relationship_profiles", "archived_messages"
START = datetime(2024, 2, 1, 10, tzinfo=UTC)
TALK = (
    ("bob", "Can you send the offer by Friday?"),
    ("me", "Yes. We agreed: the price is 5000 EUR, delivery on 2024-03-01."),
    ("bob", "Agreed, deal at 5000 EUR."),
    ("me", "I will send the contract tomorrow."),
)


def conversation(days: int) -> str:
    lines = []
    for day in range(days):
        for number, (sender, text) in enumerate(TALK):
            sent = START + timedelta(days=day, minutes=number)
            lines.append(
                {
                    "chat_id": "c",
                    "message_id": f"{day}-{number}",
                    "sender_id": sender,
                    "sender_name": sender.title(),
                    "is_self": sender == "me",
                    "sent_at": sent.isoformat(),
                    "text": text,
                }
            )
    return "".join(json.dumps(line) + "\n" for line in lines)


def last_week() -> str:
    """The Sunday on which the newest week that is over began, in UTC."""
    return WEEK.last(datetime.now(UTC).date()).isoformat()


def this_week() -> str:
    return WEEK.begin(datetime.now(UTC).date()).isoformat()


def this_month() -> str:
    return MONTH.begin(datetime.now(UTC).date()).isoformat()


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    made = Settings.model_validate({"home": tmp_path / "home", "database_url": database_url, "llm": "offline"})
    made.inbox.mkdir(parents=True)
    return made


@pytest.fixture
def shell(settings: Settings, database_url: str, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("PKG_HOME", str(settings.home))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("PKG_LLM", "offline")
    monkeypatch.setenv("PKG_PARTITIONS_START", "2000-01-01")
    return CliRunner()


def test_from_the_inbox_to_summaries_and_the_second_run_has_nothing_to_do(
    settings: Settings, database_url: str
) -> None:
    (settings.inbox / "talk.jsonl").write_text(conversation(3), encoding="utf-8")
    first = work_off(settings)
    assert first.failed == 0
    assert [(row.asset, row.partition, row.status, row.rows) for row in first.rows] == [
        ("messages", None, "done", 12),
        ("interactions", None, "done", 3),
        ("items", None, "done", 4),
        ("interaction_summaries", "2024-02-01", "done", 1),
        ("interaction_summaries", "2024-02-02", "done", 1),
        ("interaction_summaries", "2024-02-03", "done", 1),
        (
            "memory_chunks",
            "2024-02-01",
            "done",
            6,
        ),  # four messages, the summary, a decision; then repeated
        ("memory_chunks", "2024-02-02", "done", 5),
        ("memory_chunks", "2024-02-03", "done", 6),
        ("entity_relationship_profiles", last_week(), "done", 1),
        ("archived_messages", "2024-02-01", "done", 0),  # every message of such a deal is important and stays
        ("marts", None, "done", 16),
    ]
    assert (settings.inbox / "done" / "talk.jsonl").exists()
    with psycopg.connect(database_url) as connection:
        before = connection.execute("SELECT count(*), sum(revision_count) FROM pkg.interaction_summaries").fetchone()
        runs = connection.execute("SELECT count(*) FROM dagster.runs").fetchone()
    second = work_off(settings)
    assert (second.rows, second.failed) == ([], 0)
    with psycopg.connect(database_url) as connection:
        after = connection.execute("SELECT count(*), sum(revision_count) FROM pkg.interaction_summaries").fetchone()
        assert connection.execute("SELECT count(*) FROM dagster.runs").fetchone() == runs
    assert before == after


def test_the_same_export_again_changes_nothing_and_summarises_nothing(settings: Settings) -> None:
    """Nor the marts, as the demo's test says; here they are never made, which takes seconds."""
    settings = settings.model_copy(update={"marts": False})
    (settings.inbox / "talk.jsonl").write_text(conversation(1), encoding="utf-8")
    work_off(settings)
    (settings.inbox / "talk.jsonl").write_text(conversation(1), encoding="utf-8")
    again = work_off(settings)
    assert [(row.asset, row.rows) for row in again.rows] == [("messages", 0)]
    report = json.loads((settings.inbox / "done" / "talk (2).jsonl.report.json").read_text(encoding="utf-8"))
    assert report["note"] == "already imported: all 4 messages were in the memory"


def test_a_file_that_is_no_export_fails_the_command_and_not_the_others(
    shell: CliRunner, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKG_MARTS", "false")  # dbt takes seconds
    (settings.inbox / "notes.json").write_text('{"neither": "telegram"}', encoding="utf-8")
    (settings.inbox / "talk.jsonl").write_text(conversation(1), encoding="utf-8")
    said = shell.invoke(build_app(), ["run", "--json"])
    assert said.exit_code == 1
    answer = json.loads(said.stdout)
    assert answer["failed"] == 1
    assert [(row["asset"], row["rows"]) for row in answer["runs"]][:2] == [("messages", 4), ("interactions", 1)]
    assert (settings.inbox / "failed" / "notes.json").exists()


def test_nothing_due_is_one_empty_document(shell: CliRunner) -> None:
    said = shell.invoke(build_app(), ["run", "--json"])
    assert said.exit_code == 0
    assert json.loads(said.stdout) == {"runs": [], "failed": 0, "pending": 0, "checks": []}


def test_a_day_by_name_is_attempted_though_nothing_is_due(shell: CliRunner, database_url: str) -> None:
    said = shell.invoke(build_app(), ["run", "--partition", "2024-02-01", "--json"])
    assert said.exit_code == 0, said.output
    (row,) = json.loads(said.stdout)["runs"]
    assert (row["asset"], row["partition"], row["status"], row["rows"]) == (
        "interaction_summaries",
        "2024-02-01",
        "done",
        0,
    )
    with psycopg.connect(database_url) as connection:
        tags = dict(connection.execute("SELECT key, value FROM dagster.run_tags").fetchall())
    assert tags["pkg/lane"] == "backfill"


def test_weeks_and_months_by_name_and_by_range(shell: CliRunner) -> None:
    week = shell.invoke(
        build_app(), ["run", "--only", PROFILES, "--from", "2024-02-04", "--to", "2024-02-20", "--json"]
    )
    assert week.exit_code == 0, week.output
    found = [(row["asset"], row["partition"], row["status"]) for row in json.loads(week.stdout)["runs"]]
    assert found == [(PROFILES, key, "done") for key in ("2024-02-04", "2024-02-11", "2024-02-18")]
    month = shell.invoke(build_app(), ["run", "--only", ARCHIVE, "--partition", "2024-02-01", "--json"])
    assert month.exit_code == 0, month.output
    assert [(row["asset"], row["partition"]) for row in json.loads(month.stdout)["runs"]] == [(ARCHIVE, "2024-02-01")]


def test_a_failing_check_is_in_the_answer_and_ends_the_command_with_code_one(
    shell: CliRunner, settings: Settings, database_url: str
) -> None:
    (settings.inbox / "talk.jsonl").write_text(conversation(1), encoding="utf-8")
    shell.invoke(build_app(), ["run", "--only", "messages"])
    shell.invoke(build_app(), ["run", "--only", "interactions"])
    shell.invoke(build_app(), ["run", "--only", "interaction_summaries"])
    with psycopg.connect(database_url) as connection:
        wrong = '[{"message_id": "no such message"}]'
        connection.execute("UPDATE pkg.interaction_summaries SET important_messages = %s", (wrong,))
    said = shell.invoke(build_app(), ["run", "--partition", "2024-02-01", "--json"])
    assert said.exit_code == 1
    answer = json.loads(said.stdout)
    assert [row["status"] for row in answer["runs"]] == ["done", "blocked"]
    assert answer["failed"] == 1
    (check,) = [row for row in answer["checks"] if row["is_blocking"]]
    assert (check["asset"], check["check"], check["severity"]) == ("interaction_summaries", "grounding", "ERROR")
    assert check["numbers"]["wrong"] > 0
    assert "never said" not in said.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "decisions"], "no asset"),
        (["--only", "messages", "--partition", "2024-02-01"], "no partitions"),
        (["--partition", "yesterday"], "no day"),
        (["--partition", "2024-02-30"], "no day"),
        (["--from", "2024-02-01"], "both"),
        (["--from", "2024-02-02", "--to", "2024-02-01"], "before"),
        (["--partition", "2024-02-01", "--from", "2024-02-01", "--to", "2024-02-01"], "one day"),
        (["--partition", "1999-12-31"], "2000-01-01"),
        (["--partition", "2999-01-01"], "2000-01-01"),
        (["--only", PROFILES, "--partition", "2026-03-10"], "2026-03-10 is no week: it lies in that of 2026-03-08"),
        (["--only", PROFILES, "--from", "2026-03-09", "--to", "2026-03-14"], "no week begins between"),
        (["--only", PROFILES, "--partition", this_week()], "weeks run from 1999-12-26"),
        (["--only", PROFILES, "--partition", this_week()], "once they are over"),
        (["--only", ARCHIVE, "--partition", "2026-03-10"], "2026-03-10 is no month: it lies in that of 2026-03-01"),
        (["--only", ARCHIVE, "--from", "2026-03-02", "--to", "2026-03-31"], "no month begins between"),
        (["--only", ARCHIVE, "--partition", this_month()], "months run from 2000-01-01"),
        (["--only", ARCHIVE, "--partition", "2026-03"], "no day such as"),
    ],
)
def test_wrong_usage_ends_with_code_two_before_anything_is_opened(
    shell: CliRunner, settings: Settings, arguments: list[str], said: str
) -> None:
    told = shell.invoke(build_app(), ["run", *arguments])
    assert told.exit_code == 2
    assert said in " ".join(told.output.replace("│", " ").split())
    assert not settings.dagster_home.exists()
