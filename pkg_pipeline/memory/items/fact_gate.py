"""Validation of facts of a reading (P13, P17): about a participant or somebody named, with a value of its type."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.fact_values import is_wished
from pkg_pipeline.memory.gate.items import check_fact
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.items.bearers import is_about, is_own_contact, unnamed
from pkg_pipeline.memory.items.records import ReadFact
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput

CONTACTS = frozenset({"phone", "email", "address", "account"})
"""Types whose values only the words right before them give to somebody."""


def read_fact(
    fact: CandidateFact,
    part: str,
    evidence: Evidence,
    quoted: SourceMessage,
    talk: SummaryInput,
    ids: tuple[str, ...],
    checker: Checker,
    log: DropLog,
) -> ReadFact | None:
    """The fact as it is kept, or None with the reason in the log. ``ids``: of the cited messages of the talk."""
    name = " ".join((fact.about or "").split())
    about = find_person(name, checker.source.participants) if name else None
    if name and about is None and (reason := unnamed(name, evidence, checker)) is not None:
        return log.note(part, reason, name)
    if name and not _is_whose(fact, about, name, evidence, checker):
        return log.note(part, "is about somebody else by its messages", name)
    checked = check_fact(replace(fact, about=None), part, checker, log)
    if checked is None:
        return None
    whose = "" if about is not None else name
    return ReadFact(
        id=hashing.item_id(talk.interaction_id, "fact", quoted.external_id, checked.fact_type, checked.value),
        fact_type=checked.fact_type,
        value=checked.value,
        confidence=checked.confidence,
        quote=checked.quote,
        message_ids=ids,
        entity_id=None if about is None else about.entity_id,
        about_name=whose or None,
        told_by=_teller(quoted, talk),
        said_at=quoted.sent_at,
        is_ended=fact.is_ended,
        replaces=fact.replaces,
    )


def _is_whose(fact: CandidateFact, about: Person | None, name: str, evidence: Evidence, checker: Checker) -> bool:
    if fact.fact_type == "birthday" and is_wished(fact.value, evidence, checker):
        return True
    is_own = about is not None and any(about == message.sender for message in evidence.messages[-1:])
    if is_own and fact.fact_type in CONTACTS and is_own_contact(fact.value, evidence, checker):
        return True
    # whom a family fact names beside whom it is about
    relatives = fact.value if fact.fact_type == "family" else ""
    return is_about(about, name, evidence, checker, value=fact.value, relatives=relatives)


def _teller(message: SourceMessage, talk: SummaryInput) -> UUID | None:
    """Who said it; of what the owner of the memory says, the only other one in the talk."""
    if not message.sender.is_self:
        return message.sender.entity_id
    return talk.others[0].entity_id if len(talk.others) == 1 else None
