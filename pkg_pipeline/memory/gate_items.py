"""The gate's verdict on one item of an answer: its evidence, quote, dates, owner and words (P13, P17, P34).

Each function gives the published record or None, and leaves its reasons in the ``Ledger``. Whole answers are judged
in ``gate.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate_foreign import Known, digits, foreign, is_credential
from pkg_pipeline.memory.gate_instructions import gives_orders
from pkg_pipeline.memory.gate_records import CandidateActionItem, CandidateDecision, CandidateFact
from pkg_pipeline.memory.gate_text import Folded, clauses, fold, script_share, stems, word_runs
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    Owner,
    Person,
    Quarantined,
    SourceMessage,
    SummaryInput,
)

LANGUAGE_SHARE = 0.5
"""B9 "language matches": at least this share of a text's letters is in the conversation's script."""

MAX_TEXT_CHARS = 2500
"""No text of an answer is longer: 200 words of twelve letters. Keeps the checks' own cost bounded too."""

WORD_CHARACTER_SHARE = 0.5
"""At least this share of a text's characters is letters and digits."""

LANGUAGE_MIN_LETTERS = 12
"""Shorter texts (a model number, "OK") say nothing about a language."""

LANGUAGE_CHARS = 4_000
"""So much of a talk is looked at for its script."""

GROUNDED_MIN_STEMS = 3
"""A description with at least this many content words shares one of them with the conversation."""

ECHO_SHARE = 0.5
"""A clause half of whose content words occur only in messages that give orders repeats those (B15)."""

ECHO_RUN = 3
"""So does a text with this many words in a row that occur so only in such messages."""

LATEST_DUE = timedelta(days=366 * 30)
"""A due date beyond this is a misreading."""

_ISO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}.*)?")
_PHONE_DIGITS = 5


@dataclass(slots=True)
class Ledger:
    """What was taken out or corrected while one answer was checked."""

    entries: list[Quarantined] = field(default_factory=list[Quarantined])

    def note(self, part: str, reason: str) -> None:
        """Records one removal or correction; always falsy, so that ``return ledger.note(…)`` drops an item."""
        self.entries.append(Quarantined(part, reason))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The cited messages in order, and the source's own words for the quote."""

    messages: tuple[SourceMessage, ...]
    quote: str

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(message.external_id for message in self.messages))


