"""Validation of readings (B16, B17, B18): each item, change and fact against the messages that it cites.

A fault costs its item, or only its field (due date, who agreed); never the whole answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.as_said import as_said
from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.gate.items import due_beside, due_of
from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.items.batches import as_one
from pkg_pipeline.memory.items.bearers import Bearers
from pkg_pipeline.memory.items.fact_gate import read_fact
from pkg_pipeline.memory.items.proof import of_another, unended, unproven, unsettled, untold
from pkg_pipeline.memory.items.records import (
    CandidateChange,
    CandidateEnd,
    CandidateItem,
    CandidateReading,
    GatedReading,
    ItemChange,
    ReadFact,
    ReadingInput,
    ReadItem,
    ShownItem,
    TalkReading,
)
from pkg_pipeline.memory.records import Language, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.memory.text.normalise import comparable

_NO_ID = UUID(int=0)
SILENT = "silent action_item"
"""What ids of silent items are made from."""
LONGEST_TEXT = 300
"""Characters of an item's text."""
CLAIMED = Fault("is said by others alone of the owner of this memory, who agrees to nothing", "")

OTHER_DAY = Fault("names another day than its due date", "")
OTHERS = Fault("names another than its owner as the one to do it", "")


def check_reading(candidate: CandidateReading, source: ReadingInput, *, is_measured: bool = False) -> GatedReading:
    """What of an answer may be kept, a reading for each talk in order. Idempotent; never loses all for one fault.

    ``is_measured``: how probable the answer's closings are was measured on labelled talks, as with the offline reader.
    Such a one needs no words of completion: the heads are right more often than the tables of such words.
    """
    gate = _Gate(source, is_measured=is_measured)
    gate.refs = frozenset(item.ref for item in candidate.items if item.ref is not None and item.kind == "decision")
    for index, item in enumerate(candidate.items):
        gate.item(item, f"items[{index}]")
    for index, change in enumerate(candidate.changes):
        gate.change(change, f"changes[{index}]")
    for index, fact in enumerate(candidate.facts):
        gate.fact(fact, f"facts[{index}]")
    return gate.result()


@dataclass(slots=True)
class _Passed:
    """An item that passed, before it has its id; how it ended and in which talk; refs within the answer."""

    quoted: SourceMessage
    made: ReadItem
    ref: str | None = None
    replaces: str | None = None
    end: tuple[ItemChange, UUID] | None = None

    @property
    def place(self) -> tuple[int, int, str]:
        """Message, and the place in it of the quote."""
        return self.quoted.number, self.quoted.text.find(self.made.quote), self.made.text


@dataclass(slots=True)
class _Kept:
    """What passed for one talk."""

    items: list[_Passed] = field(default_factory=list[_Passed])
    silent: list[_Passed] = field(default_factory=list[_Passed])
    changes: list[ItemChange] = field(default_factory=list[ItemChange])
    facts: dict[UUID, ReadFact] = field(default_factory=dict[UUID, ReadFact])


