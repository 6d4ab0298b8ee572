"""What an item or a message is about, comparable: word roots, deeds, sums, files; and how alike two of them are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from uuid import UUID

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Attachment, Person
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.deeds import deeds_named, without_deeds
from pkg_pipeline.offline.found import ANY_DAY
from pkg_pipeline.offline.reading import language_of, terms_of, words_of

ROOT_LETTERS = 5
LATIN_ROOT_LETTERS = 4
"""File names spell Russian words in Latin letters, loosely: fewer letters are compared."""

TOLD = ("finished", "received", "thanks", "sorry", "yes")
"""Words by which one tells whatever was done."""

FILE_KINDS = ("paper", "picture", "sheet", "recording")
_KINDS_BY_ENDING: Mapping[str, str] = {
    "paper": "pdf doc docx odt rtf txt md pages ppt pptx key epub html zip",
    "picture": "jpg jpeg png heic webp gif svg ai psd fig cdr dwg dxf pdf photo image sticker zip",
    "sheet": "xls xlsx csv ods numbers tsv pdf zip",
    "recording": "mp4 mov avi mkv webm mp3 wav ogg m4a flac aac opus video audio voice zip",
}
_NUMBER = re.compile(
    r"\d{1,2}(?:,\d\d)+,\d{3}(?!\d)|\d+(?:[ .,\u00a0]\d{3}(?!\d))*(?:[.,]\d+)?\s?(?:тыс\w*|т\.?р|k\b|к\b|万)?",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"[ \u00a0]|[.,](?=(?:\d\d,)*\d{3}(?!\d))")
"""What stands between thousands, in India also between tens of thousands."""
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_LATIN_OF = str.maketrans(
    dict(
        zip(
            "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
            "a b v g d e e zh z i i k l m n o p r s t u f h c ch sh sh _ y _ e yu ya".replace("_", "").split(" "),
            strict=True,
        )
    )
)


@dataclass(frozen=True, slots=True)
class Matter:
    """What a text is about. ``files``: kinds of file that it names (an item) or that come with it (a message).

    ``things``: roots of what is spoken of, without words for deeds, days and that something was done.
    """

    roots: frozenset[str]
    deeds: frozenset[str]
    sums: frozenset[int]
    files: frozenset[str]
    latin: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Open:
    """An open item as later messages are held against it. ``owner``: who has to do it, None if several or unknown.

    ``said``: all that was said when it came up; ``around``: its roots.
    """

    matter: Matter
    owner: UUID | None
    said_at: datetime
    due: date | None
    text: str
    said: str = ""
    around: frozenset[str] = frozenset()

    @property
    def things_around(self) -> frozenset[str]:
        """What was spoken of when it came up."""
        return things_of_text(self.said) & self.around


@lru_cache(maxsize=8192)
def roots_of_text(text: str) -> frozenset[str]:
    """Beginnings of content words, pairs of characters in Chinese; without words that only say when."""
    text = in_any("offline", "closing", "later").sub(" ", text)
    found: set[str] = set()
    own = language_of(text, "en")
    for language in dict.fromkeys((own, "en")):
        if language != "zh":
            terms = terms_of(text, language)
            found.update(term[:ROOT_LETTERS] for term in terms if language == own or term.isascii())
    if _HAN.search(text):
        stopped = " ".join(terms_of(text, "zh"))
        for run in _HAN.findall(stopped):
            found.update(run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else found.add(run)
    return frozenset(root for root in found if not root.isdigit())


@lru_cache(maxsize=8192)
def things_of_text(text: str) -> frozenset[str]:
    """Roots of what a text speaks of: neither deeds nor days, nor that something was done or came."""
    for found in reversed(find_dates(text, language_of(text, "en"), ANY_DAY)):
        text = f"{text[: found.start]} {text[found.end :]}"
    text = without_deeds(text)
    for told in TOLD:
        text = in_any("offline", "closing", told).sub(" ", text)
    return roots_of_text(text)


def latin_roots(words: Iterable[str]) -> frozenset[str]:
    spelt = (word.lower().translate(_LATIN_OF).replace("y", "i") for word in words)
    return frozenset(word[:LATIN_ROOT_LETTERS] for word in spelt if len(word) >= LATIN_ROOT_LETTERS and word.isascii())


@lru_cache(maxsize=8192)
def sums_of(text: str) -> frozenset[int]:
    """Numbers of two digits or more, thousands resolved; clock times and parts of dates count as any number."""
    found: set[int] = set()
    for m in _NUMBER.finditer(text):
        digits = re.match(r"[\d .,\u00a0]*\d", m.group())
        if digits is None:
            continue
        plain = _GROUPS.sub("", digits.group()).replace(",", ".")
        try:
            value = float(plain)
        except ValueError:
            continue
        unit = m.group()[digits.end() :].strip().lower()
        value *= 10_000 if unit == "万" else 1_000 if unit else 1
        if value >= 10 and value < 1e12:
            found.add(round(value))
    return frozenset(found)


def kinds_named(text: str) -> frozenset[str]:
    """Kinds of file that a text speaks of: a contract is a paper, a mock-up a picture."""
    return frozenset(kind for kind in FILE_KINDS if in_any("offline", "closing", kind).search(text))


def kinds_attached(attachments: Iterable[Attachment]) -> frozenset[str]:
    found: set[str] = set()
    for one in attachments:
        ending = (one.name or "").rpartition(".")[2].lower()
        words = {ending, *re.split(r"[^a-z0-9]+", (one.type or "").lower())}
        found.update(kind for kind, endings in _KINDS_BY_ENDING.items() if words & set(endings.split()))
    return frozenset(found)


def matter_of(text: str, *, names: frozenset[str] = frozenset()) -> Matter:
    """What ``text`` is about, without the roots of people's ``names``."""
    whole = _matter(text)  # an open item is looked at in talks of ever other people
    return replace(whole, roots=whole.roots - names, things=whole.things - names) if names else whole


