"""The head of facts: its weights are made again from the accounts, and what it shows is right on what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from pkg_pipeline.offline.facts.candidates import WEIGHED
from pkg_pipeline.offline.facts.fact_head import heads
from pkg_pipeline.offline.facts.found import FactKind
from training import facts

SAME = 0.03
"""Mean difference of probabilities."""
PARTS = range(4)
"""Of the twelve parts of the accounts those that are left out here, a third; all: ``python -m training.facts``."""
SHOWN: dict[FactKind, tuple[float, int]] = {
    "position": (0.83, 50),
    "organization": (0.72, 26),
    "family": (0.87, 330),
    "preference": (0.75, 11),
    "address": (0.74, 36),
}
"""Precision and how many are right on ``PARTS``, just below what was reached."""


@pytest.mark.parametrize("kind", WEIGHED)
def test_the_weights_of_the_package_are_those_of_the_accounts(kind: FactKind) -> None:
    told = facts.examples()[kind]
    rows, vectors = [one.candidate.features for one in told], facts.vectors(told)
    packaged, made = heads()[kind], facts.fitted(told)
    assert float(np.abs(packaged.chances(rows, vectors) - made.chances(rows, vectors)).mean()) < SAME
    assert facts.WEIGHTS.stat().st_size < 300_000


@pytest.mark.parametrize("kind", WEIGHED)
def test_what_is_shown_of_accounts_left_out_is_right(kind: FactKind) -> None:
    precision, least = SHOWN[kind]
    taken = facts.of_accounts(kind, heads()[kind], PARTS)
    assert sum(taken) >= least
    assert sum(taken) >= precision * len(taken)
