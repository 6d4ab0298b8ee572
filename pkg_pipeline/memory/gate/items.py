"""Validation of single items: evidence, quote, dates, owner, words (P13, P17, P34).

Each function returns the published record or None, with reasons in the ``DropLog``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.foreign import digits, foreign, is_credential
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.records import CandidateDecision, CandidateFact
from pkg_pipeline.memory.records import (
    DecisionItem,
    FactCandidate,
    Person,
)
from pkg_pipeline.memory.text.normalise import comparable, word_count

MAX_TYPE_WORDS = 5
"""Of a fact's type: "home delivery address"."""

_ISO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}.*)?")
_PHONE_DIGITS = 5


def check_decision(item: CandidateDecision, part: str, checker: Checker, log: DropLog) -> DecisionItem | None:
    """P13, P17. A date that is missing, unreadable or after the conversation becomes that of the evidence."""
    evidence = checker.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return log.note(part, evidence)
    if (reason := checker.follows(item.description, evidence)) is not None:
        return log.note(part, reason)
    decided = parse_date(item.date)
    if decided is not None and decided < checker.first_date and not evidence.names_a_day:
        return log.note(part, "is dated before the conversation, and its messages name no day")
    if decided is None or decided > checker.last_date:
        log.note(f"{part}.date", "is no date of this conversation; that of the cited message is taken")
        decided = checker.local_date(evidence.messages[-1])
    return DecisionItem(
        id=checker.item_id("decision", evidence, item.description),
        description=item.description.strip(),
        date=decided,
        importance=item.importance,
        quote=evidence.quote,
        message_ids=evidence.ids,
    )


def check_fact(item: CandidateFact, part: str, checker: Checker, log: DropLog) -> FactCandidate | None:
    """P13, P17. The value must occur in the cited messages; credentials are never kept."""
    evidence = checker.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return log.note(part, evidence)
    if not 0.0 <= item.confidence <= 1.0 or not item.fact_type.strip():
        return log.note(part, "its confidence or type is out of range")
    value = _value_in(item.value, evidence, checker)
    if value is None:
        return log.note(part, "its value is not in the cited messages")
    if is_credential(item.fact_type, value) or is_credential(item.fact_type, evidence.quote):
        return log.note(part, "is a password, key or code")
    if (reason := _type_reason(item.fact_type, evidence, checker)) is not None:
        return log.note(part, reason)
    if gives_orders(f"{item.fact_type}: {item.value}") or foreign(item.fact_type, checker.held) is not None:
        return log.note(part, "gives orders to its reader or names what the conversation does not")
    about = None
    if item.about is not None and item.about.strip():
        about = find_person(item.about, checker.source.participants)
        if about is None:
            return log.note(part, "is about nobody who took part")
    return FactCandidate(
        id=checker.item_id("fact", evidence, f"{item.fact_type} {value}"),
        fact_type=" ".join(item.fact_type.split()),
        value=value,
        confidence=item.confidence,
        quote=evidence.quote,
        message_ids=evidence.ids,
        entity_id=about.entity_id if about is not None else None,
    )


def _type_reason(fact_type: str, evidence: Evidence, checker: Checker) -> str | None:
    """Why a fact's type is not the name of a kind of value, or None."""
    if word_count(fact_type) > MAX_TYPE_WORDS:
        return f"its type has more than {MAX_TYPE_WORDS} words"
    others = [message.text for message in checker.source.messages if message not in evidence.messages]
    if checker.speaks_for_another(fact_type, evidence, others):
        return "its type says what a message says that it does not cite"
    return None


def parse_date(text: str | None) -> date | None:
    """The day of an ISO date or time; None for anything else."""
    match = _ISO_DATE.fullmatch((text or "").strip())
    if match is None:
        return None
    try:
        return date.fromisoformat(match.group(1))
    except ValueError:
        return None


def find_person(name: str, participants: Sequence[Person]) -> Person | None:
    """The participant of that name, in full or by a part that is unique."""
    wanted = comparable(name)
    exact = [person for person in participants if comparable(person.name) == wanted]
    if len(exact) == 1:
        return exact[0]
    parts = set(wanted.split())
    partial = [person for person in participants if parts and parts <= set(comparable(person.name).split())]
    return partial[0] if len(partial) == 1 and not exact else None


def _value_in(value: str, evidence: Evidence, checker: Checker) -> str | None:
    """The source's spelling of a fact's value; spacing may differ in phones and account numbers."""
    for message in evidence.messages:
        span = checker.folded(message).find(value)
        if span is not None:
            return span.strip()
    wanted = digits(value)
    is_number = len(wanted) >= _PHONE_DIGITS and not any(character.isalpha() for character in value)
    if is_number and any(wanted in digits(message.text) for message in evidence.messages):
        return value.strip()
    return None
