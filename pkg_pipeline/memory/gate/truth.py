"""Whether a text is true to the messages that it rests on: numbers, days, names, labels, polarity, words (B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cache, cached_property
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.amounts import Said, said_in, unsaid
from pkg_pipeline.memory.gate.calendar import SaidDays, blanked, follows_due, said_days, unsaid_day
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import Known as KnownPeople
from pkg_pipeline.memory.gate.polarity import turned_round
from pkg_pipeline.memory.gate.wording import content, unsupported
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.records import Person, SourceMessage

_ALIKE = str.maketrans("авекмнорстух", "abekmhopctyx")


class Fault(NamedTuple):
    """Why a text is not true, and the word at fault: that one only for a second prompt."""

    reason: str
    word: str


class Testimony:
    """Messages that something rests on, with what stands around them and who may be named. Read on demand."""

    def __init__(
        self,
        messages: Sequence[SourceMessage],
        people: Sequence[Person],
        zone: ZoneInfo,
        *,
        around: Sequence[str] = (),
        also: Sequence[str] = (),
    ) -> None:
        """``around``: other texts of the talk. ``also``: texts that count as said, as an item's earlier words."""
        files = [one.name for message in messages for one in message.attachments if one.name]
        self.messages = tuple(messages)
        self.texts = (*(message.text for message in messages), *also, *files)
        self.around = tuple(around)
        self.people = tuple(people)
        self.zone = zone

    @cached_property
    def bases(self) -> tuple[date, ...]:
        return tuple(message.sent_at.astimezone(self.zone).date() for message in self.messages)

    @cached_property
    def days(self) -> SaidDays:
        own = list(zip((message.text for message in self.messages), self.bases, strict=True))
        return said_days([*own, *((text, self.bases[-1]) for text in self.texts[len(own) :])])

    @cached_property
    def said(self) -> Said:
        return said_in((*self.texts, *(person.name for person in self.people)), self.days.years)

    @cached_property
    def said_around(self) -> Said:
        return said_in(self.around, frozenset())

    @cached_property
    def known(self) -> KnownPeople:
        return KnownPeople(self.people, self.texts)

    @cached_property
    def names(self) -> frozenset[str]:
        return content(" ".join(person.name for person in self.people))

    def fault(self, text: str, quote: str = "") -> Fault | None:
        """Why ``text`` is not true to the messages, or None."""
        if not self.messages:
            return None
        return self.figures(text) or self.turned(text, quote) or self.invented(text)

    def figures(self, text: str) -> Fault | None:
        """A day, number, unit, label or name that was not said."""
        if (word := unsaid_day(text, self.days)) is not None:
            return Fault("names a day that its messages do not", word)
        if (found := unsaid(blanked(text, self.bases[-1]), self.said, self.said_around)) is not None:
            return Fault(*found)
        if (label := _unsaid_label(text, self.texts)) is not None:
            return Fault("names another variant than its messages", label)
        if (name := self.known.stranger(text)) is not None:
            return Fault("names somebody or something that its messages do not", name)
        return None

    def turned(self, text: str, quote: str) -> Fault | None:
        word = turned_round(text, self.texts, quote)
        return None if word is None else Fault("turns round what its messages say", word)

    def invented(self, text: str) -> Fault | None:
        """Words that neither the messages nor the talk around them support."""
        word = unsupported(blanked(text, self.bases[-1]), self.texts, self.around, self.names)
        return None if word is None else Fault("does not follow from the messages that it cites", word)

    def follows_due(self, due: date) -> bool:
        return follows_due(due, self.days)


@cache
def _labels() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = [source for _, source in entries("quantities", "labels")]
    spaced = "|".join(source for source in words if not re.search(f"[{HAN}]", source))
    han = "|".join(source for source in words if re.search(f"[{HAN}]", source))
    return (
        re.compile(rf"(?<!\w)(?:{spaced})\w{{0,3}} [«\"'“(]?(?P<after>[a-zа-я])(?!\w)"),
        re.compile(rf"(?<![a-z])(?P<before>[a-z]) ?(?:{han})|(?:{han}) ?(?P<behind>[a-z])(?![a-z])"),
    )


_LETTER = re.compile(r"(?<![^\W_])[A-ZА-Я](?![^\W_]|\.)")


def _unsaid_label(text: str, said: Sequence[str]) -> str | None:
    """The first label of one letter ("option B") that was not said, or None."""
    told = {letter for one in said for letter in _letters(one)} | {
        match.group().casefold().translate(_ALIKE) for one in said for match in _LETTER.finditer(one)
    }
    return next((letter for letter in _letters(text) if letter not in told), None)


def _letters(text: str) -> list[str]:
    plain = folded(text)
    found = [match for pattern in _labels() for match in pattern.finditer(plain)]
    letters = (next(group for group in match.groups() if group) for match in found)
    return [letter.translate(_ALIKE) for letter in letters]
