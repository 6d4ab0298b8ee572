"""Whose a thing is: whether a text gives to one what the talk says is another's ("my son", "in your mailbox") (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from pkg_pipeline.memory.gate.agents import DIRECT, Scene
from pkg_pipeline.memory.gate.naming import Named, is_nominative
from pkg_pipeline.memory.gate.nearest import Unit
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import table
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.records import Person

_WORD: Final = re.compile(r"[^\W\d_]+")
_OWNED: Final = re.compile(r"^['’]s?\s+((?:[^\W\d_]+\s+)?[^\W\d_]+)")
_HAN_OWNED: Final = re.compile(r"^的?([^\W\d_]{2})")


def misowned(clause: str, scene: Scene) -> str | None:
    """The first participant in a clause to whom it gives what is said to be somebody else's, or None."""
    for named, thing in _owned(clause, scene):
        holders = {one for unit in scene.spoken.units for one in _holders(thing, unit, scene)}
        if holders and not any(named.person == one for one in holders):
            return named.word
    return None


def _owned(clause: str, scene: Scene) -> Iterator[tuple[Named, str]]:
    """Names of participants with the words for what is theirs."""
    for one in scene.names(clause):
        if one.person is None:
            continue
        behind, before = clause[one.end :], _WORD.findall(clause[: one.start])
        if is_han(one.word):
            found = _HAN_OWNED.match(behind)
            said = "".join(scene.spoken.texts)
            is_owned = found is not None and any(f"{who}{found[1]}" in said for who in "我你您")
            if found is not None and (behind.startswith("的") or is_owned or _is_kin(found[1], "zh")):
                yield one, found[1]
        elif is_cyrillic(folded(one.word)):
            if before and not is_nominative(one) and clause[: one.start].endswith(f"{before[-1]} "):
                yield one, before[-1]
        elif found := _OWNED.match(behind):
            yield from ((one, word) for word in found[1].split())


def _holders(thing: str, unit: Unit, scene: Scene) -> Iterator[Person | None]:
    """Whose a thing is by a clause that names it."""
    text, language = unit.text, _language(thing)
    at = _place(thing, text)
    if at is None:
        return
    before, data = folded(text[:at]), table(language, "agents")
    sender = unit.message.sender
    others = [person for person in scene.people if person != sender]
    if re.search(f"(?:{data['my']})$", before) or (language == "ru" and re.search(data["i_have"], folded(text))):
        yield sender
    elif re.search(f"(?:{data['your']})$", before) and len(scene.people) <= DIRECT:
        yield from others
    elif named := [one for one in scene.names(text) if _is_of(one, thing, text, scene)]:
        yield from (one.person for one in named)
    elif _is_kin(thing, language) and not re.search(data["of_another"], folded(text)) and not unit.is_question:
        yield sender


def _is_of(named: Named, thing: str, text: str, scene: Scene) -> bool:
    return any(one == named and content(owned) & content(thing) for one, owned in _owned(text, scene))


def _language(thing: str) -> str:
    return "zh" if is_han(thing[:1]) else "ru" if is_cyrillic(folded(thing)) else "en"


def _place(thing: str, text: str) -> int | None:
    """Where a text names a thing, in any form; of several words, the last."""
    if is_han(thing[:1]):
        found = [text.find(thing), *([text.find(thing[0])] if _is_kin(thing, "zh") else [])]
        return next((at for at in found if at >= 0), None)
    wanted = content(thing.split()[-1])
    return next((match.start() for match in _WORD.finditer(text) if wanted and content(match.group()) & wanted), None)


@cache
def _kin(language: str) -> re.Pattern[str]:
    return re.compile(table(language, "agents")["belongs"])


def _is_kin(thing: str, language: str) -> bool:
    """Whether a word names somebody or something that everybody has one of (son, boss, voice)."""
    return _kin(language).match(folded(thing)) is not None
