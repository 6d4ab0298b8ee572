"""From a try of a model call to its row in the ledger (B6), on whose account it was made."""

from __future__ import annotations

from typing import cast, get_args
from uuid import UUID

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import LlmAttempt
from pkg_pipeline.stages.summaries.stores import Lane, LedgerRow, Subject, SubjectKind


def row_of(
    attempt: LlmAttempt, *, lane: Lane, run_id: str | None = None, backfill_id: UUID | None = None
) -> LedgerRow | None:
    """The row of a try that brought no answer; None for the one that did: the stage records that, with its answer."""
    if attempt.outcome == "ok":
        return None
    return LedgerRow(
        subject=_subject(attempt.subject),
        request_hash=attempt.request_hash,
        task=attempt.task,
        model=attempt.model,
        prompt_version=attempt.prompt_version,
        lane=lane,
        outcome=attempt.outcome,
        usage=attempt.usage or Usage(0, 0),
        cost_usd=attempt.cost_usd,
        duration_seconds=attempt.duration_seconds,
        run_id=run_id,
        backfill_id=backfill_id,
        request_id=attempt.request_id,
        error=_error_of(attempt),
    )


def _error_of(attempt: LlmAttempt) -> str | None:
    if attempt.status_code:
        return f"HTTP {attempt.status_code}"
    return attempt.stop_reason or (
        "no whole answer; booked at the most it can cost" if attempt.outcome == "unknown" else None
    )


def _subject(name: str) -> Subject:
    kind, _, subject_id = name.partition(":")
    if kind not in get_args(SubjectKind):
        raise ValueError(f"a call about {kind!r} has no place in the ledger")
    return Subject(cast("SubjectKind", kind), UUID(subject_id))
