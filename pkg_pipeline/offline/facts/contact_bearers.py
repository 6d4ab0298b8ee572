"""Whose a phone, a mail, an address or an account is (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pkg_pipeline.memory.gate.naming import is_known, name_keys, names_in
from pkg_pipeline.memory.gate.people import find_person, is_first_name
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.offline.facts.address_bearers import is_of_a_place, of_address
from pkg_pipeline.offline.facts.signatures import is_signed
from pkg_pipeline.offline.facts.whose import (
    ASKED_BEFORE,
    UNSAID,
    Whose,
    asked_before,
    by_name,
    last_marked,
    marked,
    role_in,
    said_of,
)
from pkg_pipeline.offline.facts.words import any_cue, cue, says
from pkg_pipeline.offline.reading import Line, Reading
from pkg_pipeline.offline.weighing import is_question

TOLD_BEFORE: Final = 2
SPOKEN_OF: Final = 8
"""Messages within which somebody was named whom a number is of ("his number")."""
_BESIDE: Final = re.compile(
    r"(?<=[\w,;:] )(?P<who>[A-ZА-ЯЁ][\w-]+"
    r"(?:(?:(?<=\b[A-ZА-ЯЁ]\w)|(?<=\b[A-ZА-ЯЁ]\w\w))\.? [A-ZА-ЯЁ][\w-]+| [A-ZА-ЯЁ][\w-]+){0,2})(?:,|:)? ?\(?$"
)
"""A name within a sentence right before a value."""
_BEHIND: Final = re.compile(
    r",? \(?(?:[a-zа-яё]{3,20} )?(?P<who>[A-ZА-ЯЁ][a-zа-яё]+ [A-ZА-ЯЁ][a-zа-яё]+)(?=[.,;!?)]|$)"
)
"""A full name right behind a value, with or without what somebody does."""
_ENDED: Final = re.compile(r"[.!?]\s|[。！？]|\n")
_FULL_DAY: Final = re.compile(
    r"(?<!\d)\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d(?!\d)|(?<!\d)(?:19|20)\d\d(?:[./-]\d{1,2}[./-]\d{1,2}(?!\d)|年\d|(?=\W))"
)
"""A day with its year: between a name and a number the row of a list ends with who answers for them."""
_WORD: Final = re.compile(r"[^\W\d_]+")
SHORTEST_NAME: Final = 3
"""Letters of a name that is known without its capital."""
BARE_WORDS, NAME_ALONE = 6, 3
"""Words beside a value that is sent alone; of a line that only names somebody."""
_PAYEE: Final = re.compile(r",? ?[А-ЯЁ][а-яё]+ (?:[А-ЯЁ][а-яё]+ )?[А-ЯЁ]\.(?=$|[,; ])")
_CAPITALS: Final = re.compile(r"[A-ZА-ЯЁ][\w'’-]+(?: [A-ZА-ЯЁ][\w'’-]+)*")
_BEGUN: Final = re.compile(
    r"\W*(?P<who>[A-ZА-ЯЁ][\w-]+(?: [A-ZА-ЯЁ][\w-]+){0,2})\s*(?:[!,.|—–:]|$)|(?P<han>[\u4e00-\u9fff]{2,4})[ ,，|｜\n]"
)
"""A name with which a message begins."""
_WITH_TRADE: Final = re.compile(
    r"(?:^|[\s:,;(])(?P<who>[A-ZА-ЯЁ][\w-]{2,}(?: [A-ZА-ЯЁ][\w-]+){0,2}), (?:(?:our|the|my|наш\w?|мой) )?"
    r"(?:[a-zа-яё-]+ ?){1,3}[,:]? ?\(?$"
)
"""A name with what somebody does behind it, right before a value."""
FORM_LINES: Final = 8
"""Messages within which a form that was asked for is filled in."""


def of_contact(kind: str, value: str, span: tuple[int, int, int, int], line: Line, reading: Reading) -> Whose:
    """Whose a phone, a mail or an account is. ``span``: end of the value before, start, end, start of the one after."""
    if kind == "address":
        return of_address(span, line, reading)
    text = line.message.text
    before, start, end, after = span
    if kind in ("phone", "account") and (payee := _PAYEE.match(text[end:after])):
        end += payee.end()  # as a bank writes whose a number is
    lead, tail = _FULL_DAY.split(text[before:start])[-1], text[end:after]
    if _is_said_own(kind, lead, line, reading):
        return Whose("own", line.speaker)
    label = text[max(before, text.rfind("\n", 0, start) + 1) : end]
    if any_cue("closes").search(label):
        return Whose("signed", line.speaker)
    if (spelt := _spelt(kind, value, reading)).way != "unsaid":
        return spelt
    found = _before(kind, label, line, reading)
    if kind == "phone" and found.name is not None and _is_form(line, reading):
        return Whose("asked", line.speaker)
    if found.way == "unsaid" and is_signed(line, start):
        return Whose("signed", line.speaker)
    if found.way == "unsaid":
        found = _somebody(kind, _beside(kind, lead, tail, line, reading), line)
    if found.name is not None and _is_of_sender(found.name, lead, line, reading):
        return Whose("own", line.speaker)
    if found.way != "unsaid":
        return found if found.person or found.name else UNSAID
    return _unnamed(kind, lead, tail, line, reading)


def _before(kind: str, label: str, line: Line, reading: Reading) -> Whose:
    """The name that stands before a value as its label."""
    found = _somebody(kind, _labelled(label, line, reading), line)
    if found.way == "unsaid" and line.language == "zh":
        return _labelled(_ENDED.split(label)[-1], line, reading)
    return found


def _unnamed(kind: str, lead: str, tail: str, line: Line, reading: Reading) -> Whose:
    """Whose a value is beside which nobody is named: whose was asked for, whom its sender spoke of, the sender's."""
    is_bare = len(_WORD.findall(lead + tail)) <= BARE_WORDS
    asked = asked_before(kind, line, reading)
    if asked.person == line.speaker and is_of_a_place(line, reading):
        return UNSAID
    ways = [*((asked, _told_before(line, reading)) if is_bare else ()), asked]
    found = next((way for way in ways if way.way != "unsaid"), UNSAID)
    if found.way == "unsaid" and any_cue("told_me").search(lead):
        return Whose("own", line.speaker)
    is_sent = found.way == "unsaid" and _is_own(kind, line, reading)
    return Whose("sent", line.speaker) if is_sent else found


