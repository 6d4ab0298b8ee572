"""Whose a fact is: by who speaks, about whom, and what was asked before (P13)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from pkg_pipeline.memory.gate.naming import is_known, name_keys, names_in
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.offline.facts.capitals import with_names
from pkg_pipeline.offline.facts.cases import called_kin, nominative, plain_kin
from pkg_pipeline.offline.facts.gender import may_be
from pkg_pipeline.offline.facts.words import any_cue, cue, is_trade, says
from pkg_pipeline.offline.reading import Line, Reading

Way = Literal[
    "own", "named", "theirs", "yours", "asked", "signed", "spelt", "labelled", "told before", "sent", "unsaid"
]
"""By what somebody is known to be meant."""

ASKED_BEFORE: Final = 3
"""Messages within which a question for a value is answered."""
_CALLED: Final = re.compile(
    r"(?: is called| called|,| зовут|叫)? ?"
    r"(?P<name>[A-ZА-ЯЁ][a-zа-яё]+(?: [A-ZА-ЯЁ][\w-]+){0,2}|(?<=叫)[\u4e00-\u9fff]{2,3})"
)
"""The name right behind the word for a relative."""
_IS_CALLED: Final = re.compile(r"(?:name(?:['’]?s| is)|(?: is|['’]s) called|зовут) (?P<name>[A-ZА-ЯЁ][\w-]{2,})\b")
_OF_A_FIRM: Final = ("", "the", "in the", "at the", "from the", "in our", "из", "с", "в")
"""Between a name and the office or shop where they are."""
_CUT_SHORT: Final = re.compile(r"['’]t\b")
"""Behind what is no name: "Don't"."""
_FULL_NAME: Final = re.compile(r"(?![小老阿])[\u4e00-\u9fff]{3}")


_TITLE: Final = "(?:经理|老板|医生|大夫|老师|师傅|主任|教练|律师|店长|主管|部长|总|姐|哥|叔|工)"
"""Behind a surname, as people are listed."""


class Whose(NamedTuple):
    """``person``: somebody who takes part; ``name``: somebody who does not; neither: unknown."""

    way: Way
    person: Person | None = None
    name: str | None = None


UNSAID: Final = Whose("unsaid")


class Mark(NamedTuple):
    place: int
    whose: Whose


def marked(text: str, line: Line, reading: Reading, kind: str = "") -> list[Mark]:
    """Everybody whom a piece of text speaks of, in its order; found once in each.

    ``kind``: of the value in question; a bank has no account, whoever moves to their son's lives there, and a courier
    or a shop beside an address does not.
    """
    kind = kind if kind in ("account", "address") else ""
    key = (line.index, kind, text)
    if key not in reading.marks:
        reading.marks[key] = _marked(text, line, reading, kind)
    return reading.marks[key]


def _marked(text: str, line: Line, reading: Reading, kind: str) -> list[Mark]:
    found: list[Mark] = []
    language, people = line.language, reading.source.participants
    for m in cue(language, "kin").finditer(text) if kind != "address" else ():
        kin = next(one for one in m.groups() if one)
        called = _CALLED.match(text[m.end() :])
        found.append(Mark(m.end(), Whose("named", None, called["name"] if called else called_kin(kin, language))))
    trades = [m for m in cue(language, "role").finditer(text) if not kind]
    found += [Mark(m.start("role"), Whose("named", None, _role(m["role"], language))) for m in trades]
    for one in names_in(text, people):
        title = cue(language, "title").search(text[: one.start])
        if (not is_known(one) and title is None) or _CUT_SHORT.match(text[one.end :]):
            continue
        if one.person == line.speaker and not text[one.end :].startswith(("'s", "’s")):
            found.append(Mark(one.start, Whose("own", one.person)))
        elif not (one.person is not None and _is_called(text, one.start, one.end)):
            word = f"{title.group()}{one.word}" if title is not None and not is_known(one) else one.word
            person = one.person or _called_by_surname(one.word, people)
            found.append(Mark(one.end, _named(word, person, language)))
    found += [Mark(m.end(), by_name(m["name"], reading, language)) for m in _IS_CALLED.finditer(text)]
    found += [Mark(m.start(), Whose("own", line.speaker)) for m in any_cue("mine").finditer(text)]
    found += [Mark(m.start(), _addressed(line, reading)) for m in any_cue("yours").finditer(text)]
    found += [Mark(m.start(), Whose("theirs")) for m in any_cue("theirs").finditer(text)]
    return _without_appositions(sorted(found, key=lambda mark: mark.place), trades, text)


def _without_appositions(marks: list[Mark], trades: list[re.Match[str]], text: str) -> list[Mark]:
    """Marks without the trades of who is named right before them."""
    places = {m.start("role") for m in trades}
    kept: list[Mark] = []
    for mark in marks:
        is_beside = bool(kept) and kept[-1].whose.way == "named" and kept[-1].place not in places
        if mark.place in places and is_beside and text[kept[-1].place : mark.place].strip(" ,(（，—–-") in _OF_A_FIRM:
            continue
        kept.append(mark)
    return kept


def _role(word: str, language: Language) -> str:
    """What somebody is, without its case."""
    stem = cue(language, "role_stem").match(word)
    return (stem.group() if stem else word).lower()


def role_in(text: str, language: Language) -> str | None:
    """The last trade that a piece of text names."""
    roles = [m["role"] for m in cue(language, "role").finditer(text)] or cue(language, "trade").findall(text)
    return _role(roles[-1], language) if roles else None


def _is_called(text: str, start: int, end: int) -> bool:
    """Whether a name addresses: at the beginning before a comma, or at the end after one."""
    return (not text[:start].strip() and text[end:].lstrip()[:1] in (",", "，", "!", "！")) or (
        text[:start].rstrip().endswith((",", "，")) and not text[end:].strip(" ?!.,")
    )


def _addressed(line: Line, reading: Reading) -> Whose:
    return UNSAID if (person := reading.addressee(line)) is None else Whose("yours", person)


def _named(word: str, person: Person | None, language: Language) -> Whose:
    return Whose("named", person, None if person else nominative(word, language))


def by_name(name: str, reading: Reading, language: Language) -> Whose:
    """Somebody whom a text calls so."""
    name = re.sub(r"['’]s$", "", " ".join(name.split()))
    people = reading.source.participants
    person = find_person(name, people) or _called_by_trade(name, people) or _called_by_surname(name, people)
    return _named(name, person, language)


def _called_by_surname(name: str, people: tuple[Person, ...]) -> Person | None:
    """The only participant who is listed by the surname of a full Chinese name ("小蔡", "蔡经理")."""
    if not _FULL_NAME.fullmatch(name):
        return None
    surname = re.escape(name[0])
    listed = re.compile(rf"[小老阿]{surname}(?![\u4e00-\u9fff])|(?:^|[^\u4e00-\u9fff]){surname}{_TITLE}$")
    found = [one for one in people if listed.search(one.name)]
    return found[0] if len(found) == 1 else None


def _called_by_trade(name: str, people: tuple[Person, ...]) -> Person | None:
    """The participant who is listed by a first name and a trade or a mark ("Sveta HR", "Tom (plumber)")."""
    first, *more = name.split()
    found = [
        person
        for person in people
        if more
        and len(listed := person.name.split()) == 2
        and (listed[1].isupper() or listed[1][0] in "(（" or listed[1].islower() or is_trade(listed[1]))
        and name_keys(first) & name_keys(listed[0])
    ]
    return found[0] if len(found) == 1 else None


def antecedent(line: Line, before: str, reading: Reading, pronoun: str = "", back: int = ASKED_BEFORE) -> Whose:
    """Whom "he" or "her" means: who was named last, here or in the few messages before."""
    texts: list[tuple[Line, str]] = [(line, before)]
    texts += [(one, one.message.text) for one in reversed(reading.lines[max(0, line.index - back) : line.index])]
    for one, text in texts:
        for kind in ("account", ""):  # somebody named before somebody's trade
            marks = marked(with_names(text, reading), one, reading, kind)
            named = [mark.whose for mark in marks if mark.whose.way == "named"]
            others = [who for who in named if who.person not in (line.speaker, reading.addressee(line)) or who.name]
            meant = [who for who in others if may_be(pronoun, who.name or (who.person or line.speaker).name)]
            if meant:
                return Whose("theirs", meant[-1].person, meant[-1].name)
            if others:
                return UNSAID
    return UNSAID


def last_marked(text: str, line: Line, reading: Reading, kind: str = "", back: int = ASKED_BEFORE) -> Whose:
    """The last one of whom a piece of text speaks."""
    marks = marked(text, line, reading, kind)
    if not marks:
        return UNSAID
    last = marks[-1].whose
    if last.way != "theirs":
        return last
    # somebody named before somebody's trade
    for of_whom in (marked(text, line, reading, "account"), marks):
        if named := [mark.whose for mark in of_whom if mark.whose.way == "named"]:
            return named[-1]
    return antecedent(line, "", reading, back=back)


def said_of(text: str, line: Line, reading: Reading) -> Whose | None:
    """Of whom a piece of text calls a value, by a name that no list may have: "Anil's email", "номер тёти Гали"."""
    of = cue(line.language, "value_of").search(text)
    if of is None:
        return None
    who = next(filter(None, of.groups()))
    whose = by_name(who, reading, line.language)
    return (
        whose if whose.person or line.language != "ru" else whose._replace(name=plain_kin(_capital(whose.name or who)))
    )


def _capital(name: str) -> str:
    """A Russian name in small letters as it is listed ("катьки")."""
    return name if not name.islower() else nominative(name.capitalize(), "ru")


def asked_before(kind: str, line: Line, reading: Reading, asks: str = "asks") -> Whose:
    """Of a value that answers a question: the answerer's, or whose the question asked for. ``asks``: by which words,
    those that surely ask for it or those that may.
    """
    key = line.index, f"{asks}_{kind}"
    if key not in reading.asked:
        reading.asked[key] = _asked_before(key[1], line, reading)
    return reading.asked[key]


def _asked_before(asks: str, line: Line, reading: Reading) -> Whose:
    for one in reversed(reading.lines[max(0, line.index - ASKED_BEFORE) : line.index]):
        if one.speaker == line.speaker:
            continue
        if says("asks_back", one.message.text) and _asked_itself(asks, one, line, reading):
            return Whose("asked", line.speaker)
        if not says(asks, one.message.text):
            continue
        sentence = next((s.text for s in one.sentences if says(asks, s.text)), one.message.text)
        kind = "account" if asks.endswith("_handle") else ""  # a page of the shop is not what is asked for
        about = [mark.whose for mark in marked(sentence, one, reading, kind) if mark.whose.way in ("named", "theirs")]
        about = [who for who in about if who.person not in (line.speaker, one.speaker) or who.name]
        of = said_of(sentence, one, reading)
        if of is not None and not any(who.person for who in about):
            about = [of]
        if about:
            last = ([who for who in about if who.way == "named"] or about)[-1]
            return last if last.person or last.name else antecedent(one, "", reading)
        return UNSAID if any_cue("asks_other").search(sentence) else Whose("asked", line.speaker)
    return UNSAID


def _asked_itself(asks: str, back: Line, line: Line, reading: Reading) -> bool:
    """Whether somebody had asked for a value before they are asked back."""
    before = reading.lines[max(0, back.index - ASKED_BEFORE) : back.index]
    return any(one.speaker == line.speaker and says(asks, one.message.text) for one in before)
