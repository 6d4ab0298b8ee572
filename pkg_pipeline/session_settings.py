"""Settings of live sessions (H, W, T, L), a part of ``Settings``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class SessionSettings(BaseModel):
    """Thresholds of folding and of the window."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    session_policy: Literal["hysteresis", "sliding", "interval"] = "hysteresis"
    session_strategy: Literal["rolling", "retrieval", "hybrid"] = Field(default="hybrid", description="T1")

    # hysteresis (H2-H6)
    fold_min_messages: int = Field(default=6, ge=1, description="H2")
    fold_min_tokens: int = Field(default=600, ge=1, description="H2")
    fold_min_minutes: float = Field(default=10, ge=0, description="H2")
    fold_max_messages: int = Field(default=20, ge=1, description="H3")
    fold_max_tokens: int = Field(default=2000, ge=1, description="H3")
    fold_max_minutes: float = Field(default=120, ge=0, description="H3")
    fold_drift: float = Field(default=0.6, gt=0, le=2, description="H4: cosine distance")
    fold_cooldown_seconds: float = Field(default=90, ge=60, le=120, description="H5")
    fold_cooldown_messages: int = Field(default=3, ge=0, description="H5")
    fold_adapt_percent: float = Field(default=15, ge=10, le=20, description="H6")
    fold_short_max_messages: int = Field(default=30, ge=28, le=32, description="H6: for short messages")

    # sliding window (W1)
    context_size: int = Field(default=75, ge=2, description="W1: most history messages in one prompt")
    tail_keep_size: int = Field(default=40, ge=0, description="W1")
    compression_window_size: int = Field(default=12, ge=1, description="W1")
    compression_cooldown_sec: float = Field(default=900, ge=0, description="W1")
    compression_hard_limit: int = Field(default=30, ge=1, description="W1")

    # interval (T1), what a window shows (T2)
    summary_interval: int = Field(default=20, ge=2, description="T1")
    max_summaries_in_context: int = Field(default=5, ge=1, description="T2")
    raw_history_limit: int = Field(default=100, ge=1, description="T2: must cover what no fold covers yet")

    # what a fold takes
    fold_step_messages: int = Field(default=60, ge=2, description="a longer stretch is folded in steps")
    fold_step_tokens: int = Field(default=8000, ge=500)
    live_folds_per_day: int = Field(default=1000, ge=0, description="P32: paid calls")

    # threads (L2-L9), by the names of the source document
    context_window: int = Field(default=0, ge=0, description="L9: tokens; 0 takes the model's own")
    output_tokens: int = Field(default=16_000, ge=0, description="L4: kept free for the answer, a quarter at most")
    margin_percent: float = Field(default=10, ge=0, lt=100, description="L4, L10")
    full_recent_count: int = Field(default=10, ge=1, description="L5")
    enable_summary: bool = Field(default=True, description="L9")
    summary_threshold: int = Field(default=30, ge=1, description="L9: no fold of a thread below it")
    max_summary_tokens: int = Field(default=1000, ge=50, description="L3")
    condensed_tool_max: int = Field(default=200, ge=1, description="L6: characters")
    max_messages_per_thread: int = Field(default=200, ge=20, description="L2")
    langgraph_url: SecretStr | None = Field(default=None, description="L1: the database of a PostgresSaver")
    prune_threads: bool = Field(default=False, description="L2: the daemon prunes long threads by itself")

    @model_validator(mode="after")
    def _combinations(self) -> SessionSettings:
        """W1, T2: rejects invalid combinations by name."""
        pairs = (
            ("fold_min_messages", "fold_max_messages"),
            ("fold_min_tokens", "fold_max_tokens"),
            ("fold_min_minutes", "fold_max_minutes"),
            ("compression_window_size", "compression_hard_limit"),
        )
        for low, high in pairs:
            if getattr(self, low) > getattr(self, high):
                said = f"{low} ({getattr(self, low):g}) must not be more than {high} ({getattr(self, high):g})"
                raise ValueError(said)
        if self.tail_keep_size >= self.context_size:
            raise ValueError(
                f"tail_keep_size ({self.tail_keep_size}) must be less than context_size ({self.context_size})"
            )
        waiting = self.tail_keep_size + self.compression_window_size
        if waiting > self.context_size:
            raise ValueError(
                f"context_size ({self.context_size}) must hold tail_keep_size and compression_window_size together"
                f" ({waiting}), else a prompt would lack messages that nothing stands for"
            )
        for name, least in (
            ("fold_max_messages", self.fold_max_messages),
            ("fold_short_max_messages", self.fold_short_max_messages),
            ("summary_interval", self.summary_interval),
            ("context_size", self.context_size),
        ):
            if self.raw_history_limit < least:
                raise ValueError(
                    f"raw_history_limit ({self.raw_history_limit}) must not be less than {name} ({least}): it has to"
                    " cover every message that is not folded yet"
                )
        return self


SESSION_ENVIRONMENT: Mapping[str, str] = {
    "MEMORY_CONTEXT_WINDOW": "context_window",
    "MEMORY_FULL_RECENT_COUNT": "full_recent_count",
    "MEMORY_ENABLE_SUMMARY": "enable_summary",
    "MEMORY_SUMMARY_THRESHOLD": "summary_threshold",
    "MEMORY_MAX_SUMMARY_TOKENS": "max_summary_tokens",
    "MEMORY_CONDENSED_TOOL_MAX": "condensed_tool_max",
    "MEMORY_MAX_MESSAGES_PER_THREAD": "max_messages_per_thread",
}
"""L9: variables of the source document."""
