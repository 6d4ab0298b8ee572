"""Dagster's home ``$PKG_HOME/dagster`` and its instance. The URLs of database and broker are passed only by the
environment (``PKG_DAGSTER_URL``, ``PKG_RUN_BROKER``): they have passwords.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg_pipeline.adapters.postgres.engine import DAGSTER_SCHEMA, sqlalchemy_url
from pkg_pipeline.adapters.process_environment import in_environment

if TYPE_CHECKING:
    from dagster import DagsterInstance

URL_VARIABLE = "PKG_DAGSTER_URL"
BROKER_VARIABLE = "PKG_RUN_BROKER"
RECYCLE_SECONDS = 300
MORE_CONNECTIONS = 20
"""Besides the one that is kept; closed after use."""
MARK = "# Written by pkg-pipeline. Delete this line to keep changes of your own."

USUAL_RUNS = 3


@dataclass(frozen=True, slots=True)
class Running:
    """Where runs are executed and how many at once: with ``broker`` (a Redis URL) on Celery's workers, else by the code
    server.
    """

    most: int = USUAL_RUNS
    broker: str | None = None

    @property
    def yaml(self) -> str:
        """The text of ``dagster.yaml``. Backfills leave places for what is live, named memories one for the own."""
        text = _YAML.replace("MOST", str(self.most)).replace("BACKFILLS", str(max(1, self.most - 2)))
        text = text.replace("MEMORIES", str(max(1, self.most - 1)))
        return text if self.broker is None else text.replace(_COORDINATOR, _COORDINATOR + _OFTEN) + _WORKERS


_COORDINATOR = "  class: QueuedRunCoordinator\n"
_OFTEN = "  config: {dequeue_interval_seconds: 1}\n"
_WORKERS = f"""
run_launcher:
  module: pkg_pipeline.defs.celery_runs
  class: WatchedCeleryRunLauncher
  config:
    broker:
      env: {BROKER_VARIABLE}
    backend:
      env: {BROKER_VARIABLE}
"""

_YAML = f"""{MARK}
storage:
  postgres:
    postgres_url:
      env: {URL_VARIABLE}

telemetry:
  enabled: false

# no greeting that asks for an address for a newsletter
nux:
  enabled: false

# what a run prints is in its structured events; raw output could hold conversations and would pile up
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager

run_coordinator:
  module: dagster._core.run_coordinator
  class: QueuedRunCoordinator

concurrency:
  runs:
    max_concurrent_runs: MOST
    tag_concurrency_limits:
      # one from the pages and one that was asked for otherwise leave a place for what is live
      - key: dagster/backfill
        limit: BACKFILLS
      - key: pkg/lane
        value: backfill
        limit: BACKFILLS
      # no memory has two places, and all that have names leave one for that which has none
      - key: pkg/memory
        value: {{applyLimitPerUniqueValue: true}}
        limit: 1
      - key: pkg/memory
        limit: MEMORIES

run_monitoring:
  enabled: true
  start_timeout_seconds: 300
  cancel_timeout_seconds: 180
  poll_interval_seconds: 60
  # a month of days with a slow model takes two hours
  max_runtime_seconds: 21600

# a run whose process died is started once more; what failed by itself is asked for by the sensors
run_retries:
  enabled: true
  max_retries: 1
  retry_on_asset_or_op_failure: false

retention:
  schedule:
    purge_after_days: {{skipped: 7, success: 90, failure: 90, started: 7}}
  sensor:
    purge_after_days: {{skipped: 3, success: 30, failure: 90, started: 3}}
"""


def write(home: Path, running: Running | None = None) -> Path:
    """Create or update ``dagster.yaml`` in ``home``, unless the marker line was removed from it."""
    text = (running or Running()).yaml
    file = home / "dagster.yaml"
    home.mkdir(parents=True, exist_ok=True)
    try:
        found = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        found = MARK
    if MARK in found and found != text:
        partial = home / f".dagster.yaml.{os.getpid()}"
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    return file


def environment(home: Path, url: str, running: Running | None = None) -> dict[str, str]:
    """Variables of Dagster's processes. ``url`` is a libpq URL."""
    broker = None if running is None else running.broker
    return {
        **({} if broker is None else {BROKER_VARIABLE: broker}),
        "DAGSTER_HOME": str(home),
        URL_VARIABLE: sqlalchemy_url(url, driver="psycopg2", search_path=DAGSTER_SCHEMA),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }


@contextmanager
def instance(home: Path, url: str, running: Running | None = None) -> Iterator[DagsterInstance]:
    """The instance of this process, shared with the UI. Its tables are created on first use."""
    write(home, running)
    with in_environment(environment(home, url, running)):
        from dagster import DagsterInstance

        with DagsterInstance.from_config(str(home)) as found:
            _keep_connections(found)
            yield found


def _keep_connections(found: DagsterInstance) -> None:
    """Not a connection of its own for each of a run's many events."""
    from sqlalchemy import event
    from sqlalchemy.pool import QueuePool

    if not event.contains(QueuePool, "checkout", _ping):
        event.listen(QueuePool, "checkout", _ping)
    found.optimize_for_webserver(statement_timeout=0, pool_recycle=RECYCLE_SECONDS, max_overflow=MORE_CONNECTIONS)


def _ping(connection: Any, _record: object, _proxy: object) -> None:
    """What the server or the way to it dropped meanwhile is replaced before it is used."""
    from sqlalchemy.exc import DisconnectionError

    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception as error:
        raise DisconnectionError from error


@contextmanager
def prepared(home: Path, url: str, running: Running | None = None) -> Iterator[DagsterInstance]:
    """As ``instance``, with tables created or migrated before several processes start."""
    with instance(home, url, running) as found:
        found.upgrade()
        yield found
