"""Who owns, proposed and agreed to an item, by the messages that it cites (P34, B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from pkg_pipeline.memory.gate.agents import DIRECT, Scene, follows, shows
from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.duty import agrees, has
from pkg_pipeline.memory.gate.foreign import digits, without_addresses
from pkg_pipeline.memory.gate.naming import Named, is_known, is_nominative, name_keys, others_named
from pkg_pipeline.memory.gate.nearest import Sentences, Unit, clauses_of, is_question, meant
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import Known, find_person
from pkg_pipeline.memory.gate.roles import does_it, subject_of, supporting
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.items.records import CandidateItem, ItemOwner
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import comparable, sentences

_CLAUSES = re.compile(r"[,;.!?](?=\s)|[，。；！？\n]")
_HAN_PAUSE = re.compile(r"(?<=[\u3400-\u9fff])\s+")
COMPARED_DIGITS = 6
"""Digits at the end of a number by which it is known in a text."""
NEAR = (20, 45, 200)
"""Characters before a value in which a word says whose it is, the nearest first."""
KIN_STEM = 3
"""Letters of a word for a relative that stay in all its cases."""
THIRD = ("third", "theirs", "him")
"""Signs of somebody told of without a name."""


class Owner(NamedTuple):
    """``person``: the participant; ``name``: of somebody who takes no part."""

    owner: ItemOwner
    person: Person | None = None
    name: str | None = None


class Bearers:
    """The people of the talks that one item cites."""

    def __init__(self, evidence: Evidence, talks: Sequence[SummaryInput], checker: Checker, log: DropLog) -> None:
        self.evidence = evidence
        self.people = tuple(dict.fromkeys(person for talk in talks for person in talk.participants))
        self.checker = checker
        self.log = log

    def owner(self, item: CandidateItem, part: str) -> Owner | None:
        """Who owns the item; None, with the reason in the log, where that cannot be."""
        named = self._named_owner(item)
        if isinstance(named, str):
            return self.log.note(part, named, item.owner_name or item.owner, may_mend=True)
        if item.kind == "action_item" and self._is_of_another(named, item.text):
            reason = "its owner is not who promises or is asked"
            return self.log.note(part, reason, item.owner_name or item.owner, may_mend=True)
        alone = self._who_promises_alone(item.text) if named.owner == "both" and item.kind == "action_item" else None
        if alone is not None:
            self.log.note(f"{part}.owner", "is both where one promises; it is theirs")
            return Owner("self" if alone.is_self else "them", alone)
        return named

    def _who_promises_alone(self, text: str) -> Person | None:
        """Who promises by the quoted words, where no cited word joins another in the deed."""
        quoted = self.checker.testimony(self.evidence.messages, self.people).spoken.quoted(self.evidence.quote)
        senders = {unit.message.sender for unit in quoted}
        said = [text, *(unit.sentence for unit in quoted)]
        others = [m.text for m in self.evidence.messages if m.sender not in senders]
        joins = any(has("together", one) for one in (*said, *others)) or any(has("promise", one) for one in others)
        joins |= any(has("ask", m.text) or has("too", m.text) for m in self.evidence.messages)
        is_promised = any(has("promise", unit.sentence) and not unit.is_question for unit in quoted)
        return next(iter(senders)) if is_promised and not joins and len(senders) == 1 else None

    def _named_owner(self, item: CandidateItem) -> Owner | str:
        mine = next((person for person in self.people if person.is_self), None)
        others = [person for person in self.people if not person.is_self]
        only = others[0] if len(others) == 1 else None
        name = " ".join((item.owner_name or "").split())
        named = find_person(name, self.people) if name else None
        if item.owner == "self":
            if mine is None:
                return "its owner is self, and the owner of this memory did not take part"
            return "its owner is self and names somebody else" if name and named is not mine else Owner("self", mine)
        if named is not None and named.is_self and item.owner != "both":
            return "its owner is another and names self"
        if name and named is None:
            reason = unnamed(name, self.evidence, self.checker)
            return Owner("other", None, name) if reason is None else reason
        if item.owner == "other" and named is None:
            return "its owner is another and has no name"
        person = named if named is not None and not named.is_self else only
        return Owner("both" if item.owner == "both" and mine is not None else "them", person)

    def _is_of_another(self, owner: Owner, text: str) -> bool:
        """Whether the words that bear out a task give it to somebody else.

        Somebody who takes no part is told of in too many ways ("my colleague", "they") to be ruled out by a name.
        """
        if owner.owner == "both" or owner.person is None:
            return False
        name = owner.person.name
        spoken = self.checker.testimony(self.evidence.messages, self.people).spoken
        scene = Scene(spoken, self.people, (*others_named((*spoken.texts, text), self.people), name))
        clause = next(iter(clauses_of(text)), text)
        quoted = spoken.quoted(self.evidence.quote)
        if any(unit.message.sender == owner.person and not _gives_away(unit.text) for unit in quoted):
            return False
        if any(self._takes_on(owner.person, unit) for unit in quoted):
            return False
        units = (*supporting(clause, subject_of(clause, scene), scene), *quoted)
        return not does_it(Named(0, len(name), name, owner.person), units, clause, scene)

    def is_told_of_another(self, owner: Owner, text: str) -> bool:
        """Whether a text names another as the one who is to do what the owner is to do."""
        if owner.owner == "both" or (owner.person is None and owner.name is None):
            return False
        name = owner.person.name if owner.person is not None else owner.name or ""
        spoken = self.checker.testimony(self.evidence.messages, self.people).spoken
        scene = Scene(spoken, self.people, (*others_named((*spoken.texts, text), self.people), name))
        subject = subject_of(next(iter(clauses_of(text)), text), scene)
        return subject is not None and not subject.is_same(Named(0, len(name), name, owner.person))

    def is_only_claimed(self, owner: Owner, messages: Iterable[SourceMessage]) -> bool:
        """Whether what the owner of this memory is said to owe or to have settled rests on words of others alone."""
        if owner.owner not in ("self", "both") or any(m.sender.is_self for m in self.evidence.messages):
            return False
        after = self.evidence.messages[-1].number + 1
        # a yes to what came in between is no yes to this
        return not any(m.sender.is_self and m.number == after and agrees(m) for m in messages)

    def _takes_on(self, person: Person, asked: Unit) -> bool:
        """Whether somebody promises right behind what another asks for."""
        later = [m for m in self.evidence.messages if m.number == asked.message.number + 1]
        is_asked = asked.message.sender != person and has("ask", asked.sentence)
        return is_asked and any(m.sender == person and has("promise", m.text) for m in later)

    def proposed(self, name: str | None, text: str, part: str) -> UUID | None:
        """Who proposed: the first whose cited message has words of the item."""
        found = self._speaker(name, part)
        wanted = meant(text)
        first = next((m for m in self.evidence.messages if wanted & meant(m.text)), self.evidence.messages[0])
        own = next((m for m in self.evidence.messages if m.sender.entity_id == found), None)
        figures = {one for one in wanted if one.startswith("#")}
        named = [m for m in self.evidence.messages if figures & meant(m.text)]
        is_without = bool(named) and own is not None and not figures & meant(own.text)
        if own is not None and (own.number > first.number or is_without):
            return self.log.note(part, "did not say it first", name or "")
        return found

    def agreed(self, names: Iterable[str], part: str) -> tuple[UUID, ...]:
        """Who agreed: senders of cited messages that agree to something."""
        found = (self._speaker(name, part, agreeing=True) for name in names)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def _speaker(self, name: str | None, part: str, *, agreeing: bool = False) -> UUID | None:
        if name is None or not name.strip():
            return None
        person = find_person(name, self.people)
        said = [m for m in self.evidence.messages if person is not None and m.sender.entity_id == person.entity_id]
        if person is None or not said:
            return self.log.note(part, "wrote none of the cited messages", name)
        if agreeing and not any(map(agrees, said)):
            return self.log.note(part, "does not say so in the cited messages", name)
        return person.entity_id


def _gives_away(text: str) -> bool:
    """Whether who writes this leaves the deed to somebody else."""
    is_away = any(shows(sign, text) for sign in ("requests", *THIRD))
    return is_away and not shows("me", text) and not shows("gives", text)


def unnamed(name: str, evidence: Evidence, checker: Checker) -> str | None:
    """Why nobody of that name is known from the cited messages, or from those around them that tell of "him"; or None.

    What is no name of a description ("the foreman of line 7") may be said around them.
    """
    if (reason := checker.words(name)) is not None:
        return reason
    testimony = checker.testimony(evidence.messages, ())
    texts = [message.text for message in evidence.messages]
    cited, near = Known((), texts), Known((), [*texts, *testimony.around])
    is_meant = not others_named(texts, ()) and any(shows(sign, one) for one in texts for sign in THIRD)
    words = [word for word in re.findall(r"[^\W\d_][\w-]*", name) if content(word) or word[0].isupper()]
    known = all(near.names(word) if is_meant or word.islower() else cited.names(word) for word in words)
    return None if known and words else "names somebody whom its messages do not"


def is_about(
    person: Person | None, name: str, evidence: Evidence, checker: Checker, *, value: str = "", relatives: str = ""
) -> bool:
    """Whether the quoted words may tell of this one: by whose they are, and who is named there.

    ``value``: what they tell; ``relatives``: words whose names are of others.
    """
    message = next((m for m in evidence.messages if comparable(evidence.quote) in comparable(m.text)), None)
    if message is None:
        return True
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
    named = [other for other in there if is_known(other)]
    is_sender = person == message.sender
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
    message = next((m for m in evidence.messages if comparable(evidence.quote) in comparable(m.text)), None)
    if message is None:
        return False
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
    if shows("yours", near):
        return not is_sender and count == DIRECT and not shows("theirs", near)
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
