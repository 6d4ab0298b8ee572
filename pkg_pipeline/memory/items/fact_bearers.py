"""Whose a fact is, by the messages that it cites (P13, P17, B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from pkg_pipeline.memory.gate.agents import DIRECT, Scene, follows, shows
from pkg_pipeline.memory.gate.checker import Checker, Evidence
from pkg_pipeline.memory.gate.duty import has
from pkg_pipeline.memory.gate.foreign import digits, without_addresses
from pkg_pipeline.memory.gate.naming import Named, is_known, is_nominative, name_keys, others_named
from pkg_pipeline.memory.gate.nearest import Sentences, Unit, is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.normalise import comparable, sentences

_CLAUSES = re.compile(r"[,;.!?](?=\s)|[，。；！？\n]")
_HAN_PAUSE = re.compile(r"(?<=[\u3400-\u9fff])\s+")
_BEHIND = re.compile(r"[^\W\d_]+ (?P<word>[^\W\d_]+)")
"""A word and the one right behind it ("мама твоя")."""
COMPARED_DIGITS = 6
"""Digits at the end of a number by which it is known in a text."""
NEAR = (20, 45, 200)
"""Characters before a value in which a word says whose it is, the nearest first."""
KIN_STEM = 3
"""Letters of a word for a relative that stay in all its cases."""


def is_about(
    person: Person | None, name: str, evidence: Evidence, checker: Checker, *, value: str = "", relatives: str = ""
) -> bool:
    """Whether the quoted words may tell of this one: by whose they are, and who is named there.

    ``value``: what they tell; ``relatives``: words whose names are of others.
    """
    message = evidence.quoted
    people = checker.source.participants
    spoken = checker.testimony(evidence.messages, people).spoken
    scene = Scene(spoken, people, (*others_named(spoken.texts, people), *([] if person else [name])))
    told = without_addresses(message.text)  # no name is read in an address
    unit = Unit(message, told, without_addresses(_sentences_of(evidence.quote, message.text)))
    text, one = unit.text, Named(0, len(name), name, person)
    if _is_anothers_mail(value, one, scene):
        return False
    there = [other for other in scene.names(text) if not scene.is_called(other, text, unit)]
    there = [other for other in there if other.word not in relatives]
    is_sender = person == message.sender
    if is_sender:
        there = [other for other in there if one.is_same(other) or not _is_called_upon(other, text)]
    named = [other for other in there if is_known(other)]
    is_kin = bool(relatives) and person is not None and _is_kin_of(relatives, text, there, is_sender, len(people))
    if is_kin or any(one.is_same(other) for other in there):
        return True
    if person is None and not named and comparable(name) in comparable(text):
        return True
    nearest = _sign_before(value, _sentences_of(evidence.quote, message.text))
    if nearest == "theirs" and not relatives and is_sender:
        return False
    if nearest == "none" and (asked := _asked_of(spoken, unit)) is not None:
        is_sender = is_sender and asked != "theirs"
        if asked == "theirs" and person is not None:
            return not is_sender and person != message.sender and len(people) > DIRECT
    text = text.replace(relatives, " ") if relatives else text
    if nearest == "mine" or (shows("mine", text) and (relatives or not shows("theirs", text))):
        return is_sender
    is_sender &= not any(follows(other, text, "reached_by") for other in named)
    if named:
        return is_sender and any(not is_nominative(other) and not follows(other, text, "has_it") for other in named)
    if shows("theirs", text) or shows("him", text):
        return not is_sender and (person is None or len(people) > DIRECT)
    if shows("yours", text):
        is_thanked = is_sender and nearest == "none" and not named
        return is_thanked or (not is_sender and person is not None)
    cited = [(other, m) for m in evidence.messages for other in scene.names(m.text)]
    told = [other for other, m in cited if not scene.is_called(other, m.text, Unit(m, m.text, m.text))]
    return is_sender or person is None or any(map(one.is_same, told))


def is_own_contact(value: str, evidence: Evidence, checker: Checker) -> bool:
    """Whether nothing right before a number or an address makes it another's than the sender's.

    Who is named in other clauses does something else ("new number 07700 900159, mum took me off her plan").
    """
    message = evidence.quoted
    people, sender = checker.source.participants, message.sender
    spoken = checker.testimony(evidence.messages, people).spoken
    unit = Unit(message, message.text, _sentences_of(evidence.quote, message.text))
    begins = value.split(",")[0]
    clauses = _CLAUSES.split(message.text)
    leads = ((_before(begins, one), at) for at, one in enumerate(clauses))
    lead, at = next(((lead, at) for lead, at in leads if lead is not None), (None, 0))
    clause = clauses[at]
    if lead is None or _sign_before(begins, clause) not in ("none", "mine"):
        return False
    before = message.text[: message.text.find(clause) + len(lead)]
    if not shows("mine", before) and _asked_of(spoken, unit) == "theirs":
        return False
    scene = Scene(spoken, people, others_named(spoken.texts, people))
    own = Named(0, len(sender.name), sender.name, sender)
    if any(follows(one, before, "reached_by") and not own.is_same(one) for one in scene.names(before)):
        return False
    if _is_anothers_mail(value, own, scene):
        return False
    near = _HAN_PAUSE.split(lead.strip())[-1]
    beside = [one.strip() for one in (*clauses[max(0, at - 1) : at], *clauses[at + 1 : at + 2])]
    named = [one for text in beside for one in scene.names(text) if one.word == text]  # a name alone
    meant = (*named, *(one for one in scene.names(near) if is_known(one)))
    return all(own.is_same(one) or _has_surname(sender, one.word) for one in meant)


def _has_surname(person: Person, full_name: str) -> bool:
    """Whether somebody listed by a surname may have a full Chinese name ("小蔡", "蔡文斌")."""
    is_full = len(full_name) in range(2, 4) and is_han(full_name[0])
    return is_full and re.search(rf"[小老阿]{full_name[0]}|{full_name[0]}$", person.name) is not None


def _is_anothers_mail(value: str, one: Named, scene: Scene) -> bool:
    """Whether a mail has the name of somebody else of the talk: ilya@grom.example is nobody's but Ilya's."""
    named = [other for other in scene.names(value) if is_known(other)] if "@" in value else []
    said = {key for text in scene.spoken.texts for key in name_keys(without_addresses(text)) if len(key) > KIN_STEM - 1}
    meant = [other for other in named if other.person is not None or name_keys(other.word) & said]
    return bool(meant) and not any(map(one.is_same, meant))


def _is_called_upon(named: Named, text: str) -> bool:
    """Whether a name that the talk does not list is called at the head of what the sender says of themselves
    ("Vera, I'm going to my son's").
    """
    behind = text[named.end :]
    is_apart = behind.startswith((",", "!")) or shows("first", (behind.split() or [""])[0])
    is_own = any(shows(sign, behind) for sign in ("first", "first_verb", "mine"))
    return named.person is None and not text[: named.start].strip() and is_apart and is_own


def _asked_of(spoken: Sentences, unit: Unit) -> str | None:
    """Whose it was asked for right before ("her number?"): theirs or yours; None where that was not asked."""
    before = spoken.before(unit)
    if before is None or before.sender == unit.message.sender:
        return None
    asked = [one for one in sentences(before.text) if is_question(one) or has("ask", one)]
    signs = [sign for sign in ("theirs", "yours") for one in asked if shows(sign, one)]
    return signs[0] if len(set(signs)) == 1 or (signs and signs[0] == "theirs") else None


def _is_kin_of(kin: str, text: str, names: Sequence[Named], is_sender: bool, count: int) -> bool:
    """Whether the words right before a relative leave them to the sender ("the wife laughed"), or to the only other one
    ("your mother"), whoever the rest of the text is about.
    """
    stem = kin.split()[0].casefold()
    stem = stem[:-1] if len(stem) > KIN_STEM else stem
    place = re.search(
        rf"(?<![^\W\d_])(?<!['’]s ){re.escape(stem)}" if not is_han(stem) else re.escape(stem), text.casefold()
    )
    if place is None:
        return False
    lead = _CLAUSES.split(text[: place.start()])[-1]
    near = lead[-NEAR[0] :]
    behind = _BEHIND.match(text[place.start() :])
    beside = (near[-1:] if is_han(stem) else (near.split() or [""])[-1], behind["word"] if behind else "")
    is_beside = any(shows("yours", word) for word in beside)
    if is_beside or shows("yours", near):
        return not is_sender and count == DIRECT and (is_beside or not shows("theirs", near))
    is_plain = not any(one.end <= place.start() for one in names) and not shows("theirs", near)
    return is_sender and is_plain and not shows("him", near)


def _sign_before(value: str, text: str) -> str:
    """Whose a value is by the nearest words before it in its clause; ``none``: nobody's; empty: unclear."""
    lead = next((lead for clause in _CLAUSES.split(text) if (lead := _before(value, clause)) is not None), None)
    if lead is None:
        return ""
    lead = _of_kin().sub(lambda found: f" {found[found.lastgroup or 0]}", folded(lead))
    for size in NEAR:
        near = lead[-size:]
        shown = [sign for sign in ("yours", "theirs") if shows(sign, near)]
        if shows("mine", near) or shows("first", near):
            shown.append("mine")
        if shown:
            return shown[0] if len(shown) == 1 else ""
    return "none"


@cache
def _of_kin() -> re.Pattern[str]:
    """Whose relative is told of ("my sister"): whatever follows is not the writer's."""
    rows = [table(language, "agents") for language in folders("agents")]
    return re.compile("|".join(rf"(?<!\w)(?:{row['my']})(?P<k{at}>{row['belongs']})" for at, row in enumerate(rows)))


def _before(value: str, clause: str) -> str | None:
    """What a clause says before a value, or None where it does not say the value."""
    number = digits(value)[-COMPARED_DIGITS:]
    if len(number) == COMPARED_DIGITS and number in digits(clause):
        return re.split(r"\d", clause, maxsplit=1)[0]
    place = clause.casefold().find(value.casefold())
    return clause[:place] if value and place >= 0 else None


def _sentences_of(quote: str, text: str) -> str:
    """The sentences of a message that a quote touches."""
    wanted = comparable(quote)
    touched = [one for one in sentences(text) if comparable(one) in wanted or wanted in comparable(one)]
    return " ".join(touched) or text
