"""Records between the window read, its store and recall; the answer as JSON and as receipt (T3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pkg_pipeline.memory.session.records import Policy, Strategy
from pkg_pipeline.memory.window.records import Budget, Window, WindowLeftOut, WindowMessage
from pkg_pipeline.memory.window.rendering import Form


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """Limits of the read. ``history_limit``: newest messages in no fold; ``recent_limit``: newest of all; ``model``:
    whose calibration to read (B12).
    """

    session_id: UUID
    history_limit: int
    recent_limit: int
    fold_limit: int
    topic_limit: int
    model: str | None = None


@dataclass(frozen=True, slots=True)
class FoldSummary:
    """A fold that may be served; ``is_stale``: a covered message was edited since (P29)."""

    id: UUID
    text: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class WindowRows:
    """One snapshot of a session. ``messages`` and ``folds`` are oldest first, ``topics`` most mentioned first.

    ``running`` is "" if there is none or ``is_withheld`` (it uses a deleted message, H15). ``calibration``: median
    ratio of the model's reported tokens to counted ones (B12). ``has_failed``: the last fold failed (L10).
    ``folded_tokens``: tokens of the messages in folds.
    """

    chat_key: str
    policy: Policy
    strategy: Strategy
    hwm_message_id: int
    message_count: int
    token_count: int
    messages_since_hwm: int
    messages: tuple[WindowMessage, ...]
    folds: tuple[FoldSummary, ...]
    running: str
    is_withheld: bool
    topics: tuple[str, ...]
    calibration: float | None
    has_failed: bool = False
    folded_tokens: int = 0
    dirty_folds: int = 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a session (L7)."""

    topic: str
    mention_count: int
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class ServedWindow:
    """What was served: ids and tokens (T3). ``text`` is not stored, only fingerprints of its lines (B14)."""

    id: UUID
    session_id: UUID
    strategy: Strategy
    model: str | None
    prompt_tokens: int
    hypothetical_tokens: int
    budget: Mapping[str, Any]
    tiers: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]
    unsummarised: int = 0
    text: str = field(default="", repr=False)


class WindowSink(Protocol):
    def put(self, receipt: ServedWindow) -> None:
        """Store it now or soon; never raises, a lost receipt is counted."""
        ...


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """``folded`` (end, live messages, tokens, dirty folds) is a cache key of the folded part."""

    session_id: UUID
    query: str
    now: datetime
    folded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RecalledPiece:
    """One recalled chunk. ``message_ids`` are keys; ``subject_id``: the fold it was made from."""

    id: UUID
    text: str
    message_ids: tuple[str, ...]
    subject_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    pieces: tuple[RecalledPiece, ...]
    warnings: tuple[str, ...] = ()


Recaller = Callable[[RecallQuestion], Recalled]
"""Recall within a session; its errors become warnings of the window (L10)."""


# ── the answer ───────────────────────────────────────────────────────────────────────────────

MOST_LEFT_OUT = 300
"""More are counted by kind and reason."""


@dataclass(frozen=True, slots=True)
class WindowResult:
    """The answer. ``summaries`` are ids of folds, ``recalled`` ids of chunks in it."""

    receipt_id: UUID | None
    session: str
    session_id: UUID
    strategy: Strategy
    form: Form
    window: Window
    messages: list[dict[str, Any]]
    hypothetical_tokens: int
    left_out: tuple[WindowLeftOut, ...]
    topics: tuple[str, ...] = ()
    summaries: tuple[UUID, ...] = ()
    recalled: tuple[UUID, ...] = ()
    warnings: tuple[str, ...] = ()
    unsummarised: int = 0
    """Messages left out that no summary stands for (T2)."""

    def to_json(self) -> dict[str, Any]:
        return {
            "receipt_id": None if self.receipt_id is None else str(self.receipt_id),
            "session": self.session,
            "id": str(self.session_id),
            "strategy": self.strategy,
            "as": self.form,
            "messages": self.messages,
            "tokens": self.window.tokens,
            "budget": _budget_json(self.window.budget),
            "tiers": _tiers_json(self.window),
            "hypothetical_tokens": self.hypothetical_tokens,
            "topics": list(self.topics),
            "summaries": [str(one) for one in self.summaries],
            "recalled": [str(one) for one in self.recalled],
            "left_out": [_left_out_json(one) for one in self.left_out],
            "warnings": list(self.warnings),
        }


def bounded(left_out: Sequence[WindowLeftOut]) -> tuple[WindowLeftOut, ...]:
    kept, rest = left_out[:MOST_LEFT_OUT], left_out[MOST_LEFT_OUT:]
    counts: dict[tuple[Any, Any], int] = {}
    for one in rest:
        counts[one.kind, one.reason] = counts.get((one.kind, one.reason), 0) + one.count
    return (*kept, *(WindowLeftOut(kind, None, reason, count) for (kind, reason), count in counts.items()))


def served_of(answer: WindowResult, model: str | None) -> ServedWindow:
    """The receipt: ids and tokens, no text (T3, B11)."""
    assert answer.receipt_id is not None
    tiers = _tiers_json(answer.window)
    tiers[0] |= {
        "summaries": [str(one) for one in answer.summaries],
        "recalled": [str(one) for one in answer.recalled],
        "topics": len(answer.topics),
    }
    return ServedWindow(
        id=answer.receipt_id,
        session_id=answer.session_id,
        strategy=answer.strategy,
        model=model,
        prompt_tokens=answer.window.tokens,
        hypothetical_tokens=answer.hypothetical_tokens,
        budget=_budget_json(answer.window.budget),
        tiers=tiers,
        left_out=[_left_out_json(one) for one in answer.left_out],
        unsummarised=answer.unsummarised,
        text=answer.window.summary,
    )


def _tiers_json(window: Window) -> list[dict[str, Any]]:
    return [{"tier": one.tier, "tokens": one.tokens, "messages": list(one.messages)} for one in window.tiers]


def _budget_json(budget: Budget) -> dict[str, Any]:
    return {**asdict(budget), "calibration": round(budget.calibration, 4)}


def _left_out_json(one: WindowLeftOut) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": one.kind, "id": one.id, "reason": one.reason}
    return given if one.count == 1 else {**given, "count": one.count}
