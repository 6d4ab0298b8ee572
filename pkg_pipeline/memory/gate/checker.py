"""One conversation prepared for validating an answer about it: evidence, words, dropped items (B9, P17)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate.foreign import Known, foreign, without_addresses
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.gate.wording import content as meanings
from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.records import Language, Person, Quarantined, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import (
    NormalisedText,
    clauses,
    comparable,
    normalised,
    script_share,
    stems,
    word_runs,
)

LANGUAGE_SHARE = 0.5
"""B9 "language matches": at least this share of a text's letters is in the conversation's script."""

MAX_TEXT_CHARS = 2500
"""No text of an answer is longer (200 words of twelve letters); also bounds the cost of the checks."""

WORD_CHARACTER_SHARE = 0.5
"""At least this share of a text's characters is letters and digits."""

LANGUAGE_MIN_LETTERS = 12
"""Shorter texts (a model number, "OK") have no language."""

LANGUAGE_CHARS = 4_000
"""Characters of a conversation read to find its script."""

GROUNDED_MIN_STEMS = 3
"""A description with at least this many content words shares one of them with the conversation."""

ECHO_SHARE = 0.5
"""A clause repeats orders if half of its content words occur only in messages that give orders (B15)."""

ECHO_RUN = 3
"""So does a text with this many consecutive words that occur only there."""

AROUND = 8
"""So many messages before and after the cited ones give context: units, words, no numbers."""

HINT_CHARS = 40
"""Longest offending word told to a second try."""


@dataclass(slots=True)
class DropLog:
    """What was dropped or corrected while one answer was validated."""

    entries: list[Quarantined] = field(default_factory=list[Quarantined])
    hints: list[str] = field(default_factory=list[str])
    """The same with the offending words, for a second prompt only."""
    mendable: list[str] = field(default_factory=list[str])
    """Those of them that another answer may mend."""

    def note(self, part: str, reason: str, word: str = "", *, may_mend: bool = False) -> None:
        """Records a removal or correction; returns None, so that ``return log.note(…)`` drops an item.

        ``may_mend``: something is lost that another answer could tell rightly.
        """
        self.entries.append(Quarantined(part, reason))
        shown = "".join(one for one in word if one.isalnum() or one in " .,:-'%")[:HINT_CHARS]
        self.hints.append(f"{part} {reason}" + (f": {shown}" if shown else ""))
        self.mendable += self.hints[-1:] if may_mend else []


@dataclass(frozen=True, slots=True)
class Evidence:
    """The cited messages in order, and the source's own words for the quote."""

    messages: tuple[SourceMessage, ...]
    quote: str

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(message.external_id for message in self.messages))

    @property
    def quoted(self) -> SourceMessage:
        """The message that holds the quote."""
        return next((m for m in self.messages if self.quote in m.text), self.messages[-1])


