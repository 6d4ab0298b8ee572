"""The offline summariser behind the ``Llm`` port (B1): payload in, the answer's JSON out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.profile.records import ProfileInput
from pkg_pipeline.memory.records import SummaryInput, Usage
from pkg_pipeline.memory.session.records import CompressInput, FoldInput
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.offline import MODEL
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.facts import find_facts
from pkg_pipeline.offline.folding import compress_answer, fold_answer
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.highlights import important_lines, key_phrases, tone_of
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.profile import profile_answer
from pkg_pipeline.offline.reading import Reading, Sentence, count_words, read
from pkg_pipeline.offline.retelling import clipped, described, first_name
from pkg_pipeline.offline.summary import overview, summarise
from pkg_pipeline.offline.talk_items import read_talks
from pkg_pipeline.offline.updating import answer_merge, answer_update
from pkg_pipeline.prompts.interaction_summary import Answer, AnswerActionItem, AnswerDecision, AnswerFact
from pkg_pipeline.stages.ports import LlmRejected, LlmReply, LlmRequest, TokenCounter

WINDOW_TOKENS = 10_000_000
QUOTE_CHARS = 600
TOKENS_PER_WORD = 1.4
"""Estimate without a token counter."""


def answer(source: SummaryInput) -> Answer:
    """The answer to one interaction, within the schema's limits. Pure. ``LlmRejected`` without messages."""
    if not source.messages:
        raise LlmRejected("the interaction has no messages")
    reading = read(source)
    decisions, facts = find_decisions(reading), find_facts(reading)
    actions = find_actions(reading, settled=[d.sentence for d in decisions])
    topics = key_phrases(reading)
    cited = {line: found.score for found in (*decisions, *actions) for line in found.lines}
    held_to = {d.lines[0] for d in decisions} | {a.lines[0] for a in actions if a.due}
    important = important_lines(reading, cited, held_to | {f.sentence.line for f in facts})
    return Answer(
        summary=summarise(reading, topics, cited),
        key_points=topics or [clipped(overview(reading, []).rstrip(" .:：。"), 12)],
        tone=tone_of(reading),
        decisions=[
            AnswerDecision(
                description=_agreed(reading, found),
                date=found.day.isoformat(),
                importance=found.importance,
                **_evidence(reading, found.sentence, found.lines),
            )
            for found in decisions
        ],
        action_items=[
            AnswerActionItem(
                description=described(found.sentence, reading),
                owner=found.owner,
                owner_name=found.owner_person.name if found.owner_person and found.owner == "them" else None,
                status="closed" if found.closed_at else "open",
                due_date=found.due.isoformat() if found.due else None,
                closed_at=found.closed_at.isoformat() if found.closed_at else None,
                **_evidence(reading, found.sentence, found.lines),
            )
            for found in actions
        ],
        facts=[
            AnswerFact(
                fact_type=found.kind,
                value=found.value[:300],
                about=found.about.name if found.about else None,
                confidence=round(found.confidence, 2),
                **_evidence(reading, found.sentence, (found.sentence.line,)),
            )
            for found in facts
        ],
        important_message_ids=[reading.lines[i].message.number for i in important],
    )


def _evidence(reading: Reading, sentence: Sentence, lines: tuple[int, ...]) -> dict[str, Any]:
    numbers = sorted(reading.lines[i].message.number for i in lines)
    return {"quote": sentence.text[:QUOTE_CHARS], "message_ids": numbers}


def _agreed(reading: Reading, found: FoundDecision) -> str:
    description = described(found.sentence, reading)
    if not found.agreed_by:
        return description
    template = phrases(reading.language).templates["agreed_by"]
    return template.format(
        what=description.rstrip(".。"), who=", ".join(first_name(person, reading) for person in found.agreed_by)
    )


_ANSWERS: Mapping[type, Callable[[Any], BaseModel]] = {
    SummaryInput: answer,
    ReadingInput: read_talks,
    UpdateInput: lambda update: answer_update(update, answer),
    MergeInput: answer_merge,
    ProfileInput: profile_answer,
    FoldInput: lambda source: fold_answer(source, answer),
    CompressInput: compress_answer,
}
"""Answer functions by the type of ``LlmRequest.payload``."""


class OfflineLlm:
    """Implements ``stages.ports.Llm``; without ``counter`` usage is estimated."""

    def __init__(self, counter: TokenCounter | None = None) -> None:
        self._counter = counter

    @property
    def model(self) -> str:
        return MODEL

    @property
    def is_paid(self) -> bool:
        return False

    @property
    def window_tokens(self) -> int:
        return WINDOW_TOKENS

    def price(self, usage: Usage) -> float:  # noqa: ARG002 - the port's signature
        """Always 0.0."""
        return 0.0

    def complete(self, request: LlmRequest) -> LlmReply:
        """Answers ``request.payload``; ``LlmRejected`` for other types or no text."""
        source = request.payload
        made = _ANSWERS.get(type(source))
        if made is None:
            known = ", ".join(kind.__name__ for kind in _ANSWERS)
            raise LlmRejected(f"the offline model reads {known}, not {type(source).__name__}")
        begun = time.perf_counter()
        text = json.dumps(made(source).model_dump(mode="json"), ensure_ascii=False)
        return LlmReply(
            text=text,
            model=MODEL,
            usage=self._usage(request, text),
            stop_reason="end_turn",
            duration_seconds=time.perf_counter() - begun,
        )

    def _usage(self, request: LlmRequest, text: str) -> Usage:
        prompt = f"{request.system}\n{request.user}"
        if self._counter is not None:
            return Usage(self._counter.count(prompt), self._counter.count(text), estimated=True)
        return Usage(
            round(TOKENS_PER_WORD * count_words(prompt)), round(TOKENS_PER_WORD * count_words(text)), estimated=True
        )
