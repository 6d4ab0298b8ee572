"""The sentences of a talk that a clause of an answer is about, with what answers them (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.number_words import folded, spelled
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import comparable, sentences

NEAREST: Final = 3
ANSWERS: Final = 2
NUMBER_WEIGHT: Final = 3
SHARES: Final = (4, 2, 1)
CLOSE: Final = 0.8
"""So many sentences are nearest at most; so many messages after a question may answer it."""

_TAIL: Final = re.compile(r"[^\w?？.!。！…]+$")
_NUMBER: Final = re.compile(r"\d+(?:[., \u00a0]\d{3}(?!\d))*")
STOP: Final = re.compile(r"(?<=[.!?。！？])\s+")
_CLAUSE: Final = re.compile(
    r"[,;，；。、]\s*|\s(?:и|а|но|and|but|while|whereas|because|so|then|потом|затем)\s|但是?|不过|而且|并且|然后"
)


@lru_cache(maxsize=16_384)
def meant(text: str) -> frozenset[str]:
    """The meanings and numbers of a text."""
    return content(text) | {"#" + re.sub(r"\D", "", number) for number in _NUMBER.findall(spelled(text))}


def clauses_of(text: str) -> list[str]:
    """The clauses of a sentence that mean something; pieces of one or two words stay with the one before."""
    made: list[str] = []
    for part in _CLAUSE.split(text):
        if made and min(len(meant(part)), len(meant(made[-1]))) < 2:
            made[-1] += f", {part}"
        elif part.strip():
            made.append(part)
    return made


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence that somebody wrote."""

    message: SourceMessage
    text: str

    @property
    def is_question(self) -> bool:
        return is_question(self.text)


def is_question(text: str) -> bool:
    end = _TAIL.sub("", text)
    return end.endswith(("?", "？", "吗", "呢")) or "?" in text[-3:] or _tags().search(folded(text)) is not None


@cache
def _tags() -> re.Pattern[str]:
    """What makes a statement a question at its end, without a mark of one ("you bring it on Sunday, right")."""
    return re.compile("|".join(rf"(?:{source})\W*$" for _, source in entries("questions", "tag")))


@dataclass(frozen=True, slots=True)
class Unit:
    """A clause of a sentence that somebody wrote."""

    message: SourceMessage
    sentence: str
    text: str

    @property
    def is_question(self) -> bool:
        return is_question(self.sentence)


