"""The sentences of a talk that a clause of an answer is about, with what answers them (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.number_words import folded, spelled
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import sentences

NEAREST: Final = 3
ANSWERS: Final = 2
NUMBER_WEIGHT: Final = 3
"""So many sentences are nearest at most; so many messages after a question may answer it."""

_TAIL: Final = re.compile(r"[^\w?？.!。！…]+$")
_NUMBER: Final = re.compile(r"\d+(?:[., \u00a0]\d{3}(?!\d))*")
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
    return end.endswith(("?", "？", "吗", "呢")) or "?" in text[-3:]


class Sentences:
    """The sentences of ``messages``; answers are looked for in the whole ``talk``."""

    def __init__(self, messages: Sequence[SourceMessage], talk: Sequence[SourceMessage]) -> None:
        self._messages = tuple(messages)
        self._talk = tuple(talk)

    @cached_property
    def _spoken(self) -> tuple[tuple[Spoken, frozenset[str]], ...]:
        return tuple(
            (Spoken(message, sentence), meant(sentence)) for message in self._messages for sentence in _parts(message)
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

    def answers(self, spoken: Spoken) -> tuple[SourceMessage, ...]:
        """The next messages of others after a sentence."""
        place = self._place.get(spoken.message.number)
        if place is None:
            return ()
        following = self._talk[place + 1 : place + 1 + ANSWERS]
        return tuple(m for m in following if m.sender.entity_id != spoken.message.sender.entity_id)


def _weight(shared: frozenset[str]) -> int:
    """How much is shared; numbers weigh more."""
    return len(shared) + (NUMBER_WEIGHT - 1) * sum(one.startswith("#") and len(one) > NUMBER_WEIGHT for one in shared)


def _parts(message: SourceMessage) -> list[str]:
    return sentences(message.text) or ([message.text] if folded(message.text).strip() else [])
