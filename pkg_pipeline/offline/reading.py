"""A conversation as lines, verbatim sentences and terms, with names and its form."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.message.attachments import is_wordless
from pkg_pipeline.memory.records import Language, Person, SourceMessage, SummaryInput
from pkg_pipeline.offline.phrases import phrases

if TYPE_CHECKING:
    from pkg_pipeline.offline.facts.whose import Mark, Whose

MAX_MESSAGE_CHARS = 20_000
"""Characters read of one message."""
MAX_SENTENCE_CHARS = 600
"""The longest quote allowed (``prompts.conversation_reading``); longer ones are cut at a space."""
FRAGMENT_WORDS = 12
"""A smaller mean of words makes speech fragmentary."""
MOST_NAMED = 50
"""Most names searched in every sentence (larger groups are not summarised, P34)."""

_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_COUNTED = re.compile(rf"[{_CJK}]|[^\W_]+(?:['’-][^\W_]+)*")
_LATIN_OR_CYRILLIC = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,:/]*\d|\d")
_ENDINGS = "аяоеиуыйьюё"
_URL = re.compile(r"(?:https?://|www\.)\S+")


@lru_cache(maxsize=4096)
def language_of(text: str, fallback: Language) -> Language:
    """The language of one text by its script; Latin text is English."""
    chinese = len(re.findall(rf"[{_CJK}]", text))
    russian = len(re.findall(r"[а-яёА-ЯЁ]", text))
    latin = len(re.findall(r"[a-zA-Z]", text))
    if not chinese + russian + latin:
        return fallback
    if chinese * 2 >= latin / 2 and chinese * 2 >= russian and chinese:
        return "zh"
    return "ru" if russian * 2 >= latin else "en"


def count_words(text: str) -> int:
    """Words in any script; a CJK character is one (P13: at most 200)."""
    return len(_COUNTED.findall(text))


_STEMMING = Lock()
"""Stemmers have state."""


@cache
def _stemmer(language: str):
    import snowballstemmer

    return snowballstemmer.stemmer("russian" if language == "ru" else "english")


@lru_cache(maxsize=65_536)
def stem(word: str, language: Language) -> str:
    with _STEMMING:
        return str(_stemmer(language).stemWord(word))


def words_of(text: str, language: Language) -> list[str]:
    """Words in lower case; Chinese is segmented by rjieba."""
    text = _URL.sub(" ", text.lower().replace("’", "'").replace("_", " "))
    if language != "zh":
        return _LATIN_OR_CYRILLIC.findall(text)
    import rjieba

    return [word for word in rjieba.cut(text) if re.search(r"[^\W_]", word)]


@lru_cache(maxsize=4096)
def terms_of(text: str, language: Language) -> tuple[str, ...]:
    """Stems of content words in order."""
    stop = phrases(language).stopwords
    kept = (word for word in words_of(text, language) if word not in stop)
    if language == "zh":
        return tuple(word for word in kept if len(word) > 1 or not re.match(rf"[{_CJK}]", word))
    return tuple(stem(word, language) for word in kept if len(word) > 1)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A verbatim piece of a message; ``line``: index of the message, ``place``: index in it."""

    line: int
    place: int
    text: str
    language: Language
    terms: tuple[str, ...]
    words: int


@dataclass(frozen=True, slots=True)
class Line:
    """One message with its sentences; ``is_data``: gives orders (B15), never repeated.

    ``placeholder``: the text of a message that only stands for its files; ``message`` has none then.
    """

    index: int
    message: SourceMessage
    language: Language
    sentences: tuple[Sentence, ...]
    day: date
    is_data: bool
    placeholder: str = ""

    @property
    def speaker(self) -> Person:
        return self.message.sender


def _segment(language: str, paragraph: str) -> list[str]:
    import sentencex

    return list(sentencex.segment(language, paragraph))  # pyright: ignore[reportAttributeAccessIssue]  (native module)


def _pieces(text: str, language: Language) -> list[str]:
    found: list[str] = []
    for paragraph in text[:MAX_MESSAGE_CHARS].split("\n"):
        if not paragraph.strip():
            continue
        for piece in _segment(language, paragraph) if len(paragraph) > 1 else [paragraph]:
            rest = piece.strip()
            while len(rest) > MAX_SENTENCE_CHARS:
                cut = max(rest.rfind(mark, 200, MAX_SENTENCE_CHARS) for mark in " ，。,;；") + 1 or MAX_SENTENCE_CHARS
                found.append(rest[:cut].strip())
                rest = rest[cut:].strip()
            if rest:
                found.append(rest)
    return [piece for piece in found if piece]


class LineChance(NamedTuple):
    """Log-odds that a line says a task, that it states a decision, that it agrees to one, that a task which it says is
    its speaker's, that it tells of something done, and that a decision which it says holds until somebody changes it.
    """

    task: float
    decision: float
    agrees: float
    speaker: float
    done: float
    stays: float


