"""Whether the words of an item follow from the messages that it cites (B9, B15), whatever those of others want said.

A model that obeys an order puts the order's words over a harmless quote. So most of what an item says must stand in its
own messages, and nobody else's message may say it better. Compared are words without those that every text has, by
their first letters, Chinese and Japanese by their characters; polarity and sums are not judged here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from pkg_pipeline.memory.gate.normalise import STEM_LETTERS
from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.languages.scripts import HAN, KANA

RESTS_SHARE: Final = 0.25
"""At least this share of an item's content words stands in what it cites. Right items reword much: of the labelled
conversations' 172, written without looking at this, 8 lie below it, and one in a hundred of other talks' above."""

ELSEWHERE_SHARE: Final = 2 / 3
"""An uncited message that holds this share of them, and more than the cited ones together, is what the item says."""

_HAN: Final = KANA + HAN
_PIECE: Final = re.compile(
    rf"(?P<han>[{_HAN}])|(?P<number>\d+(?:[ .,\u00a0]\d{{3}})*(?!\d))|(?P<word>[^\W\d_{_HAN}]+(?:['’][^\W\d_{_HAN}]+)?)"
)
_SHORTEST_WORD: Final = 3


@lru_cache(maxsize=8192)
def content(text: str) -> frozenset[str]:
    """What the text says: beginnings of its words, Chinese characters, numbers as ``#`` and their digits."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    # words that every text has, with the verbs that report what was said
    common = word_set("words", "stop") | word_set("words", "no_topic")
    found: set[str] = set()
    for match in _PIECE.finditer(folded):
        piece = match.group()
        if match["number"]:
            found.add("#" + "".join(character for character in piece if character.isdigit()))
        elif piece not in common and (match["han"] or len(piece) >= _SHORTEST_WORD):
            found.add(piece if match["han"] else piece[:STEM_LETTERS])
    return frozenset(found)


def does_not_follow(
    text: str, cited: Iterable[str], elsewhere: Iterable[str], *, allowed: frozenset[str] = frozenset()
) -> str | None:
    """Why ``text`` is not what the texts ``cited`` say, or None. ``allowed`` is content that needs none: names."""
    said = content(text) - allowed
    if not said:
        return None
    rests = len(said & content("\n".join(cited)))
    if rests < RESTS_SHARE * len(said):
        return "does not follow from the messages that it cites"
    better = max((len(said & content(other)) for other in elsewhere), default=0)
    if better > rests and better >= ELSEWHERE_SHARE * len(said):
        return "says what a message says that it does not cite"
    return None
