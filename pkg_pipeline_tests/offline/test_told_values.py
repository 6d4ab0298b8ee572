"""Phones, mails, birthdays, accounts and addresses as people give them, in labelled talks (``told_values``), P13."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.facts_truth import score
from training import worlds
from training.told_worlds import worlds_of

TALKS = Path(__file__).with_name("told_values")
FLOORS = {
    "phone": (0.95, 0.9),
    "email": (0.95, 0.95),
    "account": (0.95, 0.95),
    "address": (0.9, 0.85),
    "birthday": (0.9, 0.75),
}
"""Least precision and recall; the talks were written before the rules that they are a yardstick of."""


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    told = [worlds.told(*one) for path in sorted(TALKS.glob("*.txt")) for one in worlds_of(path).items()]
    return sum((score(world)[0] for world in told), Counter[str]())


@pytest.mark.parametrize("kind", FLOORS)
def test_values_are_found_of_whom_they_are(counts: Counter[str], kind: str) -> None:
    precision, recall = FLOORS[kind]
    assert counts[f"{kind} right"] >= precision * counts[f"{kind} found"]
    assert counts[f"{kind} matched"] >= recall * counts[f"{kind} labelled"]
