"""What is due and what it would cost: readings (B16) and summaries together, as a person pays for both."""

from __future__ import annotations

from dataclasses import dataclass

from pkg_pipeline.stages.items.report import ItemsEstimate
from pkg_pipeline.stages.summaries.stage import Estimate


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """``tokens`` and ``usd`` are of both."""

    summaries: Estimate
    readings: ItemsEstimate

    @property
    def tokens(self) -> int:
        return self.summaries.tokens + self.readings.tokens

    @property
    def usd(self) -> float:
        return self.summaries.usd + self.readings.usd

    def to_json(self) -> dict[str, object]:
        whole = {"tokens": self.tokens, "usd": round(self.usd, 4)}
        return {**self.summaries.to_json(), **whole, "readings": self.readings.to_json()}
