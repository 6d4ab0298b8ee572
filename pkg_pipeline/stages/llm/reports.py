"""Reports of attempts, on one subject and on a partition: numbers and reasons only, for metadata."""

from __future__ import annotations

from dataclasses import dataclass

from pkg_pipeline.stages.llm.ask import Tally
from pkg_pipeline.stages.partitions import PartitionReport


@dataclass(slots=True, kw_only=True)
class Effort(Tally):
    """Effort on one subject; ``source_tokens`` read, ``summary_tokens`` written."""

    reason: str = ""
    source_tokens: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class AskedReport(PartitionReport):
    """Report of a partition with model calls. ``deferred`` and ``quarantined``: in this attempt."""

    failed: int = 0
    quarantined: int = 0
    deferred: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    source_tokens: int = 0
    summary_tokens: int = 0

    @property
    def compression_ratio(self) -> float:
        return round(self.source_tokens / self.summary_tokens, 2) if self.summary_tokens else 0.0

    def add_effort(self, effort: Effort) -> None:
        self.calls += effort.calls
        self.input_tokens += effort.input_tokens
        self.output_tokens += effort.output_tokens
        self.cost_usd += effort.cost_usd
        self.seconds += effort.seconds
        self.add_reason(effort.reason)

    def add_text(self, effort: Effort) -> None:
        self.source_tokens += effort.source_tokens
        self.summary_tokens += effort.summary_tokens
