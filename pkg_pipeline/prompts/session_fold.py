"""The prompt that folds a stretch of a live session (H13, T7): its version, answer model and schema. No client.

The rules stand in the system turn and are the same for every session of a language; everything that somebody else
wrote, earlier summaries included, stands in the user turn between fences (B15).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.session.fold_records import CandidateFold, CandidateQuestion, FoldInput
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, plain_problem, read_answer
from pkg_pipeline.prompts.interaction_summary import (
    MESSAGES_BLOCK,
    PARTICIPANTS_BLOCK,
    AnswerDecision,
    AnswerFact,
    decision_candidate,
    fact_candidate,
    has_namesake,
    local_time,
    message_line,
    participant_line,
)
from pkg_pipeline.prompts.session_fold_text import COMMON
from pkg_pipeline.prompts.session_fold_text import FOLD as TEXTS

VERSION = "session_fold/1"
"""Stands in the ledger and beside the fold: a change makes another answer (B5, B8)."""

SCHEMA_VERSION = 1
"""Raised with every change of the answer's form (B5)."""

MAX_OUTPUT_TOKENS = 3000
"""Room for one answer: 200 words of summary and some dozens of items with their quotes."""

EARLIER_BLOCK = "EARLIER"


class AnswerQuestion(Strict):
    text: str = Field(min_length=1, max_length=500, description="the question in one sentence")
    quote: str = Field(min_length=1, max_length=600, description="verbatim from one of the cited messages")
    message_ids: list[int] = Field(min_length=1, description="numbers of the messages it rests on")


class Answer(Strict):
    """What a model has to answer. Messages are cited by their number in the prompt."""

    summary: str = Field(min_length=1, description="2-6 sentences, at most 200 words, in the order of events")
    facts: list[AnswerFact]
    decisions: list[AnswerDecision]
    open_questions: list[AnswerQuestion]
    topics: list[str] = Field(max_length=7, description="1-7 short names of one to four words")


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it; adapters adapt it to what their API accepts."""
    return Answer.model_json_schema()


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    words = {language: [asdict(TEXTS[language]), COMMON[language].all_texts()] for language in sorted(TEXTS)}
    return hashlib.sha256(json.dumps([words, schema()], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(source: FoldInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``; ``strict`` insists on the form and names what was wrong last time (P19)."""
    wording, common = TEXTS[source.language], COMMON[source.language]
    seed, zone = source.input_hash, ZoneInfo(source.timezone)
    names_me = any(person.is_self for person in source.participants)
    parts = [
        wording.opening.format(
            count=len(source.messages),
            started=local_time(source.started_at, zone, common),
            ended=local_time(source.ended_at, zone, common),
            timezone=source.timezone,
        ),
        common.participants_with_me if names_me else common.participants_without_me,
        fencing.fence(PARTICIPANTS_BLOCK, map(participant_line, source.participants), seed=seed),
    ]
    if source.earlier:
        lines = (fencing.encode({"part": n, "summary": text}) for n, text in enumerate(source.earlier, 1))
        parts += [wording.earlier, fencing.fence(EARLIER_BLOCK, lines, seed=seed)]
    says_whose = has_namesake(source.participants)
    parts += [
        common.messages,
        fencing.fence(
            MESSAGES_BLOCK,
            (message_line(one, zone, common, says_whose=says_whose) for one in source.messages),
            seed=seed,
        ),
        wording.closing,
    ]
    if strict:
        schema_text = json.dumps(schema(), ensure_ascii=False, separators=(",", ":"))
        parts.append(common.strict.format(problem=plain_problem(problem) or common.unnamed_problem, schema=schema_text))
    return RenderedPrompt(system=f"{wording.rules}\n{common.answer_language}", user="\n\n".join(parts))


def parse(text: str) -> Answer:
    """The model's words as an ``Answer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema."""
    return read_answer(text, Answer, AnswerDecision, AnswerFact, AnswerQuestion)


def to_candidate(answer: Answer) -> CandidateFold:
    """The answer in the gate's words: plain frozen records."""
    return CandidateFold(
        summary=answer.summary,
        topics=tuple(answer.topics),
        facts=tuple(fact_candidate(item) for item in answer.facts),
        decisions=tuple(decision_candidate(item) for item in answer.decisions),
        open_questions=tuple(
            CandidateQuestion(text=item.text, quote=item.quote, numbers=tuple(item.message_ids))
            for item in answer.open_questions
        ),
    )
