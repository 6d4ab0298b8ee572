"""The offline summariser behind the ``Llm`` port (B1): payload in, the answer's JSON out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.profile.records import ProfileInput
from pkg_pipeline.memory.profile.relationship_vectors import Embed
from pkg_pipeline.memory.records import SummaryInput, Usage
from pkg_pipeline.memory.session.records import CompressInput, FoldInput
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.offline import MODEL
from pkg_pipeline.offline.facts import find_facts
from pkg_pipeline.offline.folding import compress_answer, fold_answer
from pkg_pipeline.offline.highlights import important_lines, key_phrases, tone_of
from pkg_pipeline.offline.profile import profile_answer
from pkg_pipeline.offline.publishing import Publishing
from pkg_pipeline.offline.reading import Reading, count_words, read
from pkg_pipeline.offline.remembered import Remembered
from pkg_pipeline.offline.retelling import clipped
from pkg_pipeline.offline.summary import Evidence, overview, summarise
from pkg_pipeline.offline.talk_items import found, prepared, read_talks
from pkg_pipeline.offline.updating import answer_merge, answer_update
from pkg_pipeline.prompts.summary import Answer, AnswerTalk
from pkg_pipeline.stages.ports import LlmRejected, LlmReply, LlmRequest, TokenCounter

WINDOW_TOKENS = 10_000_000
QUOTE_CHARS = 600
TOKENS_PER_WORD = 1.4
"""Estimate without a token counter."""


def answer(source: SummaryInput, embed: Embed | None = None) -> AnswerTalk:
    """The words of one talk, within the schema's limits; without vectors it rests on no decisions or tasks.
    ``LlmRejected`` without messages.
    """
    if not source.messages:
        raise LlmRejected("the interaction has no messages")
    reading = read(source) if embed is None else prepared(read(source), embed)
    publishing = Publishing(reading)
    facts, topics = find_facts(reading, embed), key_phrases(reading, publishing.is_true)
    evidence, held_to = _evidence(reading, embed)
    evidence = evidence._replace(facts=frozenset(fact.sentence.line for fact in facts))
    important = important_lines(reading, evidence.lines, held_to | evidence.facts)
    return AnswerTalk(
        talk=1,
        summary=summarise(reading, topics, evidence, publishing),
        points=topics or [clipped(overview(reading, []).rstrip(" .:：。"), 12)],
        tone=tone_of(reading),
        important=[reading.lines[i].message.number for i in important],
    )


def _evidence(reading: Reading, embed: Embed | None) -> tuple[Evidence, set[int]]:
    """What was settled and promised in a talk ``prepared``, and the lines that are important for it: in a meeting none,
    since too few of those found there are right.
    """
    if reading.is_meeting or embed is None:
        return Evidence(), set()
    decisions, actions = found(reading)
    every = (*decisions, *actions)
    lines = frozenset(line for one in every for line in one.lines)
    held_to = {d.lines[0] for d in decisions} | {a.lines[0] for a in actions if a.due}
    return Evidence(lines, frozenset(one.sentence for one in every)), held_to


_ANSWERS: Mapping[type, Callable[[Any, Embed | None], BaseModel]] = {
    SummaryInput: lambda source, embed: Answer(talks=[answer(source, embed)]),
    UpdateInput: lambda update, embed: answer_update(update, partial(answer, embed=embed)),
    MergeInput: lambda merge, _: answer_merge(merge),
    FoldInput: lambda source, embed: fold_answer(source, partial(answer, embed=embed)),
    CompressInput: lambda source, _: compress_answer(source),
    ProfileInput: profile_answer,
}
"""Answer functions by the type of ``LlmRequest.payload``."""


class OfflineLlm:
    """Implements ``stages.ports.Llm``; without ``counter`` usage is estimated. ``embed``: vectors of the offline
    embedder, whose space the heads were fitted to; needed for readings.
    """

    def __init__(self, counter: TokenCounter | None = None, embed: Embed | None = None) -> None:
        self._counter, self._embed = counter, None if embed is None else Remembered(embed)

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
        begun = time.perf_counter()
        text = json.dumps(self._answer(source).model_dump(mode="json"), ensure_ascii=False)
        return LlmReply(
            text=text,
            model=MODEL,
            usage=self._usage(request, text),
            stop_reason="end_turn",
            duration_seconds=time.perf_counter() - begun,
        )

    def _answer(self, source: object) -> BaseModel:
        if isinstance(source, ReadingInput) and self._embed is not None:
            return read_talks(source, self._embed)
        made = _ANSWERS.get(type(source))
        if made is None:
            known = ", ".join(kind.__name__ for kind in (*_ANSWERS, ReadingInput))
            raise LlmRejected(f"the offline model reads {known}, the last with vectors, not {type(source).__name__}")
        return made(source, self._embed)

    def _usage(self, request: LlmRequest, text: str) -> Usage:
        prompt = f"{request.system}\n{request.user}"
        if self._counter is not None:
            return Usage(self._counter.count(prompt), self._counter.count(text), estimated=True)
        return Usage(
            round(TOKENS_PER_WORD * count_words(prompt)), round(TOKENS_PER_WORD * count_words(text)), estimated=True
        )
