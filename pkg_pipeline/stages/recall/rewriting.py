"""Rephrases a question for recall by the model (off by default); never fails a read, delays it up to a deadline (L10).

The question's text is not stored; the ledger has its hash and the model's phrasings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.hashing import question_id
from pkg_pipeline.memory.recall.rewrite_gate import Question, check_rewrite, no_rewrite_reason
from pkg_pipeline.memory.records import Language
from pkg_pipeline.prompts import question_rewrite as prompt
from pkg_pipeline.stages.llm import answer_validation
from pkg_pipeline.stages.llm.asking_in_reads import ReadAsker, reason_of
from pkg_pipeline.stages.ports import LlmTask, Subject

TASK: Final[LlmTask] = "question_rewrite"

REWRITE: Final[answer_validation.Question[Question, tuple[str, ...]]] = answer_validation.Question(
    TASK, prompt, lambda text, question: check_rewrite(prompt.parse(text).queries, question.text)
)

DEADLINE_SECONDS: Final = 4.0
"""The longest a read waits."""

OFFLINE: Final = "the offline model does not rewrite"


class Rewritten(NamedTuple):
    """The original question, then up to three phrasings; ``reason``: why there are none."""

    queries: tuple[str, ...]
    reason: str | None = None


class Asker(ReadAsker[Question, tuple[str, ...]]):
    """Asks for phrasings. ``languages``: of the memory's texts on a day; phrasings in them are wanted too."""

    def __init__(
        self,
        *,
        languages: Callable[[date], Sequence[Language]] = lambda _: (),
        deadline_seconds: float = DEADLINE_SECONDS,
        **parts: Any,
    ) -> None:
        super().__init__(
            REWRITE,
            lambda question: Subject("question", question_id(question.text)),
            prepared=lambda question: replace(question, languages=tuple(languages(question.asked_on))),
            deadline_seconds=deadline_seconds,
            **parts,
        )


def rewritten(question: str, *, asked_at: datetime, zone: ZoneInfo, ask: Asker) -> Rewritten:
    """``question`` and its phrasings; never raises (L10). ``asked_at`` (aware) is the base of "last month"."""
    reason = OFFLINE if ask.is_offline else no_rewrite_reason(question)
    if reason is not None:
        return Rewritten((question,), reason)
    day = asked_at.astimezone(zone).date()
    try:
        found = ask.answer(Question(question, day, zone.key))
    except Exception as error:  # noqa: BLE001 - a read is never stopped by what was to make it better (L10)
        return Rewritten((question,), reason_of(error))
    return Rewritten((question, *found), None if found else "the model knows no other words for it")
