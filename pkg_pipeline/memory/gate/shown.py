"""Whether a text can be shown to be true by what was said, clause by clause; what cannot is told as said (B18).

The checks of ``truth`` look for contradictions. Here a clause needs support: sentences of the talk that share most
with it, that deny or tell as done the same, and that name, or mean by a pronoun, whom it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from pkg_pipeline.memory.gate.agents import DIRECT, NEAR, Scene, shows
from pkg_pipeline.memory.gate.calendar import blanked
from pkg_pipeline.memory.gate.claims import claim_of
from pkg_pipeline.memory.gate.duty import has, parts_of
from pkg_pipeline.memory.gate.naming import Named, others_named
from pkg_pipeline.memory.gate.nearest import CLOSE, Sentences, Unit, clauses_of, meant
from pkg_pipeline.memory.gate.polarity import Polarity, polarity
from pkg_pipeline.memory.gate.possession import misowned
from pkg_pipeline.memory.gate.progress import acknowledges, is_open, tells_completed, tells_done
from pkg_pipeline.memory.gate.roles import does_it, is_given, is_kin, predicate, subject_of, supporting
from pkg_pipeline.memory.gate.things import tells
from pkg_pipeline.memory.gate.wording import content, tokens
from pkg_pipeline.memory.records import Person

LOOSE: Final = 0.6
"""Share of the best score from which a clause may tell that something was done."""
PIECES: Final = 3
"""A text that rests on so many messages may be put together from them."""
TOO_LITTLE: Final = 3
"""So few meanings turn a sentence round with each of them."""
HALF: Final = 1 / 2
OWN_WORDS: Final = 1
"""So many words of an item may be those of the answer alone."""


def unshown_clause(text: str, spoken: Sentences, people: Sequence[Person], quote: str = "") -> str | None:
    """The first clause, or name in one, that no sentence shows to be true, or None. ``quote``: what the text rests on.

    With a quote the messages are those of one matter: whoever else they tell something like it of is a doubt.
    """
    scene = _scene(text, spoken, people)
    if any(_is_crossed(text, message.text) for message in spoken.messages):
        return text
    for clause in clauses_of(text):
        if _is_turned(clause, scene) or not _is_done(clause, scene) or (not quote and _is_over(clause, scene)):
            return clause
        if (owner := misowned(clause, scene)) is not None:
            return owner
        if quote and (word := _swapped(clause, text, scene, quote)) is not None:
            return word
        if (named := _unplaced(clause, scene, quote)) is not None:
            return named.word
    return None


def retelling(text: str, spoken: Sentences, names: frozenset[str]) -> str:
    """The clauses of a text that tell what a sentence of the talk does, and not what a talk is like."""
    clauses = [(clause, spoken.support(clause, names)) for clause in clauses_of(text)]
    told = [one for one, units in clauses if any(len(meant(one) & meant(unit.sentence)) > 1 for unit in units)]
    return ", ".join(told)


def is_far(text: str, spoken: Sentences, people: Sequence[Person], quote: str) -> bool:
    """Whether an item's text is not near the words of one message.

    So if no message says all of it but a word, if it or its quote alone denies, or if it is put together from several
    messages and its quote says no more than half: which of what they name belongs together no rule can tell then.
    """
    wanted = _things_said(text, _scene(text, spoken, people))
    missing = min((len(wanted - meant(message.text)) for message in spoken.messages), default=0)
    denies = any(polarity(unit.sentence).denies for unit in spoken.quoted(quote))
    is_pieced = len(spoken.messages) >= PIECES and len(wanted & meant(quote)) <= HALF * len(wanted)
    return is_pieced or missing > OWN_WORDS or polarity(text).denies != denies


def says_too_little(text: str, spoken: Sentences, people: Sequence[Person]) -> bool:
    """Whether a sentence has at most three meanings, and names nobody who surely does what it tells."""
    scene = _scene(text, spoken, people)
    is_short = len(_things_said(text, scene)) <= TOO_LITTLE
    return is_short and not any(_is_sure(clause, scene) for clause in clauses_of(text))


def _is_sure(clause: str, scene: Scene) -> bool:
    """Whether the talk says outright that who does what a clause tells does it."""
    subject = subject_of(clause, scene)
    if subject is None:
        return False
    found = (scene.agents(unit, clause) for unit in supporting(clause, subject, scene))
    return any(one is not None and one.is_sure and one.has(subject) for one in found)


def _things_said(text: str, scene: Scene) -> frozenset[str]:
    """The meanings of a text without its days, numbers and names."""
    said = frozenset(one for one in meant(blanked(text, _day(scene))) if not one.startswith("#"))
    return said - _names(text, scene)


def _names(text: str, scene: Scene) -> frozenset[str]:
    """The meanings of names in a text and of the people here."""
    people = (one.name for one in scene.people)
    return content(" ".join([*people, *(one.word for one in scene.names(text))]))


def _scene(text: str, spoken: Sentences, people: Sequence[Person]) -> Scene:
    everyone = tuple(people)
    return Scene(spoken, everyone, others_named((*spoken.texts, text), everyone))


def _day(scene: Scene) -> date:
    return scene.spoken.messages[-1].sent_at.date()


def _support(clause: str, scene: Scene, close: float = CLOSE) -> tuple[Unit, ...]:
    names = content(" ".join(one.word for one in scene.names(clause)))
    return scene.spoken.support(clause, names, close=close)


def _is_turned(clause: str, scene: Scene) -> bool:
    """Whether a clause denies what nothing near it denies, or says plainly what is denied there."""
    mine = polarity(clause)
    units = _support(clause, scene)
    asked = [unit for unit in units if unit.is_question]
    answers = [(answer.text, unit.text) for unit in asked for answer in scene.spoken.answers(unit)[:1]]
    said = [*((unit.text, _asked_before(unit, scene)) for unit in units), *answers]
    theirs = [(polarity(text), text, topic) for text, topic in said]
    against = [one for one in theirs if one[0].denies or one[0].refuses]
    if mine.denies or mine.refuses:
        if claim_of(clause) == "undone":
            is_plain = not against and any(_says_plainly(mine, clause, unit) for unit in units)
            return is_plain or any(_undoes(mine, said, text) for said, text, _ in against)
        names = content(" ".join(one.word for one in scene.names(clause)))
        return not any(_denies_same(mine, clause, one, names) for one in against)
    bare = [text for said, text, _ in against if not said.denied]
    is_bare = any(content(text) & mine.plain or text in {answer for answer, _ in answers} for text in bare)
    return bool(theirs) and (against == theirs or is_bare or any(one.denied & mine.plain for one, _, _ in against))


def _is_crossed(text: str, said: str) -> bool:
    """Whether a text denies of the one thing and tells of the other what was said the other way round."""
    denied, plain = _sides(parts_of(text))
    theirs, so = _sides(parts_of(said)) if denied and plain else (denied, plain)
    return bool(denied & so - theirs) and bool(plain & theirs - so)


def _sides(clauses: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The meanings that clauses with a denial have and others do not, and the reverse."""
    denied = frozenset(one for clause in clauses if polarity(clause).denies for one in content(clause))
    plain = frozenset(one for clause in clauses if not polarity(clause).denies for one in content(clause))
    return denied - plain, plain - denied