def _somebody(kind: str, found: Whose, line: Line) -> Whose:
    """Who is named beside a value; beside an account no bank, no firm, no word that only begins the line."""
    name = found.name
    if kind != "account" or name is None:
        return found
    is_payee = is_han(name[0]) and not cue("zh", "kin_alone").fullmatch(name) and name[0] in line.speaker.name
    return UNSAID if is_payee or not _is_somebody(name, line) else found


def _is_somebody(name: str, line: Line) -> bool:
    """Whether a name is somebody's who may have an account."""
    plain = any(map(is_first_name, _WORD.findall(name))) or cue(line.language, "kin_alone").fullmatch(name) is not None
    return plain or is_han(name[0]) or name.islower()


def _is_said_own(kind: str, lead: str, line: Line, reading: Reading) -> bool:
    """Whether who writes says that they can be reached by it ("new number, mum took me off her plan")."""
    if kind not in ("phone", "email"):
        return False
    if any_cue("reach_me").search(_ENDED.split(lead.rstrip(" .:,"))[-1]):
        return True
    said = list(any_cue("own_number").finditer(lead))
    if not said:
        return False
    gap, before = lead[said[-1].end() :], _ENDED.split(lead[: said[-1].start()])[-1]
    named = [one.whose for one in marked(gap, line, reading) if one.whose.way in ("named", "theirs")]
    is_mine = not named or (any_cue("mine").search(gap) is not None and not any(one.person for one in named))
    return is_mine and not any(one.whose.way in ("named", "theirs") for one in marked(before, line, reading))


def _is_of_sender(name: str, lead: str, line: Line, reading: Reading) -> bool:
    """Whether a name beside a value is the sender's: their firm, their office, what they are behind their own name."""
    first = name.split()[0]
    if is_first_name(first) and name_keys(first) & name_keys(line.speaker.name.split()[0]):
        return True
    own = {word for word in _WORD.findall(line.speaker.name) if word[0].isupper() and len(word) > SHORTEST_NAME}
    whole = next((m.group() for m in _CAPITALS.finditer(lead) if name in m.group()), "")
    if own & set(_WORD.findall(whole)) and not any(map(is_first_name, _WORD.findall(whole))):
        return True
    roles = list(cue(line.language, "role").finditer(lead))
    if not roles or name != role_in(lead, line.language):
        return False
    is_place = cue(line.language, "place_role").match(roles[-1]["role"]) is not None
    begun = _BEGUN.match(line.message.text)
    is_self = begun is not None and by_name(begun["who"] or begun["han"], reading, line.language).person == line.speaker
    before = lead[: roles[-1].start("role")]
    return is_self or (is_place and bool(any_cue("own_place").search(before) or any_cue("own_place").search(lead)))