class Checker:
    """One conversation prepared for validation: messages by number, normalised on demand."""

    def __init__(self, source: SummaryInput, *, held: Known, ordering: frozenset[int]) -> None:
        self.source = source
        self.held = held
        self.ordering = ordering
        self.zone = ZoneInfo(source.timezone)
        self.by_number = {message.number: message for message in source.messages}
        self._folded: dict[int, NormalisedText] = {}
        orders = [message for message in source.messages if message.number in ordering]
        others = [message.text for message in source.messages if message.number not in ordering]
        names = [person.name for person in source.participants]
        self._only_in_orders = stems("\n".join(m.text for m in orders)) - stems("\n".join([*others, *names]))
        heard = {run for text in others for run in word_runs(text, ECHO_RUN)}
        self._runs_of_orders = {run for m in orders for run in word_runs(m.text, ECHO_RUN)} - heard
        self._labels = label_pattern({*names, *(message.sender.name for message in source.messages)})

    def folded(self, message: SourceMessage) -> NormalisedText:
        if message.number not in self._folded:
            self._folded[message.number] = normalised(message.text)
        return self._folded[message.number]

    def local_date(self, message: SourceMessage) -> date:
        return message.sent_at.astimezone(self.zone).date()

    @property
    def first_date(self) -> date:
        earliest = min((message.sent_at for message in self.source.messages), default=self.source.started_at)
        return min(earliest, self.source.started_at).astimezone(self.zone).date()

    @property
    def last_date(self) -> date:
        """The local date on which the conversation ended: the latest for a decision or a completion."""
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

    def untrue(self, text: str, evidence: Evidence, *also: str) -> Fault | None:
        """Why ``evidence`` does not support the words of an item, or None. ``also``: the item's earlier words."""
        if (reason := self.words(text)) is not None:
            return Fault(reason, "")
        return self.testimony(evidence.messages, self.source.participants, also).fault(text, evidence.quote)

    def testimony(
        self,
        messages: Sequence[SourceMessage],
        people: Sequence[Person],
        also: Sequence[str] = (),
        *,
        is_digest: bool = False,
    ) -> Testimony:
        """Messages with those around them that give no orders. ``also``: texts that count as said."""
        numbers = {message.number for message in messages}
        near = {number + shift for number in numbers for shift in range(-AROUND, AROUND + 1)} - numbers
        around = [self.by_number[n].text for n in sorted(near) if n in self.by_number and n not in self.ordering]
        return Testimony(messages, people, self.zone, around=around, also=also, talk=self._sound, is_digest=is_digest)

    @cached_property
    def _sound(self) -> tuple[SourceMessage, ...]:
        """The messages that give no orders."""
        return tuple(message for message in self.source.messages if message.number not in self.ordering)

    def names(self, day: date, evidence: Evidence) -> bool:
        """Whether the cited messages name this day."""
        return day in self.testimony(evidence.messages, ()).days.days

    def whole(self, also: Sequence[str] = (), *, is_digest: bool = False) -> Testimony:
        """All messages that give no orders. ``also``: texts that count as said."""
        return Testimony(
            self._sound, self.source.participants, self.zone, also=also, talk=self._sound, is_digest=is_digest
        )

    def words(self, text: str, *, is_part: bool = False, also_in: Collection[Language] = ()) -> str | None:
        """Why these words may not be published, or None (B9, B15). ``is_part``: they need share none themselves.

        ``also_in``: languages of what they rest on, where several conversations are read at once.
        """
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
        told = without_addresses(text)
        letters = sum(map(str.isalpha, told))
        share = max(script_share(told, one) for one in (self.source.language, *also_in))
        is_other = letters >= LANGUAGE_MIN_LETTERS and share < LANGUAGE_SHARE
        if is_other and self._has_script:
            return "is not in the conversation's language"
        content = stems(text)
        is_foreign = not is_part and len(content) >= GROUNDED_MIN_STEMS and not content & self.held.stems
        if is_foreign and not meanings(text) & self._meant:
            return "has no word in common with the conversation"
        return None

    @cached_property
    def _meant(self) -> frozenset[str]:
        """What the messages mean that give no orders."""
        return frozenset(one for message in self._sound for one in meanings(message.text))

    @cached_property
    def _has_script(self) -> bool:
        heard = "\n".join(message.text[:LANGUAGE_CHARS] for message in self.source.messages)[:LANGUAGE_CHARS]
        return max(script_share(heard, language) for language in LANGUAGES) >= LANGUAGE_SHARE

    def echoes_orders(self, text: str) -> bool:
        """Whether a part of the text repeats what only messages that give orders say."""
        if not self._only_in_orders and not self._runs_of_orders:
            return False
        if self._runs_of_orders & set(word_runs(text, ECHO_RUN)):
            return True
        return any(self._is_echo(stems(clause)) for clause in clauses(text))

    def _is_echo(self, content: frozenset[str]) -> bool:
        taken = len(content & self._only_in_orders)
        return taken >= min(2, len(content)) and taken >= ECHO_SHARE * len(content) and bool(content)

    def item_id(self, kind: str, evidence: Evidence, description: str) -> UUID:
        """Derived from the item's words and evidence, so that a rerun writes the same row (P28)."""
        return hashing.item_id(self.source.interaction_id, kind, *sorted(evidence.ids), comparable(description))


def label_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Matches speaker labels before their words ("Assistant: …") for names that address a model; None without any.

    Group 1 is what stands before the label.
    """
    taken = sorted(name for name in set(names) if gives_orders(f"{name}: "))
    if not taken:
        return None
    return re.compile(rf"(^|[.!?…;。！？；]\s*)(?:{'|'.join(map(re.escape, taken))})\s?[:：]", re.MULTILINE)