def _asked_before(unit: Unit, scene: Scene) -> str:
    """What the message before asks, which a denial may answer without its words."""
    before = scene.spoken.before(unit)
    return "" if before is None else before.text


def _says_plainly(mine: Polarity, clause: str, unit: Unit) -> bool:
    """Whether words tell as so what a clause denies; what is only to come may well be "not yet"."""
    said = polarity(unit.text)
    is_to_come = has("not_yet", clause) and is_open(unit.text)
    return bool(mine.denied & said.plain) and not (said.waits or unit.is_question or is_to_come)


def _undoes(mine: Polarity, said: Polarity, text: str) -> bool:
    """Whether "not cancelled" is told of what is cancelled."""
    return mine.denies and said.refuses and not said.denies and bool(mine.denied & content(text) - said.plain)


def _denies_same(mine: Polarity, clause: str, other: tuple[Polarity, str, str], names: frozenset[str]) -> bool:
    """Whether other words deny or refuse what a clause denies.

    Without saying what, that of their topic; in words of their own, of a thing that both name.
    """
    said, text, topic = other
    if _undoes(mine, said, text):
        return False
    if not mine.denied or mine.denied & said.denied:
        return True
    if not said.denied and mine.denied & (content(text) | content(topic)):
        return True
    return bool((mine.plain & said.plain) - names) and has("not_yet", clause) == has("not_yet", text)