class _Gate:
    """The talks of one reading prepared for validation."""

    def __init__(self, source: ReadingInput, *, is_measured: bool) -> None:
        self.source, self.is_measured = source, is_measured
        talk = as_one(source)
        self.checker = Checker(talk, held=known(talk), ordering=ordering_numbers(talk.messages))
        self.log = DropLog()
        self.talk_of = {message.number: one for one in source.talks for message in one.messages}
        self.refs: frozenset[str] = frozenset()
        self.shown = {shown.ref: shown for shown in source.shown}
        self.kept = {one.interaction_id: _Kept() for one in source.talks}

    def result(self) -> GatedReading:
        named = {talk.interaction_id: self._named(talk) for talk in self.source.talks}
        ids = {one.ref: item.id for pairs in named.values() for one, item in pairs if one.ref is not None}
        readings = tuple(
            TalkReading(
                talk.interaction_id,
                tuple(
                    item if one.replaces is None else replace(item, replaces=ids.get(one.replaces))
                    for one, item in named[talk.interaction_id]
                ),
                tuple(sorted(self.kept[talk.interaction_id].changes, key=lambda change: change.at)),
                tuple(self.kept[talk.interaction_id].facts.values()),
                tuple(item for _, item in self._identified(talk, self.kept[talk.interaction_id].silent, SILENT)),
            )
            for talk in self.source.talks
        )
        return GatedReading(readings, tuple(self.log.entries), tuple(self.log.hints), tuple(self.log.mendable))

    def item(self, item: CandidateItem, part: str) -> None:
        """P17, B16: an item of the talk of the message that it quotes."""
        found = self._evidence(item.numbers, item.quote, part)
        if found is None:
            return None
        evidence, quoted = found
        talk = self.talk_of[quoted.number]
        people = Bearers(evidence, self._talks(evidence), self.checker, self.log)
        owner = people.owner(item, part)
        if owner is None:
            return None
        replaced = self._replaced(item, part)
        due, is_other_day = due_beside(item.due_date, item.text, evidence, part, self.checker, self.log)
        doubt = people.doubt(item, owner, () if self.is_measured else self.source.messages)
        unlike = doubt or (OTHER_DAY if is_other_day else None)
        text = self._told(item.text, evidence, part, replaced, unlike)
        if text is None:
            return None
        if (reason := unsettled(item.kind, item.text, evidence, self.source.messages)) is not None:
            return self.log.note(part, reason)
        made = ReadItem(
            id=_NO_ID,
            kind=item.kind,
            text=text,
            owner=owner.owner,
            owner_entity_id=None if owner.person is None or owner.owner == "self" else owner.person.entity_id,
            owner_name=owner.name,
            due_date=due,
            importance=item.importance,
            quote=evidence.quote,
            message_ids=self._ids(evidence, talk),
            at=quoted.sent_at,
            proposed_by=people.proposed(item.proposed_by, item.text, f"{part}.proposed_by"),
            agreed_by=people.agreed(item.agreed_by, f"{part}.agreed_by"),
            replaces=None if replaced is None else replaced.id,
            probability=item.probability,
            holds_until=item.holds_until if self.is_measured else None,
        )
        kept = self.kept[talk.interaction_id]
        if item.is_silent:
            return kept.silent.append(_Passed(quoted, made)) if self.is_measured else None
        items = kept.items
        if any(comparable(made.text) == comparable(one.made.text) and made.kind == one.made.kind for one in items):
            return self.log.note(part, "is said twice; the first is taken")
        end = None if item.end is None else self._end(item.end, item, quoted, f"{part}.end")
        items.append(_Passed(quoted, made, item.ref, self._new(item), end))
        return None

    def change(self, change: CandidateChange, part: str) -> None:
        """B16: what the talks say of a shown item."""
        shown = self.shown.get(change.ref)
        if shown is None:
            return self.log.note(part, "names no shown item", change.ref, may_mend=True)
        found = self._evidence(change.numbers, change.quote, part)
        if found is None:
            return None
        evidence, quoted = found
        if shown.kind == "decision" and change.to in ("done", "perhaps_done"):
            return self.log.note(part, "closes a decision; only action items are closed")
        is_closed = change.to == "done" and not self.is_measured  # proven with the rest
        reason = None if is_closed else self._unproven(change, evidence, f"{shown.text} {shown.quote}")
        if reason is None and not self.is_measured:
            reason = of_another(change, shown, evidence, quoted, self.source)
        if reason is not None:
            return self.log.note(part, reason, may_mend=True)
        due = due_of(change.due_date, evidence, part, self.checker, self.log) if change.to == "renewed" else None
        if change.to == "renewed" and due is None and (change.due_date or "").strip():
            return None  # for a day that nobody named
        text = None
        if change.to == "renewed" and change.text is not None and change.text.strip():
            testimony = self._testimony(evidence, (shown.text, shown.quote))
            fault = self._fault(change.text, evidence, testimony) or testimony.doubt(change.text)
            if fault is None:
                text = " ".join(change.text.split())
            else:
                self.log.note(f"{part}.text", *fault)
        talk = self.talk_of[quoted.number]
        self.kept[talk.interaction_id].changes.append(
            ItemChange(
                item_id=shown.id,
                to=change.to,
                at=quoted.sent_at,
                quote=evidence.quote,
                message_ids=self._ids(evidence, talk),
                due_date=due,
                text=text,
                probability=change.probability,
            )
        )
        return None

    def _unproven(self, change: CandidateChange | CandidateEnd, evidence: Evidence, matter: str) -> str | None:
        """Why the words do not prove it. ``matter``: of the item."""
        state = change.to if isinstance(change, CandidateChange) else change.state
        if state in ("done", "cancelled") and self.is_measured:
            return None
        return unproven(state, evidence, matter, self.source.messages)

    def fact(self, fact: CandidateFact, part: str) -> None:
        """P13, P17: about a participant or somebody named."""
        found = self._evidence(fact.numbers, fact.quote, part)
        if found is None:
            return
        talk = self.talk_of[found[1].number]
        made = read_fact(fact, part, *found, talk, self._ids(found[0], talk), self.checker, self.log)
        if made is not None:
            self.kept[talk.interaction_id].facts.setdefault(made.id, made)

    def _evidence(self, numbers: Iterable[int], quote: str, part: str) -> tuple[Evidence, SourceMessage] | None:
        """The cited messages with the quoted one of them."""
        found = self.checker.evidence(tuple(numbers), quote)
        if isinstance(found, str):
            return self.log.note(part, found, may_mend=True)
        return found, found.quoted

    def _ids(self, evidence: Evidence, talk: SummaryInput) -> tuple[str, ...]:
        return tuple(dict.fromkeys(m.external_id for m in evidence.messages if self.talk_of[m.number] is talk))

    def _talks(self, evidence: Evidence) -> tuple[SummaryInput, ...]:
        talks = (self.talk_of[m.number] for m in evidence.messages)
        return tuple({talk.interaction_id: talk for talk in talks}.values())

    def _told(
        self, text: str, evidence: Evidence, part: str, replaced: ShownItem | None, unlike: Fault | None
    ) -> str | None:
        """An item's text if it is true to its messages, else, or if ``unlike``, their own words on its matter."""
        testimony = self._testimony(evidence, () if replaced is None else (replaced.text, replaced.quote))
        fault = self._fault(text, evidence, testimony) or testimony.doubt(text)
        doubt = fault or testimony.unshown(text, evidence.quote) or unlike
        if doubt is None:
            return " ".join(text.split())
        is_short = len(text) <= LONGEST_TEXT
        said = as_said(text, evidence.quote, testimony, self.checker) if is_short else None
        if said is None:
            return self.log.note(part, *doubt, may_mend=doubt is not unlike)
        return self.log.note(part, *doubt.told_as_said()) or said

    def _fault(self, text: str, evidence: Evidence, testimony: Testimony) -> Fault | None:
        """Why a text may not be kept, with the word at fault (B9, B15, B18)."""
        if len(text) > LONGEST_TEXT:
            return Fault(f"is longer than {LONGEST_TEXT} characters", "")
        languages: list[Language] = [talk.language for talk in self._talks(evidence)]
        languages.append(detect([message.text for message in evidence.messages]))
        if (reason := self.checker.words(text, also_in=languages)) is not None:
            return Fault(reason, "")
        return testimony.fault(text, evidence.quote)

    def _testimony(self, evidence: Evidence, also: tuple[str, ...]) -> Testimony:
        people = tuple(dict.fromkeys(person for talk in self._talks(evidence) for person in talk.participants))
        return self.checker.testimony(evidence.messages, people, also)

    def _new(self, item: CandidateItem) -> str | None:
        """The ref of the decision of the same answer that an item supersedes, if it is one."""
        is_new = item.replaces in self.refs and item.replaces != item.ref and item.kind == "decision"
        return item.replaces if is_new else None

    def _replaced(self, item: CandidateItem, part: str) -> ShownItem | None:
        if item.replaces is None or not item.replaces.strip() or self._new(item) is not None:
            return None
        shown = self.shown.get(item.replaces)
        if shown is None or shown.kind != item.kind:
            self.log.note(f"{part}.replaces", "names no shown item of this kind", item.replaces)
            return None
        return shown

    def _end(
        self, end: CandidateEnd, item: CandidateItem, quoted: SourceMessage, part: str
    ) -> tuple[ItemChange, UUID] | None:
        """How an item ended in the same talks, with the talk that says so; its id is still open."""
        found = self._evidence(end.numbers, end.quote, part)
        if found is None:
            return None
        evidence, last = found
        if item.kind == "decision" and end.state != "cancelled":
            return self.log.note(part, "closes a decision; only action items are closed")
        if last.number <= quoted.number:
            return self.log.note(part, "is not said after the item")
        is_of_item = set(end.numbers) <= set(item.numbers)
        later = replace(evidence, messages=tuple(m for m in evidence.messages if m.number > quoted.number))
        reason = self._unproven(end, later, item.text)
        if reason is None and not self.is_measured and end.state == "done" and is_of_item:
            reason = untold(later, item.text) or unended(item, later, last, self.source.messages)
        if reason is not None:
            return self.log.note(part, reason, may_mend=True)
        talk = self.talk_of[last.number]
        change = ItemChange(
            item_id=_NO_ID,
            to=end.state,
            at=last.sent_at,
            quote=evidence.quote,
            message_ids=self._ids(evidence, talk),
            probability=end.probability,
        )
        return change, talk.interaction_id

    def _named(self, talk: SummaryInput) -> tuple[tuple[_Passed, ReadItem], ...]:
        """The items of a talk with their ids, in the order of their quotes; their ends go to the talks that say so."""
        named = self._identified(talk, self.kept[talk.interaction_id].items)
        for passed, item in named:
            if passed.end is not None:
                change, where = passed.end
                self.kept[where].changes.append(replace(change, item_id=item.id))
        return named

    def _identified(
        self, talk: SummaryInput, items: Iterable[_Passed], kind_of_id: str | None = None
    ) -> tuple[tuple[_Passed, ReadItem], ...]:
        """``kind_of_id``: the kind that their ids are made from, where it is not their own."""
        counted: Counter[tuple[str, str]] = Counter()
        named: list[tuple[_Passed, ReadItem]] = []
        for passed in sorted(items, key=lambda one: one.place):
            kind, first = kind_of_id or passed.made.kind, passed.quoted.external_id
            item_id = hashing.read_item_id(talk.chat_key, kind, first, counted[kind, first])
            named.append((passed, replace(passed.made, id=item_id)))
            counted[kind, first] += 1
        return tuple(named)
