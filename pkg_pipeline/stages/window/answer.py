"""The answer to a question for a window, as JSON and as the record of what was served (T3). No reading, no rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.session.records import Strategy
from pkg_pipeline.memory.window.records import Budget, Window, WindowLeftOut
from pkg_pipeline.memory.window.rendering import Form
from pkg_pipeline.stages.window.stores import ServedWindow

MOST_LEFT_OUT = 300
"""More are counted by kind and reason, not named."""


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """The answer. ``summaries`` are folds and ``recalled`` chunks whose words are in it."""

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
    warnings: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The shape ``window`` of the interface."""
        return {
            "receipt_id": None if self.receipt_id is None else str(self.receipt_id),
            "session": self.session,
            "id": str(self.session_id),
            "strategy": self.strategy,
            "as": self.form,
            "messages": self.messages,
            "tokens": self.window.tokens,
            "budget": budget_json(self.window.budget),
            "tiers": [
                {"tier": one.tier, "tokens": one.tokens, "messages": list(one.messages)} for one in self.window.tiers
            ],
            "hypothetical_tokens": self.hypothetical_tokens,
            "topics": list(self.topics),
            "summaries": [str(one) for one in self.summaries],
            "recalled": [str(one) for one in self.recalled],
            "left_out": [_left_out_json(one) for one in self.left_out],
            "warnings": list(self.warnings),
        }


def bounded(left_out: Sequence[WindowLeftOut]) -> tuple[WindowLeftOut, ...]:
    """So many, and a count of the others by kind and reason."""
    kept, rest = left_out[:MOST_LEFT_OUT], left_out[MOST_LEFT_OUT:]
    counts: dict[tuple[Any, Any], int] = {}
    for one in rest:
        counts[one.kind, one.reason] = counts.get((one.kind, one.reason), 0) + one.count
    return (*kept, *(WindowLeftOut(kind, None, reason, count) for (kind, reason), count in counts.items()))


def served_of(answer: WindowAnswer, model: str | None) -> ServedWindow:
    """What was served, without a word of it (T3, B11)."""
    assert answer.receipt_id is not None
    tiers: list[dict[str, Any]] = [
        {"tier": one.tier, "tokens": one.tokens, "messages": list(one.messages)} for one in answer.window.tiers
    ]
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
        budget=budget_json(answer.window.budget),
        tiers=tiers,
        left_out=[_left_out_json(one) for one in answer.left_out],
    )


def budget_json(budget: Budget) -> dict[str, Any]:
    return {
        "window": budget.window,
        "margin": budget.margin,
        "output": budget.output,
        "system": budget.system,
        "available": budget.available,
        "calibration": round(budget.calibration, 4),
    }


def _left_out_json(one: WindowLeftOut) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": one.kind, "id": one.id, "reason": one.reason}
    return given if one.count == 1 else {**given, "count": one.count}
