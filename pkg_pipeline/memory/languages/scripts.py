"""The scripts that texts are told apart by: the one place that knows their ranges, as insides of a ``[…]``."""

from __future__ import annotations

import re
from typing import Final

from pkg_pipeline.memory.languages import table

LATIN: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
CYRILLIC: Final = "\u0400-\u052f"
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA: Final = "\u3040-\u30ff"
HAN_WEIGHT: Final = 3
"""Letters that one Han character stands for: a Chinese word has one or two, an English or Russian one five or six, so
that 我们用React写前端 is Chinese although most of its signs are Latin."""

_LETTERS: Final = {"latin": LATIN, "cyrillic": CYRILLIC, "han": HAN}
_CYRILLIC_FIRST: Final = re.compile(f"[{CYRILLIC}]")
_HAN_FIRST: Final = re.compile(f"[{HAN}]")


def letters_of(language: str) -> str:
    """The letters a language is written with: those of its script, or its own where its folder names them."""
    script: str = table(language, "phrases")["script"]
    return _LETTERS.get(script, script)


def weight_of(language: str) -> int:
    """How many letters one of the language's counts for."""
    return HAN_WEIGHT if letters_of(language) == HAN else 1


def is_cyrillic(word: str) -> bool:
    """Whether a word begins with a Cyrillic letter."""
    return _CYRILLIC_FIRST.match(word) is not None


def is_han(word: str) -> bool:
    """Whether a word begins with a Chinese character."""
    return _HAN_FIRST.match(word) is not None
