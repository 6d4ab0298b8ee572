"""How much a model takes in (L9), for windows, prompts of agents, comparisons and the pipeline's own calls."""

from __future__ import annotations

MODEL_WINDOW_TOKENS = 200_000
"""Of a model that says nothing of its own window; the smallest in the price table."""


def window_of(*, asked: int | None, setting: int, own: int | None = None) -> int:
    """L9: the window in tokens that was asked for, else the setting's, else, where that is 0, the model's ``own``."""
    return asked or setting or own or MODEL_WINDOW_TOKENS
