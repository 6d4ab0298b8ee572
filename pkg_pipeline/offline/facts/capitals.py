"""Names written in small letters, as they are known by their capital (P13)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pkg_pipeline.memory.gate.people import is_plain_first_name
from pkg_pipeline.memory.text.name_forms import is_also_a_word
from pkg_pipeline.offline.facts.words import any_cue
from pkg_pipeline.offline.reading import Reading

SHORTEST_NAME: Final = 3
"""Letters of a name that is known without its capital."""
_WORD: Final = re.compile(r"[^\W\d_]+")


def with_names(text: str, reading: Reading) -> str:
    """A text in which the names of those who take part begin with a capital; of who writes none, usual names too."""
    names = _capitalised(tuple(person.name for person in reading.source.participants))
    named = text if names is None else names.sub(lambda m: m.group().capitalize(), text)
    return _WORD.sub(_usual_name, named) if text == text.lower() else named


def _usual_name(m: re.Match[str]) -> str:
    word = m.group()
    is_usual = len(word) >= SHORTEST_NAME and is_plain_first_name(word)
    is_name = is_usual and not is_also_a_word(word) and not any_cue("words_too").fullmatch(word)
    return word.capitalize() if is_name else word


@lru_cache(maxsize=256)
def _capitalised(people: tuple[str, ...]) -> re.Pattern[str] | None:
    words = {part.lower() for name in people for part in _WORD.findall(name) if len(part) >= SHORTEST_NAME}
    words = {word for word in words if not is_also_a_word(word)}
    return re.compile(rf"\b(?:{'|'.join(sorted(words))})\b") if words else None
