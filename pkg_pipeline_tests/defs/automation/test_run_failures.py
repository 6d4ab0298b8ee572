"""A failed run reaches a real receiver once, whatever happens on the way; the address reaches nothing."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import SecretStr

from pkg_pipeline.defs.automation import lost_retries, run_failures
from pkg_pipeline.defs.failures import translated
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import LlmMisconfigured

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class Receiver:
    """Answers what it is told to, 200 when nothing is left to tell."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.answers.pop(0) if receiver.answers else 200
                if status == 200:
                    receiver.documents.append(json.loads(body))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/hook/sesame"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    started = Receiver()
    yield started
    started.close()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as found:
        yield found


class Ticks:
    """The sensor, tick after tick."""

    def __init__(self, instance: dg.DagsterInstance, address: str, home: Path) -> None:
        [self._sensor] = run_failures.build(Settings(home=home, failure_webhook=SecretStr(address)))
        self._instance = instance
        self.cursor: str | None = None

    def tick(self) -> str:
        with dg.build_sensor_context(instance=self._instance, cursor=self.cursor) as context:
            data = self._sensor.evaluate_tick(context)
        self.cursor = data.cursor
        assert data.run_requests == []
        return data.skip_message or ""


@pytest.fixture
def ticks(instance: dg.DagsterInstance, receiver: Receiver, tmp_path: Path) -> Ticks:
    made = Ticks(instance, receiver.address, tmp_path)
    made.tick()
    return made


def failed(instance: dg.DagsterInstance, error: Exception, **tags: str) -> str:
    @dg.op
    def work() -> None:
        with translated("the summaries"):
            raise error

    @dg.job(name="summarize_days")
    def job() -> None:
        work()

    given = {name.replace("__", "/"): value for name, value in tags.items()}
    return job.execute_in_process(instance=instance, raise_on_error=False, run_config=QUIET, tags=given).run_id


def test_a_failed_run_is_told_once_with_our_words(
    instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKG_DAGSTER_LINK", "http://here:3000/")
    run_id = failed(instance, LlmMisconfigured("no key\nat all"), dagster__partition="2026-01-05")
    assert ticks.tick() == "1 failed runs told, 0 still to be told"
    [document] = receiver.documents
    assert document.pop("started_at") <= document.pop("failed_at")
    assert document == {
        "run_id": run_id,
        "job": "summarize_days",
        "partition": "2026-01-05",
        "error": "the summaries stopped: no key at all",
        "link": f"http://here:3000/runs/{run_id}",
    }
    ticks.tick()
    assert len(receiver.documents) == 1


def test_words_of_a_conversation_in_an_unknown_error_are_not_told(
    instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks
) -> None:
    @dg.job(name="plain")
    def job() -> None:
        @dg.op
        def work() -> None:
            raise ValueError("Anna said: my PIN is 1234")

        work()

    job.execute_in_process(instance=instance, raise_on_error=False, run_config=QUIET)
    failed(instance, KeyError("Anna said it again"))
    ticks.tick()
    assert [one["error"] for one in receiver.documents] == ["failed: ValueError", "the summaries failed: KeyError"]


def test_a_run_that_died_without_a_step_is_told(instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks) -> None:
    @dg.job(name="died")
    def job() -> None: ...

    instance.report_run_failed(instance.create_run_for_job(job), "its process ended without finishing it")
    ticks.tick()
    assert receiver.documents[0]["error"] == "its process ended without finishing it"


def test_what_is_told_to_the_retry_daemon_again_is_not_told_again_here(
    instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks
) -> None:
    @dg.job(name="died")
    def job() -> None: ...

    run = instance.create_run_for_job(job)
    instance.report_run_failed(run, "its process ended without finishing it")
    assert ticks.tick() == "1 failed runs told, 0 still to be told"
    instance.report_run_failed(run, lost_retries.AGAIN)
    assert ticks.tick() == "0 failed runs told, 0 still to be told"
    assert len(receiver.documents) == 1


def test_a_receiver_that_is_away_gets_it_later(instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks) -> None:
    receiver.answers = [503, 302]
    failed(instance, ValueError())
    assert ticks.tick() == "0 failed runs told, 1 still to be told"
    assert ticks.tick() == "0 failed runs told, 1 still to be told"
    assert ticks.tick() == "1 failed runs told, 0 still to be told"
    assert len(receiver.documents) == 1


def test_after_five_ticks_it_is_given_up_and_said_once_without_the_address(
    instance: dg.DagsterInstance, receiver: Receiver, ticks: Ticks, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [500] * 9
    run_id = failed(instance, ValueError())
    logging.getLogger("dagster").propagate = True
    with caplog.at_level(logging.DEBUG):
        said = [ticks.tick() for _ in range(6)]
    assert said[4] == "0 failed runs told, 0 still to be told"
    assert len(receiver.answers) == 4, "five tries"
    assert "sesame" not in caplog.text + "".join(said) + str(ticks.cursor)
    later = failed(instance, ValueError())
    receiver.answers = []
    ticks.tick()
    assert [one["run_id"] for one in receiver.documents] == [later]
    assert run_id != later


def test_what_failed_before_the_first_tick_is_not_told(
    instance: dg.DagsterInstance, receiver: Receiver, tmp_path: Path
) -> None:
    failed(instance, ValueError())
    ticks = Ticks(instance, receiver.address, tmp_path)
    ticks.tick()
    ticks.tick()
    assert receiver.documents == []


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/sesame", "file:///etc/passwd?sesame", "http://[sesame", "sesame"]
)
def test_an_address_of_nowhere_fails_no_tick(instance: dg.DagsterInstance, tmp_path: Path, address: str) -> None:
    ticks = Ticks(instance, address, tmp_path)
    ticks.tick()
    failed(instance, ValueError())
    assert ticks.tick() == "0 failed runs told, 1 still to be told"
    with pytest.raises(run_failures.NotDelivered) as refused:
        run_failures.post(address, {})
    assert "sesame" not in str(refused.value)


def test_nobody_to_tell_no_sensor(tmp_path: Path) -> None:
    assert run_failures.build(Settings(home=tmp_path)) == []
