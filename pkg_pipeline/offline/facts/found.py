"""A fact as it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.reading import Line, Sentence

FactKind = Literal[
    "phone", "email", "address", "birthday", "position", "organization", "family", "preference", "account", "handle"
]


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