@dataclass(frozen=True)
class Reading:
    """What a head says of each line once it has judged it: ``chances`` in a chat (``line_head.judged``), ``requests``
    in letters, 0 to 1 (``letters.judged``).
    """

    source: SummaryInput
    lines: tuple[Line, ...]
    chances: tuple[LineChance, ...] = ()
    requests: tuple[float, ...] = ()

    @cached_property
    def marks(self) -> dict[tuple[int, str, str], list[Mark]]:
        """Whom texts of its lines speak of, as far as was asked (``facts.whose``): by line, kind of fact and text."""
        return {}

    @cached_property
    def asked(self) -> dict[tuple[int, str], Whose]:
        """Whose fact the lines before a line ask for, as far as was asked (``facts.whose``): by line and by words."""
        return {}

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return tuple(sentence for line in self.lines for sentence in line.sentences)

    @cached_property
    def heard(self) -> tuple[tuple[Line, Sentence], ...]:
        """Every sentence with its line, without lines that give orders."""
        return tuple((line, sentence) for line in self.lines if not line.is_data for sentence in line.sentences)

    @property
    def language(self) -> Language:
        return self.source.language

    @cached_property
    def words(self) -> int:
        return sum(sentence.words for sentence in self.sentences)

    @cached_property
    def speakers(self) -> tuple[Person, ...]:
        said: dict[Person, int] = {}
        for line in self.lines:
            said[line.speaker] = said.get(line.speaker, 0) + sum(s.words for s in line.sentences)
        return tuple(sorted(said, key=lambda person: -said[person]))

    @cached_property
    def is_bulletin(self) -> bool:
        """Many senders who write once and answer nobody, as newsletters."""
        return len(self.lines) >= 8 and len(self.speakers) >= 0.7 * len(self.lines)

    @cached_property
    def is_meeting(self) -> bool:
        """A long talk of three or more: a transcript or a busy group."""
        return len(self.speakers) >= 3 and self.words >= 1500

    @cached_property
    def is_fragmentary(self) -> bool:
        lengths = [sum(s.words for s in line.sentences) for line in self.lines] or [0]
        return len(self.lines) > 100 and statistics.fmean(lengths) <= FRAGMENT_WORDS

    @property
    def is_transcript(self) -> bool:
        """A meeting in pieces as they were spoken."""
        return self.is_meeting and self.is_fragmentary

    def position(self, line: int) -> float:
        """Relative position of a line, 0 to 1."""
        return line / max(1, len(self.lines) - 1)

    @cached_property
    def _known(self) -> tuple[Person, ...]:
        """People searched by name; in a crowd those who speak most."""
        return self.source.participants if len(self.source.participants) <= MOST_NAMED else self.speakers[:MOST_NAMED]

    def others_than(self, person: Person) -> tuple[Person, ...]:
        return tuple(p for p in self._known if p.entity_id != person.entity_id)

    def addressee(self, line: Line) -> Person | None:
        """The addressee: the only other person, or the previous speaker."""
        others = self.others_than(line.speaker)
        if len(others) == 1:
            return others[0]
        for earlier in reversed(self.lines[max(0, line.index - 4) : line.index]):
            if earlier.speaker.entity_id != line.speaker.entity_id:
                return earlier.speaker
        return None


def _zone(name: str) -> ZoneInfo | type(UTC):  # type: ignore[valid-type]
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC  # type: ignore[return-value]


def read(source: SummaryInput) -> Reading:
    """Splits a conversation into lines and sentences. Linear."""
    zone = _zone(source.timezone)
    lines: list[Line] = []
    ordering = ordering_numbers([replace(m, text=m.text[:MAX_MESSAGE_CHARS]) for m in source.messages])
    for index, stored in enumerate(source.messages):
        placeholder = stored.text if is_wordless(stored.text, stored.attachments) else ""
        message = replace(stored, text="") if placeholder else stored
        language = language_of(message.text[:2000], source.language)
        is_data = message.number in ordering
        sentences = tuple(
            Sentence(index, place, text, language, terms_of(text, language), count_words(text))
            for place, text in enumerate(_pieces(message.text, language))
        )
        day = message.sent_at.astimezone(zone).date()
        lines.append(Line(index, message, language, sentences, day, is_data, placeholder))
    return Reading(source, tuple(lines))


@lru_cache(maxsize=2048)
def _forms(name: str) -> re.Pattern[str] | None:
    parts = [p for p in re.split(r"[\s,.()]+", name) if len(p) > 1]
    if not parts:
        return None
    forms: list[str] = [re.escape(name)]
    for part in parts[:2]:
        if re.fullmatch(r"[\u4e00-\u9fff]{2,4}", part):
            forms += [re.escape(part)] + ([re.escape(part[1:])] if len(part) == 3 else [])
        elif re.fullmatch(r"[а-яёА-ЯЁ-]+", part):
            stem = part.rstrip(_ENDINGS) if len(part) > 3 else part[:-1] if part[-1] in _ENDINGS else part
            forms.append(rf"(?<!\w){re.escape(stem)}(?:[{_ENDINGS}]|ом|ем|ой|ей|ою|ев|ов)?(?!\w)")
        elif len(part) > 2 or part == parts[0]:
            forms.append(rf"(?<!\w){re.escape(part)}(?:'s)?(?!\w)")
    return re.compile("|".join(forms), re.IGNORECASE)


def _found(text: str, person: Person) -> re.Match[str] | None:
    pattern = _forms(person.name)
    return pattern.search(text) if pattern else None


def named_in(text: str, people: Sequence[Person]) -> Person | None:
    hits = [(m.start(), i) for i, person in enumerate(people) if (m := _found(text, person))]
    return people[min(hits)[1]] if hits else None


def vocative(line: Line, people: Sequence[Person]) -> Person | None:
    """Who is addressed by name: ``@name``, at the edge of a sentence, or between commas."""
    for sentence in line.sentences:
        for person in people:
            if m := _found(sentence.text, person):
                before, after = sentence.text[: m.start()].strip(), sentence.text[m.end() :].strip()
                if not before or not after or before.endswith(("@", ",", "，")) or after[0] in ",，:：!！?？—-":
                    return person
    return None
