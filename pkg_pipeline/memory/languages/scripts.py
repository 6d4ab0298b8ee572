"""The character ranges of scripts, as contents of a ``[…]``."""

from __future__ import annotations

import re
from typing import Final

from pkg_pipeline.memory.languages import table

LATIN: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
CYRILLIC: Final = "\u0400-\u052f"
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
KANA: Final = "\u3040-\u30ff"
HAN_WEIGHT: Final = 3
"""Letters that one Han character counts for: Chinese words have one or two characters, others five or six letters."""

_LETTERS: Final = {"latin": LATIN, "cyrillic": CYRILLIC, "han": HAN}
_CYRILLIC_FIRST: Final = re.compile(f"[{CYRILLIC}]")
_HAN_FIRST: Final = re.compile(f"[{HAN}]")
_LATIN_FIRST: Final = re.compile(f"[{LATIN}]")


def letters_of(language: str) -> str:
    """The letters of a language: those its folder names, else its script."""
    script: str = table(language, "phrases")["script"]
    return _LETTERS.get(script, script)


def weight_of(language: str) -> int:
    return HAN_WEIGHT if letters_of(language) == HAN else 1


def is_cyrillic(word: str) -> bool:
    return _CYRILLIC_FIRST.match(word) is not None


def is_han(word: str) -> bool:
    return _HAN_FIRST.match(word) is not None


def script_in(text: str) -> str:
    """The script of a text; of several Han, then Cyrillic, since Latin names stand in any. Empty: none."""
    looks = ("han", _HAN_FIRST), ("cyrillic", _CYRILLIC_FIRST), ("latin", _LATIN_FIRST)
    return next((name for name, letters in looks if letters.search(text)), "")
