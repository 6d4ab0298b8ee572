"""The compose files, Dockerfile and workspace.yaml against the code; a wrong name shows without a Docker engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pkg_pipeline.cli.programs import service
from pkg_pipeline.settings import ENVIRONMENT, Settings, SettingsError, load, variable_of

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {
    service.CODE_HOST_VARIABLE,
    service.CODE_PORT_VARIABLE,
    "DAGSTER_DISABLE_TELEMETRY",
    "DBT_SEND_ANONYMOUS_USAGE_STATS",
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


def test_the_files_keep_to_the_compose_specification() -> None:
    """By the schema of the specification, which the checker brings along."""
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    files = [str(ROOT / "docker-compose.yml"), str(ROOT / "docker-compose.scale.yml")]
    found = subprocess.run([*checker, *files], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_the_schema_refuses_what_compose_would_refuse(tmp_path: Path) -> None:
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text("services: {a: {image: x, restart: 3, no_such_key: 1}}", encoding="utf-8")
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    assert subprocess.run([*checker, str(wrong)], capture_output=True, check=False).returncode == 1


def programs(compose: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in compose["services"].items() if name != "postgres"}


def test_every_service_is_one_that_the_image_can_become(compose: dict[str, Any]) -> None:
    assert {name: one["command"] for name, one in programs(compose).items()} == {
        name: [name] for name in service.SERVICES if name != "worker"
    }


def test_every_variable_is_one_that_is_read(compose: dict[str, Any]) -> None:
    known = {variable_of(field) for field in Settings.model_fields} | set(ENVIRONMENT) | OTHERS
    for one in programs(compose).values():
        assert set(one["environment"]) <= known


def test_a_service_waits_for_what_it_needs(compose: dict[str, Any]) -> None:
    needs = {name: dict(one.get("depends_on", {})) for name, one in compose["services"].items()}
    assert needs["init"] == {"postgres": {"condition": "service_healthy"}}
    assert needs["code"] == needs["api"] == {"init": {"condition": "service_completed_successfully"}}
    assert needs["webserver"] == needs["daemon"] == {"code": {"condition": "service_healthy"}}
    for name, one in compose["services"].items():
        assert name == "init" or one["healthcheck"]["test"], f"{name} has no health check"


def test_no_secret_stands_in_the_file_and_nothing_is_published_beyond_this_machine(compose: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    assert re.findall(r"PASSWORD: (?!\$\{POSTGRES_PASSWORD:\?)", text) == []
    assert re.findall(r"://memory:(?!\$\{POSTGRES_PASSWORD:\?)", text) == []
    published = [port for one in compose["services"].values() for port in one.get("ports", [])]
    assert sorted(published) == ["127.0.0.1:3000:3000", "127.0.0.1:8321:8321"]
    assert "ports" not in compose["services"]["postgres"]


def test_programs_run_without_rights(compose: dict[str, Any]) -> None:
    for one in programs(compose).values():
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
    steps = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last_user = [line for line in steps if line.startswith("USER ")][-1]
    assert last_user == "USER memory"
    assert any("--require-hashes" in line for line in steps)


def test_ports_of_health_checks_are_those_in_force(compose: dict[str, Any]) -> None:
    settings = Settings(home=Path("/nowhere"))
    checks = {name: " ".join(one.get("healthcheck", {}).get("test", [])) for name, one in programs(compose).items()}
    assert f":{settings.api_port}/health" in checks["api"]
    assert f":{settings.dagster_port}/server_info" in checks["webserver"]
    assert str(service.CODE_PORT) in checks["code"]


@pytest.fixture(scope="module")
def scale() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.scale.yml").read_text(encoding="utf-8"))


def test_with_workers_every_program_of_dagster_knows_the_broker(compose: dict[str, Any], scale: dict[str, Any]) -> None:
    known = {variable_of(field) for field in Settings.model_fields} | set(ENVIRONMENT) | OTHERS
    more = {name: one for name, one in scale["services"].items() if name != "redis"}
    assert {*more} - {"worker", "importer"} == {*programs(compose)}
    for one in more.values():
        assert one["environment"]["PKG_RUN_BROKER"].startswith("redis://:${REDIS_PASSWORD:?")
        assert one["environment"]["PKG_MOST_RUNS"] == "${PKG_MOST_RUNS:-4}"
        assert set(one["environment"]) <= known | {service.QUEUES_VARIABLE}


def test_workers_run_without_rights_and_finish_what_they_began(scale: dict[str, Any]) -> None:
    for name in ("worker", "importer"):
        one = scale["services"][name]
        assert one["command"] == ["worker"]
        assert (one["read_only"], one["cap_drop"], one["stop_grace_period"]) == (True, ["ALL"], "30m")
        assert {"init", "redis"} == set(one["depends_on"])
    assert "home:/home/memory/data" in scale["services"]["importer"]["volumes"], "the inbox"
    assert "volumes" not in scale["services"]["worker"]
    assert [name for name, one in scale["services"].items() if "ports" in one] == []


def test_a_worker_needs_a_broker(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "database_url": "postgresql://db/m"})
    with pytest.raises(SettingsError, match="PKG_RUN_BROKER"):
        service.command("worker", settings, {})
    told = Settings.model_validate({**settings.model_dump(), "run_broker": "redis://:hunter2@queue:6379/0"})
    argv, environment = service.command("worker", told, {"ANTHROPIC_API_KEY": "sk-1", service.NAME_VARIABLE: "a"})
    assert "hunter2" not in " ".join(argv)
    assert argv[argv.index("-n") + 1] == "a@%h"
    assert environment["PKG_RUN_BROKER"] == "redis://:hunter2@queue:6379/0"
    assert environment["ANTHROPIC_API_KEY"] == "sk-1"


def test_a_deployment_needs_a_server_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL"):
        service.command("code", Settings(home=tmp_path), {})


@pytest.mark.parametrize("name", ["code", "webserver", "daemon", "api"])
def test_secrets_go_to_the_programs_that_need_them_and_into_no_command_line(tmp_path: Path, name: str) -> None:
    environ = {
        "DATABASE_URL": "postgresql://me:hunter2@db/memory",
        "ANTHROPIC_API_KEY": "sk-1",
        "PKG_CODE_HOST": "code",
        "PKG_DAGSTER_TOKEN": "sixteen-or-more-characters",
    }
    told = {"database_url": environ["DATABASE_URL"], "dagster_token": environ["PKG_DAGSTER_TOKEN"]}
    settings = Settings.model_validate({"home": tmp_path, **told})
    argv, environment = service.command(name, settings, environ)
    assert "hunter2" not in " ".join(argv)
    assert environ["PKG_DAGSTER_TOKEN"] not in " ".join(argv)
    assert ("PKG_DAGSTER_TOKEN" in environment) is (name != "daemon")
    assert environment["PKG_DAGSTER_URL"].startswith("postgresql+psycopg2://me:hunter2@db/memory")
    assert ("ANTHROPIC_API_KEY" in environment) is (name in ("code", "api"))
    assert ("code" in argv) is (name in ("webserver", "daemon"))  # the host they ask


def test_pages_that_others_can_reach_need_a_token_that_cannot_be_guessed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="PKG_DAGSTER_TOKEN"):
        service.command(
            "webserver", Settings.model_validate({"home": tmp_path, "database_url": "postgresql://db/m"}), {}
        )
    with pytest.raises(SettingsError, match=r"PKG_DAGSTER_TOKEN: .*16"):
        load({"PKG_HOME": str(tmp_path), "PKG_DAGSTER_TOKEN": "too short"})


def test_an_unknown_service_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert service.main(["everything"]) == 2
    assert "init|code|webserver|daemon|api|worker" in capsys.readouterr().err


def test_what_dagster_gives_a_container_as_its_arguments_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code server of its chart, a run's Job: the image's entry point stands before them."""
    passed: list[list[str]] = []
    monkeypatch.setattr(service.os, "execvp", lambda file, given: passed.append([file, *given]))
    service.main(["dagster", "api", "execute_run", "{}"])
    assert passed == [["dagster", "dagster", "api", "execute_run", "{}"]]


def test_the_workspace_names_the_definitions_and_nothing_else() -> None:
    found = yaml.safe_load((ROOT / "workspace.yaml").read_text(encoding="utf-8"))
    assert found == {"load_from": [{"python_module": "pkg_pipeline.definitions"}]}
