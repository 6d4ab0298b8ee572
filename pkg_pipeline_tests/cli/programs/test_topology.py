"""The deployment of docker-compose.yml as processes: healthy by its own checks, and a run goes all the way through."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import psutil
import pytest

from pkg_pipeline_tests.cli.clusters import cluster
from pkg_pipeline_tests.cli.processes import short_folder
from pkg_pipeline_tests.cli.programs import topology


def test_a_run_goes_through_code_server_daemon_and_one_database_over_tcp() -> None:
    with short_folder() as folder, cluster(folder) as server:
        with topology.started(folder, server) as running:
            assert set(running.processes) == {"code", "webserver", "daemon", "api"}
            (summary,) = topology.walk(running, folder)["items"]
            with pytest.raises(HTTPError, match="401") as refused:
                build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{running.ports['webserver']}/runs", timeout=30)
            refused.value.close()
            family = [psutil.Process(process.pid) for process in running.processes.values()]
            lines = [" ".join(one.cmdline()) for one in family]
        assert summary["chat"] == "jsonl:c1"
        assert summary["status"] == "completed"
        secrets = (topology.PASSWORD, topology.TOKEN, topology.PAGES_TOKEN)
        assert not [line for line in lines if any(secret in line for secret in secrets)]
        assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []


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
