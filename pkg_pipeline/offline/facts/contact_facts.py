"""Contacts and accounts with whose they are (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pkg_pipeline.offline.facts.contact_bearers import TOLD_BEFORE, of_contact
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
found, and an account whom they pay.
"""
CLOSE: Final = 40
"""Characters between two contacts of one person."""
UNMARKED: Final = 0.75
"""Factor for a number or @name without a word that says what it is."""
ASKED_ABOUT: Final = 0.8
"""Factor where a question names a value ("is it still …?")."""

_CLAUSES: Final = re.compile(r"[,;!?](?=\s)|\.\s|[，。；！？\n]")
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
    if one.kind == "handle" and not one.is_marked and not _is_told_as_handle(line, reading):
        return None
    is_near = whose.way == "named" and whose.name is not None and one.kind in ("address", "account")
    is_moved = any_cue("moved_house").search(line.message.text) is not None
    is_placed = whose.way == "sent" and one.kind == "address" and not is_moved
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
    lines = range(max(0, line.index - 3), line.index + 1) if is_far else (line.index,)
    is_ended = any_cue("cue_old").search(sentence.text) is not None and not any_cue("cue_new").search(sentence.text)
    return FoundFact(
        one.kind,
        one.value,
        whose.person,
        round(sure, 2),
        sentence,
        tuple(i for i in lines if not reading.lines[i].is_data),
        whose.name,
        is_ended,
        _is_new(sentence.text, line, reading),
    )


def _is_far_trade(whose: Whose, one: Contact, line: Line) -> bool:
    """Whether a value is given to a trade or a firm without a name of another clause."""
    name = whose.name
    if name is None or whose.way == "told before" or not (name.islower() or cue("zh", "role").fullmatch(name)):
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
