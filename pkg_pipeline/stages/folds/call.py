"""What the model is asked of a live session: to fold a stretch of it (H13), to tell a running summary shorter (L3).

The ladder of P19 is here: as usual, stricter, in halves merged by rule, error. No lease, no HWM, no publication: those
are ``folding``'s. How an answer is judged is ``judging``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.records import Language, Quarantined
from pkg_pipeline.memory.session.fold_gate import check_compression, check_fold
from pkg_pipeline.memory.session.fold_merging import merge_folds
from pkg_pipeline.memory.session.fold_records import CompressInput, FoldInput
from pkg_pipeline.memory.session.records import FoldContent
from pkg_pipeline.memory.summary.splitting import halves
from pkg_pipeline.prompts import session_compress as compress_prompt
from pkg_pipeline.prompts import session_fold as prompt
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED, NotPublishable, ask_and_judge, climb, request_of
from pkg_pipeline.stages.llm.ask import Tally
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.ports import Llm, LlmTask, LlmTooLong, TokenCounter
from pkg_pipeline.stages.summaries.stores import LedgerStore, Subject

TASK: Final[LlmTask] = "session_fold"
COMPRESS_TASK: Final[LlmTask] = "session_compress"


@dataclass(frozen=True, slots=True)
class FoldAsking:
    """Whom to ask, and on whose account. ``tally`` sums up what the questions took."""

    ledger: LedgerStore
    llm: Llm
    counter: TokenCounter
    run: Run
    tally: Tally


Content = tuple[FoldContent, tuple[Quarantined, ...]]
"""What passed, and what was taken out of it."""

Compress = Callable[[str, int], str | None]
"""A text and about how many tokens it should have → the shorter text, or None where no answer passed."""


def make_fold(source: FoldInput, *, asking: FoldAsking) -> Content:
    """What stands for the stretch ``source``. Raises one of ``judging.NOTHING_PASSED`` where the last rung gave
    nothing, ``ValueError`` for a stretch without messages.
    """
    if not source.messages:
        raise ValueError("a fold needs a message")
    return climb(
        lambda problem: _ask(source, asking, problem=problem),
        smaller=lambda problem, last: _in_halves(source, asking, problem=problem, last=last),
    )


def compress(source: CompressInput, *, asking: FoldAsking) -> str:
    """``source.text`` told shorter. Raises one of ``judging.NOTHING_PASSED`` where the second try gave nothing too."""
    try:
        return _ask_compress(source, asking)
    except NotPublishable as failure:
        return _ask_compress(source, asking, problem=failure.problem)


def compressor(session_id: UUID, language: Language, *, asking: FoldAsking) -> Compress:
    """``compress`` as ``memory.running_summary`` calls it: None instead of an error, since a rule can do without."""

    def shorter(text: str, target_tokens: int) -> str | None:
        source = CompressInput(session_id, language, text, asking.counter.count(text), target_tokens)
        try:
            return compress(source, asking=asking)
        except NOTHING_PASSED:
            return None

    return shorter


def _in_halves(source: FoldInput, asking: FoldAsking, *, problem: str | None, last: Exception) -> Content:
    """The last rung: a smaller window. What is still too long for the model is halved again."""
    smaller = halves(source.conversation)
    if len(smaller) < 2:
        raise last
    found: list[Content] = []
    for half in smaller:
        part = replace(source, messages=half.messages, input_hash=half.input_hash)
        try:
            found.append(_ask(part, asking, problem=problem))
        except LlmTooLong as too_long:
            found.append(_in_halves(part, asking, problem=problem, last=too_long))
    merged = merge_folds([content for content, _ in found], source)
    return merged, tuple(entry for _, dropped in found for entry in dropped)


def _ask(source: FoldInput, asking: FoldAsking, *, problem: str | None = None) -> Content:
    subject = Subject("session", source.session_id)
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    return ask_and_judge(
        request_of(prompt, rendered, task=TASK, payload=source, subject=subject),
        lambda text: check_fold(prompt.to_candidate(prompt.parse(text)), source),
        subject=subject,
        ledger=asking.ledger,
        llm=asking.llm,
        counter=asking.counter,
        run=asking.run,
        tally=asking.tally,
    )


def _ask_compress(source: CompressInput, asking: FoldAsking, *, problem: str | None = None) -> str:
    subject = Subject("session", source.session_id)
    rendered = compress_prompt.render(source, strict=problem is not None, problem=problem)
    content, _ = ask_and_judge(
        request_of(compress_prompt, rendered, task=COMPRESS_TASK, payload=source, subject=subject),
        lambda text: check_compression(compress_prompt.parse(text).summary, source, asking.counter.count),
        subject=subject,
        ledger=asking.ledger,
        llm=asking.llm,
        counter=asking.counter,
        run=asking.run,
        tally=asking.tally,
    )
    return content
