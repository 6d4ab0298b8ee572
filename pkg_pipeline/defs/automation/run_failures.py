"""Posts failed runs as JSON to ``failure_webhook``. The cursor is the place in Dagster's event log, with the failures
still to be delivered. Only our own error texts are sent; the address is a secret and never logged.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from pkg_pipeline.defs.automation import lost_retries
from pkg_pipeline.defs.lanes import MEMORY_TAG, range_of
from pkg_pipeline.settings import Settings

NAME = "run_failures"
TICK_SECONDS = 30
FAILURES_A_TICK = 20
POSTS_A_TICK = 5
"""Each unanswered post costs its timeout, and a tick may take a minute."""

WAIT_SECONDS = 5.0
MOST_TRIES = 5
"""One per tick; then the failure is given up with one line in the log."""

MOST_ERROR_CHARS = 500
LINK_VARIABLE = "PKG_DAGSTER_LINK"
OUR_ERRORS = frozenset(
    ("DatabaseUnavailable", "EmbeddedError", "SettingsError", "LlmMisconfigured", "Failure", "ImportFailed")
)
"""Their messages are safe to show; of other errors only the class name is sent."""


class NotDelivered(Exception):
    """The receiver did not accept the document; the message does not hold the address."""


def build(settings: Settings) -> list[dg.SensorDefinition]:
    if settings.failure_webhook is None:
        return []
    return [_sensor(settings.failure_webhook.get_secret_value())]


def _sensor(address: str) -> dg.SensorDefinition:
    @dg.sensor(
        name=NAME,
        minimum_interval_seconds=TICK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts each failed run to the webhook of the settings.",
    )
    def run_failures(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        instance = context.instance
        if context.cursor is None:
            newest = lost_retries.newest_failure(instance)
            return _result(newest, {}, "what failed before the sensor was there is not told")
        state = json.loads(context.cursor)
        seen: int = state["seen"]
        waiting: dict[str, int] = state["waiting"]
        found = instance.fetch_run_status_changes(
            dg.RunStatusChangeRecordsFilter(dg.DagsterEventType.RUN_FAILURE, after_storage_id=seen),
            limit=FAILURES_A_TICK,
            ascending=True,
        ).records
        for record in found:
            seen = max(seen, record.storage_id)
            if not lost_retries.is_told_again(record.event_log_entry):
                waiting.setdefault(record.event_log_entry.run_id, 0)
        told = 0
        for run_id in list(waiting)[:POSTS_A_TICK]:
            tries = waiting.pop(run_id) + 1
            try:
                told += _tell(instance, run_id, address)
            except NotDelivered as error:
                if tries < MOST_TRIES:
                    waiting[run_id] = tries  # tried again after the others
                else:
                    context.log.error(f"the failure of run {run_id} was not delivered: {error}; it is given up")
        return _result(seen, waiting, f"{told} failed runs told, {len(waiting)} still to be told")

    return run_failures


def _result(seen: int, waiting: Mapping[str, int], reason: str) -> dg.SensorResult:
    return dg.SensorResult(skip_reason=reason, cursor=json.dumps({"seen": seen, "waiting": waiting}))


def _tell(instance: dg.DagsterInstance, run_id: str, address: str) -> bool:
    """Posts one failure. False for a run that was deleted meanwhile. Raises NotDelivered."""
    document = describe(instance, run_id)
    if document is not None:
        post(address, document)
    return document is not None


def describe(instance: dg.DagsterInstance, run_id: str) -> dict[str, Any] | None:
    """The document that is posted; None if the run no longer exists."""
    record = instance.get_run_record_by_id(run_id)
    if record is None:
        return None
    run = record.dagster_run
    span = range_of(run.tags)
    link = os.environ.get(LINK_VARIABLE)
    return {
        "run_id": run_id,
        "job": run.job_name,
        **({"memory": run.tags[MEMORY_TAG]} if MEMORY_TAG in run.tags else {}),
        "partition": None if span is None else span[0] if span[0] == span[1] else f"{span[0]}...{span[1]}",
        "error": error_of(instance, run_id),
        "started_at": _iso(record.start_time),
        "failed_at": _iso(record.end_time),
        "link": f"{link.rstrip('/')}/runs/{run_id}" if link else None,
    }


def error_of(instance: dg.DagsterInstance, run_id: str) -> str:
    """One line: our own message if there is one, else the class of the innermost error."""
    kinds = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
    for entry in instance.all_logs(run_id, of_type=kinds):
        event = entry.dagster_event
        data = event.event_specific_data if event is not None else None
        failure, error = getattr(data, "user_failure_data", None), getattr(data, "error", None)
        if failure is not None and failure.description:
            return _line(failure.description)
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            name = error.cls_name or "an error"
            return _line(error.message) if name in OUR_ERRORS else _line(f"failed: {name}")
        if event is not None and event.message and event.event_type == dg.DagsterEventType.RUN_FAILURE:
            return _line(event.message)
    return "the run failed"


def post(address: str, document: Mapping[str, Any]) -> None:
    """Raises NotDelivered for anything but a 2xx."""
    if not address.startswith(("http://", "https://")):
        raise NotDelivered("failure_webhook must begin with http:// or https://")
    body = json.dumps(document).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "pkg-pipeline"}
    try:
        request = urllib.request.Request(address, data=body, headers=headers, method="POST")
        with _OPENER.open(request, timeout=WAIT_SECONDS) as answer:
            if not 200 <= answer.status < 300:
                raise NotDelivered(f"the receiver answered {answer.status}")
    except urllib.error.HTTPError as error:
        raise NotDelivered(f"the receiver answered {error.code}") from None
    except urllib.error.URLError as error:
        raise NotDelivered(f"the receiver cannot be reached ({type(error.reason).__name__})") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise NotDelivered(f"the receiver cannot be reached ({type(error).__name__})") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET without the document, so it counts as not delivered."""

    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:  # noqa: ARG002
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _line(text: str) -> str:
    return " ".join(text.split())[:MOST_ERROR_CHARS]