def _beside(kind: str, lead: str, tail: str, line: Line, reading: Reading) -> Whose:
    """Who is named or meant right before a value, earlier in its message, or behind it."""
    said = _ENDED.split(lead)[-1]
    if (called := cue(line.language, "called_by").search(said)) is not None:
        return by_name(called["who"], reading, line.language)
    if (of := said_of(said, line, reading)) is not None and last_marked(said, line, reading, kind).way != "own":
        return of
    if (near := _BESIDE.search(lead)) and not cue(line.language, "no_name").match(near["who"]):
        named = by_name(near["who"], reading, line.language)
        is_called = lead[: near.start()].rstrip().endswith(",") and named.person == reading.addressee(line)
        is_payee = kind == "account" and named.person is None
        if named.person != line.speaker and not is_payee and not (is_called and named.person is not None):
            return named
    titled = _WITH_TRADE.search(said)
    if titled is not None and not cue(line.language, "no_name").match(titled["who"]):
        return by_name(titled["who"], reading, line.language)
    if received := cue(line.language, "recipient").search(lead):
        return by_name(received["who"], reading, line.language)
    found = last_marked(said, line, reading, kind, SPOKEN_OF)
    if found.way != "unsaid":
        return found
    if any_cue("behind_mine").match(tail):
        return Whose("own", line.speaker)
    found = last_marked(lead, line, reading, kind)
    if found.way not in ("unsaid", "yours"):
        return found
    is_asked = asked_before(kind, line, reading).way == "asked"
    if kind != "account" and not is_asked and (behind := _BEHIND.match(tail)):
        return by_name(behind["who"], reading, line.language)
    return last_marked(tail.split("\n")[0], line, reading, kind)


def _is_form(line: Line, reading: Reading) -> bool:
    """Whether somebody else asked just before for names with numbers: whoever answers gives their own number."""
    before = reading.lines[max(0, line.index - FORM_LINES) : line.index]
    return any(one.speaker != line.speaker and says("asks_form", one.message.text) for one in before)


def _is_own(kind: str, line: Line, reading: Reading) -> bool:
    """Whether a value sent without a word of anybody is the sender's: in a talk of two, with nobody else named.

    Beside an account names are of its bank and of whom it is kept for.
    """
    text = line.message.text
    before = reading.lines[max(0, line.index - ASKED_BEFORE) : line.index]
    if any(any_cue("asks_other").search(one.message.text) for one in before if one.speaker != line.speaker):
        return False
    known = [one for one in names_in(text, reading.source.participants) if is_known(one)]
    named = kind != "account" and any(one.person not in (line.speaker, reading.addressee(line)) for one in known)
    named = named or any_cue("theirs").search(text) is not None
    is_role = kind != "account" and cue(line.language, "role").search(text) is not None
    is_alone = not named and not is_question(text) and not is_role and not is_of_a_place(line, reading)
    return is_alone and len(reading.others_than(line.speaker)) == 1


def _labelled(text: str, line: Line, reading: Reading) -> Whose:
    """The name before a value: ``Olga from accounts: +49 …``, a contact card."""
    card = re.match(
        r"^\W*(?:(?:business |visiting )?card|v-?card|contact(?: card)?|контакт|визитка|名片|联系人)\W+"
        r"(?P<who>[^,:(（]{2,40}?) ?(?:[(（][^)）]*[)）])?[,:：]\s*(?=[+\d])",
        text,
        re.IGNORECASE,
    )
    m = card or cue(line.language, "label").match(text)
    if m is None or cue(line.language, "no_name").match(m["who"]) or _FULL_DAY.search(text, m.end("who")):
        return UNSAID
    found = by_name(m["who"], reading, line.language)
    return Whose("labelled", found.person, found.name)


def _told_before(line: Line, reading: Reading) -> Whose:
    """Whom the same speaker's messages just before speak of: "this is Olga's number" and then the number."""
    for one in _own_before(line, reading):
        found, text = last_marked(one.message.text, one, reading), one.message.text
        is_name = found.way == "named" and len(_WORD.findall(text)) <= NAME_ALONE
        if found.way != "unsaid" and (is_name or any_cue("told_of").search(text)):
            return found._replace(way="told before") if found.person or found.name else UNSAID
    return UNSAID


def _own_before(line: Line, reading: Reading) -> Iterator[Line]:
    for one in reversed(reading.lines[max(0, line.index - TOLD_BEFORE) : line.index]):
        if one.speaker != line.speaker:
            return
        yield one


def _spelt(kind: str, address: str, reading: Reading) -> Whose:
    """The only participant whose name is written in a mail address."""
    parts = [one for one in re.split(r"[^a-z]+", address.partition("@")[0].lower()) if len(one) > SHORTEST_NAME - 1]
    people = reading.source.participants
    found = {person for part in parts if (person := find_person(part, people)) is not None}
    return Whose("spelt", found.pop()) if kind == "email" and len(found) == 1 else UNSAID
