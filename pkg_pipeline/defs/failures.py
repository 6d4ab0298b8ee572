"""Translates exceptions of the stages into Dagster's. Texts of unknown ones may quote conversations
and are not logged.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from pkg_pipeline.adapters.interruption import INTERRUPTION
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.ports import LlmError, LlmMisconfigured, LlmUnavailable

RETRIES = 2
RETRY_SECONDS = 3.0
"""A step sleeps only seconds (P19); what takes minutes is left to the next tick."""


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turns exceptions of a stage call into ``dg.Failure`` or ``dg.RetryRequested``; ``doing`` names the work."""
    try:
        with INTERRUPTION.raised():
            yield
    except (dg.Failure, dg.RetryRequested):
        raise
    except KeyboardInterrupt:
        run = dg.OpExecutionContext.get()
        run.instance.report_run_canceling(run.run)  # the run ends as canceled, not as failed
        raise
    except Exception as error:  # noqa: BLE001  everything a stage raises is translated, nothing is swallowed
        raise _translate(error, doing) from None


def _translate(error: Exception, doing: str) -> dg.Failure | dg.RetryRequested:
    if isinstance(error, LlmMisconfigured | SettingsError):
        return _failure(error, f"{doing} stopped: {error}")
    if isinstance(error, LlmUnavailable) or _is_database_loss(error):
        return dg.RetryRequested(max_retries=RETRIES, seconds_to_wait=RETRY_SECONDS)
    if isinstance(error, LlmError) or _is_ours(error):
        return _failure(error, f"{doing} failed: {error}")
    return _failure(error, f"{doing} failed: {type(error).__name__}{_sqlstate(error)}")


def _failure(error: Exception, description: str) -> dg.Failure:
    return dg.Failure(
        description=description,
        metadata={"error": type(error).__name__, "where": dg.MetadataValue.md(_places(error))},
        allow_retries=False,
    )


def _is_database_loss(error: Exception) -> bool:
    """The server is gone or restarting; stages commit piece by piece, so a retry is safe."""
    import psycopg
    import psycopg_pool

    from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable

    return isinstance(
        error, DatabaseUnavailable | psycopg.OperationalError | psycopg.InterfaceError | psycopg_pool.PoolTimeout
    )


def _is_ours(error: Exception) -> bool:
    """Whether its message is ours and safe to show; others may quote data."""
    return type(error).__module__.startswith("pkg_pipeline.")


def _sqlstate(error: Exception) -> str:
    state = getattr(error, "sqlstate", None)
    return f" (SQLSTATE {state})" if state else ""


def _places(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return "\n".join(f"- `{frame.filename}:{frame.lineno}` {frame.name}" for frame in frames[-12:])
