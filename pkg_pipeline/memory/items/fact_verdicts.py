"""What a person decided about facts (B2): confirmed, rejected, corrected, added. It stands over whatever is read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory.text.normalise import comparable

FactAction = Literal["confirm", "reject", "edit", "add"]
FactStatus = Literal["candidate", "confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class FactVerdict:
    """``whose``: of whom the fact is; ``said``: the value as it was read or entered, by which it is known again when
    another talk says it; ``value``: of an edit, what the person made of it.
    """

    fact_id: UUID
    whose: Hashable
    fact_type: str
    said: str
    action: FactAction
    at: datetime
    value: str | None = None


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A fact as it was read."""

    id: UUID
    whose: Hashable
    fact_type: str
    said: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What becomes of a fact. ``at``: when that was decided."""

    status: FactStatus
    value: str
    at: datetime


def judge(facts: Iterable[ReadValue], verdicts: Iterable[FactVerdict]) -> dict[UUID, Judged]:
    """The facts that a person decided about, whichever talk says them: the last word counts, in the order of time.

    A correction stays when the fact is rejected or confirmed after it.
    """
    by_fact: dict[UUID, list[FactVerdict]] = {}
    by_value: dict[Hashable, list[FactVerdict]] = {}
    for one in sorted(verdicts, key=lambda verdict: verdict.at):
        by_fact.setdefault(one.fact_id, []).append(one)
        by_value.setdefault(key_of(one.whose, one.fact_type, one.said), []).append(one)
    judged: dict[UUID, Judged] = {}
    for fact in facts:
        own = [one for one in by_fact.get(fact.id, ()) if comparable(one.said) == comparable(fact.said)]
        found = {*own, *by_value.get(key_of(fact.whose, fact.fact_type, fact.said), ())}
        value = fact.said
        for one in sorted(found, key=lambda verdict: verdict.at):
            value = one.value if one.action == "edit" and one.value is not None else value
            judged[fact.id] = Judged("rejected" if one.action == "reject" else "confirmed", value, one.at)
    return judged


def key_of(whose: Hashable, fact_type: str, value: str) -> Hashable:
    """By which equal facts of one person are known."""
    return whose, comparable(fact_type), comparable(value)
