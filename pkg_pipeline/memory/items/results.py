"""Whether quoted words tell what is so only once an item was done, with no word for its deed (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import has, parts_of
from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.progress import is_joke, is_open, is_weighed, shares_text, touched
from pkg_pipeline.memory.items.completion import comes_to_nothing
from pkg_pipeline.memory.items.matter import SPOKEN_OF, Matter
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.records import SourceMessage

_AGAINST = ("lacking", "draft", "apart", "thought", "undone", "failed", "delayed", "offered", "other", "later_time")
"""What makes a result another one, or none yet."""


class _Result(NamedTuple):
    """What is so after deeds of one kind; ``is_alone``: no other deed of a few shown items has it."""

    deed: re.Pattern[str]
    shown: re.Pattern[str]
    is_alone: bool


@cache
def _results() -> tuple[_Result, ...]:
    rows = [(language, row) for language, some in entries("results", "results") for row in some]
    return tuple(
        _Result(_whole(language, row["deed"], begins=True), _whole(language, row["shown"]), row.get("alone", False))
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
    matter: Matter, others: Iterable[str], evidence: Evidence, quoted: SourceMessage, talk: Sequence[SourceMessage]
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
    if is_weighed(text) or is_open(text) or any(has(sign, text) and not has(sign, matter.words) for sign in _AGAINST):
        return False
    near = [m for m in talk if 0 <= quoted.number - m.number <= SPOKEN_OF]
    is_named = any(matter.names_in(part) for part in parts)
    is_near = is_named or any(matter.names_in(m.text, is_asked=True) for m in near)
    plain, words = folded(text).replace("’", "'"), folded(matter.text)
    mine = [one for one in _results() if one.deed.search(words)]
    if any(one.shown.search(plain) and (is_near or _is_only(one, others)) for one in mine):
        return True
    found = [match for one in _proofs() if (match := one.search(plain)) is not None]
    return is_near and any(not matter.names_in(match.group()) for match in found)


def _is_only(result: _Result, others: Iterable[str]) -> bool:
    return result.is_alone and not any(result.deed.search(folded(one)) for one in others)
