"""Model calls for folds (H13) and shorter running summaries (L3), on the ladder of P19: normal, strict, halves."""

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

Compress = Callable[[str, int], str | None]
"""(text, target tokens) → shorter text, or None if no answer was valid."""


def compression(counter: TokenCounter) -> Question[CompressInput, str]:
    """The question for a shorter text; its length is checked with ``counter``."""
    return Question(
        COMPRESS_TASK,
        compress_prompt,
        lambda text, source: check_compression(compress_prompt.parse(text).summary, source, counter.count),
    )


def make_fold(source: FoldInput, *, asking: Asking, tally: Tally) -> Content:
    """The fold of ``source``. Raises one of ``NOTHING_PASSED``, ``ValueError`` without messages."""
    if not source.messages:
        raise ValueError("a fold needs a message")
    return retry_ladder(
        lambda problem: _ask(source, asking, tally, problem),
        smaller=lambda problem, last: _in_halves(source, asking, tally, problem, last),
    )


def compress(source: CompressInput, *, asking: Asking, tally: Tally) -> str:
    """``source.text`` shortened. Raises one of ``NOTHING_PASSED`` after the second try."""
    question, subject = compression(asking.counter), Subject("session", source.session_id)
    try:
        return question.ask(source, subject=subject, asking=asking, tally=tally)[0]
    except NotPublishable as failure:
        return question.ask(source, subject=subject, asking=asking, tally=tally, problem=failure.told)[0]


def compressor(session_id: UUID, language: Language, *, asking: Asking, tally: Tally) -> Compress:
    """``compress`` that returns None instead of raising."""

    def shorter(text: str, target_tokens: int) -> str | None:
        source = CompressInput(session_id, language, text, asking.counter.count(text), target_tokens)
        try:
            return compress(source, asking=asking, tally=tally)
        except NOTHING_PASSED:
            return None

    return shorter


def _in_halves(source: FoldInput, asking: Asking, tally: Tally, problem: str | None, last: Exception) -> Content:
    """The last rung; halves again what is too long."""
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
