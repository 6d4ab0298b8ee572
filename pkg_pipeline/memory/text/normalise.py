"""Normalises texts for comparison: folding with positions in the source (P17), words, sentences, scripts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.languages.scripts import HAN, letters_of, weight_of
from pkg_pipeline.memory.records import Language

STEM_LETTERS = 4
"""First letters by which words are compared."""

SHORT_QUOTE_CHARS = 12
"""Shorter quotes must match whole words."""

MOST_PARTS = 4
SHORTEST_PART = 2
"""Of a quote with ellipses: most parts, and least letters of each."""

WORDS_PER_HAN_CHARACTER = 2 / 3

_TYPOGRAPHIC = str.maketrans("‘’‚‛`´“”„«»「」『』‐‑‒–—―−", "''''''" + '"' * 9 + "-" * 7)
_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(rf"[^\W\d_{HAN}]+(?:[-'’][^\W\d_{HAN}]+)*|\d+", re.UNICODE)
_LETTERS = re.compile(rf"[^\W\d_{HAN}]{{3,}}", re.UNICODE)
_SENTENCE_END = re.compile(
    r"(?P<before>\S{0,24}?)[.!?…]+[\"'»”)\]]*(?:\s+(?=[\"'«“(\[]?[^\W\da-zа-яё_])|\s*$)|[。！？]+[\"”」』]*"
)
_CLAUSE_END = re.compile(r"[.!?…;:。！？；：\n\"«»“”()]+")
_ABBREVIATION = re.compile(
    r"(?:^|.*\W)(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|inc|ltd|co|approx|др|пр|ул|руб|тыс|млн|млрд"
    r"|им|см|стр|гр|г-н|г-жа|т\.[деп]|т\.к)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A text, its folded form, and the source span of every folded character."""

    source: str
    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def find(self, wanted: str) -> str | None:
        """The source's words for ``wanted``, or None; short ones only as whole words.

        An ellipsis in ``wanted`` joins parts that follow one another; the words between are given too.
        """
        needle = comparable(wanted)
        at = self._at(needle)
        if at is None:
            at = self._joined_at([part.strip() for part in needle.split("...") if part.strip()])
        return None if at is None else self.source[self.starts[at[0]] : self.ends[at[1] - 1]]

    def _joined_at(self, parts: list[str]) -> tuple[int, int] | None:
        """Where parts stand one after the other, from the first's start to the last's end."""
        if not parts or len(parts) > MOST_PARTS:
            return None
        found: list[tuple[int, int]] = []
        for part in parts:
            at = self._at(part, found[-1][1] if found else 0)
            if at is None or (len(parts) > 1 and sum(map(str.isalnum, part)) < SHORTEST_PART):
                return None
            found.append(at)
        return found[0][0], found[-1][1]

    def _at(self, needle: str, begin: int = 0) -> tuple[int, int] | None:
        if not any(character.isalnum() or unicodedata.category(character)[0] == "S" for character in needle):
            return None
        at = self.text.find(needle, begin)
        while at >= 0:
            end = at + len(needle)
            if self._is_whole(at, end) and (len(needle) > SHORT_QUOTE_CHARS or self._is_at_edges(at, end)):
                return at, end
            at = self.text.find(needle, at + 1)
        return None

    def _is_whole(self, at: int, end: int) -> bool:
        """Whether no grapheme cluster of the source is cut."""
        starts_whole = at == 0 or self.starts[at - 1] != self.starts[at]
        ends_whole = end == len(self.text) or self.starts[end] != self.starts[end - 1]
        return starts_whole and ends_whole

    def _is_at_edges(self, at: int, end: int) -> bool:
        return not (at > 0 and _joins(self.text[at - 1], self.text[at])) and not (
            end < len(self.text) and _joins(self.text[end - 1], self.text[end])
        )


def normalised(text: str) -> NormalisedText:
    """``text`` case-folded, canonically decomposed, white space collapsed, invisible characters removed."""
    if text.isascii() and text == " ".join(text.split()):  # fast path: every letter maps to itself
        count = len(text)
        return NormalisedText(
            text, text.translate(_TYPOGRAPHIC).lower(), tuple(range(count)), tuple(range(1, count + 1))
        )
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    while position < len(text):
        end = position + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        for character in _fold_cluster(text[position:end]):
            if character == " " and (not characters or characters[-1] == " "):
                continue
            characters.append(character)
            starts.append(position)
            ends.append(end)
        position = end
    if characters and characters[-1] == " ":
        characters.pop()
        starts.pop()
        ends.pop()
    return NormalisedText(text, "".join(characters), tuple(starts), tuple(ends))


def comparable(text: str) -> str:
    """The folded text alone."""
    return normalised(text).text


