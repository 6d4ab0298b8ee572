"""What attempts report in numbers: of one subject that a model was asked about, and of a whole partition.

Numbers and reasons only, so that they can become metadata. What they are counted over is each stage's.
"""

from __future__ import annotations

from dataclasses import dataclass

from pkg_pipeline.stages.llm.ask import Tally
from pkg_pipeline.stages.partitions import PartitionReport


@dataclass(slots=True, kw_only=True)
class Effort(Tally):
    """What one subject took. ``source_tokens`` are of what was read, ``summary_tokens`` of the words made of it."""

    reason: str = ""
    source_tokens: int = 0
    summary_tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class AskedReport(PartitionReport):
    """Of a partition about which a model is asked. ``deferred`` and ``quarantined`` are of this attempt."""

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
        """Calls, tokens, cost, time and reason. What became of it, and its text, is the stage's to count."""
        self.calls += effort.calls
        self.input_tokens += effort.input_tokens
        self.output_tokens += effort.output_tokens
        self.cost_usd += effort.cost_usd
        self.seconds += effort.seconds
        self.add_reason(effort.reason)

    def add_text(self, effort: Effort) -> None:
        """The size of what was made, and of what it was made of."""
        self.source_tokens += effort.source_tokens
        self.summary_tokens += effort.summary_tokens
