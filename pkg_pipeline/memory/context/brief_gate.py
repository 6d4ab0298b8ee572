"""Validation of a brief (P7, B9, B15, B18): each sentence against the lines of the block that it cites, and no other.

A false sentence is dropped; where none is left, the answer is no brief. Reasons hold no words of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple
from uuid import UUID

from pkg_pipeline.memory.context.brief import MOST, PARTS, BriefInput, BriefLine, BriefParts, Part, Told, items_of
from pkg_pipeline.memory.gate.agents import Scene
from pkg_pipeline.memory.gate.checker import Checker, DropLog
from pkg_pipeline.memory.gate.claims import Claim, claim_of
from pkg_pipeline.memory.gate.duty import has
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.nearest import clauses_of
from pkg_pipeline.memory.gate.polarity import polarity
from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.gate.roles import subject_of
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import comparable, word_count

MAX_WORDS: Final = 60
"""Of a sentence; the prompt asks for 30."""
FREE_WORDS: Final = 4
"""Content words that a sentence may have and its lines do not: a brief says how things stand in words of its own."""
NOBODY: Final = Person(UUID(int=0), "", is_self=False)


class CandidateSentence(NamedTuple):
    """A sentence as answered; ``numbers`` are those of lines in the prompt."""

    text: str
    numbers: tuple[int, ...]


CandidateBrief = Mapping[Part, Sequence[CandidateSentence]]
BriefGateResult = Gated[BriefParts]


def check_brief(answered: CandidateBrief, source: BriefInput) -> BriefGateResult:
    """The sentences that follow from what they cite, or why there are none."""
    judge, log = _Judge(source), DropLog()
    parts: dict[Part, tuple[Told, ...]] = {}
    said: set[str] = set()
    for part in PARTS:
        kept: list[Told] = []
        for index, sentence in enumerate(answered.get(part, ())):
            place = f"{part}[{index}]"
            told = judge.told(sentence)
            if isinstance(told, Fault):
                log.note(place, *told)
            elif comparable(told.text) in said:
                log.note(place, "is said twice")
            elif len(kept) == MOST[part]:
                log.note(place, f"is beyond {MOST[part]}")
            else:
                said.add(comparable(told.text))
                kept.append(told)
        parts[part] = tuple(kept)
    if any(parts.values()):
        return BriefGateResult(parts, tuple(log.entries), None)
    reason = f"no sentence may be published: {log.entries[0].reason}" if log.entries else "it says nothing"
    return BriefGateResult(None, tuple(log.entries), reason, tuple(log.hints))


@dataclass(frozen=True)
class _Judge:
    source: BriefInput

    @cached_property
    def people(self) -> tuple[Person, ...]:
        return tuple(one for one in (self.source.person, self.source.me) if one is not None)

    @cached_property
    def by_number(self) -> dict[int, BriefLine]:
        return {line.number: line for line in self.source.lines}

    @cached_property
    def ordering(self) -> frozenset[int]:
        return frozenset(line.number for line in self.source.lines if gives_orders(line.said))

    @cached_property
    def checker(self) -> Checker:
        talk = _as_talk(self.source, self.people)
        return Checker(talk, held=known(talk), ordering=self.ordering)

    def told(self, sentence: CandidateSentence) -> Told | Fault:
        """The sentence with what it rests on, or why it may not be published."""
        text, numbers = " ".join(sentence.text.split()), sorted(set(sentence.numbers))
        if not numbers:
            return Fault("cites no line", "")
        if any(number not in self.by_number for number in numbers):
            return Fault("cites a line that does not exist", "")
        lines = [self.by_number[number] for number in numbers if number not in self.ordering]
        if not lines:
            return Fault("rests on a line that gives orders to its reader", "")
        if word_count(text) > MAX_WORDS:
            return Fault(f"has more than {MAX_WORDS} words", "")
        if (reason := self.checker.words(text, is_part=True)) is not None:
            return Fault(reason, "")
        fault = self._untrue(text, lines)
        return Told(text, items_of(lines)) if fault is None else fault

    def _untrue(self, text: str, lines: Sequence[BriefLine]) -> Fault | None:
        testimony = self._testimony(lines)
        tasks = [line for line in lines if line.kind == "action_item"]
        is_of_tasks = len(tasks) == len(lines)
        if (fault := testimony.figures(text)) is not None:
            return fault
        for clause in clauses_of(text):
            claim = claim_of(clause)
            if is_of_tasks and _tells_settled(clause, claim, tasks) and not _is_hedged(clause, tasks):
                return Fault("tells as settled what its lines tell as open", clause[:20])
            if not (is_of_tasks and claim == "undone") and (fault := testimony.turned(clause, "")) is not None:
                return fault
        if is_of_tasks and (word := self._of_another(text, tasks, testimony)) is not None:
            return Fault("tells of one what its lines tell of another", word)
        about_all = any(line.kind in ("card", "profile", "summary", "milestone") for line in lines)
        fault = None if about_all else testimony.misplaced(text)
        return fault or testimony.invented(text, most=FREE_WORDS)

    def _testimony(self, lines: Sequence[BriefLine]) -> Testimony:
        said = [_said(line) for line in lines]
        also = [f"{line.text} {line.day.isoformat()}" for line in lines]
        return Testimony(said, self.people, self.checker.zone, also=[*also, self.source.day.isoformat()], talk=said)

    def _of_another(self, text: str, tasks: Sequence[BriefLine], testimony: Testimony) -> str | None:
        """A name that is told to owe what only the other one owes."""
        owners = {line.speaker for line in tasks}
        if None in owners or len(owners) != 1:
            return None
        scene = Scene(testimony.spoken, self.people)
        for clause in clauses_of(text):
            if polarity(clause).waits or has("receives", clause) or has("ask", clause):
                continue
            subject = subject_of(clause, scene)
            if subject is not None and subject.person in self.people and subject.person not in owners:
                return subject.word
        return None


def _tells_settled(clause: str, claim: Claim | None, tasks: Iterable[BriefLine]) -> bool:
    """Whether a clause tells a task as done, also where a word of the task looks like one of an intention ("plan")."""
    theirs = {word for line in tasks for word in comparable(line.said).split()}
    own = " ".join(word for word in clause.split() if comparable(word).strip(".,;:!?") not in theirs)
    return claim in ("done", "settled") or claim_of(own) in ("done", "settled")


def _is_hedged(clause: str, tasks: Iterable[BriefLine]) -> bool:
    return has("condition", clause) and any("perhaps_done" in line.marks for line in tasks)


def _said(line: BriefLine) -> SourceMessage:
    return SourceMessage(line.number, line.id, line.speaker or NOBODY, line.at, line.said)


def _as_talk(source: BriefInput, people: tuple[Person, ...]) -> SummaryInput:
    moments = [line.at for line in source.lines]
    return SummaryInput(
        interaction_id=source.person.entity_id,
        chat_key="",
        started_at=min(moments),
        ended_at=max(moments),
        participants=people,
        messages=tuple(_said(line) for line in source.lines),
        language=source.language,
        timezone=source.timezone,
        input_hash=source.input_hash,
    )