class Bench:
    """One conversation, prepared for checking an answer: by number, folded on demand, with what it holds."""

    def __init__(self, source: SummaryInput, *, held: Known, ordering: frozenset[int]) -> None:
        self.source = source
        self.held = held
        self.ordering = ordering
        self.zone = ZoneInfo(source.timezone)
        self.by_number = {message.number: message for message in source.messages}
        self._folded: dict[int, Folded] = {}
        orders = [message for message in source.messages if message.number in ordering]
        others = [message.text for message in source.messages if message.number not in ordering]
        names = [person.name for person in source.participants]
        self._only_in_orders = stems("\n".join(m.text for m in orders)) - stems("\n".join([*others, *names]))
        heard = {run for text in others for run in word_runs(text, ECHO_RUN)}
        self._runs_of_orders = {run for m in orders for run in word_runs(m.text, ECHO_RUN)} - heard
        self._labels = label_pattern({*names, *(message.sender.name for message in source.messages)})

    def folded(self, message: SourceMessage) -> Folded:
        if message.number not in self._folded:
            self._folded[message.number] = fold(message.text)
        return self._folded[message.number]

    def local_date(self, message: SourceMessage) -> date:
        return message.sent_at.astimezone(self.zone).date()

    @property
    def last_date(self) -> date:
        """The local date of the conversation's end: nothing can be decided or done in it after that."""
        latest = max((message.sent_at for message in self.source.messages), default=self.source.ended_at)
        return max(latest, self.source.ended_at).astimezone(self.zone).date()

    def evidence(self, numbers: Sequence[int], quote: str) -> Evidence | str:
        """The evidence of an item, or why there is none (P17)."""
        if not numbers:
            return "cites no message"
        if any(number not in self.by_number for number in numbers):
            return "cites a message that does not exist"
        cited = tuple(self.by_number[number] for number in sorted(set(numbers)))
        found = [(message, self.folded(message).find(quote)) for message in cited]
        spans = [(message, span) for message, span in found if span is not None]
        if not spans:
            return "its quote is not in the cited messages"
        sound = [(message, span) for message, span in spans if message.number not in self.ordering]
        if not sound:
            return "rests on a message that gives orders to its reader"
        kept = tuple(message for message in cited if message.number not in self.ordering)
        return Evidence(kept, sound[0][1].strip())

    def words(self, text: str) -> str | None:
        """Why these words may not be published, or None (B9, B15)."""
        if not text.strip():
            return "is empty"
        if len(text) > MAX_TEXT_CHARS:
            return "is too long"
        visible = len("".join(text.split()))
        if sum(map(str.isalnum, text)) < WORD_CHARACTER_SHARE * visible:
            return "holds more marks than words"
        reason = foreign(text, self.held)
        if reason is not None:
            return reason
        if gives_orders(self._labels.sub(r"\1", text) if self._labels else text):
            return "gives orders to its reader"
        if self.echoes_orders(text):
            return "repeats a message that gives orders to its reader"
        letters = sum(map(str.isalpha, text))
        is_other = letters >= LANGUAGE_MIN_LETTERS and script_share(text, self.source.language) < LANGUAGE_SHARE
        if is_other and self._has_script:
            return "is not in the conversation's language"
        content = stems(text)
        if len(content) >= GROUNDED_MIN_STEMS and not content & self.held.stems:
            return "has no word in common with the conversation"
        return None

    @cached_property
    def _has_script(self) -> bool:
        """Whether the talk is in the script of any language that is told apart; of Arabic nothing can be said."""
        heard = "\n".join(message.text[:LANGUAGE_CHARS] for message in self.source.messages)[:LANGUAGE_CHARS]
        return max(script_share(heard, language) for language in ("en", "ru", "zh")) >= LANGUAGE_SHARE

    def echoes_orders(self, text: str) -> bool:
        """Whether a part of the text says what only messages that give orders say."""
        if not self._only_in_orders and not self._runs_of_orders:
            return False
        if self._runs_of_orders & set(word_runs(text, ECHO_RUN)):
            return True
        return any(self._is_echo(stems(clause)) for clause in clauses(text))

    def _is_echo(self, content: frozenset[str]) -> bool:
        taken = len(content & self._only_in_orders)
        return taken >= min(2, len(content)) and taken >= ECHO_SHARE * len(content) and bool(content)

    def item_id(self, kind: str, evidence: Evidence, description: str) -> UUID:
        """Derived from what the item says and rests on, so that a rerun writes the same row (P28)."""
        return hashing.item_id(self.source.interaction_id, kind, *sorted(evidence.ids), fold(description).text)