class Sentences:
    """The sentences of ``messages``; answers are looked for in the whole ``talk``."""

    def __init__(self, messages: Sequence[SourceMessage], talk: Sequence[SourceMessage]) -> None:
        self.messages = tuple(messages)
        self._talk = tuple(talk)

    @cached_property
    def _spoken(self) -> tuple[tuple[Spoken, frozenset[str]], ...]:
        return tuple(
            (Spoken(message, sentence), meant(sentence)) for message in self.messages for sentence in _parts(message)
        )

    @property
    def every(self) -> tuple[Spoken, ...]:
        return tuple(spoken for spoken, _ in self._spoken)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {message.number: place for place, message in enumerate(self._talk)}

    def nearest(self, clause: str, without: Iterable[str] = ()) -> tuple[Spoken, ...]:
        """The sentences that share most with a clause, in order; none if nothing is shared. ``without``: meanings."""
        wanted = meant(clause) - frozenset(without)
        shared = [(_weight(wanted & meanings), spoken) for spoken, meanings in self._spoken]
        best = max((count for count, _ in shared), default=0)
        return tuple(spoken for count, spoken in shared if count == best)[:NEAREST] if best else ()

    def support(
        self, clause: str, without: Iterable[str] = (), heavy: frozenset[str] = frozenset(), close: float = CLOSE
    ) -> tuple[Unit, ...]:
        """The clauses that bear out a clause of an answer best, in order; none if nothing is shared.

        What a clause says itself counts most, then its sentence, then what it answers or goes on with. ``heavy``:
        meanings that count double, as of a verb. ``close``: the share of the best score that is enough.
        """
        wanted = meant(clause) - frozenset(without)
        scored = [
            (sum(share * _weight(wanted & part, heavy) for share, part in zip(SHARES, parts, strict=True)), unit)
            for unit, parts in self._units
        ]
        best = max((score for score, _ in scored), default=0)
        return tuple(unit for score, unit in scored if score >= close * best) if best else ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What is said in the whole talk."""
        return tuple(message.text for message in self._talk)

    def quoted(self, quote: str) -> tuple[Unit, ...]:
        """The clauses of the sentences that a quote touches."""
        wanted = comparable(quote)
        units = [(unit, self._piece(unit)) for unit, _ in self._units] if wanted else []
        near = tuple(unit for unit, piece in units if wanted in piece or piece in wanted)
        whole = ((unit, comparable(unit.sentence)) for unit, _ in units)
        return near or tuple(unit for unit, sentence in whole if wanted in sentence or sentence in wanted)

    def _piece(self, unit: Unit) -> str:
        """What stands around a clause between two stops, also where no capital follows."""
        return comparable(next((one for one in STOP.split(unit.sentence) if unit.text in one), unit.sentence))

    def before(self, unit: Unit) -> SourceMessage | None:
        """The message before that of a clause."""
        return self.before_message(unit.message)

    def before_message(self, message: SourceMessage) -> SourceMessage | None:
        place = self._place.get(message.number, 0)
        return self._talk[place - 1] if place else None

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every clause."""
        return tuple(unit for unit, _ in self._units)

    @cached_property
    def _units(self) -> tuple[tuple[Unit, tuple[frozenset[str], ...]], ...]:
        found: list[tuple[Unit, tuple[frozenset[str], ...]]] = []
        for message in self.messages:
            before = self._before(message)
            for sentence in _parts(message):
                for part in (one for piece in STOP.split(sentence) for one in _CLAUSE.split(piece)):
                    if part.strip():
                        unit = Unit(message, sentence, part.strip())
                        found.append((unit, (meant(part), meant(sentence), before)))
                before = meant(sentence)
        return tuple(found)

    def _before(self, message: SourceMessage) -> frozenset[str]:
        """What the message before says."""
        place = self._place.get(message.number, 0)
        return meant(self._talk[place - 1].text) if place else frozenset()

    def around(self, unit: Unit, most: int) -> tuple[SourceMessage, ...]:
        """The message of a clause, up to ``most`` before it, nearest first, then as many behind it."""
        place = self._place.get(unit.message.number)
        if place is None:
            return (unit.message,)
        return (*self._talk[max(0, place - most) : place + 1][::-1], *self._talk[place + 1 : place + 1 + most])

    def on_matter(self, clause: str, without: Iterable[str] = ()) -> tuple[Spoken, ...]:
        """The sentences that share at least half as much as the nearest; those with most of its numbers, if any."""
        wanted = meant(clause) - frozenset(without)
        numbers = {one for one in wanted if one.startswith("#")}
        most = max((len(numbers & meanings) for _, meanings in self._spoken), default=0)
        spoken = [(one, meanings) for one, meanings in self._spoken if len(numbers & meanings) == most]
        shared = [(_weight(wanted & meanings), one) for one, meanings in spoken]
        best = max((count for count, _ in shared), default=0)
        return tuple(one for count, one in shared if best and count * 2 >= best)

    def said_before(self, message: SourceMessage) -> Sequence[SourceMessage]:
        """The messages before one."""
        return self._talk[: self._place.get(message.number, 0)]

    def following(self, spoken: Spoken | Unit) -> tuple[SourceMessage, ...]:
        """The next messages of anybody after a sentence."""
        place = self._place.get(spoken.message.number)
        return () if place is None else self._talk[place + 1 : place + 1 + ANSWERS]

    def answers(self, spoken: Spoken | Unit) -> tuple[SourceMessage, ...]:
        """The next messages of others after a sentence."""
        place = self._place.get(spoken.message.number)
        if place is None:
            return ()
        following = self._talk[place + 1 : place + 1 + ANSWERS]
        return tuple(m for m in following if m.sender.entity_id != spoken.message.sender.entity_id)


def _weight(shared: frozenset[str], heavy: frozenset[str] = frozenset()) -> int:
    """How much is shared; numbers weigh more."""
    numbers = sum(one.startswith("#") and len(one) > NUMBER_WEIGHT for one in shared)
    return len(shared) + (NUMBER_WEIGHT - 1) * numbers * (not heavy) + len(shared & heavy)


def _parts(message: SourceMessage) -> list[str]:
    return sentences(message.text) or ([message.text] if folded(message.text).strip() else [])
