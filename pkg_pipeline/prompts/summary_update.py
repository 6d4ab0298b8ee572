"""The prompt that brings a summary up to date with new messages (P27)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg_pipeline.memory.gate.records import CandidateSummary
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.prompts import conversation, fencing, summary
from pkg_pipeline.prompts.answers import RenderedPrompt, digest_of, insisting, words_of

VERSION = "summary_update/2"
"""A change makes updated summaries stale (B5)."""

MAX_OUTPUT_TOKENS = 1500
"""For 200 words and seven points."""

SUMMARY_BLOCK = "SUMMARY"


class Answer(summary.Words):
    """What a model has to answer; messages by their number."""

    important: list[int]


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of(conversation.all_words("summary_update"), Answer)


def render(update: UpdateInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``update``; ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    source, told, seed = update.source, update.known, update.source.input_hash
    language = conversation.rules_language(source.language)
    words, shared = words_of("summary_update", language), words_of("conversation", language)
    known = fencing.encode({"summary": told.summary, "points": list(told.key_points), "tone": told.tone})
    parts = [
        *conversation.people((source,), timezone=source.timezone, words=shared, seed=seed),
        words["told"],
        fencing.fence(SUMMARY_BLOCK, [known], seed=seed),
        words["new"].format(numbers=_ranges(sorted(update.new_numbers))),
        *conversation.talks((source,), timezone=source.timezone, words=shared, seed=seed),
        shared["closing"],
        *([insisting(shared, Answer, problem)] if strict else []),
    ]
    return RenderedPrompt(conversation.system(words, shared, source.language), "\n".join(parts))


def _ranges(numbers: Sequence[int]) -> str:
    """``3, 5-7``; numbers ascend."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def to_candidate(answer: Answer) -> CandidateSummary:
    return summary.to_candidate(answer, tuple(answer.important))
