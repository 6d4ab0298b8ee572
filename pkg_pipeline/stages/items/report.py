"""What a pass did, and what it would cost: numbers and reasons only, for metadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pkg_pipeline.stages.items.stores import Saved
from pkg_pipeline.stages.llm.ask import Tally


@dataclass(slots=True)
class ItemsReport(Tally):
    """``read``: talks that were asked about; ``unchanged``: compared, their reading stands; ``deferred``, ``failed``:
    put off or given up in this pass; ``left``: still to be read. ``stop_reason``: why it stopped early, then with
    ``rest_seconds``.
    """

    read: int = 0
    unchanged: int = 0
    items_new: int = 0
    items_changed: int = 0
    deferred: int = 0
    failed: int = 0
    left: int = 0
    seconds: float = 0.0
    stop_reason: str = ""
    rest_seconds: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, saved: Saved) -> None:
        self.items_new += saved.items_new
        self.items_changed += saved.items_changed

    def add_reason(self, reason: str) -> None:
        if reason:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def to_json(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "unchanged": self.unchanged,
            "items_new": self.items_new,
            "items_changed": self.items_changed,
            "deferred": self.deferred,
            "failed": self.failed,
            "left": self.left,
            "calls": self.calls,
            "tokens": self.input_tokens + self.output_tokens,
            "usd": round(self.cost_usd, 4),
            "seconds": round(self.seconds, 3),
            "stop_reason": self.stop_reason,
        }


@dataclass(frozen=True, slots=True)
class ItemsEstimate:
    """Of all that is due: talks, tokens in and out, ``usd`` by current prices."""

    talks: int
    calls: int
    tokens: int
    usd: float

    def to_json(self) -> dict[str, float | int]:
        return {"talks": self.talks, "calls": self.calls, "tokens": self.tokens, "usd": round(self.usd, 4)}
