"""The prompt that merges the summaries of a long talk's windows (P18)."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.records import CandidateSummary
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.prompts import conversation, fencing, summary
from pkg_pipeline.prompts.answers import RenderedPrompt, digest_of, words_of

VERSION = "summary_merge/2"
"""Part of the replay key (B8)."""

MAX_OUTPUT_TOKENS = 1200
PARTS_BLOCK = "PARTS"

Answer = summary.Words
schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of(conversation.all_words("summary_merge"), Answer)


def render(merge: MergeInput) -> RenderedPrompt:
    source = merge.source
    language, zone = conversation.rules_language(source.language), ZoneInfo(source.timezone)
    words, shared = words_of("summary_merge", language), words_of("conversation", language)
    lines = [
        fencing.encode(
            [
                number,
                conversation.local_time(part.started_at, zone, shared),
                conversation.local_time(part.ended_at, zone, shared),
                part.content.summary,
                list(part.content.key_points),
            ]
        )
        for number, part in enumerate(merge.parts, 1)
    ]
    parts = (
        words["opening"].format(count=len(lines), timezone=source.timezone),
        fencing.fence(PARTS_BLOCK, lines, seed=source.input_hash),
        shared["closing"],
    )
    return RenderedPrompt(conversation.system(words, shared, source.language, has_talks=False), "\n".join(parts))


def to_candidate(answer: summary.Words) -> CandidateSummary:
    return summary.to_candidate(answer)
