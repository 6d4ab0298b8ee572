"""What was recalled for a live question is kept for the next call about it, and no longer than it is true."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from pkg_pipeline.stages.window.records import Recalled, RecalledPiece, RecallQuestion
from pkg_pipeline.wiring.windows import KEPT_QUESTIONS, KEPT_SECONDS, RememberedRecall

NOW = datetime(2026, 3, 15, tzinfo=UTC)
ASKED = RecallQuestion(UUID(int=1), "which port?", NOW, (40, 38, 900, 0))


class Counting:
    """A recall that counts how often it is asked."""

    def __init__(self, warnings: tuple[str, ...] = ()) -> None:
        self.asked: list[RecallQuestion] = []
        self.warnings = warnings

    def __call__(self, question: RecallQuestion) -> Recalled:
        self.asked.append(question)
        return Recalled((RecalledPiece(UUID(int=len(self.asked)), "5432", (), None),), self.warnings)


@pytest.mark.parametrize(
    ("second", "after_seconds", "times"),
    [
        (ASKED, 0.0, 1),
        (replace(ASKED, now=datetime(2026, 3, 16, tzinfo=UTC)), KEPT_SECONDS - 1, 1),
        (ASKED, KEPT_SECONDS, 2),
        (replace(ASKED, query="which host?"), 0.0, 2),
        (replace(ASKED, session_id=UUID(int=2)), 0.0, 2),
        (replace(ASKED, folded=(60, 58, 1400, 0)), 0.0, 2),  # folded further
        (replace(ASKED, folded=(40, 37, 880, 1)), 0.0, 2),  # one of the folded was deleted
        (replace(ASKED, folded=(40, 38, 905, 1)), 0.0, 2),  # one was edited
    ],
)
def test_the_same_question_about_the_same_folded_part_is_searched_once(
    second: RecallQuestion, after_seconds: float, times: int
) -> None:
    clock, recall = [100.0], Counting()
    remembered = RememberedRecall(recall, monotonic=lambda: clock[0])
    first = remembered(ASKED)
    clock[0] += after_seconds
    assert (remembered(second) == first, len(recall.asked)) == (times == 1, times)


def test_an_answer_with_a_warning_is_not_kept_and_only_so_many_are() -> None:
    failing = Counting(("keywords only",))
    remembered = RememberedRecall(failing, monotonic=lambda: 0.0)
    assert remembered(ASKED).warnings == remembered(ASKED).warnings
    assert len(failing.asked) == 2
    recall = Counting()
    remembered = RememberedRecall(recall, monotonic=lambda: 0.0)
    for number in range(KEPT_QUESTIONS + 1):
        remembered(replace(ASKED, query=str(number)))
    remembered(replace(ASKED, query="1"))
    assert len(recall.asked) == KEPT_QUESTIONS + 1, "a newer one is kept"
    remembered(replace(ASKED, query="0"))
    assert len(recall.asked) == KEPT_QUESTIONS + 2, "the oldest one went"
