"""The deployment of docker-compose.yml as processes: healthy by its own checks, and a run goes all the way through."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import psutil
import pytest

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.defs.local_runs import LocalRuns
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import load
from pkg_pipeline.wiring import open_memory
from pkg_pipeline_tests.cli.clusters import Cluster, cluster
from pkg_pipeline_tests.cli.processes import dialogue, short_folder, written
from pkg_pipeline_tests.cli.programs import topology
from pkg_pipeline_tests.cli.programs.topology import Topology
from pkg_pipeline_tests.cli.programs.workers import has_redis, stop_sensors, workers
from pkg_pipeline_tests.digest import LOGICAL_TABLES, tables

DAYS = [f"2025-01-{day:02}" for day in range(1, 18, 2)]
SLOW = Fault(delay_seconds=0.5)
WRITTEN = ("entities", "messages", "interactions", "interaction_participants", "interaction_summaries")
"""Tables of the hops that are run here; what the daemon's sensors begin besides is no part of the comparison."""


def test_a_run_goes_through_code_server_daemon_and_one_database_over_tcp_and_a_backfill_through_workers() -> None:
    """With Redis only the first run is the code server's: each of its runs loads everything anew."""
    with short_folder() as folder, cluster(folder) as server:
        url = server.url(user="memory_owner", password=topology.PASSWORD, database="deployed")
        # so that the code server's partitions begin early enough
        with topology.started(folder, server, prepare=lambda: imported(folder, url, dialogue()[:1])) as running:
            assert set(running.processes) == {"code", "webserver", "daemon", "api"}
            with pytest.raises(HTTPError, match="401") as refused:
                build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{running.ports['webserver']}/runs", timeout=30)
            refused.value.close()
            family = [psutil.Process(process.pid) for process in running.processes.values()]
            lines = [" ".join(one.cmdline()) for one in family]
            if has_redis():
                stop_sensors(running)  # or one of them asks the code server's reader first
                topology.drop_in(running, folder, dialogue(chat="c3"))
                assert running.finished(running.launch("import_inbox", {})) == "SUCCESS"
                over_workers(running, server, url, folder)
            else:
                (summary,) = topology.walk(running, folder)["items"]
                assert (summary["chat"], summary["status"]) == ("jsonl:c1", "completed")
        secrets = (topology.PASSWORD, topology.TOKEN, topology.PAGES_TOKEN)
        assert not [line for line in lines if any(secret in line for secret in secrets)]
        assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    if not has_redis():
        assert "CI" not in os.environ, "CI installs redis-server"
        pytest.skip("NOT RUN: runs on workers need redis-server (apt-get install redis-server); the rest passed")


def imported(folder: Path, url: str, *talks: list[dict[str, Any]]) -> None:
    settings = load({"PKG_HOME": str(folder / "first"), "DATABASE_URL": url, "PKG_NOW": topology.NOW})
    with open_memory(settings) as memory:
        for number, lines in enumerate(talks):
            memory.import_path(written(folder / f"{number}.jsonl", lines))
        memory.build_interactions()


def over_workers(running: Topology, server: Cluster, url: str, folder: Path) -> None:
    """A backfill is spread; one worker is killed in a run and another comes; the tables are those of one machine."""
    talks = [
        {
            **said,
            "chat_id": "c2",
            "message_id": f"{day}-{said['message_id']}",
            "sent_at": f"{day}{said['sent_at'][10:]}",
        }
        for day in DAYS
        for said in dialogue()
    ]
    with FakeAnthropic(rules=[SLOW]) as slow, FakeAnthropic() as fake:
        model = {"PKG_LLM": "anthropic", "ANTHROPIC_API_KEY": "local", "PKG_LEASE_SECONDS": "5"}
        model |= {"PKG_TALKS_TOGETHER": "1"}  # which talks a question is about is no matter of machines
        more = {**model, "ANTHROPIC_BASE_URL": slow.url}
        with workers(running, server, folder, **more) as those:
            those.daemon(most=4)
            those.start("first", service="importer", first="inbox,dagster")  # one process less than in the file
            those.start("second")
            topology.drop_in(running, folder, talks)
            for job in ("import_inbox", "build_interactions"):
                assert running.finished(running.launch(job, {})) == "SUCCESS"
            those.wait("first", "second")
            backfill = those.backfill(DAYS)
            those.ended(backfill, until=lambda state: those.is_at_work("second", state))
            those.kill("second")
            those.start("third")
            done = those.ended(backfill)
            assert done.status == "COMPLETED_SUCCESS", done
            shares = those.of(done)
            assert {"first", "third"} <= set(shares), shares
            assert [status for _, status, _ in done.runs].count("FAILURE") == 1, "the killed one was started again"
            served = running.get("api", "/v1/summaries")["items"]
            seen = {(one["chat"], one["status"]) for one in served}
            assert seen == {(f"jsonl:{chat}", "completed") for chat in ("c2", "c3")}
        assert logical(url) == logical(alone(server, folder, talks, {**model, "ANTHROPIC_BASE_URL": fake.url}))


def alone(server: Cluster, folder: Path, talks: list[dict[str, Any]], model: dict[str, str]) -> str:
    """The same on one machine: a database made by one process in one run."""
    url = server.create_database("alone")
    settings = load({"PKG_HOME": str(folder / "alone"), "DATABASE_URL": url, "PKG_NOW": topology.NOW, **model})
    imported(folder, url, dialogue()[:1], dialogue(chat="c3"), talks)
    with open_memory(settings) as opened, dagster_home.instance(settings.dagster_home, url) as instance:
        rows = LocalRuns(OpenedMemory(opened), instance).partitions("interaction_summaries", DAYS, only_due=True)
    assert {row.status for row in rows} == {"done"}, rows
    return url


def logical(url: str) -> dict[str, list[tuple[Any, ...]]]:
    with engine.connect(url) as connection:
        return tables(connection, {name: LOGICAL_TABLES[name] for name in WRITTEN})


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("a${X}b", {"X": "1"}, "a1b"),
        ("${X:-UTC}", {}, "UTC"),
        ("${X:-UTC}", {"X": "Asia/Tokyo"}, "Asia/Tokyo"),
        ("${X:?set it}", {"X": "1"}, "1"),
    ],
)
def test_variables_are_substituted_as_compose_does_it(text: str, given: dict[str, str], expected: str) -> None:
    assert topology.substituted(text, given) == expected


def test_a_required_variable_that_is_missing_is_named() -> None:
    with pytest.raises(AssertionError, match="POSTGRES_PASSWORD: set it"):
        topology.substituted("${POSTGRES_PASSWORD:?set it in .env}", {})


def test_what_others_wait_for_comes_first() -> None:
    order = topology.in_order(topology.compose()["services"])
    for before, after in [("postgres", "init"), ("init", "code"), ("init", "api"), ("code", "webserver")]:
        assert order.index(before) < order.index(after)
