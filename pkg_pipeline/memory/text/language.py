"""Language of a text or conversation by its script; other languages map to theirs (Ukrainian ru, German en)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.languages.scripts import HAN, letters_of, weight_of
from pkg_pipeline.memory.records import Language

MOST_LETTERS_OF_ONE_TEXT: Final = 300
"""Letters counted per text, so that one pasted article does not decide."""

_SHARES: Final = 1_000_000  # integers: the order of the texts cannot change the sum

_NOT_SPEECH = re.compile(
    r"```[\s\S]*?(?:```|\Z)"  # fenced code
    r"|`[^`\n]{1,200}`"
    rf"|(?:https?://|ftp://|www\.)[^\s{HAN}，。）]+"  # a Chinese sentence goes on without a space
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?<!\w)[@#/][A-Za-z_]\w*"  # mentions, tags, bot commands
    r"|</?[A-Za-z][^<>\n]{0,200}>"
    r"|\b[A-Za-z]\w*(?:[_.:/\\]+\w+)+(?:\(\))?"  # names out of programs, paths, domains
    r"|\[archived\]"
)
_MAY_HOLD_SUCH = re.compile(r"[`@/<\\_\[#]|[A-Za-z][.:][A-Za-z]")  # skips the long expression for most texts
_ASCII_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def detect(texts: Iterable[str]) -> Language:
    """The language of the script with most weight, whatever the order; "en" for a tie or no letters."""
    return most_of(shares_of(texts))


def most_of(shares: Sequence[int]) -> Language:
    best: list[Language] = [language for language, share in zip(LANGUAGES, shares, strict=True) if share == max(shares)]
    return best[0] if len(best) == 1 else LANGUAGES[0]


def shares_of(texts: Iterable[str]) -> list[int]:
    """Weight of each of LANGUAGES; of texts together it is the sum. Addresses, code, mentions and file names do not
    count.
    """
    shares = [0] * len(LANGUAGES)
    for text in texts:
        letters = _letters(_NOT_SPEECH.sub(" ", text) if _MAY_HOLD_SUCH.search(text) else text)
        if total := sum(letters):
            counted = min(total, MOST_LETTERS_OF_ONE_TEXT) * _SHARES
            shares = [before + one * counted // total for before, one in zip(shares, letters, strict=True)]
    return shares


def _letters(said: str) -> list[int]:
    if said.isascii():
        return [len(said) - len(said.encode().translate(None, _ASCII_LETTERS)), *[0] * (len(LANGUAGES) - 1)]
    return [sum(map(len, pattern.findall(said))) * weight for pattern, weight in _scripts()]


@cache
def _scripts() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(f"[{letters_of(one)}]+"), weight_of(one)) for one in LANGUAGES)