def label_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Finds names of speakers before what they say ("Assistant: …"), of such as alone read as speaking to a model.

    Its first group is what stands before the label. None where no name is of that kind.
    """
    taken = sorted(name for name in set(names) if gives_orders(f"{name}: "))
    if not taken:
        return None
    return re.compile(rf"(^|[.!?…;。！？；]\s*)(?:{'|'.join(map(re.escape, taken))})\s?[:：]", re.MULTILINE)


def check_decision(item: CandidateDecision, part: str, bench: Bench, ledger: Ledger) -> DecisionItem | None:
    """P13, P17. A date that is missing, unreadable or after the conversation becomes that of the quoted evidence."""
    evidence = bench.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return ledger.note(part, evidence)
    if (reason := bench.words(item.description)) is not None:
        return ledger.note(part, reason)
    decided = parse_date(item.date)
    if decided is None or decided > bench.last_date:
        ledger.note(f"{part}.date", "is no date of this conversation; that of the cited message is taken")
        decided = bench.local_date(evidence.messages[-1])
    return DecisionItem(
        id=bench.item_id("decision", evidence, item.description),
        description=item.description.strip(),
        date=decided,
        importance=item.importance,
        quote=evidence.quote,
        message_ids=evidence.ids,
    )


def check_action_item(item: CandidateActionItem, part: str, bench: Bench, ledger: Ledger) -> ActionItem | None:
    """P13, P17, P34."""
    evidence = bench.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return ledger.note(part, evidence)
    if (reason := bench.words(item.description)) is not None:
        return ledger.note(part, reason)
    owned = owner_of(item, bench.source)
    if isinstance(owned, str):
        return ledger.note(part, owned)
    owner, owner_entity_id = owned
    return ActionItem(
        id=bench.item_id("action_item", evidence, item.description),
        description=item.description.strip(),
        owner=owner,
        status=item.status,
        due_date=_due_date(item, part, bench, ledger),
        closed_at=_closed_at(item, evidence, bench),
        quote=evidence.quote,
        message_ids=evidence.ids,
        owner_entity_id=owner_entity_id,
    )


def check_fact(item: CandidateFact, part: str, bench: Bench, ledger: Ledger) -> FactCandidate | None:
    """P13, P17. The value has to stand in the cited messages; passwords, keys and codes are never kept."""
    evidence = bench.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return ledger.note(part, evidence)
    if not 0.0 <= item.confidence <= 1.0 or not item.fact_type.strip():
        return ledger.note(part, "its confidence or type is out of range")
    value = _value_in(item.value, evidence, bench)
    if value is None:
        return ledger.note(part, "its value is not in the cited messages")
    if is_credential(item.fact_type, value) or is_credential(item.fact_type, evidence.quote):
        return ledger.note(part, "is a password, key or code")
    if gives_orders(f"{item.fact_type}: {item.value}") or foreign(item.fact_type, bench.held) is not None:
        return ledger.note(part, "gives orders to its reader or names what the conversation does not")
    about = None
    if item.about is not None and item.about.strip():
        about = find_person(item.about, bench.source.participants)
        if about is None:
            return ledger.note(part, "is about nobody who took part")
    return FactCandidate(
        id=bench.item_id("fact", evidence, f"{item.fact_type} {value}"),
        fact_type=" ".join(item.fact_type.split()),
        value=value,
        confidence=item.confidence,
        quote=evidence.quote,
        message_ids=evidence.ids,
        entity_id=about.entity_id if about is not None else None,
    )


def parse_date(text: str | None) -> date | None:
    """The day of an ISO date or time; None for anything else."""
    match = _ISO_DATE.fullmatch((text or "").strip())
    if match is None:
        return None
    try:
        return date.fromisoformat(match.group(1))
    except ValueError:
        return None


def owner_of(item: CandidateActionItem, source: SummaryInput) -> tuple[Owner, UUID | None] | str:
    """Who has to do it (P34), or why that is unknown. Without a self, ``both`` is ``them``: owners are entities."""
    named: Person | None = None
    if item.owner_name is not None and item.owner_name.strip():
        named = find_person(item.owner_name, source.participants)
        if named is None:
            return "its owner is nobody who took part"
    has_self = source.self_person is not None
    if item.owner == "self":
        if not has_self:
            return "its owner is self, and the owner of this memory did not take part"
        return "its owner is self and names somebody else" if named and not named.is_self else ("self", None)
    if named is not None and named.is_self:
        return ("both", _only_other(source)) if item.owner == "both" else "its owner is another and names self"
    entity_id = named.entity_id if named is not None else _only_other(source)
    return ("both" if item.owner == "both" and has_self else "them", entity_id)


def find_person(name: str, participants: Sequence[Person]) -> Person | None:
    """The participant of that name: the whole name, or a part of it that fits exactly one."""
    wanted = fold(name).text
    exact = [person for person in participants if fold(person.name).text == wanted]
    if len(exact) == 1:
        return exact[0]
    parts = set(wanted.split())
    partial = [person for person in participants if parts and parts <= set(fold(person.name).text.split())]
    return partial[0] if len(partial) == 1 and not exact else None


def _only_other(source: SummaryInput) -> UUID | None:
    others = source.others
    return others[0].entity_id if len(others) == 1 else None


def _due_date(item: CandidateActionItem, part: str, bench: Bench, ledger: Ledger) -> date | None:
    if item.due_date is None or not item.due_date.strip():
        return None
    due = parse_date(item.due_date)
    if due is None:
        ledger.note(f"{part}.due_date", "is no ISO date")
    elif not -LATEST_DUE < due - bench.last_date < LATEST_DUE:
        ledger.note(f"{part}.due_date", "is out of reach")
        due = None
    return due


def _closed_at(item: CandidateActionItem, evidence: Evidence, bench: Bench) -> date | None:
    """When it was done: inside the conversation, else the day of its last evidence; None while open."""
    if item.status == "open":
        return None
    closed = parse_date(item.closed_at)
    return closed if closed is not None and closed <= bench.last_date else bench.local_date(evidence.messages[-1])


def _value_in(value: str, evidence: Evidence, bench: Bench) -> str | None:
    """The source's own spelling of a fact's value; phones and account numbers may differ in their spacing."""
    for message in evidence.messages:
        span = bench.folded(message).find(value)
        if span is not None:
            return span.strip()
    wanted = digits(value)
    is_number = len(wanted) >= _PHONE_DIGITS and not any(character.isalpha() for character in value)
    if is_number and any(wanted in digits(message.text) for message in evidence.messages):
        return value.strip()
    return None