def _swapped(clause: str, text: str, scene: Scene, quote: str) -> str | None:
    """A word for what something is done to, where all who tell of the deed name something else; or None.

    "Tells the school", of "I'll tell the vicar".
    """
    subject = subject_of(clause, scene)
    deed = predicate(clause, subject)
    units = [unit for unit in supporting(clause, subject, scene, quote) if deed & content(unit.text)]
    shared = (content(clause) - deed) & frozenset(one for unit in units for one in content(unit.text))
    if not units or shared or any(shows("points", unit.text) for unit in units):
        return None
    names = content(" ".join(one.word for said in (text, *scene.spoken.texts) for one in scene.names(said)))
    day = scene.spoken.messages[-1].sent_at.date()
    mine = _things(clause, names | deed, day)
    theirs = [_things(unit.text, names | deed, day) for unit in units]
    is_other = all(one and not one.keys() & content(text) for one in theirs)
    return next(iter(mine.values()), None) if is_other else None


def _things(text: str, without: frozenset[str], day: date) -> dict[str, str]:
    """The meanings of a text's words for things, with the words."""
    words = tokens(blanked(text, day))
    return {one: word for word, one in words if one and one not in without and "'" not in word and not tells(word)}


def _is_done(clause: str, scene: Scene) -> bool:
    """Whether what a clause tells as done was told as done, or acknowledged; so if it tells nothing as done."""
    if claim_of(clause) != "done" or is_open(clause):
        return True
    units = _support(clause, scene, LOOSE)
    if any((tells_done(unit.text) or tells_done(unit.sentence)) and not is_open(unit.text) for unit in units):
        return True
    following = [message for unit in units for message in scene.spoken.following(unit)]
    return any(acknowledges(message, scene.spoken.said_before(message)) for message in following)


def _is_over(clause: str, scene: Scene) -> bool:
    """Whether what a clause tells as still to come was told as done alone."""
    if not has("plans", clause) or polarity(clause).denies:
        return False
    units = _support(clause, scene)
    return bool(units) and all(tells_completed(unit.text) and not is_open(unit.sentence) for unit in units)


def _unplaced(clause: str, scene: Scene, quote: str) -> Named | None:
    """The first name in a clause that the clauses bearing it out do not give its place."""
    subject = subject_of(clause, scene)
    units = supporting(clause, subject, scene, quote)
    if subject is not None and is_kin(subject):
        return None if does_it(subject, units, clause, scene) else subject
    if subject is not None and not shows("passive", clause):
        agents = [one for one in (scene.agents(unit, clause) for unit in units) if one is not None]
        named = [one for unit in units for one in scene.names(unit.sentence)]
        is_one = any(one.has(subject) for one in agents) or any(map(subject.is_same, named))
        if not is_one or (quote and any(not one.has(subject) for one in agents)):
            return subject
    others = [one for one in scene.names(clause) if subject is None or not one.is_same(subject)]
    told = [one for one in others if one.person is None or is_given(one, clause)]
    return next((one for one in told if units and not any(_is_meant(one, clause, unit, scene) for unit in units)), None)


def _is_last_named(one: Named, unit: Unit, scene: Scene) -> bool:
    """Whether a pronoun stands for somebody who takes no part: the last one named before it."""
    if not (shows("him", unit.sentence) or shows("third", unit.sentence)):
        return False
    before = [m for m in scene.spoken.around(unit, NEAR) if m.number < unit.message.number]
    named = ([other for other in scene.names(m.text) if other.person is None] for m in before)
    return any(map(one.is_same, next((some for some in named if some), list[Named]())))


def _is_between_two(one: Named, clause: str, unit: Unit, scene: Scene) -> bool:
    """Whether it is this one of two who gets what the other gives, or who asks for it."""
    is_bare = not content(unit.text) & content(clause)
    if is_bare or shows("him", unit.text) or any(other.person is None for other in scene.names(unit.text)):
        return False
    return one.person != unit.message.sender or unit.is_question or has("ask", unit.text)


def _is_meant(one: Named, clause: str, unit: Unit, scene: Scene) -> bool:
    """Whether a clause, or a message beside it, names somebody, or its words are theirs, or said to them."""
    if any(one.is_same(other) for message in scene.spoken.around(unit, 1) for other in scene.names(message.text)):
        return True
    if one.person is None:
        return _is_last_named(one, unit, scene)
    if len(scene.people) <= DIRECT and is_given(one, clause) and _is_between_two(one, clause, unit, scene):
        return True
    signs = ("first", "me", "mine") if one.person == unit.message.sender else ("second", "yours")
    return any(shows(sign, unit.sentence) for sign in signs)
