"""Contacts and accounts with whose they are (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pkg_pipeline.offline.facts.contact_bearers import SPOKEN_OF, TOLD_BEFORE, of_contact
from pkg_pipeline.offline.facts.contacts import Contact, contacts_in
from pkg_pipeline.offline.facts.found import FoundFact, sentence_at
from pkg_pipeline.offline.facts.whose import UNSAID, Way, Whose, asked_before
from pkg_pipeline.offline.facts.words import any_cue, cue
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading
from pkg_pipeline.offline.weighing import is_question

SURE: Final[dict[Way, float]] = {
    "own": 0.95,
    "named": 0.93,
    "labelled": 0.95,
    "theirs": 0.9,
    "asked": 0.95,
    "signed": 0.95,
    "told before": 0.94,
    "spelt": 0.9,
    "sent": 0.9,
    "yours": 0.7,
    "unsaid": 0.5,
}
"""How often a value is of whom these ways name."""
MAY_BE: Final = 0.85
"""An address without a word of whose it is may be of a place to meet; beside somebody's name it may be where they are
found.
"""
CLOSE: Final = 40
"""Characters between two contacts of one person."""
NAME_BEGINS: Final = 3
"""Letters of a name that stay in all its cases."""
UNMARKED: Final = 0.75
"""Factor for a number or @name without a word that says what it is."""
ASKED_ABOUT: Final = 0.8
"""Factor where a question names a value ("is it still …?")."""

_CLAUSES: Final = re.compile(r"[,;!?](?=\s)|\.\s|[，。；！？\n]")
_REST: Final = re.compile(r"\d(?:[ -]?\d){1,7}\W{0,2}")
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}|[\u4e00-\u9fff]")
_BEGUN: Final = re.compile(r"(?<!\d)\+?\d[\d ()-]{1,9}$")
"""The end and the beginning of a number told in two messages."""
_OF_A_FIRM: Final = re.compile(
    r"(?:info|hr|jobs|career|office|sales|support|admin|contact|hello|mail|service|team|help|press|orders?|billing)\b"
)
"""A mailbox of a firm is of nobody who is only named."""
_ORIGINAL: Final = re.compile(
    r"^-{2,}.{0,20}(?:forwarded|original|пересл|исходн|原始|转发).*", re.IGNORECASE | re.MULTILINE
)


def own_words(text: str) -> str:
    """A message with what it quotes or forwards blanked out, places kept."""
    if cut := _ORIGINAL.search(text):
        text = text[: cut.start()]
    rows = text.split("\n")
    return "\n".join(" " * len(row) if re.match(r"\s*(?:>|\|)", row) else row for row in rows)


def contact_facts(line: Line, reading: Reading, countries: Sequence[str]) -> Iterator[FoundFact]:
    yield from _facts_of(line, reading, countries)
    if (whole := _continued(line, reading)) is not None:
        begun = next(at for at in range(line.index, -1, -1) if whole.message.text.startswith(_text_at(at, reading)))
        for fact in _facts_of(whole, reading, countries):
            if fact.kind == "phone":
                yield replace(fact, lines=tuple(sorted({*fact.lines, *range(begun, line.index + 1)})))


def _text_at(index: int, reading: Reading) -> str:
    return reading.lines[index].message.text.strip()


def _continued(line: Line, reading: Reading) -> Line | None:
    """A message that is only the rest of a number, with those before it in which the number begins."""
    text = line.message.text.strip()
    if not _REST.fullmatch(text) or not line.index or not _BEGUN.search(_text_at(line.index - 1, reading)):
        return None
    for before in reversed(reading.lines[max(0, line.index - TOLD_BEFORE - 1) : line.index]):
        if before.speaker != line.speaker or before.is_data:
            break
        text = f"{before.message.text.strip()} {text}"
    return replace(line, message=replace(line.message, text=text))


def _facts_of(line: Line, reading: Reading, countries: Sequence[str]) -> Iterator[FoundFact]:
    text = own_words(line.message.text[:MAX_MESSAGE_CHARS])
    is_asked = asked_before("account", line, reading).way == "asked"
    found = contacts_in(text, line.language, countries, is_account_asked=is_asked)
    last: Whose = UNSAID
    for place, one in enumerate(found):
        before = found[place - 1].end if place else 0
        after = found[place + 1].start if place + 1 < len(found) else len(text)
        whose = of_contact(one.kind, one.value, (before, one.start, one.end, after), line, reading)
        # what follows a contact without a word of somebody else is of the same
        is_after = place > 0 and whose.way in ("unsaid", "sent") and last.way != "unsaid"
        is_same = place > 0 and found[place - 1].start == one.start
        whose = last if is_same or (is_after and len(text[before : one.start]) <= CLOSE) else whose
        last = whose
        if (fact := _fact(one, whose, line, reading)) is not None:
            yield fact


def _fact(one: Contact, whose: Whose, line: Line, reading: Reading) -> FoundFact | None:
    sentence = sentence_at(line, one.start)
    if sentence is None:
        return None
    if one.is_shared and whose.way not in ("signed", "labelled"):
        return None
    if one.kind == "handle" and not one.is_marked and not _is_told_as_handle(line, reading):
        return None
    is_near = whose.way == "named" and whose.name is not None and one.kind == "address"
    is_placed = whose.way == "sent" and one.kind == "address" and _is_only_placed(line)
    is_of_firm = one.kind == "email" and whose.way in ("named", "theirs") and _OF_A_FIRM.match(one.value) is not None
    is_unsure = is_near or is_placed or is_of_firm or _is_far_trade(whose, one, line)
    sure = MAY_BE if is_unsure else SURE[whose.way]
    if not one.is_marked and whose.way in ("own", "named", "yours", "theirs", "told before"):
        sure *= UNMARKED if one.kind != "phone" else 0.97
    if is_question(sentence.text) and whose.way in ("yours", "unsaid", "theirs"):
        sure *= ASKED_ABOUT
    is_far = whose.way in ("asked", "told before", "theirs") or (
        whose.name is not None and whose.name not in sentence.text
    )
    lines = range(_since(whose, line, reading), line.index + 1) if is_far else (line.index,)
    near = _clause_at(line.message.text, one.start)
    is_ended = any_cue("cue_old").search(near) is not None and not any_cue("cue_new").search(near)
    return FoundFact(
        one.kind,
        _with_its_use(one, near),
        whose.person,
        round(sure, 2),
        sentence,
        tuple(i for i in lines if not reading.lines[i].is_data),
        whose.name,
        is_ended,
        _is_new(sentence.text, line, reading),
    )


def _with_its_use(one: Contact, clause: str) -> str:
    """A number for work alone says so: "+44 7700 900744 (work)"."""
    use = any_cue("phone_for_work").search(clause) if one.kind == "phone" else None
    return one.value if use is None else f"{one.value} ({next(filter(None, use.groups())).lower()})"


def _since(whose: Whose, line: Line, reading: Reading) -> int:
    """The first of the messages that say whose it is."""
    name = (whose.name or "").casefold()[:NAME_BEGINS]
    for one in reversed(reading.lines[max(0, line.index - SPOKEN_OF) : line.index - 3] if name else ()):
        if name in one.message.text.casefold() and not any(
            name in later.message.text.casefold() for later in reading.lines[one.index + 1 : line.index + 1]
        ):
            return one.index
    return max(0, line.index - 3)


def _is_only_placed(line: Line) -> bool:
    """Whether an address sent without a word of whose it is may be of a place to meet or of somebody told of."""
    text = line.message.text
    if any_cue("moved_house").search(text):
        return False
    return any(any_cue(name).search(text) for name in ("place_to_meet", "theirs", "yours"))


def _clause_at(text: str, place: int) -> str:
    """The clause in which a value stands; of a bare one also those beside it in its sentence."""
    cuts = [0, *(cut.end() for cut in _CLAUSES.finditer(text)), len(text)]
    number = max(at for at, cut in enumerate(cuts[:-1]) if cut <= place)
    clause = text[cuts[number] : cuts[number + 1]]
    if _LETTERS.search(clause) or "\n" in text:
        return clause
    return text[cuts[max(0, number - 1)] : cuts[number + 1]]


def _is_far_trade(whose: Whose, one: Contact, line: Line) -> bool:
    """Whether a value is given to a trade or a firm without a name of another clause."""
    name = whose.name
    if (
        name is None
        or whose.way in ("told before", "asked")
        or one.kind == "address"
        or not (name.islower() or cue("zh", "role").fullmatch(name))
    ):
        return False
    clause = _CLAUSES.split(line.message.text[: one.start])[-1]
    return name[: max(2, len(name) - 2)].casefold() not in clause.casefold()


def _is_told_as_handle(line: Line, reading: Reading) -> bool:
    """Whether the messages before speak of an account online."""
    near = reading.lines[max(0, line.index - TOLD_BEFORE) : line.index]
    return any(any_cue("asks_handle").search(one.message.text) for one in near)


def _is_new(text: str, line: Line, reading: Reading) -> bool:
    before = reading.lines[max(0, line.index - 1) : line.index]
    texts = [text, *(one.message.text for one in before if one.speaker == line.speaker)]
    return any(any_cue("cue_new").search(one) for one in texts)
