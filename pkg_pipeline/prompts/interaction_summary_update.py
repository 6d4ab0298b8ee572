"""The prompt that updates a summary (P27): known items by short id, new items by message number."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pkg_pipeline.memory.gate.records import CandidateKnown, CandidateUpdate
from pkg_pipeline.memory.records import ActionItem, DecisionItem
from pkg_pipeline.memory.summary.increments import KnownItem, UpdateInput
from pkg_pipeline.prompts import conversation, fencing, interaction_summary
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, digest_of, insisting, words_of

VERSION = "interaction_summary_update/1"
"""A change makes updated summaries stale (B5)."""

MAX_OUTPUT_TOKENS = 5000
"""For a summary with new items and a line per known item."""

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


schema, parse = UpdateAnswer.model_json_schema, UpdateAnswer.read


def template_digest() -> str:
    prompts = ("interaction_summary_update", "interaction_summary")
    words = {language: [words_of(prompt, language) for prompt in prompts] for language in conversation.RULED_IN}
    return digest_of(words, UpdateAnswer)


def render(update: UpdateInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``update``; ``strict`` and ``problem`` as ``answers.insisting`` (P19)."""
    source, told = update.source, update.known
    language = conversation.rules_language(source.language)
    words, shared = words_of("interaction_summary_update", language), words_of("interaction_summary", language)
    summary = fencing.encode({"summary": told.summary, "key_points": list(told.key_points), "tone": told.tone})
    known = (_known_line(ref, item, update) for ref, item in update.shown.items())
    is_new = {message.number: {"new": message.number in update.new_numbers} for message in source.messages}
    parts = [
        conversation.opening(words["opening"], source, shared, count=len(update.new_numbers)),
        *conversation.participants(source, shared),
        words["summary"],
        fencing.fence(SUMMARY_BLOCK, [summary], seed=source.input_hash),
        words["known"],
        fencing.fence(KNOWN_BLOCK, known, seed=source.input_hash),
        words["messages"],
        conversation.messages(source, shared, is_new),
        words["closing"],
        *([insisting(words, UpdateAnswer, problem)] if strict else []),
    ]
    owners = shared["owners_with_me" if source.self_person is not None else "owners_without_me"]
    system = "\n".join((words["rules"], owners, conversation.answer_in(source.language, shared)))
    return RenderedPrompt(system, "\n\n".join(parts))


def to_candidate(answer: UpdateAnswer) -> CandidateUpdate:
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
