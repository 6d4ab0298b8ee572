"""Which of the three languages a text or a conversation is in, by its letters.

Here: counting scripts. Not here: what is said in which language. Only en, ru and zh exist for the prompts; another
language gets the one whose script it is written in (Ukrainian ru, German en, Japanese zh by its Han characters).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
_PLANE: Final = 0x10000
_LATIN, _CYRILLIC, _HAN = 1, 2, 3
_WEIGHTS: Final = (1, 1, HAN_WEIGHT)


def detect(texts: Iterable[str]) -> Language:
    """The language of a conversation: the script with most weight over all texts, in whatever order they come.

    Addresses, code, mentions and file names do not count. A tie, and a conversation without letters, is "en".
    """
    letters = _letters(list(texts))
    totals = letters.sum(axis=1, keepdims=True)
    counted = np.minimum(totals, MOST_LETTERS_OF_ONE_TEXT) * _SHARES
    shares = letters * counted // np.maximum(totals, 1)
    return _most(*shares.sum(axis=0).tolist())


def _letters(texts: Sequence[str]) -> NDArray[np.int64]:
    """Weighted letters in Latin, Cyrillic and Han script of what was said: int64 (texts, 3)."""
    if not texts:
        return np.zeros((0, 3), np.int64)
    said = [_NOT_SPEECH.sub(" ", text) if _MAY_HOLD_SUCH.search(text) else text for text in texts]
    lengths = np.fromiter(map(len, said), np.int64, count=len(said)) + 1
    joined = "\n".join((*said, "")).encode("utf-32-le", "surrogatepass")
    script = _scripts()[np.minimum(np.frombuffer(joined, dtype="<u4"), _PLANE - 1)]
    begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)[:-1]))
    counts = [np.add.reduceat(script == kind, begins, dtype=np.int64) for kind in (_LATIN, _CYRILLIC, _HAN)]
    return np.stack(counts, axis=1) * np.array(_WEIGHTS, np.int64)


@cache
def _scripts() -> NDArray[np.uint8]:
    scripts = np.zeros(_PLANE, np.uint8)
    for kind, ranges in (
        (_LATIN, ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F))),
        (_CYRILLIC, ((0x400, 0x52F),)),
        (_HAN, ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))),
    ):
        for first, last in ranges:
            scripts[first : last + 1] = kind
    return scripts


def _most(en: int, ru: int, zh: int) -> Language:
    if ru > en and ru > zh:
        return "ru"
    return "zh" if zh > en and zh > ru else "en"
