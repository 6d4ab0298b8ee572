"""Logistic heads over named features; their weights are in ``weights.toml``, fitted by ``make train``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

Features = Mapping[str, float]


@cache
def weights_of(head: str) -> Mapping[str, float]:
    """Weights in log-odds by the name of the feature; ``bias`` is always added."""
    text = files("pkg_pipeline.offline").joinpath("weights.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[head]


def probability(head: str, features: Features) -> float:
    """How probable a thing with these features is what the head looks for, rounded to a hundredth."""
    weights = weights_of(head)
    total = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return chance(total)


def chance(log_odds: float) -> float:
    """Log-odds as a probability, rounded to a hundredth."""
    return round(chance_of(log_odds), 2)


def chance_of(log_odds: float) -> float:
    """Log-odds as a probability."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
