"""The prompt of a context in brief (P7); its version is part of the replay key (B8) and makes nothing stale (B5)."""

from __future__ import annotations

from pydantic import Field

from pkg_pipeline.memory.context.brief import PARTS, BriefInput, BriefLine
from pkg_pipeline.memory.context.brief_gate import CandidateBrief, CandidateSentence
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, words_of

VERSION = "context_brief/1"

MAX_OUTPUT_TOKENS = 1500
"""For eighteen sentences of thirty words with what they cite."""

PEOPLE_BLOCK, LINES_BLOCK = "PEOPLE", "BRIEF"


class AnswerSentence(Strict):
    text: str = Field(min_length=1)
    lines: list[int] = Field(min_length=1)


class Answer(Strict):
    """What a model has to answer: four parts, each sentence with the numbers of the lines that it rests on."""

    state: list[AnswerSentence]
    current: list[AnswerSentence]
    open: list[AnswerSentence]
    facts: list[AnswerSentence]


schema, parse = Answer.form, Answer.read


def template_digest() -> str:
    return digest_of({language: words_of("context_brief", language) for language in LANGUAGES}, Answer)


def render(source: BriefInput) -> RenderedPrompt:
    """The prompt for ``source``, in its language; holds the day and no time, so that it replays within a day."""
    words = words_of("context_brief", source.language)
    people = [{"name": source.person.name}] + ([] if source.me is None else [{"name": source.me.name, "me": True}])
    records = [*people, *([{"task": source.hint}] if source.hint else [])]
    seed = source.input_hash
    parts = [
        words["opening"].format(day=source.day.isoformat()),
        fencing.fence(PEOPLE_BLOCK, map(fencing.encode, records), seed=seed),
        words["lines"],
        fencing.fence(LINES_BLOCK, (fencing.encode(_record(line)) for line in source.lines), seed=seed),
        words["closing"],
    ]
    with_me = words["with_me" if source.me is not None else "without_me"]
    focus = f" {words['focus']}" if source.hint else ""
    return RenderedPrompt(f"{words['rules']}\n{with_me}{focus}", "\n".join(parts))


def _record(line: BriefLine) -> list[int | str]:
    return [line.number, line.kind, line.day.isoformat(), line.text]


def to_candidate(answer: Answer) -> CandidateBrief:
    return {part: [CandidateSentence(one.text, tuple(one.lines)) for one in getattr(answer, part)] for part in PARTS}
