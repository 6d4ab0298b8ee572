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
_CYRILLIC = re.compile(r"[\u0400-\u052f]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def detect(texts: Iterable[str]) -> Language:
    """The language of a conversation: the script with most weight over all texts, in whatever order they come.

    Addresses, code, mentions and file names do not count. A tie, and a conversation without letters, is "en".
    """
    en = ru = zh = 0
    for text in texts:
        latin, cyrillic, han = _letters(text)
        total = latin + cyrillic + han
        if total:
            share = min(total, MOST_LETTERS_OF_ONE_TEXT) * _SHARES
            en, ru, zh = en + latin * share // total, ru + cyrillic * share // total, zh + han * share // total
    return _most(en, ru, zh)


def detect_one(text: str) -> Language:
    """The language of one text, by the same rule."""
    return _most(*_letters(text))


def _letters(text: str) -> tuple[int, int, int]:
    """Weighted letters in Latin, Cyrillic and Han script of what was said in ``text``."""
    said = _NOT_SPEECH.sub(" ", text)
    cyrillic = sum(map(len, _CYRILLIC.findall(said)))
    latin = sum(map(len, _LATIN.findall(said)))
    han = 0 if said.isascii() else sum(map(len, _HAN.findall(said)))
    return latin, cyrillic, han * HAN_WEIGHT


def _most(en: int, ru: int, zh: int) -> Language:
    if ru > en and ru > zh:
        return "ru"
    return "zh" if zh > en and zh > ru else "en"
