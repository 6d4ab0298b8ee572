"""The offline answer to a reading: what a talk newly asks, promises and settles, and what it says of shown items."""

from __future__ import annotations

from typing import Any

from pkg_pipeline.memory.items.records import CandidateChange, CandidateEnd, ReadingInput
from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.actions import FoundAction, find_actions
from pkg_pipeline.offline.decisions import FoundDecision, find_decisions
from pkg_pipeline.offline.facts import FoundFact, find_facts
from pkg_pipeline.offline.linking import Linked, link
from pkg_pipeline.offline.reading import Reading, Sentence, read
from pkg_pipeline.offline.retelling import described
from pkg_pipeline.prompts.conversation_reading import Answer, AnswerChange, AnswerEnd, AnswerFact, AnswerItem, FactType
from pkg_pipeline.stages.ports import LlmRejected

QUOTE_CHARS = 300
FACT_TYPES: dict[str, FactType] = {
    "phone": "phone",
    "email": "email",
    "address": "address",
    "city": "address",
    "birthday": "birthday",
    "position": "position",
    "workplace": "organization",
    "family": "family",
    "preference": "preference",
    "handle": "account",
    "wechat": "account",
}
"""The type of a fact by the rule that found it; others are ``other``."""


def read_talks(source: ReadingInput) -> Answer:
    """New items and facts of each talk, and what it says of the items shown. Pure. ``LlmRejected`` without messages."""
    if not source.messages:
        raise LlmRejected("the talks have no messages")
    items: list[AnswerItem] = []
    changes: list[AnswerChange] = []
    facts: list[AnswerFact] = []
    for reading in map(read, source.talks):
        decisions = find_decisions(reading)
        actions = find_actions(reading, settled=[d.sentence for d in decisions])
        linked = link(reading, source.shown, actions, decisions)
        items += _items(reading, actions, decisions, linked)
        changes += [_change(change) for change in linked.changes]
        facts += [_fact(reading, found) for found in find_facts(reading)]
    return Answer(items=items, changes=changes, facts=facts)


def _items(
    reading: Reading, actions: list[FoundAction], decisions: list[FoundDecision], linked: Linked
) -> list[AnswerItem]:
    """New items in the order in which they are said; what only repeats a shown one is none."""
    found = [
        (one.lines[0], _decision(reading, one, linked.replaces.get(i)))
        for i, one in enumerate(decisions)
        if i not in linked.again
    ]
    found += [
        (one.lines[0], _task(reading, one, linked.ends.get(i)))
        for i, one in enumerate(actions)
        if i not in linked.repeats
    ]
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def _evidence(reading: Reading, sentence: Sentence, lines: tuple[int, ...]) -> dict[str, Any]:
    numbers = sorted(reading.lines[i].message.number for i in lines)
    return {"quote": sentence.text[:QUOTE_CHARS].rstrip(), "messages": numbers}


def _task(reading: Reading, found: FoundAction, end: CandidateEnd | None) -> AnswerItem:
    person = found.owner_person if found.owner == "them" else None
    return AnswerItem(
        kind="task",
        text=described(found.sentence, reading),
        owner="me" if found.owner == "self" else found.owner,
        who=person.name if person else None,
        due=found.due.isoformat() if found.due else None,
        importance="high" if found.due else "medium",
        end=None if end is None else _end(end),
        **_evidence(reading, found.sentence, _own_lines(found)),
    )


def _own_lines(found: FoundAction) -> tuple[int, ...]:
    """The lines of the task, without the one that ends it."""
    return tuple(line for line in found.lines if found.closing is None or line != found.closing.line)


def _end(end: CandidateEnd) -> AnswerEnd:
    return AnswerEnd(state=end.state, quote=end.quote, messages=list(end.numbers), sure=end.probability)


def _change(change: CandidateChange) -> AnswerChange:
    return AnswerChange(
        id=change.ref,
        state=change.to,
        text=change.text,
        due=change.due_date,
        quote=change.quote,
        messages=list(change.numbers),
        sure=change.probability,
    )


def _decision(reading: Reading, found: FoundDecision, replaces: str | None) -> AnswerItem:
    proposer: Person | None = reading.lines[found.sentence.line].speaker if found.agreed_by else None
    return AnswerItem(
        kind="decision",
        text=described(found.sentence, reading),
        owner="both",
        importance=found.importance,
        proposed=proposer.name if proposer else None,
        agreed=[found.agreed_by.name] if found.agreed_by else [],
        replaces=replaces,
        **_evidence(reading, found.sentence, found.lines),
    )


def _fact(reading: Reading, found: FoundFact) -> AnswerFact:
    return AnswerFact(
        type=FACT_TYPES.get(found.kind, "other"),
        value=found.value[:200],
        about=found.about.name if found.about else None,
        sure=round(found.confidence, 2),
        **_evidence(reading, found.sentence, (found.sentence.line,)),
    )
