"""The prompt that brings a summary up to date (P27): its version, its answer model and schema. No client.

Known items bear short ids, so that an answer can keep, change or close each; new items cite messages by number, as in
the prompt of a whole summary. What goes back to somebody's words stands between fences (B15).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateKnown, CandidateUpdate
from pkg_pipeline.memory.records import ActionItem, DecisionItem, SummaryContent
from pkg_pipeline.memory.summary.increments import KnownItem, UpdateInput
from pkg_pipeline.prompts import fencing, interaction_summary
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, plain_problem, read_answer
from pkg_pipeline.prompts.interaction_summary_text import TEXTS as COMMON
from pkg_pipeline.prompts.interaction_summary_update_text import TEXTS

VERSION = "interaction_summary_update/1"
"""Stands in the summaries that it updated and in the ledger; a change makes what it made stale (B5)."""

MAX_OUTPUT_TOKENS = 5000
"""Room for a summary with its new items, and a line for each of the known ones."""

SUMMARY_BLOCK = "SUMMARY"
KNOWN_BLOCK = "KNOWN"


class AnswerKnown(Strict):
    id: str = Field(min_length=1, max_length=8, description="as in the list of known items")
    state: Literal["kept", "changed", "closed"]
    description: str | None = Field(default=None, max_length=500, description="if changed: what holds now")
    importance: Literal["high", "medium", "low"] | None = Field(default=None, description="if changed")
    due_date: str | None = Field(default=None, description="ISO date, if changed")
    closed_at: str | None = Field(default=None, description="ISO date, if closed")
    quote: str | None = Field(default=None, max_length=600, description="verbatim from a new message, unless kept")
    message_ids: list[int] = Field(default=[], description="numbers of the new messages, unless kept")


class UpdateAnswer(interaction_summary.Answer):
    """What a model has to answer: the summary's answer with new items only, and a word on each known item."""

    known: list[AnswerKnown]


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it."""
    return UpdateAnswer.model_json_schema()


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    words = {language: [TEXTS[language].all_texts(), COMMON[language].all_texts()] for language in sorted(TEXTS)}
    return hashlib.sha256(json.dumps([words, schema()], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(update: UpdateInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``update``; ``strict`` insists on the form and names what was wrong last time (P19)."""
    source = update.source
    language = "ru" if source.language == "ru" else "en"
    wording, common = TEXTS[language], COMMON[language]
    names_me = source.self_person is not None
    seed, zone = source.input_hash, ZoneInfo(source.timezone)
    people = (interaction_summary.participant_line(person) for person in source.participants)
    says_whose = interaction_summary.has_namesake(source.participants)
    messages = (
        interaction_summary.message_line(
            message, zone, common, says_whose=says_whose, new=message.number in update.new_numbers
        )
        for message in source.messages
    )
    known = (_known_line(ref, item, update) for ref, item in update.shown.items())
    parts = [
        wording.opening.format(
            started=interaction_summary.local_time(source.started_at, zone, common),
            ended=interaction_summary.local_time(source.ended_at, zone, common),
            timezone=source.timezone,
            count=len(update.new_numbers),
        ),
        common.participants_with_me if names_me else common.participants_without_me,
        fencing.fence(interaction_summary.PARTICIPANTS_BLOCK, people, seed=seed),
        wording.summary,
        fencing.fence(SUMMARY_BLOCK, [_summary_line(update.known)], seed=seed),
        wording.known,
        fencing.fence(KNOWN_BLOCK, known, seed=seed),
        wording.messages,
        fencing.fence(interaction_summary.MESSAGES_BLOCK, messages, seed=seed),
        wording.closing,
    ]
    if strict:
        schema_text = json.dumps(schema(), ensure_ascii=False, separators=(",", ":"))
        parts.append(
            wording.strict.format(problem=plain_problem(problem) or wording.unnamed_problem, schema=schema_text)
        )
    system = "\n".join(
        (
            wording.rules,
            common.owners_with_me if names_me else common.owners_without_me,
            common.answer_chinese if source.language == "zh" else common.answer_language,
        )
    )
    return RenderedPrompt(system=system, user="\n\n".join(parts))


def parse(text: str) -> UpdateAnswer:
    """The model's words as an ``UpdateAnswer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema."""
    return read_answer(
        text,
        UpdateAnswer,
        AnswerKnown,
        interaction_summary.AnswerDecision,
        interaction_summary.AnswerActionItem,
        interaction_summary.AnswerFact,
    )


def to_candidate(answer: UpdateAnswer) -> CandidateUpdate:
    """The answer in the gate's words."""
    return CandidateUpdate(
        known=tuple(
            CandidateKnown(
                ref=said.id,
                state=said.state,
                description=said.description,
                importance=said.importance,
                due_date=said.due_date,
                closed_at=said.closed_at,
                quote=said.quote or "",
                numbers=tuple(said.message_ids),
            )
            for said in answer.known
        ),
        summary=interaction_summary.to_candidate(answer),
    )


def _summary_line(known: SummaryContent) -> str:
    return fencing.encode({"summary": known.summary, "key_points": list(known.key_points), "tone": known.tone})


def _known_line(ref: str, item: KnownItem, update: UpdateInput) -> str:
    people = {person.entity_id: person.name for person in update.source.participants}
    match item:
        case DecisionItem():
            said = {"description": item.description, "date": item.date.isoformat(), "importance": item.importance}
            record = {"id": ref, "kind": "decision", **said}
        case ActionItem():
            owner = people.get(item.owner_entity_id) if item.owner_entity_id is not None else None
            said = {"description": item.description, "owner": item.owner, "owner_name": owner, "status": item.status}
            record = {"id": ref, "kind": "action_item", **said, "due_date": _day(item)}
        case _:
            about = people.get(item.entity_id) if item.entity_id is not None else None
            record = {"id": ref, "kind": "fact", "fact_type": item.fact_type, "value": item.value, "about": about}
    return fencing.encode({**record, "quote": item.quote})


def _day(item: ActionItem) -> str | None:
    return item.due_date.isoformat() if item.due_date else None
