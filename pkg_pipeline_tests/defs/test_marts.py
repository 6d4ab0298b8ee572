"""The dbt project over a migrated database with a few rows: built, tested, and read."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from pkg_pipeline.adapters import dbt_profile
from pkg_pipeline.defs.assets import dbt_marts

DBT = Path(sys.executable).parent / "dbt"
has_dbt = pytest.mark.skipif(not DBT.exists(), reason="NOT RUN: dbt is not installed; pkg-pipeline[dbt] brings it")

CHAT, BOB, ANN = UUID(int=1), UUID(int=2), UUID(int=3)
FIRST, SECOND, THIRD = UUID(int=11), UUID(int=12), UUID(int=13)
AGREED, WITHDRAWN, OLD, GROUP = UUID(int=21), UUID(int=22), UUID(int=23), UUID(int=24)


def dbt(command: str, url: str, target: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **dbt_profile.variables(url),
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(target),
    }
    options = ["--project-dir", str(dbt_marts.PROJECT), "--profiles-dir", str(dbt_marts.PROJECT), "--no-partial-parse"]
    return subprocess.run(
        [str(DBT), command, *options], env=environment, capture_output=True, text=True, check=False, timeout=240
    )


def decision(ident: UUID, description: str, messages: list[str], importance: str = "high") -> dict[str, object]:
    return {
        "id": str(ident),
        "description": description,
        "date": "2024-02-01",
        "importance": importance,
        "quote": "deal",
        "message_ids": messages,
    }


def fill(url: str) -> None:
    """A chat with three messages (the last one deleted), two interactions, a live, a dirty and a superseded summary."""
    with psycopg.connect(url, options="-csearch_path=pkg,public") as connection:
        run = connection.execute
        run(
            "INSERT INTO chats (id, source, external_id, kind, title, title_at)"
            " VALUES (%s, 'telegram', 'user:1', 'direct', 'Bob', now())",
            (CHAT,),
        )
        for entity, name in ((BOB, "Bob"), (ANN, "Ann")):
            run("INSERT INTO entities (id, name, name_at) VALUES (%s, %s, now())", (entity, name))
        for number, deleted in (("1", None), ("2", None), ("3", "2024-03-01")):
            run(
                "INSERT INTO messages (chat_id, external_id, sent_at, exported_at, deleted_at, token_count,"
                " importance_score, is_outgoing, content, content_hash)"
                " VALUES (%s, %s, '2024-02-01', '2024-02-01', %s, 3, 0, false, 'x', 'h')",
                (CHAT, number, deleted),
            )
        for interaction, day in ((FIRST, "2024-02-01"), (SECOND, "2024-02-02"), (THIRD, "2024-02-03")):
            run(
                "INSERT INTO interactions (id, chat_id, day, started_at, ended_at, status, message_count, token_count,"
                " language, first_external_id, input_hash)"
                " VALUES (%s, %s, %s, %s, %s, 'completed', 3, 9, 'en', '1', 'h')",
                (interaction, CHAT, day, day, day),
            )
        summary(
            run,
            FIRST,
            "completed",
            [decision(AGREED, "Pay 5000 EUR", ["1", "2"]), decision(WITHDRAWN, "Gone", ["2", "3"])],
        )
        summary(run, FIRST, "superseded", [decision(OLD, "Pay 4000 EUR", ["1"])])
        summary(run, SECOND, "dirty", [decision(GROUP, "Meet in Riga", ["1"], "medium")])
        summary(run, THIRD, "quarantined", [decision(UUID(int=25), "Never", ["1"])])
        live = connection.execute("SELECT id FROM interaction_summaries WHERE status = 'completed'").fetchone()
        assert live is not None
        for entity, item in ((BOB, AGREED), (BOB, GROUP), (ANN, GROUP)):
            run(
                "INSERT INTO summary_items (item_id, entity_id, interaction_id, summary_id, kind, at, description,"
                " quote, message_ids) VALUES (%s, %s, %s, %s, 'decision', now(), 'd', 'q', '{1}')",
                (item, entity, FIRST, live[0]),
            )


def summary(run, interaction: UUID, status: str, decisions: list[dict[str, object]]) -> None:
    run(
        "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
        " language, summary, decisions, message_ids, message_count, source_token_count, summary_token_count,"
        " compression_ratio, cost_usd, generation_seconds)"
        " VALUES (gen_random_uuid(), %s, %s, 'h', 'p/1', 'm', 'en', 's', %s, '{1}', 3, 9, 3, 3, 0, 0)",
        (interaction, status, json.dumps(decisions)),
    )


@has_dbt
def test_decisions_are_built_tested_and_hold_only_what_is_live(tmp_path: Path, database_url: str) -> None:
    fill(database_url)
    built = dbt("build", database_url, tmp_path)
    assert built.returncode == 0, built.stdout
    assert "ERROR=0" in built.stdout
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT decision_id, description, decided_on, importance, chat_title, entity_names, interaction_id,"
            " is_outdated, message_ids FROM marts.decisions ORDER BY interaction_id"
        ).fetchall()
    assert rows == [
        (AGREED, "Pay 5000 EUR", date(2024, 2, 1), "high", "Bob", ["Bob"], FIRST, False, ["1", "2"]),
        (GROUP, "Meet in Riga", date(2024, 2, 1), "medium", "Bob", ["Ann", "Bob"], SECOND, True, ["1"]),
    ]


@has_dbt
def test_a_mart_that_breaks_its_promise_fails_the_build(tmp_path: Path, database_url: str) -> None:
    fill(database_url)
    with psycopg.connect(database_url, options="-csearch_path=pkg,public") as connection:
        connection.execute(
            "UPDATE interaction_summaries SET decisions = %s WHERE status = 'dirty'",
            (json.dumps([decision(AGREED, "The same id twice", ["1"], "urgent")]),),
        )
    built = dbt("build", database_url, tmp_path)
    assert built.returncode != 0
    assert "unique_decisions_decision_id" in built.stdout
    assert "accepted_values_decisions_importance" in built.stdout


@has_dbt
@pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning")
@pytest.mark.skipif(importlib.util.find_spec("dagster_dbt") is None, reason="NOT RUN: dagster-dbt is not installed")
def test_the_marts_hang_on_the_assets_they_are_made_of(tmp_path: Path) -> None:
    """Parsed without any database: the address leads nowhere."""
    parsed = dbt("parse", "postgresql://nobody@127.0.0.1:1/none", tmp_path)
    assert parsed.returncode == 0, parsed.stdout
    (assets,) = dbt_marts.build(tmp_path / "manifest.json").assets
    (spec,) = [spec for spec in assets.specs if spec.key.path == ["decisions"]]
    parents = {dep.asset_key.to_user_string() for dep in spec.deps}
    assert {"messages", "interactions", "interaction_summaries"} <= parents
    assert spec.group_name == "marts"
    assert {check.name for check in assets.check_specs} >= {"unique_decisions_decision_id"}


def test_without_a_manifest_the_core_loads_and_a_warning_says_what_to_do(tmp_path: Path) -> None:
    with pytest.warns(dbt_marts.MartsMissing, match="make env"):
        marts = dbt_marts.build(tmp_path / "manifest.json")
    assert (list(marts.assets), dict(marts.resources)) == ([], {})


def test_every_column_of_a_mart_is_described_and_its_contract_enforced() -> None:
    import yaml

    project = yaml.safe_load((dbt_marts.PROJECT / "dbt_project.yml").read_text(encoding="utf-8"))
    assert project["models"]["pkg_marts"]["marts"]["+contract"] == {"enforced": True}
    assert project["flags"]["send_anonymous_usage_stats"] is False
    for file in (dbt_marts.PROJECT / "models" / "marts").glob("*.yml"):
        for model in yaml.safe_load(file.read_text(encoding="utf-8"))["models"]:
            assert model["description"]
            assert all(column["description"] and column["data_type"] for column in model["columns"])
