"""A fact as it is found."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.facts.cases import plain_job
from pkg_pipeline.offline.reading import Line, Sentence

FactKind = Literal[
    "phone", "email", "address", "birthday", "position", "organization", "family", "preference", "account", "handle"
]

_IN_QUOTES: Final = re.compile(r'(?:[a-zа-яё]+[ -]){1,3}[«“"](?P<name>[^«»“”"]+)[»”"]?')


@dataclass(frozen=True, slots=True)
class FoundFact:
    """``about`` takes part; ``name``: somebody who does not; neither: unknown. ``lines``: those it rests on.

    ``is_ended``: it holds no longer; ``replaces``: it takes the place of earlier values of its kind.
    """

    kind: FactKind
    value: str
    about: Person | None
    confidence: float
    sentence: Sentence
    lines: tuple[int, ...]
    name: str | None = None
    is_ended: bool = False
    replaces: bool = False

    @property
    def whose(self) -> str | None:
        """The name of whom it is about."""
        return self.about.name if self.about is not None else self.name


def sentence_at(line: Line, place: int) -> Sentence | None:
    """The sentence of a message in which a place lies."""
    end = 0
    for sentence in line.sentences:
        start = line.message.text.find(sentence.text, end)
        end = max(end, start + len(sentence.text))
        if place < end:
            return sentence
    return line.sentences[-1] if line.sentences else None


def by_its_name(fact: FoundFact) -> FoundFact:
    """An organisation in quotes is called what stands in them, without the common words before ("the club «Nord»"); a
    Russian job what it is called by itself ("слесарем").
    """
    if fact.kind == "position" and fact.sentence.language == "ru":
        return replace(fact, value=plain_job(fact.value))
    if fact.kind != "organization":
        return fact
    named = _IN_QUOTES.fullmatch(fact.value)
    value = named["name"] if named else fact.value
    return replace(fact, value=f"{value}»" if value.count("«") > value.count("»") else value)
