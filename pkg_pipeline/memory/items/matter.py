"""Whether words that are said to end or renew an item speak of its matter (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from pkg_pipeline.memory.gate.amounts import amounts
from pkg_pipeline.memory.gate.calendar import blanked
from pkg_pipeline.memory.gate.duty import has, parts_of
from pkg_pipeline.memory.gate.naming import others_named
from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import spoken
from pkg_pipeline.memory.gate.progress import acknowledging, names_thing
from pkg_pipeline.memory.gate.things import tells
from pkg_pipeline.memory.gate.wording import content, tokens
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.records import Person, SourceMessage
from pkg_pipeline.memory.text.normalise import STEM_LETTERS, sentences
from pkg_pipeline.memory.text.topic_words import skeleton

SPOKEN_OF: Final = 3
"""So many messages back a matter is still spoken of."""
LEAST_SUM: Final = 100
SHORTEST_STEM: Final = 3
_FILE_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_OWNED: Final = "的"
_SUFFIXES: Final = "子头儿"
"""Characters that only end words for things."""


@dataclass(frozen=True, slots=True)
class Matter:
    """The words of an item without its days; ``day``: of what is said of it.

    ``names``: meanings of names, which are of no matter alone.
    """

    words: str
    day: date
    names: frozenset[str]
    text: str = ""
    """Its words without the quote that they rest on."""

    @property
    def meanings(self) -> frozenset[str]:
        return content(self.words) - self.names

    def names_in(self, text: str, *, is_asked: bool = False) -> list[str]:
        """The words of a text for a thing of the matter, in Chinese any two characters; ``is_asked``: or its deed."""
        wanted, plain = self.meanings, blanked(text, self.day)
        said = {word for word, one in tokens(self.words) if one in wanted}
        found = [word for word, one in tokens(plain) if one and self._is_same(word, one, said, is_asked=is_asked)]
        runs = self._runs(plain)
        return [*(word for word in found if not any(word in run for run in runs)), *runs]

    def _runs(self, text: str) -> list[str]:
        """Stretches of at least two Chinese characters that stand in the words of the matter, too."""
        runs: list[str] = []
        for at in range(len(text) - 1):
            pair = text[at : at + 2]
            if not is_han(pair) or pair not in self.words or content(pair) & self.names:
                continue
            if runs and text[: at + 1].endswith(runs[-1]):
                runs[-1] += pair[1]
            else:
                runs.append(pair)
        return runs

    def _is_same(self, word: str, one: str, said: set[str], *, is_asked: bool) -> bool:
        """Whether a word is of a thing of the matter: no sign of a deed; one of several of a meaning as it was said."""
        if not names_thing(word) and (word not in said or (is_han(word) and (tells(word) or word in _SUFFIXES))):
            return False
        begins = {other[:STEM_LETTERS] for other in said} if is_cyrillic(word) else set[str]()
        if word[:STEM_LETTERS] in begins or (one.startswith("=") and one in self.meanings):
            is_said = word in said or word[:STEM_LETTERS] in begins
            return is_said and (is_asked or not has("hands_over", word))
        return one in self.meanings or (is_cyrillic(one) and any(_is_form(one, other) for other in self.meanings))

    def others_in(self, text: str) -> list[str]:
        """The words of a text that are neither of the matter nor acknowledge anything."""
        spared = self.meanings | self.names | acknowledging()
        told = tokens(blanked(text, self.day))
        return [word for word, one in told if one and one not in spared and not _is_yes(word)]

    def is_in_file(self, name: str) -> bool:
        """Whether the name of a file has a word of the matter, in Latin letters too ("akt_podpisan.pdf")."""
        said = {skeleton(word)[:STEM_LETTERS] for word, one in tokens(self.words) if one}
        named = [skeleton(word)[:STEM_LETTERS] for word in _FILE_WORD.findall(name.rpartition(".")[0].casefold())]
        return any(word in said for word in named) or any(len(word) > SHORTEST_STEM and word in spoken(self.words) for word in named)

    def has_sum_of(self, text: str) -> bool:
        return bool(_sums(self.words) & _sums(blanked(text, self.day)))

    def only_belongs_in(self, text: str) -> bool:
        """Whether something else is told as done, to which its thing belongs ("found the key for the van")."""
        done = [part for part in parts_of(text) if has("completed", part)]
        return bool(done) and all(map(self._stands_behind, done))

    def _stands_behind(self, part: str) -> bool:
        """Whether another thing stands before those of the matter (in Chinese behind them), and no deed of it."""
        wanted, mine = self.meanings, self.names_in(part)
        if not mine:
            return False
        head, owned, rest = part.partition(_OWNED)
        if owned and is_han(mine[0][0]):
            return bool(self.names_in(head)) and not self.names_in(rest) and not content(rest) & wanted
        told = [(word, one) for word, one in tokens(part) if one]
        place = next((at for at, (word, _) in enumerate(told) if word in mine), 0)
        is_deed = any(one in wanted and word not in mine for word, one in told)
        others = self.things_beside(part)
        return not is_deed and any(word in others for word, _ in told[:place])

    def is_of_other(self, part: str) -> bool:
        """Whether a clause names a thing of the matter as one of another thing, or the reverse ("photos of the house"),
        and not all things of the matter.
        """
        things = {one for word, one in tokens(self.text) if one and names_thing(word) and not tells(word)}
        said = {one for _, one in tokens(part)}
        if all(_is_said(one, said) for one in things - self.names) and not is_han(part[:1]):
            return False
        mine = [one for one in self.names_in(part) if names_thing(one)]
        others = [one for one in self.things_beside(part) if len(one) > SHORTEST_STEM or not is_cyrillic(one)]
        plain = folded(part)
        pairs = [pair for one in mine for other in others for pair in ((one, other), (other, one))]
        return any(re.search(rf"{re.escape(a)}(?: of (?:the |my |your |our )?| |的){re.escape(b)}", plain) for a, b in pairs)

    def things_beside(self, part: str) -> frozenset[str]:
        """The words of a clause for things that are not of the matter."""
        return frozenset(one for one in self.others_in(part) if (names_thing(one) or is_han(one)) and not tells(one))


def matter_of(texts: Sequence[str], day: date, people: Sequence[Person]) -> Matter:
    named = [*(person.name for person in people), *others_named(texts, tuple(people))]
    return Matter(blanked(" ".join(texts), day), day, content(" ".join(named)), blanked(texts[0], day))


def is_spoken_of(matter: Matter, quote: str, quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether the quoted message, or one shortly before it, names the matter; so if the quote names nothing else."""
    near = [m for m in talk if 0 <= quoted.number - m.number <= SPOKEN_OF]
    is_named = any(matter.names_in(m.text, is_asked=m is not quoted) or matter.has_sum_of(m.text) for m in near)
    return is_named or any(m.attachments for m in near) or not matter.others_in(quote)


def is_asked_for(matter: Matter, quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether the message before asks for the matter."""
    before = next((m for m in talk if m.number == quoted.number - 1), None)
    return before is not None and any(
        is_question(one) and matter.names_in(one, is_asked=True) for one in sentences(before.text)
    )


def _is_said(one: str, said: Iterable[str]) -> bool:
    return any(one == other or (is_cyrillic(one) and _is_form(one, other)) for other in said)


def _is_form(one: str, other: str) -> bool:
    """Whether two meanings may be of one Russian word whose stem changes ("кошка", "кошек")."""
    return min(len(one), len(other)) >= SHORTEST_STEM and (one.startswith(other) or other.startswith(one))


def _is_yes(word: str) -> bool:
    return has("agrees", word) or has("affirms", word)


def _sums(text: str) -> frozenset[float]:
    return frozenset(value for one in amounts(text).numbers for value in one.values if value >= LEAST_SUM)
