"""Index terms by Snowball: English for Latin, Russian for Cyrillic words, bigrams for scripts without spaces. The
script of each word decides, not the text's language. Stop words: ``memory/languages/*/words.toml``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from threading import Lock
from typing import Final

import snowballstemmer

from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.languages.scripts import CYRILLIC

REMEMBERED_WORDS: Final = 65_536
"""About 15 MB when full."""
_LONGEST_STEMMED_CHARS: Final = 40
_SHORT_PART_CHARS: Final = 2

# Scripts without spaces between words: Chinese, kana, hangul (with particles at its words), Thai, Lao, Burmese, Khmer.
_PAIRED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u1100-\u11ff\uac00-\ud7af\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d3"
)
_MARKS = (
    "\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0980-\u0983\u09bc-\u09cd\u0a3c-\u0a4d"
)
_LETTER = rf"[^\W_{_PAIRED}]"
_WORD = rf"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*"
_NUMBER = r"\d+(?:[.,:]\d+)+"
_TOKEN = re.compile(rf"{_NUMBER}|{_WORD}(?:['-]{_WORD})*|[{_PAIRED}]+")
_ASCII_TOKEN = re.compile(rf"{_NUMBER}|[a-z0-9]+(?:['-][a-z0-9]+)*")
_IS_PAIRED = re.compile(f"[{_PAIRED}]")

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CYRILLIC = re.compile(f"[{CYRILLIC}]+")
_CLITIC = re.compile(r"'(?:s|re|ve|ll|d|m)\Z")

_MENDED: Final = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "\u200b": " ", "ё": "е"}
    | dict.fromkeys("\u00ad\u200c\u200d\u2060\ufeff")  # invisible inside words
    | dict.fromkeys(map(chr, range(0x300, 0x370)))  # stress marks; what can be composed is
)
_LATIN: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})


class SnowballTerms:
    """A ``TermAnalyzer``. Thread-safe: stemmers have state, a lock guards them."""

    def __init__(self, *, remembered_words: int = REMEMBERED_WORDS) -> None:
        self._english = snowballstemmer.stemmer("english")
        self._russian = snowballstemmer.stemmer("russian")
        self._lock = Lock()
        self._stop = word_set("words", "stop")
        self._of_token = lru_cache(maxsize=remembered_words)(self._cut_token)

    def terms(self, text: str) -> list[str]:
        """Lower-case stems, numbers and bigrams; linear in the text."""
        tokens = _tokens(text)
        of_token = self._of_token
        found: list[str] = []
        for token in tokens:
            if len(token) > _LONGEST_STEMMED_CHARS:  # not worth remembering
                found.extend(self._cut_token(token))
            else:
                found.extend(of_token(token))
        return found

    def _cut_token(self, token: str) -> tuple[str, ...]:
        if _IS_PAIRED.match(token):
            pairs = [token[at : at + 2] for at in range(len(token) - 1)] or [token]
            return tuple(pair for pair in pairs if pair not in self._stop)
        if token[0].isdigit() and not token.isalnum() and "-" not in token and "'" not in token:
            return (_number(token),)
        parts = [_CLITIC.sub("", part).replace("'", "") for part in token.split("-")]
        if len(parts) == 1:
            return self._stems(parts)
        stems = self._stems(parts)
        is_one_word = token[0].isalpha() and any(len(part) <= _SHORT_PART_CHARS for part in parts)
        # e-mail is email, gpt-4 is gpt4; северо-запад is found by its parts alone
        return (*stems, *self._stems(["".join(parts)])) if is_one_word else stems

    def _stems(self, words: list[str]) -> tuple[str, ...]:
        return tuple(self._stem(word) for word in map(_folded, words) if word and word not in self._stop)

    def _stem(self, word: str) -> str:
        if len(word) > _LONGEST_STEMMED_CHARS or not word.isalpha():
            return word
        if word.isascii():
            stemmer = self._english
        elif _CYRILLIC.fullmatch(word):
            stemmer = self._russian
        else:
            return word
        with self._lock:
            return str(stemmer.stemWord(word))


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold().translate(_MENDED))


def _folded(word: str) -> str:
    """Latin words without accents; others unchanged."""
    if word.isascii() or _CYRILLIC.match(word):
        return word
    plain = "".join(c for c in unicodedata.normalize("NFD", word.translate(_LATIN)) if not unicodedata.combining(c))
    return plain if plain.isascii() else word


def _number(token: str) -> str:
    """``1,500.50`` → ``1500.50``; a decimal comma becomes a point; times and versions stay."""
    return token.replace(",", "") if _THOUSANDS.fullmatch(token) else token.replace(",", ".")
