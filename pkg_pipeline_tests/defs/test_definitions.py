"""The entry point: what loading costs and touches, which objects there are, days in time zones, code servers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pkg_pipeline.defs import build, partitions
from pkg_pipeline.defs.hops import HOPS
from pkg_pipeline_tests.defs.fakes import FakeMemory

IMPORT = """
import sys, time
import dagster
import socket
def refuse(*_): raise AssertionError("a socket was opened")
socket.socket.connect = refuse
started = time.process_time()
import pkg_pipeline.definitions
seconds = time.process_time() - started
unwanted = {"psycopg", "anthropic", "tiktoken", "sqlalchemy", "numpy", "pkg_pipeline.wiring"}
heavy = unwanted & set(sys.modules)
assert not heavy, heavy
pkg_pipeline.definitions.definitions()  # asks a database that does not answer where partitions begin
assert "dbt" not in sys.modules, "three seconds of every run"
print(seconds)
"""


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_definitions_connects_to_nothing_and_costs_under_a_second(tmp_path: Path) -> None:
    # the URL of a server that is not there: whoever asked it would fail
    assert float(python(IMPORT, PKG_HOME=str(tmp_path), DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")) < 1.0
    assert list(tmp_path.iterdir()) == []


def test_what_there_is(tmp_path: Path, definitions_of: Callable[[Any], dg.Definitions]) -> None:
    found = definitions_of(FakeMemory(tmp_path))
    dg.Definitions.validate_loadable(found)
    specs = {spec.key.to_user_string(): spec for spec in found.resolve_all_asset_specs()}
    parents = {name: {dep.asset_key.to_user_string() for dep in spec.deps} for name, spec in specs.items()}
    assert parents == {
        "messages": set(),
        "interactions": {"messages"},
        "items": {"interactions"},
        "session_summaries": {"messages"},
        "interaction_summaries": {"interactions"},
        "memory_chunks": {"interactions", "interaction_summaries", "session_summaries"},
        "entity_relationship_profiles": {"interaction_summaries"},
        "archived_messages": {"interaction_summaries"},
    }
    jobs = {
        "import_inbox",
        "build_interactions",
        "read_items",
        "fold_sessions",
        "summarize_days",
        "chunk_days",
        "profile_weeks",
    }
    jobs |= {"archive_months"}
    assert {job.name for job in found.jobs or []} >= jobs
    clock = {
        "sessions_half_past_two",
        "summaries_at_three",
        "chunks_half_past_three",
        "profiles_sunday_four",
        "archive_first_five",
    }
    assert {one.name for one in found.schedules or []} >= clock
    eyes = {
        "inbox",
        "touched_chats",
        "unread_talks",
        "due_sessions",
        "due_days",
        "due_chunks",
        "due_weeks",
        "due_months",
    }
    assert {one.name for one in found.sensors or []} >= eyes


def test_a_hop_is_declared_once_and_definitions_and_jobs_follow(
    tmp_path: Path, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    """Its name stands in the declaration, in the module of its body, and nowhere else in ``build``."""
    found = definitions_of(FakeMemory(tmp_path))
    grains = {"day": dg.DailyPartitionsDefinition, "week": dg.WeeklyPartitionsDefinition}
    grains["month"] = dg.MonthlyPartitionsDefinition
    for hop in HOPS[:-1]:
        made = found.resolve_assets_def(hop.asset)
        assert made.code_versions_by_key[dg.AssetKey(hop.asset)] == (hop.version() if hop.version else None)
        assert found.resolve_job_def(hop.job).asset_layer.executable_asset_keys == {dg.AssetKey(hop.asset)}
        kind = made.partitions_def
        assert (kind is None) == (hop.grain is None)
        assert hop.grain is None or isinstance(kind, grains[hop.grain.noun])
    source = Path(build.__file__).read_text(encoding="utf-8")
    assert [hop.asset for hop in HOPS[:-1] if hop.asset in source] == []


def test_a_backfill_splits_into_runs_of_some_days(
    tmp_path: Path, definitions_of: Callable[[Any], dg.Definitions]
) -> None:
    found = definitions_of(FakeMemory(tmp_path))
    most = {"interaction_summaries": 30, "memory_chunks": 10}
    for asset, days in most.items():
        policy = found.resolve_assets_def(asset).backfill_policy
        assert policy == dg.BackfillPolicy.multi_run(max_partitions_per_run=days)


@pytest.mark.parametrize(
    ("timezone", "now", "last"),
    [
        # today is a partition already, by the local calendar
        ("UTC", datetime(2026, 3, 15, 23, 30, tzinfo=UTC), "2026-03-15"),
        ("Europe/Berlin", datetime(2026, 3, 15, 23, 30, tzinfo=UTC), "2026-03-16"),
        ("America/Los_Angeles", datetime(2026, 3, 16, 6, 30, tzinfo=UTC), "2026-03-15"),
        ("Pacific/Kiritimati", datetime(2026, 3, 15, 10, 30, tzinfo=UTC), "2026-03-16"),
        ("Asia/Kolkata", datetime(2026, 3, 15, 18, 29, tzinfo=UTC), "2026-03-15"),
        ("Asia/Kolkata", datetime(2026, 3, 15, 18, 31, tzinfo=UTC), "2026-03-16"),
    ],
)
def test_the_last_partition_is_the_local_today(timezone: str, now: datetime, last: str) -> None:
    days = partitions.daily(start=date(2026, 3, 1), timezone=timezone)
    keys = days.get_partition_keys(current_time=now)
    assert (keys[0], keys[-1]) == ("2026-03-01", last)


@pytest.mark.parametrize(
    ("timezone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", 23),  # clocks go forward
        ("Europe/Berlin", "2026-10-25", 25),  # and back
        ("America/Sao_Paulo", "2018-11-04", 23),  # midnight itself did not exist
        ("Asia/Tokyo", "2026-03-29", 24),
    ],
)
def test_days_on_which_clocks_change_are_one_key_each(timezone: str, day: str, hours: int) -> None:
    days = partitions.daily(start=date(2018, 1, 1), timezone=timezone)
    window = days.time_window_for_partition_key(day)
    assert (window.end.timestamp() - window.start.timestamp()) / 3600 == hours
    keys = days.get_partition_keys(current_time=datetime(2026, 12, 31, tzinfo=UTC))
    assert keys.count(day) == 1
    assert len(keys) == len(set(keys)) == (date.fromisoformat(keys[-1]) - date(2018, 1, 1)).days + 1


def test_a_wrong_setting_is_said_in_one_line_when_definitions_load(tmp_path: Path) -> None:
    code = """
