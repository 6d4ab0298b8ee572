"""Who does what a clause that was said tells of: who wrote it, who is spoken to, or who is named in it (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.gate.duty import agrees, has
from pkg_pipeline.memory.gate.naming import Named, is_nominative, name_keys, names_in
from pkg_pipeline.memory.gate.nearest import Sentences, Unit
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity, whole
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.records import Person, SourceMessage
from pkg_pipeline.memory.text.normalise import sentences

DIRECT: Final = 2
"""In a talk of so many, who is spoken to is the other one."""
NEAR: Final = 4
"""A pronoun stands for somebody named at most so many messages away."""
SURE: Final = 2
LONGEST_CHANGE: Final = 4
"""Letters by which two forms of a verb may differ."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_QUOTE: Final = re.compile(r"\W{0,3}[«“\"„「‘]")
_PLEASE: Final = re.compile(r"^(?:(?:and|ok|okay|then|please|pls|so|also|hey|yes|well|just)\W+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Agents:
    """Participants by id, others by the keys of their names. ``is_absent``: somebody not named who takes no part."""

    ids: frozenset[UUID] = frozenset()
    names: frozenset[str] = frozenset()
    is_absent: bool = False
    is_sure: bool = False

    def __or__(self, other: Agents) -> Agents:
        return Agents(self.ids | other.ids, self.names | other.names, self.is_absent or other.is_absent)

    def unsure(self) -> Agents:
        return Agents(self.ids, self.names, self.is_absent)

    def has(self, named: Named) -> bool:
        if named.person is not None:
            return named.person.entity_id in self.ids
        return self.is_absent or bool(name_keys(named.word) & self.names)


@cache
def _sign(name: str) -> re.Pattern[str]:
    sources = [table(language, "agents")[name] for language in folders("agents")]
    return re.compile("|".join(whole(one) for one in sources if one))


def sign_in(name: str, text: str) -> re.Match[str] | None:
    """Where a sign of ``agents.toml`` stands in a text."""
    return _sign(name).search(folded(text).strip().replace("’", "'"))


@lru_cache(maxsize=16_384)
def shows(sign: str, text: str) -> bool:
    """Whether a text has a sign of ``agents.toml``: first, second, third, mine, yours, theirs."""
    return _sign(sign).search(folded(text).replace("’", "'")) is not None


class Scene:
    """A talk of ``people`` and who in it does what."""

    def __init__(self, spoken: Sentences, people: Sequence[Person], also: Sequence[str] = ()) -> None:
        """``also``: names of others, as an answer has them."""
        self.spoken = spoken
        self.people = tuple(people)
        self.also = tuple(also)

    def names(self, text: str) -> tuple[Named, ...]:
        return names_in(text, self.people, self.also)

    def agents(self, unit: Unit, clause: str) -> Agents | None:
        """Who does what ``clause`` retells of a unit; None if that is not clear."""
        text = unit.text
        own = Agents(frozenset({unit.message.sender.entity_id}))
        if shows("ours", text):
            return own
        if (other := self.reported(unit)) is not None:
            return other
        if has("together", text):
            return None
        if _asks_who(unit):
            return self._answering(unit)
        names = [one for one in self.names(text) if is_nominative(one)]
        called = [one for one in names if self.is_called(one, text, unit)]
        told = [one for one in names if one not in called and not is_receiver(one, text) and not _is_owner(one, text)]
        made = [one for one in told if follows(one, text, "makes") or follows(one, text, "by")]
        if made:
            return self._of(made)
        if shows("wishes", text):
            return None
        first, second = _persons(text, clause, is_question=unit.is_question)
        if first and not second:
            return Agents(own.ids, is_sure=first == SURE)
        if second and not (told and told[0].start == 0 and not unit.is_question):
            addressed = self._addressed(unit, called or self._called_in_sentence(unit))
            return addressed if addressed is None or not first else (addressed | own).unsure()
        return self._of_others(unit, clause, called, told)

    def reported(self, unit: Unit) -> Agents | None:
        """Who is told to have said what a clause tells ("the coach says she'll pay"); None where nobody is."""
        found = sign_in("says", unit.sentence)
        if found is None or unit.sentence.find(unit.text) + len(unit.text) <= found.start():
            return None
        before, inner = unit.sentence[: found.start()], unit.sentence[found.end() :]
        before = re.split(r"[.!?;…。！？；]", before)[-1]
        if any(shows(sign, before) for sign in ("first", "second", "first_verb")):
            return None
        named = [one for one in self.names(before) if is_nominative(one)]
        is_quoted = _QUOTE.match(inner) is not None
        told = [one for one in self.names(inner) if is_nominative(one)]
        if not is_quoted and (told or any(shows(sign, unit.text) for sign in ("first", "second", "first_verb"))):
            return None
        if not named and not any(re.search(f"(?:{one})\\W*$", folded(before)) for one in _sources("speaker")):
            return None
        return self._of(named or self.near(unit) if named or shows("third", before) else (), is_absent=True)

    def _of_others(self, unit: Unit, clause: str, called: Sequence[Named], told: Sequence[Named]) -> Agents | None:
        """Who does it where nothing is said in the first or second person."""
        own = Agents(frozenset({unit.message.sender.entity_id}))
        if told and (told[0].start == 0 or not shows("requests", unit.text)):
            return self._of(told)
        if shows("requests", unit.text):
            return None
        if shows("third", unit.text):
            return self._of(self.near(unit), is_absent=True)
        if unit.is_question:
            answers = [Unit(one, one.text, one.text) for one in self.spoken.answers(unit)[:1]]
            if answers and (other := self.reported(answers[0])) is not None:
                return other
            addressed = self._addressed(unit, called)
            return None if addressed is None else (addressed | own).unsure()
        if shows("reports", unit.text):
            return Agents(own.ids, is_sure=_predicates(unit.text, clause))
        if unit.text != unit.sentence:
            all_of_it = self.agents(Unit(unit.message, unit.sentence, unit.sentence), clause)
            return None if all_of_it is None else (all_of_it | own).unsure()
        return self._of(called) if called else self._accepting(unit) or own

    def _accepting(self, unit: Unit) -> Agents | None:
        """Who takes on what is said without saying of whom; with who says it, if they only agree or it is an answer."""
        own: frozenset[UUID] = frozenset({unit.message.sender.entity_id})
        before = self.spoken.before(unit)
        is_asked = before is not None and before.sender != unit.message.sender and "?" in before.text.replace("？", "?")
        for answer in self.spoken.answers(unit)[:1]:
            if self._takes_on(answer) or has("done", answer.text):
                signs = shows("first", answer.text) or shows("first_verb", answer.text) or has("promise", answer.text)
                theirs = Agents(frozenset({answer.sender.entity_id}))
                return theirs | Agents(own) if is_asked or not signs else theirs
        return None

    def _of(self, names: Iterable[Named], *, is_absent: bool = False) -> Agents:
        found = tuple(names)
        keys = frozenset(key for one in found if one.person is None for key in name_keys(one.word))
        ids: frozenset[UUID] = frozenset(one.person.entity_id for one in found if one.person is not None)
        return Agents(ids, keys, is_absent and not keys, is_sure=True)

    def is_called(self, named: Named, text: str, unit: Unit) -> bool:
        """Whether a name calls upon somebody: set apart by a mark, or at the head of words in the first person."""
        if named.person is None or named.person.entity_id == unit.message.sender.entity_id:
            return False
        behind, before = text[named.end :].lstrip(), text[: named.start].rstrip()
        if before.endswith("@"):
            return True
        is_apart = not behind or behind[0] in ",.!?)，。！？"
        if is_apart and (not before or before[-1] in ",.!，。！" or len(_WORD.findall(before)) == 1):
            return True
        return not before and shows("first", text)

    def _called_in_sentence(self, unit: Unit) -> list[Named]:
        return [one for one in self.names(unit.sentence) if self.is_called(one, unit.sentence, unit)]

    def _addressed(self, unit: Unit, called: Sequence[Named]) -> Agents | None:
        others = {person.entity_id for person in self.people} - {unit.message.sender.entity_id}
        if not called and len(others) >= DIRECT:
            return self._answering(unit)
        spoken_to = self._of(called) if called else Agents(frozenset(others), is_sure=True)
        answer = next((m for m in self.spoken.answers(unit) if m.sender.entity_id in spoken_to.ids), None)
        if answer is None or not has("refusal", answer.text):
            return spoken_to
        told = self._told(answer)
        return self._of(told) if told else spoken_to

    def _answering(self, unit: Unit) -> Agents | None:
        """Who of the next to write takes it on, or is told to by one of them."""
        for answer in self.spoken.answers(unit):
            head = next(iter(sentences(answer.text)), answer.text)
            is_first = shows("first", head) or shows("first_verb", head) or has("promise", head)
            told = [one for one in self._told(answer) if one.end <= len(head)]
            if told and not told[0].start and not is_first:
                return self._of(told)
            if shows("second", head) and not is_first:
                called = [one for one in self.names(head) if one.person is not None]
                return self._of(called) if called else Agents(frozenset({unit.message.sender.entity_id}))
            if told and not is_first:
                return self._of(told) | Agents(frozenset({answer.sender.entity_id}))
            if self._takes_on(answer):
                return Agents(frozenset({answer.sender.entity_id}))
        return None

    def _told(self, message: SourceMessage) -> list[Named]:
        """Who is named in a message as doing something."""
        names = (one for one in self.names(message.text) if is_nominative(one))
        return [one for one in names if one.person != message.sender and not is_receiver(one, message.text)]

    def _takes_on(self, answer: SourceMessage) -> bool:
        head = answer.text
        return not has("refusal", head) and not polarity(head).denies and (agrees(answer) or shows("first", head))

    def near(self, unit: Unit) -> list[Named]:
        """Who takes no part and is named in the message of a unit, before it or, failing that, behind it."""
        around = self.spoken.around(unit, NEAR)
        behind = [message for message in around if message.number > unit.message.number]
        found = [[one for one in self.names(m.text) if one.person is None] for m in around if m not in behind]
        return [one for some in found for one in some] or [
            one for message in behind for one in self.names(message.text) if one.person is None
        ]


def _asks_who(unit: Unit) -> bool:
    """Whether a clause asks who does something, with or without its mark."""
    if not has("who", unit.text):
        return has("who", unit.sentence) and unit.is_question
    head = _WORD.match(_PLEASE.sub("", unit.text))
    return unit.is_question or head is None or not head.group().isascii() or has("who", head.group())


def _is_owner(named: Named, text: str) -> bool:
    """Whether something of somebody is named ("Sam's report")."""
    return re.match(r"['’]s?\s|的", text[named.end :]) is not None


def _predicates(text: str, clause: str) -> bool:
    """Whether a text and a clause share a verb."""
    told = [word for word in _WORD.findall(folded(clause)) if is_cyrillic(word)]
    if not told:
        return bool(content(text) & content(clause))
    verb = re.compile(table("ru", "agents")["verb"])
    verbs = [word for word in told if verb.fullmatch(word)]
    said = [word for word in _WORD.findall(folded(text)) if verb.fullmatch(word)]
    return any(_is_same_verb(one, other) or content(one) & content(other) for one in said for other in verbs)


def _persons(text: str, clause: str, *, is_question: bool) -> tuple[int, int]:
    """How surely a text speaks in the first and in the second person of what a clause retells."""
    first, second = _agreeing(text, clause)
    is_first = first or shows("first", text) or (not second and shows("first_verb", text))
    may_be_first = not second and not shows("third", text) and has("promise", text)
    is_second = second or shows("second", text)
    may_be_second = not is_first and not may_be_first and has("ask", text) and not is_question
    if shows("gives", text):
        return SURE, 0
    return SURE if is_first else int(may_be_first), int(is_second or may_be_second)


@lru_cache(maxsize=16_384)
def _agreeing(text: str, clause: str) -> tuple[bool, bool]:
    """Whether a verb of the clause stands in the text in the first or in the second person."""
    ru, told = table("ru", "agents"), folded(clause)
    verbs = [word for word in _WORD.findall(told) if re.search(f"{ru['tells']}$", word)]
    first = second = False
    for word in _WORD.findall(folded(text)):
        if is_cyrillic(word) and any(word != verb and _is_same_verb(word, verb) for verb in verbs):
            first |= re.search(f"{ru['first_ending']}$", word) is not None
            second |= not first and re.search(f"{ru['second_ending']}$", word) is not None
    head = _WORD.match(_PLEASE.sub("", text))
    if head is not None and head.group().isascii():
        low = head.group().casefold()
        second |= len(low) > 1 and any(re.fullmatch(f"{re.escape(low)}e?s", word) for word in _WORD.findall(told))
    return first, second


def _is_same_verb(one: str, other: str) -> bool:
    """Whether two Russian words may be forms of one verb."""
    length = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return length >= max(2, min(len(one), len(other)) - 3) and max(len(one), len(other)) - length <= LONGEST_CHANGE


def follows(named: Named, text: str, sign: str) -> bool:
    """Whether a sign stands right before a name."""
    before = folded(text[: named.start]).rstrip()
    return any(re.search(f"{whole(source)}$", before) for source in _sources(sign))


@cache
def _sources(sign: str) -> tuple[str, ...]:
    found = (table(language, "agents").get(sign, "") for language in folders("agents"))
    return tuple(source for source in found if source)


def is_receiver(named: Named, text: str) -> bool:
    """Whether a name stands where somebody gets something."""
    if is_han(named.word):
        return follows(named, text, "to")
    before = text[: named.start].rstrip()
    return not is_cyrillic(folded(named.word)) and bool(before) and before[-1].isalnum() and not _heads(before)


def _heads(before: str) -> bool:
    """Whether words before an English name may stand before who does something ("my brother Felix", "thanks Bob")."""
    words = _WORD.findall(re.split(r"[,;.!]|\b(?:but|and)\b", before.casefold())[-1])
    return not words or (len(words) == 1 or words[0] in {"my", "our", "the", "your", "his", "her", "and", "then"})
