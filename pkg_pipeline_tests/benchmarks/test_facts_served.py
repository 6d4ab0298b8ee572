"""Of what chats say outright as much is served, as rightly, as was reached (docs/figures.md)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.facts_served import TALKS, labels, measure, read_talks, shown_by
from pkg_pipeline_tests import read_demo

LEAST_LABELLED = 200
CONFIRMED, EITHER = (0.9, 0.68), 0.77
"""Precision and recall of what is served as confirmed; of what is served or waits as a candidate the recall."""


def test_of_what_is_said_outright_as_much_is_served_as_was(
    read_demo_url: str, database_url: str, tmp_path: Path
) -> None:
    told = labels()
    assert sum(label.is_sure for label in told) >= LEAST_LABELLED
    assert {label.language for label in told} == {"en", "ru", "zh"}
    with read_demo.opened(read_demo_url, tmp_path) as memory:
        shown = shown_by(memory)
    shown += read_talks(tmp_path, database_url, sorted(TALKS.glob("*.txt")))
    measured = measure(shown, told)
    reached = {
        "precision": measured.share("all", "confirmed right", "confirmed shown"),
        "recall": measured.share("all", "confirmed found", "labelled"),
    }
    either = reached["recall"] + measured.share("all", "candidate found", "labelled")
    precision, recall = CONFIRMED
    assert reached["precision"] >= precision, "\n".join(measured.wrong)
    assert reached["recall"] >= recall, "\n".join(measured.wrong)
    assert either >= EITHER, "\n".join(measured.wrong)
