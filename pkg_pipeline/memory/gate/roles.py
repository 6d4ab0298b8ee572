"""Who does what to whom: whether a clause tells of the one, and of the other, that the talk tells it of (B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pkg_pipeline.memory.gate.agents import DIRECT, NEAR, Scene, is_receiver, shows, sign_in
from pkg_pipeline.memory.gate.naming import Named, is_nominative, others_named
from pkg_pipeline.memory.gate.nearest import Sentences, Unit, clauses_of
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import table
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.records import Person

_JOINS: Final = re.compile(r"^\s*(?:[,，、]?\s*(?:и|and|&|和|与|跟)|[,、])\s*")
_OWNED: Final = re.compile(r"^(?:['’]s?\s|的)")
_TOWARDS: Final = (
    r"(?<!\w)(?:about|with|from|of|for|at|than|by|in|on|and|near|around|as|like|outside|inside)\s(?:\w+\s)?$"
)
_ASIDE: Final = re.compile(r"[(（][^)）]*[)）]")
_GIVEN: Final = re.compile(r"[еуюи]$|ой$|ей$|ом$")
_TITLE: Final = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|aunt|uncle|тётя|дядя)\.?$")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
HEAD_WORDS: Final = 2
"""Words before an English name that a clause is about ("The plumber Stan")."""
REACH: Final = 10
"""Characters around a name that say what it gets."""
LOOSE: Final = 0.4
"""Of the best score: a clause that tells of a deed and not only of a wish."""


def misplaced(text: str, spoken: Sentences, people: Sequence[Person], quote: str = "") -> str | None:
    """The first name of ``text`` that is said to do or to get what the talk says of somebody else, or None."""
    everyone = tuple(people)
    scene = Scene(spoken, everyone, others_named((*spoken.texts, text), everyone))
    for clause in clauses_of(_ASIDE.sub("", text)):
        if shows("passive", clause):
            continue
        subject = subject_of(clause, scene)
        units = supporting(clause, subject, scene, quote)
        does = [unit for unit in units if subject is None or does_it(subject, [unit], clause, scene)]
        if subject is not None and not does_it(subject, units, clause, scene):
            return subject.word
        for one in _receivers(clause, subject, scene) if does else ():
            if not any(_may_get(one, subject, unit, scene) for unit in does) and not _is_told_there(one, clause, scene):
                return one.word
    return None


def does_it(subject: Named, units: Sequence[Unit], clause: str, scene: Scene) -> bool:
    """Whether any of the clauses that say who does it says it of this one; so if none says it.

    Words without a subject count, too, where more than two talk or the one takes no part.
    """
    found = [scene.agents(unit, clause) for unit in units]
    sure = [one for one in found if one is not None and one.is_sure]
    if is_kin(subject) and not sure:
        near = [message for unit in units for message in scene.spoken.around(unit, NEAR)]
        return not units or any(content(subject.word) & content(message.text) for message in near)
    if not sure and (subject.person is None or len(scene.people) > DIRECT):
        return not found or any(one is None or one.has(subject) for one in found)
    return not sure or any(one.has(subject) for one in sure)


def is_kin(subject: Named) -> bool:
    """Whether a clause is about somebody without a name ("the landlord")."""
    return subject.person is None and sign_in("kin", subject.word) is not None


def supporting(clause: str, subject: Named | None, scene: Scene, quote: str = "") -> tuple[Unit, ...]:
    """The clauses of the talk that bear out a clause, else those quoted.

    What is only wished for counts where nothing else does.
    """
    names = content(" ".join(one.word for one in scene.names(clause)))
    heavy = predicate(clause, subject)
    units = scene.spoken.support(clause, names, heavy) or scene.spoken.quoted(quote)
    deeds = [unit for unit in units if not shows("requests", unit.text)]
    if units and not deeds:
        loose = scene.spoken.support(clause, names, heavy, LOOSE)
        deeds = [unit for unit in loose if not shows("requests", unit.text)]
    same = [unit for unit in deeds if heavy & content(unit.text)]
    return tuple(same or deeds) or units


def predicate(clause: str, subject: Named | None) -> frozenset[str]:
    """The meaning of what is done: in Russian of the verbs, in English of the word behind the one who does it."""
    verbs = [word for word in _WORD.findall(folded(clause)) if re.fullmatch(table("ru", "agents")["verb"], word)]
    if subject is not None and not verbs:
        behind = _WORD.findall(folded(clause[subject.end :]))
        verbs = [word for word in behind[:2] if word.isascii()][: 2 if behind[:1] == ["will"] else 1]
    return content(" ".join(verbs))


def subject_of(clause: str, scene: Scene) -> Named | None:
    """Who a clause is about by the name in the place of a subject; None without one, or with several."""
    if re.match(r"\s*[а-яё]+(?:ть|ти|чь)(?:ся)?\s", folded(clause)):
        return None  # an infinitive
    named = scene.names(clause)
    for place, one in enumerate(named):
        before, behind = clause[: one.start], clause[one.end :]
        if _OWNED.match(behind) or not is_nominative(one):
            continue
        following = named[place + 1] if place + 1 < len(named) else None
        if following is not None and _JOINS.fullmatch(clause[one.end : following.start]):
            return None
        if place and _JOINS.fullmatch(clause[named[place - 1].end : one.start]):
            return None
        if _stands_as_subject(one, before):
            return one
    kin = sign_in("kin", clause)
    return None if kin is None else Named(*kin.span(), kin.group(), None)


def _stands_as_subject(one: Named, before: str) -> bool:
    plain = _TITLE.sub("", before.strip())
    kin = sign_in("kin", plain)
    if not plain or (kin is not None and kin.end() == len(plain)):
        return True
    if is_han(one.word):
        data = table("zh", "agents")
        return re.search(f"(?:{data['by']})$", plain) is not None or not re.search(data["acts"], plain)
    if is_cyrillic(one.word):
        return True
    words = _WORD.findall(plain)
    if not words:
        return False
    return words[-1] == "by" or (len(words) == HEAD_WORDS and words[0].casefold() in {"the", "my", "our"})


def _receivers(clause: str, subject: Named | None, scene: Scene) -> list[Named]:
    """Names in a clause that something is given to, told or done to."""
    found = (one for one in scene.names(clause) if subject is None or not one.is_same(subject))
    return [one for one in found if not _OWNED.match(clause[one.end :]) and is_given(one, clause)]


def is_given(one: Named, clause: str) -> bool:
    """Whether a name stands where a clause tells whom something is given or done to."""
    if is_cyrillic(folded(one.word)):
        return not is_nominative(one) and _GIVEN.search(one.word) is not None
    return is_receiver(one, clause) and re.search(_TOWARDS, clause[: one.start]) is None


def _is_told_there(one: Named, clause: str, scene: Scene) -> bool:
    """Whether a clause that bears out the words around a name has it."""
    units = scene.spoken.support(clause[max(0, one.start - REACH) :][: 2 * REACH], content(one.word))
    return any(one.is_same(other) for unit in units for other in scene.names(unit.text))


def _may_get(one: Named, subject: Named | None, unit: Unit, scene: Scene) -> bool:
    """Whether it may be this one who gets it: named there, or meant by a pronoun, or in a talk of two the other."""
    if any(one.is_same(other) for other in scene.names(unit.sentence)):
        return True
    objects = [other for other in scene.names(unit.text) if not scene.is_called(other, unit.text, unit)]
    is_explicit = any(not is_nominative(other) or is_receiver(other, unit.text) for other in objects)
    is_explicit |= shows("him", unit.text) and any(other.person is None for other in scene.names(unit.sentence))
    around = scene.spoken.around(unit, NEAR if shows("him", unit.sentence) else 1)
    if one.person is None:
        until = [m for m in around if m.number <= unit.message.number]
        return not is_explicit and any(one.is_same(other) for m in until for other in scene.names(m.text))
    sender = unit.message.sender
    if shows("me", unit.text) and not (subject is not None and subject.person == sender):
        return one.person == sender
    if is_explicit:
        return False
    return len(scene.people) <= DIRECT or any(message.sender == one.person for message in around)
