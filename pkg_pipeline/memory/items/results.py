"""Whether quoted words tell what is so only once an item was done, with no word for its deed (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pkg_pipeline.memory.gate.calendar import mentions
from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import has, parts_of
from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.progress import gives_up, is_joke, is_open, is_weighed, shares_text, touched
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.items.completion import comes_to_nothing
from pkg_pipeline.memory.items.matter import SPOKEN_OF, Matter
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import Person, SourceMessage

_AGAINST = ("lacking", "draft", "apart", "thought", "undone", "failed", "delayed", "offered", "other", "later_time")
"""What makes a result another one, or none yet."""


class _Result(NamedTuple):
    """What is so after deeds of one kind. ``is_alone``: no other deed of a few shown items has it.

    ``is_of_both``: said of two things of the matter, what was given and who got it.
    """

    deed: re.Pattern[str]
    shown: re.Pattern[str]
    is_alone: bool
    is_of_both: bool


@cache
def _results() -> tuple[_Result, ...]:
    rows = [(language, row) for language, some in entries("results", "results") for row in some]
    return tuple(
        _Result(
            _whole(language, row["deed"], begins=True),
            _whole(language, row["shown"]),
            row.get("alone", False),
            row.get("both", False),
        )
        for language, row in rows
    )


@cache
def _proofs() -> tuple[re.Pattern[str], ...]:
    return tuple(_whole(language, source) for language, source in entries("results", "proof"))


def _whole(language: str, source: str, *, begins: bool = False) -> re.Pattern[str]:
    """Chinese words need no borders; ``begins``: a word may go on."""
    if language == "zh":
        return re.compile(source)
    return re.compile(rf"(?<!\w)(?:{source})" + ("" if begins else r"(?!\w)"))


def shows_result(
    matter: Matter,
    others: Iterable[str],
    evidence: Evidence,
    quoted: SourceMessage,
    talk: Sequence[SourceMessage],
    people: Iterable[Person],
) -> bool:
    """Whether what is quoted is so only once the matter was done. ``others``: words of other open items."""
    if is_joke(evidence.messages, evidence.quote) or comes_to_nothing(matter, evidence.quote, quoted):
        return False
    parts = [
        part
        for one in touched([quoted], evidence.quote)
        if not is_question(one)
        for part in parts_of(one)
        if shares_text(part, evidence.quote)
    ]
    text = " ".join(parts)
    if _is_against(text, matter) or any(matter.is_of_other(one) for one in parts if is_han(one[:1])):
        return False
    if any(one.kind == "month" and min(one.days) > matter.day for one in mentions(text, matter.day)):
        return False  # "arrives in May"
    known = content(" ".join(person.name for person in people))
    meant = content(matter.text) & matter.names - known

    def names(text: str) -> bool:
        return bool(matter.names_in(text, is_asked=True)) or bool(content(text) & meant)

    is_near = any(names(m.text) for m in talk if 0 <= quoted.number - m.number <= SPOKEN_OF)
    words = folded(matter.text)
    mine = [one for one in _results() if one.deed.search(words)]
    later = [m.text for m in evidence.messages if m.number > quoted.number and m.sender != quoted.sender]
    for said in (text, *(one for one in later if not _is_against(one, matter))):
        plain = folded(said).replace("’", "'")
        found = [one for one in mine if one.shown.search(plain)]
        is_of_both = len(content(said) & (matter.meanings | meant)) > 1
        if any((is_near or _is_only(one, others)) and (is_of_both or not one.is_of_both) for one in found):
            return True
    papers = [match for one in _proofs() if (match := one.search(folded(text).replace("’", "'"))) is not None]
    return is_near and any(not matter.names_in(match.group()) for match in papers)


def _is_against(text: str, matter: Matter) -> bool:
    """Whether words ask, weigh, put off, or tell of a result that is another one, or none yet."""
    if is_question(text) or is_weighed(text) or is_open(text) or (gives_up(text) and not has("cancel", matter.words)):
        return True
    return any(has(sign, text) and not has(sign, matter.words) for sign in _AGAINST)


def _is_only(result: _Result, others: Iterable[str]) -> bool:
    return result.is_alone and not any(result.deed.search(folded(one)) for one in others)
