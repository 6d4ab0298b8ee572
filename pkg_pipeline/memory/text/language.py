"""Which of the three languages a text or a conversation is in, by its letters.

Here: counting scripts. Not here: what is said in which language. Only en, ru and zh exist for the prompts; another
language gets the one whose script it is written in (Ukrainian ru, German en, Japanese zh by its Han characters).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from pkg_pipeline.memory.records import Language

HAN_WEIGHT: Final = 3
"""Letters that one Han character stands for: a Chinese word has one or two, an English or Russian one five or six, so
that 我们用React写前端 is Chinese although most of its signs are Latin."""
MOST_LETTERS_OF_ONE_TEXT: Final = 300
"""One pasted article must not outvote the conversation around it: a longer text counts as this many letters."""

_SHARES: Final = 1_000_000  # integers, so that the order of the texts cannot change the sum

_NOT_SPEECH = re.compile(
    r"```[\s\S]*?(?:```|\Z)"  # fenced code
    r"|`[^`\n]{1,200}`"
    r"|(?:https?://|ftp://|www\.)[^\s\u4e00-\u9fff，。）]+"  # a Chinese sentence goes on without a space
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?<!\w)[@#/][A-Za-z_]\w*"  # mentions, tags, bot commands
    r"|</?[A-Za-z][^<>\n]{0,200}>"
    r"|\b[A-Za-z]\w*(?:[_.:/\\]+\w+)+(?:\(\))?"  # names out of programs, paths, domains
    r"|\[archived\]"
)
_MAY_HOLD_SUCH = re.compile(r"[`@/<\\_\[#]|[A-Za-z][.:][A-Za-z]")  # spares most texts the long expression
_ASCII_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LATIN = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+")
_CYRILLIC = re.compile("[\u0400-\u052f]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def detect(texts: Iterable[str]) -> Language:
    """The language of a conversation: the script with most weight over all texts, in whatever order they come.

    Addresses, code, mentions and file names do not count. A tie, and a conversation without letters, is "en".
    """
    shares = [0, 0, 0]
    for text in texts:
        letters = _letters(_NOT_SPEECH.sub(" ", text) if _MAY_HOLD_SUCH.search(text) else text)
        if total := sum(letters):
            counted = min(total, MOST_LETTERS_OF_ONE_TEXT) * _SHARES
            shares = [before + one * counted // total for before, one in zip(shares, letters, strict=True)]
    return _most(*shares)


def _letters(said: str) -> tuple[int, int, int]:
    """Weighted letters in Latin, Cyrillic and Han script."""
    if said.isascii():
        return len(said) - len(said.encode().translate(None, _ASCII_LETTERS)), 0, 0
    latin, cyrillic, han = (sum(map(len, script.findall(said))) for script in (_LATIN, _CYRILLIC, _HAN))
    return latin, cyrillic, han * HAN_WEIGHT


def _most(en: int, ru: int, zh: int) -> Language:
    if ru > en and ru > zh:
        return "ru"
    return "zh" if zh > en and zh > ru else "en"
