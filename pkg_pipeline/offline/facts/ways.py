"""Who may be meant by a value, and by what: every hypothesis with its features, for ``fact_head`` to choose (P13)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pkg_pipeline.memory.gate.naming import Named, is_known, names_in
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.name_forms import is_also_a_word
from pkg_pipeline.offline.facts.mentions import Mention
from pkg_pipeline.offline.facts.whose import UNSAID, Mark, Whose, antecedent, asked_before, by_name, marked
from pkg_pipeline.offline.facts.words import any_cue, cue
from pkg_pipeline.offline.line_features import Named as Features
from pkg_pipeline.offline.reading import Line, Reading, Sentence

_LINK: Final = re.compile(
    r"^\s*(?:i ?['’]?m|i am|s?he ?['’]?s|s?he is|я|он|она|我|他|她|my|our|мо[йя])?\s*"
    r"(?:[,(（:：—–-]|это|is|['’]s|就?是|，)?\s*(?:(?:the|an?|our|your|наш\w?|ваш\w?|теперь|now) )*$",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"[他她]|[^\W\d_]+")
NAME_WORDS: Final = 2
_GROUPS: Final = frozenset({"group mine", "group you", "group he", "group who"})
_BEGINS: Final = re.compile(
    r"\W*(?P<name>[A-Z][a-z]{2,})(?:['’]s| is| has| was| works| got| just| started| will| said| left| moved| lives)\b"
)
"""A name that nobody knows, where a sentence begins."""
_Bearer = tuple[Person | None, str | None]
_CLAUSE: Final = re.compile(r"[,;:.!?()（）—–，。；！？、\n]| - ")


@dataclass(frozen=True, slots=True)
class Way:
    """Somebody who may be meant, and what speaks for it."""

    person: Person | None
    name: str | None
    features: Features


def ways_of(mention: Mention, text: str, sentence: Sentence, line: Line, reading: Reading) -> list[Way]:
    """Every hypothesis of whose a mention is; ``text``: the sentence with its names in capitals."""
    marks = [one for one in marked(text, line, reading, mention.kind) if not mention.start <= one.place <= mention.end]
    marks = [one for one in marks if not _is_firm(one, mention)]
    before = [one for one in marks if one.place < mention.start]
    after = [one for one in marks if one.place > mention.end]
    noted = _Noted(mention, text, sentence, line, reading)
    noted.add(Whose("own", line.speaker), "speaker", f"speaker: {'somebody' if marks else 'nobody'} named")
    addressed = reading.addressee(line)
    if addressed is not None:
        noted.add(Whose("yours", addressed), "addressee")
    noted.marks_before(before)
    noted.marks_after(after)
    noted.strangers()
    noted.groups()
    noted.elsewhere(sentence, is_alone=not before)
    nearest = before[-1].whose if before else None
    return [
        Way(person, name, _with_bearer(person, features, nearest, line, addressed))
        for (person, name), features in _without_others(noted.found).items()
    ]


class _Noted:
    """Whom the words around a mention may mean, each with the features that say so."""

    def __init__(self, mention: Mention, text: str, sentence: Sentence, line: Line, reading: Reading) -> None:
        self.found: dict[_Bearer, Features] = {}
        self._mention, self._text, self._line, self._reading = mention, text, line, reading
        self._earlier = line.message.text[: max(0, line.message.text.find(sentence.text))]

    def _until(self, place: int) -> str:
        """What the message says before a place of the sentence."""
        return self._earlier + self._text[:place]

    def _word_at(self, place: int) -> str:
        return m.group() if (m := _PRONOUN.match(self._text[place:])) else ""

    def add(self, whose: Whose, *features: str) -> None:
        if whose.person is not None or whose.name is not None:
            self.found.setdefault((whose.person, whose.name), {}).update(dict.fromkeys(features, 1.0))

    def marks_before(self, marks: Sequence[Mark]) -> None:
        others = [at for at, one in enumerate(marks) if one.whose.way != "own"]
        for at, one in enumerate(marks):
            gap = self._text[one.place : self._mention.start]
            way = f"{one.whose.way} before"
            names = [way] + [f"{way}, nearest"] * (at == len(marks) - 1)
            names += [f"{way}, last of others"] * (at in others[-1:] and at < len(marks) - 1)
            names += [f"{way}, same clause"] * (_CLAUSE.search(gap) is None)
            names += [f"{way}, adjacent"] * (_LINK.match(gap) is not None)
            self.add(self._meant(one), *names)

    def marks_after(self, marks: Sequence[Mark]) -> None:
        for at, one in enumerate(marks):
            gap = self._text[self._mention.end : one.place]
            way = f"{one.whose.way} after"
            names = [way] + [f"{way}, nearest"] * (at == 0)
            names += [f"{way}, same clause"] * (_CLAUSE.search(gap) is None)
            is_beside = len(gap.split()) <= NAME_WORDS and not _CLAUSE.search(gap.strip(" ,，"))
            names += [f"{way}, adjacent"] * (is_beside and one.whose.way == "named")
            self.add(self._meant(one), *names)

    def strangers(self) -> None:
        """Capitalised words that are no usual names, as whoever is named by one."""
        start, end = self._mention.start, self._mention.end
        for one in _unlisted(self._text, self._reading.source.participants):
            if one.start < end and start < one.end:
                continue
            side = "before" if one.start < start else "after"
            gap = self._text[one.end : start] if one.start < start else self._text[end : one.start]
            names = [f"unlisted {side}"] + [f"unlisted {side}, same clause"] * (_CLAUSE.search(gap) is None)
            self.add(Whose("named", None, one.word), *names)

    def _meant(self, mark: Mark) -> Whose:
        is_pronoun = mark.whose.way == "theirs" and mark.whose.person is None and mark.whose.name is None
        if not is_pronoun:
            return mark.whose
        return antecedent(self._line, self._until(mark.place), self._reading, self._word_at(mark.place))

    def groups(self) -> None:
        """By the words of the mention itself."""
        groups, line, reading = self._mention.groups, self._line, self._reading
        if groups.get("mine") or groups.get("my"):
            self.add(Whose("own", line.speaker), "group mine")
        if groups.get("you"):
            person = reading.addressee(line)
            self.add(UNSAID if person is None else Whose("yours", person), "group you")
        if he := groups.get("he"):
            self.add(antecedent(line, self._until(self._mention.start), reading, he), "group he")
        if who := groups.get("who"):
            self.add(by_name(who, reading, line.language), "group who")
        received = cue(line.language, "recipient").search(line.message.text)
        if self._mention.kind == "address" and received:
            self.add(by_name(received["who"], reading, line.language), "group who")

    def elsewhere(self, sentence: Sentence, *, is_alone: bool) -> None:
        """By what the verb, the other sentences and the messages before say. ``is_alone``: nobody is named before."""
        line, reading, kind = self._line, self._reading, self._mention.kind
        for one in line.sentences:
            side = "before" if one.place < sentence.place else "after"
            for mark in marked(one.text, line, reading, kind) if one.place != sentence.place else ():
                if mark.whose.way == "named":
                    self.add(mark.whose, "named in another sentence", f"named in a sentence {side}")
        for asks, feature in (("asks", "asked for"), ("may_ask", "may be asked for")):
            if (asked := asked_before(kind, line, reading, asks)).way != "unsaid":
                self.add(asked, feature)
        if cue(line.language, "third_verb").search(self._text):
            self.add(Whose("own", line.speaker), "speaker: a verb of another")
            self.add(antecedent(line, self._until(self._mention.start), reading), "third verb")
        if is_alone and line.index:
            self.add(antecedent(line, "", reading), "told of before")


def _is_firm(mark: Mark, mention: Mention) -> bool:
    """Whether a mark is of a company or a place, which has no work of its own ("I left the firm, now at Bolt")."""
    is_of_work = mention.kind in ("position", "organization") and mark.whose.person is None
    return is_of_work and mark.whose.name is not None and any_cue("firm_role").fullmatch(mark.whose.name) is not None


@lru_cache(maxsize=4096)
def _unlisted(text: str, people: tuple[Person, ...]) -> tuple[Named, ...]:
    """Words that may be names of somebody who takes no part, though no list has them."""
    found = [one for one in names_in(text, people) if not is_known(one)]
    begun = _BEGINS.match(text)
    if begun is not None and not is_also_a_word(begun["name"].casefold()) and not names_in(begun["name"], people):
        found.append(Named(begun.start("name"), begun.end("name"), begun["name"], None))
    return tuple(found)


def _without_others(found: dict[_Bearer, Features]) -> dict[_Bearer, Features]:
    """Where the words beside a value say whose it is, everybody else is marked."""
    said = {one for one, features in found.items() if _GROUPS & features.keys()}
    return {
        one: features if not said or one in said else features | {"the words say another": 1.0}
        for one, features in found.items()
    }


def _with_bearer(
    person: Person | None, features: Features, nearest: Whose | None, line: Line, addressed: Person | None
) -> Features:
    checks = {
        "bearer takes part": person is not None,
        "bearer is me": person is not None and person.is_self,
        "bearer is addressed": person is not None and person == addressed,
        "bearer is the speaker": person == line.speaker,
        "nearest is another": nearest is not None and person is not None and nearest.person not in (None, person),
        "nearest is a stranger": nearest is not None and nearest.name is not None,
        "nearest is theirs": nearest is not None and nearest.way == "theirs",
    }
    is_own = "speaker: " if person == line.speaker else "addressee: " if person == addressed else "other: "
    return features | {f"{is_own}{name}": 1.0 for name, holds in checks.items() if holds}