@lru_cache(maxsize=8192)
def _matter(text: str) -> Matter:
    latin = latin_roots(words_of(text, language_of(text, "en")))
    named = deeds_named(text), sums_of(text), kinds_named(text)
    return Matter(roots_of_text(text), *named, latin, things_of_text(text))


def shown_matter(item: ShownItem, names: frozenset[str]) -> Matter:
    return matter_of(f"{item.text}\n{item.quote}", names=names)


def roots_of_names(people: Iterable[Person]) -> frozenset[str]:
    return frozenset(root for person in people for root in roots_of_text(person.name))


class Weights:
    """How telling a root is: 1 where only one open item has it, the less the more have it."""

    def __init__(self, matters: Iterable[Matter]) -> None:
        listed = list(matters)
        self._known = Counter(root for matter in listed for root in matter.roots)
        self._most = math.log1p((len(listed) + 1) / 2)
        self._size = len(listed) + 1
        self._shared: dict[tuple[frozenset[str], frozenset[str]], float] = {}

    def of(self, roots: Iterable[str]) -> float:
        return sum(math.log1p(self._size / (1 + max(1, self._known[root]))) for root in sorted(roots)) / self._most

    def shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        """How much two texts share, 0 to 1: one telling root gives a half, two give three quarters."""
        if one.isdisjoint(other):
            return 0.0
        known = self._shared.get((one, other))
        if known is None:
            known = self._shared[one, other] = 1 - 0.5 ** self.of(one & other)
        return known

    def covered(self, part: frozenset[str], whole: frozenset[str]) -> float:
        """The weighted share of ``whole`` that ``part`` has, 0 to 1."""
        return self.of(part & whole) / self.of(whole) if whole else 0.0

    def alike(self, one: frozenset[str], other: frozenset[str]) -> float:
        """The weighted cosine of two sets, 0 to 1."""
        if not one or not other:
            return 0.0
        return self.of(one & other) / math.sqrt(self.of(one) * self.of(other))
