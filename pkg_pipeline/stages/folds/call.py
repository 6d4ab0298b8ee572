"""What the model is asked of a live session: to fold a stretch of it (H13), to tell a running summary shorter (L3).

The ladder of P19 is here: as usual, stricter, in halves merged by rule, error. No lease, no HWM, no publication.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session.fold_gate import check_compression, check_fold
from pkg_pipeline.memory.session.folding import merge_folds
from pkg_pipeline.memory.session.records import CompressInput, FoldContent, FoldInput
from pkg_pipeline.memory.summary.splitting import halves
from pkg_pipeline.prompts import session_compress as compress_prompt
from pkg_pipeline.prompts import session_fold as prompt
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED, NotPublishable, Question, retry_ladder
from pkg_pipeline.stages.llm.ask import Asking, Tally
from pkg_pipeline.stages.ports import LlmTask, LlmTooLong, Subject, TokenCounter

TASK: Final[LlmTask] = "session_fold"
COMPRESS_TASK: Final[LlmTask] = "session_compress"

FOLD: Final[Question[FoldInput, FoldContent]] = Question(
    TASK, prompt, lambda text, source: check_fold(prompt.to_candidate(prompt.parse(text)), source)
)

Content = tuple[FoldContent, tuple[Quarantined, ...]]
"""What passed, and what was taken out of it."""

Compress = Callable[[str, int], str | None]
"""A text and about how many tokens it should have → the shorter text, or None where no answer passed."""


def compression(counter: TokenCounter) -> Question[CompressInput, str]:
    """The question for a shorter text; whether an answer is shorter is counted by ``counter``."""
    return Question(
        COMPRESS_TASK,
        compress_prompt,
        lambda text, source: check_compression(compress_prompt.parse(text).summary, source, counter.count),
    )


def make_fold(source: FoldInput, *, asking: Asking, tally: Tally) -> Content:
    """What stands for the stretch ``source``. Raises one of ``NOTHING_PASSED`` where the last rung gave nothing,
    ``ValueError`` for a stretch without messages.
    """
    if not source.messages:
        raise ValueError("a fold needs a message")
    return retry_ladder(
        lambda problem: _ask(source, asking, tally, problem),
        smaller=lambda problem, last: _in_halves(source, asking, tally, problem, last),
    )


def compress(source: CompressInput, *, asking: Asking, tally: Tally) -> str:
    """``source.text`` told shorter. Raises one of ``NOTHING_PASSED`` where the second try gave nothing too."""
    question, subject = compression(asking.counter), Subject("session", source.session_id)
    try:
        return question.ask(source, subject=subject, asking=asking, tally=tally)[0]
    except NotPublishable as failure:
        return question.ask(source, subject=subject, asking=asking, tally=tally, problem=failure.problem)[0]


def compressor(session_id: UUID, language: Language, *, asking: Asking, tally: Tally) -> Compress:
    """``compress`` as ``memory.session.running_summary`` calls it: None instead of an error."""

    def shorter(text: str, target_tokens: int) -> str | None:
        source = CompressInput(session_id, language, text, asking.counter.count(text), target_tokens)
        try:
            return compress(source, asking=asking, tally=tally)
        except NOTHING_PASSED:
            return None

    return shorter


def _in_halves(source: FoldInput, asking: Asking, tally: Tally, problem: str | None, last: Exception) -> Content:
    """The last rung: a smaller window. What is still too long for the model is halved again."""
    smaller = halves(source.conversation)
    if len(smaller) < 2:
        raise last
    found: list[Content] = []
    for half in smaller:
        part = replace(source, messages=half.messages, input_hash=half.input_hash)
        try:
            found.append(_ask(part, asking, tally, problem))
        except LlmTooLong as too_long:
            found.append(_in_halves(part, asking, tally, problem, too_long))
    merged = merge_folds([content for content, _ in found], source)
    return merged, tuple(entry for _, dropped in found for entry in dropped)


def _ask(source: FoldInput, asking: Asking, tally: Tally, problem: str | None) -> Content:
    subject = Subject("session", source.session_id)
    return FOLD.ask(source, subject=subject, asking=asking, tally=tally, problem=problem)
