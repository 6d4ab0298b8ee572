"""From a session's history to the messages of one prompt (L4, L5, T2): what is shown, what is cut, what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pkg_pipeline.memory.window_records import Budget, Window, WindowHistory, WindowRules

CountMany = Callable[[Sequence[str]], list[int]]


def budget_of(
    window_tokens: int,
    *,
    margin_percent: float = 10,
    output_tokens: int = 16_000,
    system_tokens: int = 0,
    calibration: float = 1.0,
) -> Budget:
    """L4: the model's window less the margin (L10), room for the answer (a quarter at most) and the system prompt.

    What is left is divided by ``calibration``: how many tokens the model reports for one counted here (B12).
    ``available`` may be zero or less: then nothing fits.
    """
    margin = -int(-window_tokens * margin_percent // 100)
    output = min(output_tokens, window_tokens // 4)
    left = window_tokens - margin - output - system_tokens
    return Budget(window_tokens, margin, output, system_tokens, int(left // calibration), calibration)


def assemble(history: WindowHistory, budget: Budget, rules: WindowRules, count_many: CountMany) -> Window:
    """The window of at most ``budget.available`` tokens. Deterministic; raises ``LiveTurnTooLong``."""
    raise NotImplementedError