@lru_cache(maxsize=4096)  # an alphabet or two, and common punctuation
def _fold_cluster(cluster: str) -> str:
    if cluster.isspace():
        return " "
    if unicodedata.category(cluster[0]) == "Cf":
        return ""
    decomposed = unicodedata.normalize("NFD", cluster.translate(_TYPOGRAPHIC).replace("…", "..."))
    return unicodedata.normalize("NFD", decomposed.casefold()).replace("е\u0308", "е")  # ё is written either way


def _joins(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word; Chinese has no word boundaries."""
    return left.isalnum() and right.isalnum() and not (_HAN_RUN.match(left) or _HAN_RUN.match(right))


def plain(text: str) -> str:
    """Stronger folding for patterns: compatibility forms, no invisibles, spaced-out letters joined."""
    visible = text if text.isascii() else _bare(text)
    joined = re.sub(r"\b(?:[^\W\d_][ .\-_*]){3,}[^\W\d_]\b", lambda match: re.sub(r"\W|_", "", match.group()), visible)
    return " ".join(joined.casefold().split())


_LATIN_ALIKE = dict(zip("асеорхуіјѕһкмтвнԁգԛԝαεικνορτυχϲϳ", "aceopxyijshkmtbhdgqwaeiknoptuxcj", strict=True))
_CYRILLIC_ALIKE = dict(zip("aceopxykmtbhu3", "асеорхукмтвниз", strict=True))
_MIXED_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_LATIN_LETTER = re.compile("[a-z]")
_CYRILLIC_LETTER = re.compile("[а-яё]")
_PLAIN_LETTERS = str.maketrans({"ł": "l", "ı": "i", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})


def _bare(text: str) -> str:
    """Compatibility forms in lower case, without invisibles, Latin accents and homoglyphs."""
    letters: list[str] = []
    for character in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.combining(character):
            if letters and letters[-1].isascii():
                continue  # й and ё are kept
        elif unicodedata.category(character) == "Cf":
            continue
        letters.append(character)
    folded = unicodedata.normalize("NFC", "".join(letters)).translate(_PLAIN_LETTERS)
    return _MIXED_WORD.sub(lambda match: _of_one_script(match.group()), folded)


def _of_one_script(word: str) -> str:
    """A mixed-script word in the one script that fits all its homoglyphs."""
    if word.isascii() or _LATIN_LETTER.search(word) is None:
        return word
    latin, cyrillic = len(_LATIN_LETTER.findall(word)), len(_CYRILLIC_LETTER.findall(word))
    alike = sum(letter in _LATIN_ALIKE for letter in word)
    if latin and alike and latin + alike == sum(map(str.isalpha, word)):
        return "".join(_LATIN_ALIKE.get(letter, letter) for letter in word)
    if cyrillic and latin:
        return "".join(_CYRILLIC_ALIKE.get(letter, letter) for letter in word)
    return word


def stems(text: str) -> frozenset[str]:
    """First letters of words from three letters on, pairs of Chinese characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {word[:STEM_LETTERS] for word in _LETTERS.findall(folded)}
    for run in _HAN_RUN.findall(folded):
        found.update(run[index : index + 2] for index in range(len(run) - 1))
    return frozenset(found)


def word_runs(text: str, length: int) -> list[str]:
    """Every ``length`` consecutive words, twice as many Chinese characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _WORD.findall(folded)
    runs = [" ".join(words[index : index + length]) for index in range(len(words) - length + 1)]
    for han in _HAN_RUN.findall(folded):
        runs.extend(han[index : index + 2 * length] for index in range(len(han) - 2 * length + 1))
    return runs


def clauses(text: str) -> list[str]:
    """Parts between punctuation marks; finer than ``sentences``."""
    return [part.strip() for part in _CLAUSE_END.split(text) if part.strip()]


def word_count(text: str) -> int:
    """Words; two thirds per Chinese character."""
    han = sum(len(run) for run in _HAN_RUN.findall(text))
    return len(_WORD.findall(text)) + round(han * WORDS_PER_HAN_CHARACTER)


def sentences(text: str) -> list[str]:
    """The sentences; no cut in doubt (abbreviations, initials)."""
    found: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = match.group("before") or ""
        is_last = match.end() == len(text)
        if not is_last and before and _ABBREVIATION.match(before):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def script_share(text: str, language: Language) -> float:
    """Share of letters in the language's script, 0–1; 1 without letters."""
    if text.isascii():
        return 1.0 if language == "en" or not any(map(str.isalpha, text)) else 0.0
    mine = total = 0
    for language_of_script, pattern in _scripts():
        weight = weight_of(language_of_script) * len(pattern.findall(text))
        total += weight
        mine += weight if language_of_script == language else 0
    total += sum(map(str.isalpha, _any_script().sub("", text)))
    return mine / total if total else 1.0


@cache
def _scripts() -> tuple[tuple[Language, re.Pattern[str]], ...]:
    return tuple((one, re.compile(f"[{letters_of(one)}]")) for one in LANGUAGES)


@cache
def _any_script() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(letters_of, LANGUAGES))}]")