from pkg_pipeline.definitions import definitions
from pkg_pipeline.settings import SettingsError
try:
    definitions()
except SettingsError as error:
    print(error)
"""
    said = python(code, PKG_HOME=str(tmp_path), PKG_TIMEZONE="Mars/Olympus")
    assert said.startswith("PKG_TIMEZONE: ")
    assert "Mars/Olympus" in said


def test_a_code_server_serves_the_definitions_over_grpc(tmp_path: Path) -> None:
    """As `dagster dev -m`, `pkg-pipeline dev` and docker-compose load them."""
    import tempfile

    from dagster._grpc.client import DagsterGrpcClient  # the client that webserver and daemon use
    from dagster._grpc.types import ListRepositoriesResponse
    from dagster_shared.serdes import deserialize_value

    with tempfile.TemporaryDirectory() as folder:  # a socket's path must be short
        socket = Path(folder) / "s"
        command = [sys.executable, "-W", "ignore", "-m", "dagster", "api", "grpc", "-m", "pkg_pipeline.definitions"]
        server = subprocess.Popen(
            [*command, "--socket", str(socket)],
            env={**os.environ, "PKG_HOME": str(tmp_path), "DAGSTER_HOME": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            client = DagsterGrpcClient(socket=str(socket))
            deadline = time.monotonic() + 90
            while not _answers(client):
                assert server.poll() is None, "the code server ended"
                assert time.monotonic() < deadline, "the code server did not answer"
                time.sleep(0.2)
            listed = deserialize_value(client.list_repositories(), ListRepositoriesResponse)
            assert [symbol.attribute for symbol in listed.repository_symbols] == ["definitions"]
        finally:
            server.terminate()
            server.wait(timeout=20)


def _answers(client: Any) -> bool:
    from dagster._core.errors import DagsterUserCodeUnreachableError

    try:
        client.ping("hello")
    except DagsterUserCodeUnreachableError:
        return False
    return True
