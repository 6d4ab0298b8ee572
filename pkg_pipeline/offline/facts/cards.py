"""What somebody is and for whom they work, by contact cards and signatures (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pkg_pipeline.offline.facts.contact_facts import own_words
from pkg_pipeline.offline.facts.found import FactKind, FoundFact, sentence_at
from pkg_pipeline.offline.facts.signatures import SIGNED_LINES, is_name_of
from pkg_pipeline.offline.facts.words import any_cue, cue
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line
from pkg_pipeline.offline.weighing import is_question

SURE: Final = 0.92
LEAST: Final = 0.9
"""How sure a contact is that says whose the card is."""
LONGEST_ROW: Final = 140
LONGEST_PIECE: Final = 60
LONGEST_NAME: Final = 30
LONGEST_FIRM: Final = 14
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_PIECES: Final = re.compile(r"[^,，;；|｜·•()（）\n]+")
_ENDS: Final = re.compile(r" [—–-] |\.(?= |$)|(?<=[\u4e00-\u9fff])\s+|\s+(?=[\u4e00-\u9fff])")


def card_facts(line: Line, contacts: Sequence[FoundFact]) -> Iterator[FoundFact]:
    """Position and organisation beside a contact that is surely somebody's, or below the closing words of a letter."""
    text = own_words(line.message.text[:MAX_MESSAGE_CHARS])
    signed = _signed_from(text, line, is_card=bool(contacts))
    start = 0
    for row in text.split("\n"):
        owner = _owner(row, contacts)
        if len(row) <= LONGEST_ROW and not is_question(row) and (owner is not None or start >= signed):
            yield from _of_row(row, start, owner, line)
        start += len(row) + 1


def _signed_from(text: str, line: Line, *, is_card: bool) -> int:
    """Where the rows below the closing words of a letter, or below the sender's name alone, begin; past its end:
    nowhere. ``is_card``: the name may be the first row, since a contact stands below.
    """
    rows = text.split("\n")
    for back in range(2, min(len(rows), SIGNED_LINES) + 1):
        is_own = len(rows[-back]) <= LONGEST_NAME and is_name_of(rows[-back], line.speaker)
        if any_cue("signature").match(rows[-back]) or (is_own and (is_card or len(rows) > back)):
            return len("\n".join(rows[: -back + 1])) + 1
    return len(text) + 1


def _owner(row: str, contacts: Sequence[FoundFact]) -> FoundFact | None:
    sure = (one for one in contacts if one.confidence >= LEAST and not one.is_ended and one.kind != "address")
    return next((one for one in sure if _is_in(one.value, row)), None)


def _is_in(value: str, row: str) -> bool:
    number = re.sub(r"\D", "", value)[-6:]
    return value.casefold() in row.casefold() or (len(number) > 5 and number in re.sub(r"\D", "", row))


def _of_row(row: str, start: int, owner: FoundFact | None, line: Line) -> Iterator[FoundFact]:
    about, name = (line.speaker, None) if owner is None else (owner.about, owner.name)
    pieces = [(piece, m.start() + m.group().find(piece)) for m in _PIECES.finditer(row) for piece in _ENDS.split(m[0])]
    firm = _firm_of([piece.strip() for piece, _ in pieces], line) if owner is not None else None
    for piece, place in pieces:
        kind = "organization" if firm and piece.strip() == firm else _kind_of(piece.strip(), line)
        sentence = sentence_at(line, start + place)
        if kind is None or sentence is None or (name is not None and name.casefold() in piece.casefold()):
            continue
        yield FoundFact(kind, piece.strip(), about, SURE, sentence, (line.index,), name)


def _firm_of(pieces: Sequence[str], line: Line) -> str | None:
    """The one piece of a row like a Chinese card (a name, a firm, a job, a number) that is nothing else."""
    words = [one for one in pieces if len(_HAN.findall(one)) > 1]
    if any(cue(line.language, "no_card_piece").search(one) for one in words):
        return None
    names = [one for one in words if cue(line.language, "card_person").fullmatch(one)]
    jobs = [one for one in words if one not in names and _kind_of(one, line) == "position"]
    firms = [one for one in words if one not in (*names, *jobs) and not cue(line.language, "place_piece").search(one)]
    return firms[0] if len(firms) == 1 and len(names) == 1 and len(firms[0]) <= LONGEST_FIRM else None


def _kind_of(piece: str, line: Line) -> FactKind | None:
    if not piece or len(piece) > LONGEST_PIECE or any_cue("cue_bank").search(piece):
        return None
    if cue(line.language, "firm_piece").fullmatch(piece):
        return "organization"
    return "position" if cue(line.language, "job_piece").fullmatch(piece) else None
