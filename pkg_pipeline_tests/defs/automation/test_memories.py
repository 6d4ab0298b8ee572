"""Named memories under the Dagster of the own one: who gets a run, what it does, and whose records it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
import yaml

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.defs.automation import memories as automation
from pkg_pipeline.defs.build import build_definitions
from pkg_pipeline.defs.first_day import begin_if_known
from pkg_pipeline.defs.lanes import INBOX_QUEUE, MEMORY_TAG, QUEUE_TAG
from pkg_pipeline.settings import Settings, load
from pkg_pipeline.wiring import database_url, memories
from pkg_pipeline_tests.cli.processes import NOW, line, written
from pkg_pipeline_tests.stages.many_memories import named_deployment

NAMES = ("anna", "bob", "carl")
TAGS = dict[str, str]


@pytest.fixture
def settings(server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    with named_deployment(server_url) as url:
        given = {"DATABASE_URL": url, "PKG_HOME": str(tmp_path), "PKG_NOW": NOW, "PKG_LLM": "offline"}
        given |= {"PKG_EMBEDDER": "none", "PKG_MARTS": "false", "PKG_SUMMARY_MIN_AGE_DAYS": "0"}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(Inbox, "_is_settled", lambda *_: True)  # else each file would take two seconds
        found = load()
        for name in NAMES:
            memories.create(found, name)
        yield found


@pytest.fixture
def definitions(settings: Settings) -> dg.Definitions:
    return build_definitions(start=begin_if_known(settings), settings=settings, marts=False)


@pytest.fixture
def tick(definitions: dg.Definitions, instance: dg.DagsterInstance) -> Callable[..., dg.SensorResult]:
    sensor = next(one for one in definitions.sensors or () if one.name == automation.SENSOR)  # type: ignore[union-attr]

    def evaluated(cursor: str | None = None) -> dg.SensorResult:
        context = dg.build_sensor_context(instance=instance, cursor=cursor)
        found = sensor(context)  # type: ignore[operator]
        assert isinstance(found, dg.SensorResult)
        return found

    return evaluated


def drop_in(settings: Settings, name: str, word: str) -> None:
    inbox = memories.settings_of(settings, name).inbox
    said = [line(number, "Olga", f"{word} {number}, will you?") for number in range(1, 7)]
    written(inbox / "export.jsonl", said)


def rows(settings: Settings, name: str, statement: str) -> Any:
    one = memories.settings_of(settings, name)
    with psycopg.connect(database_url(one, start=False)) as connection:
        row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row[0]


def test_a_memory_with_files_gets_a_run_that_does_its_work_alone(
    settings: Settings, definitions: dg.Definitions, instance: dg.DagsterInstance, tick: Callable[..., dg.SensorResult]
) -> None:
    assert "3 of 3 memories" in str(tick().skip_reason)
    drop_in(settings, "bob", "zanzibar")
    (request,) = tick("anna").run_requests or ()
    assert request.tags[MEMORY_TAG] == "bob"
    assert request.tags[QUEUE_TAG] == INBOX_QUEUE
    result = definitions.resolve_job_def(automation.JOB).execute_in_process(
        instance=instance, tags=request.tags, raise_on_error=False
    )
    assert result.success
    assert rows(settings, "bob", "SELECT count(*) FROM pkg.messages WHERE content LIKE 'zanzibar%'") == 6
    assert rows(settings, "bob", "SELECT count(*) FROM pkg.interaction_summaries WHERE status = 'completed'") == 1
    for name in ("anna", "carl"):
        assert rows(settings, name, "SELECT count(*) FROM pkg.messages") == 0
    made = {key.to_user_string() for key in instance.all_asset_keys()}
    assert made == {f"bob/{asset}" for asset in made_by(instance)}
    assert "bob/interaction_summaries" in made
    # Dagster's records of what was done lie in the memory's own database
    assert rows(settings, "bob", "SELECT count(*) FROM dagster.runs WHERE status = 'SUCCESS'") >= 4
    assert rows(settings, "anna", "SELECT to_regclass('dagster.runs') IS NULL")
    with engine.connect(settings.database_url.get_secret_value()) as own:  # type: ignore[union-attr]
        assert engine.value(own, "SELECT count(*) FROM pkg.messages") == 0
    assert "0 under way" in str(tick().skip_reason)


def made_by(instance: dg.DagsterInstance) -> set[str]:
    return {key.path[-1] for key in instance.all_asset_keys()}


def test_one_that_failed_rests_and_the_others_have_their_turn(
    settings: Settings, definitions: dg.Definitions, instance: dg.DagsterInstance, tick: Callable[..., dg.SensorResult]
) -> None:
    for name in NAMES:
        drop_in(settings, name, "word")
    own = memories.settings_of(settings, "bob").memory_home / "pkg.toml"
    own.write_text('timezone = "Europe/Berlin"\n')  # not the one that it was made with
    requested = [one.tags[MEMORY_TAG] for one in tick().run_requests or ()]
    assert requested == ["anna", "bob", "carl"]
    result = definitions.resolve_job_def(automation.JOB).execute_in_process(
        instance=instance, tags={MEMORY_TAG: "bob"}, raise_on_error=False
    )
    assert not result.success
    assert [one.tags[MEMORY_TAG] for one in tick("anna").run_requests or ()] == ["carl", "anna"]


@pytest.mark.parametrize("name", ["", "nobody", "Not/One"])
def test_a_run_for_no_memory_fails_and_does_nothing(
    definitions: dg.Definitions, instance: dg.DagsterInstance, name: str
) -> None:
    result = definitions.resolve_job_def(automation.JOB).execute_in_process(
        instance=instance, tags={MEMORY_TAG: name} if name else {}, raise_on_error=False
    )
    assert not result.success
    assert not instance.all_asset_keys()


def test_the_queue_gives_no_memory_two_places_and_keeps_one_for_the_own() -> None:
    limits = yaml.safe_load(dagster_home.Running(3).yaml)["concurrency"]["runs"]["tag_concurrency_limits"]
    mine = [one for one in limits if one["key"] == MEMORY_TAG]
    assert mine == [
        {"key": MEMORY_TAG, "value": {"applyLimitPerUniqueValue": True}, "limit": 1},
        {"key": MEMORY_TAG, "limit": 2},
    ]
