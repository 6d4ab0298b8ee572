"""How many tokens a model counts for one of ours (B12), as budgets and forecasts take it."""

from __future__ import annotations

LARGEST_CALIBRATION = 3.0
SMALLEST_EXPECTED = 0.5


def calibration_of(ratio: float | None) -> float:
    """For what has to fit: the ratio of reported to counted tokens, clamped to 1–3."""
    return min(max(ratio or 1.0, 1.0), LARGEST_CALIBRATION)


def expected(ratio: float | None) -> float:
    """For what is foretold: a model that counts less is believed too."""
    return min(max(ratio or 1.0, SMALLEST_EXPECTED), LARGEST_CALIBRATION)
