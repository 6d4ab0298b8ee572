"""The prompt that merges the summaries of a long conversation's windows (P18); items are merged by rule."""

from __future__ import annotations

from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateSummary
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.prompts import conversation, fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, words_of

VERSION = "interaction_summary_merge/1"
"""Part of the replay key (B8)."""

MAX_OUTPUT_TOKENS = 1200
PARTS_BLOCK = "PARTS"


class MergeAnswer(Strict):
    """What a model has to answer."""

    summary: str = Field(min_length=1, description="2-4 sentences, at most 200 words, of the whole conversation")
    key_points: list[str] = Field(min_length=1, max_length=7)
    tone: Literal["positive", "neutral", "negative", "formal", "informal"]


schema, parse = MergeAnswer.model_json_schema, MergeAnswer.read


def template_digest() -> str:
    prompts = ("interaction_summary_merge", "interaction_summary")
    words = {language: [words_of(prompt, language) for prompt in prompts] for language in conversation.RULED_IN}
    return digest_of(words, MergeAnswer)


def render(merge: MergeInput) -> RenderedPrompt:
    source = merge.source
    language, zone = conversation.rules_language(source.language), ZoneInfo(source.timezone)
    words, shared = words_of("interaction_summary_merge", language), words_of("interaction_summary", language)
    lines = [
        fencing.encode(
            {
                "part": number,
                "from": conversation.local_time(part.started_at, zone, shared),
                "to": conversation.local_time(part.ended_at, zone, shared),
                "summary": part.content.summary,
                "key_points": list(part.content.key_points),
            }
        )
        for number, part in enumerate(merge.parts, 1)
    ]
    parts = (
        conversation.opening(words["opening"], source, shared, count=len(lines)),
        fencing.fence(PARTS_BLOCK, lines, seed=source.input_hash),
        words["closing"],
    )
    return RenderedPrompt(f"{words['rules']}\n{conversation.answer_in(source.language, shared)}", "\n\n".join(parts))


def to_candidate(answer: MergeAnswer) -> CandidateSummary:
    return CandidateSummary(summary=answer.summary, key_points=tuple(answer.key_points), tone=answer.tone)
