"""The content words of a text, for telling whether two texts speak of one matter."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.languages.scripts import HAN, KANA
from pkg_pipeline.memory.text.normalise import STEM_LETTERS

_HAN: Final = KANA + HAN
_PIECE: Final = re.compile(
    rf"(?P<han>[{_HAN}])|(?P<number>\d+(?:[ .,\u00a0]\d{{3}})*(?!\d))|(?P<word>[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)?)"
)
_SHORTEST_WORD: Final = 3


@lru_cache(maxsize=8192)
def content(text: str) -> frozenset[str]:
    """The content of a text: word stems, Chinese characters, numbers as ``#`` and their digits."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    # stop words and reporting verbs
    common = word_set("words", "stop") | word_set("words", "no_topic")
    found: set[str] = set()
    for match in _PIECE.finditer(folded):
        piece = match.group()
        if match["number"]:
            found.add("#" + "".join(character for character in piece if character.isdigit()))
        elif piece not in common and (match["han"] or len(piece) >= _SHORTEST_WORD):
            found.add(piece if match["han"] else piece[:STEM_LETTERS])
    return frozenset(found)
