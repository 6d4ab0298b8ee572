"""Merges key points of many summaries into topics (P21) over spelling, case, inflection and script.

A short key point is a topic as it stands; of a longer one, the run of one or two content words that most other
interactions mention, else its longest. Topics are equal if half their stems are, or if their names are in different
scripts. Merging is greedy by mentions, not transitive; synonyms stay apart. The order of mentions does not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.profile.records import Topic
from pkg_pipeline.memory.profile.topic_reading import Element, elements_of, forms_of_names, spellings_of

SHORT_WORDS: Final = 4
MOST_WORDS_OF_A_PHRASE: Final = 6
"""Most content words, of so many words, of a key point that is a topic as it stands."""
SHORT_HAN_CHARACTERS: Final = 8
MOST_HAN_CHARACTERS: Final = 6
"""Longer unbroken Chinese runs are split into segments of two to four characters."""
ALIKE: Final = 0.5
"""Least share of common stems of equal topics."""
MOST_LEADERS: Final = 2_000
"""Most groups during merging; less mentioned ones join one or are dropped."""
MOST_TEXTS: Final = 4_000
"""Most different key points, the newest; bounds the time to below a second."""
MOST_NAME_CHARACTERS: Final = 60

_MARK_INSIDE: Final = re.compile(r"[,.;!?。，；！？]\s*\w")


class TopicMention(NamedTuple):
    """One key point; ``at`` is its interaction's end and identifies the interaction."""

    text: str
    at: datetime


@dataclass(slots=True)
class _Group:
    stems: frozenset[str]
    names: frozenset[str]
    script: str
    spellings: Counter[str] = field(default_factory=Counter[str])
    moments: set[datetime] = field(default_factory=set[datetime])

    def take(self, other: _Group) -> None:
        self.spellings.update(other.spellings)
        self.moments |= other.moments


def merge_topics(
    mentions: Iterable[tuple[str, datetime]], *, limit: int = 10, besides: Iterable[str] = ()
) -> tuple[Topic, ...]:
    """The ``limit`` most mentioned topics; more recent first among equals.

    ``besides``: participants' names, which are no topics. Mentions count different ``at``.
    """
    moments: dict[str, set[datetime]] = defaultdict(set)
    written: dict[str, set[datetime]] = defaultdict(set)
    for text, at in mentions:
        written[text].add(at)
    for text, said_at in written.items():
        if shown := " ".join(unicodedata.normalize("NFKC", text).split()):
            moments[shown] |= said_at
    if len(moments) > MOST_TEXTS:
        newest = sorted(moments, key=lambda text: (-max(moments[text]).timestamp(), text))[:MOST_TEXTS]
        moments = {text: moments[text] for text in newest}
    excluded = forms_of_names(besides)
    read = {text: elements_of(text, excluded) for text in moments}
    spellings = spellings_of(read.values())
    read = {text: [spellings.common(element) for element in elements] for text, elements in read.items()}
    groups: dict[frozenset[str], _Group] = {}
    for text, phrase in _phrases(read, moments).items():
        key = frozenset(found for element in phrase for found in element.stems)
        if (group := groups.get(key)) is None:
            names_in = frozenset(found for found in key if found[0] == "@")
            group = groups[key] = _Group(key, names_in, _script(key - names_in))
        shown = text[phrase[0].start : phrase[-1].end]
        group.spellings[_cut(shown)] += len(moments[text])
        group.moments |= moments[text]
    leaders = _joined(sorted(groups.values(), key=_strength))
    topics = [Topic(_name(one.spellings), len(one.moments), max(one.moments)) for one in leaders]
    topics.sort(key=lambda topic: (-topic.mentions, -topic.last_at.timestamp(), topic.name))
    return tuple(topics[:limit])


def _phrases(read: dict[str, list[Element]], moments: dict[str, set[datetime]]) -> dict[str, tuple[Element, ...]]:
    spoken: Counter[tuple[str, ...]] = Counter()
    candidates: dict[str, list[tuple[Element, ...]]] = {}
    for text, elements in read.items():
        if not elements:
            continue
        runs = _runs(elements)
        if not runs:
            continue
        candidates[text] = [tuple(elements)] if _is_short(elements, text) else runs
        weight = len(moments[text])
        for key in {_key(run) for run in runs}:
            spoken[key] += weight
    return {text: _best(runs, spoken, len(moments[text])) for text, runs in candidates.items()}


def _is_short(elements: Sequence[Element], text: str) -> bool:
    if _MARK_INSIDE.search(text):
        return False
    if any(is_han(element.word) for element in elements):
        return sum(len(element.word) for element in elements if is_han(element.word)) <= SHORT_HAN_CHARACTERS
    return len(elements) <= SHORT_WORDS and text.count(" ") < MOST_WORDS_OF_A_PHRASE


def _runs(elements: Sequence[Element]) -> list[tuple[Element, ...]]:
    """Single words and neighbours; segments of long Chinese runs. None where all are verbs."""
    found: list[tuple[Element, ...]] = []
    for index, element in enumerate(elements):
        if len(element.word) > MOST_HAN_CHARACTERS and is_han(element.word):
            found += [(piece,) for size in (2, 3, 4) for piece in _pieces(element, size)]
            continue
        if not element.is_verb:
            found.append((element,))
        if index and elements[index - 1].run == element.run and not (element.is_verb or elements[index - 1].is_verb):
            found.append((elements[index - 1], element))
    return found


def _pieces(element: Element, size: int) -> list[Element]:
    word, at = element.word, element.start
    return [
        Element(
            word[index : index + size],
            tuple(word[place : place + 2] for place in range(index, index + size - 1)),
            *(at + index, at + index + size, element.run),
        )
        for index in range(len(word) - size + 1)
    ]


def _key(run: Sequence[Element]) -> tuple[str, ...]:
    return run[0].stems if len(run) == 1 else tuple(sorted({found for element in run for found in element.stems}))


def _best(runs: list[tuple[Element, ...]], spoken: Counter[tuple[str, ...]], own: int) -> tuple[Element, ...]:
    """The run that most others share, longer ones slightly preferred."""

    def worth(run: tuple[Element, ...]) -> tuple[float, int, int]:
        others = spoken[_key(run)] - own
        length = sum(len(element.word) for element in run)
        return others * (1.0 if len(run) == 1 else 1.5), length, -run[0].start

    return runs[0] if len(runs) == 1 else max(runs, key=worth)


def _strength(group: _Group) -> tuple[int, float, int, list[str]]:
    return -len(group.moments), -max(group.moments).timestamp(), len(group.stems), sorted(group.stems)


def _joined(groups: Sequence[_Group]) -> list[_Group]:
    """Groups by mentions, each joined to the first it equals."""
    leaders: list[_Group] = []
    holding: dict[str, list[int]] = defaultdict(list)
    for group in groups:
        near = sorted({index for found in group.stems for index in holding[found]})
        same = next((index for index in near if _is_same(leaders[index], group)), None)
        if same is not None:
            leaders[same].take(group)
        elif len(leaders) < MOST_LEADERS:
            for found in group.stems:
                holding[found].append(len(leaders))
            leaders.append(group)
    return leaders


def _is_same(first: _Group, second: _Group) -> bool:
    if first.stems == second.stems:
        return True
    if first.names and first.names == second.names and first.script != second.script:
        return True
    if first.script == "han" == second.script:
        return _is_same_chinese(_name(first.spellings), _name(second.spellings), first.stems, second.stems)
    return len(first.stems & second.stems) >= ALIKE * len(first.stems | second.stems)


def _is_same_chinese(first: str, second: str, pairs: frozenset[str], others: frozenset[str]) -> bool:
    """Reordered characters, most pairs in common, or one extended by a word."""
    if sorted(first) == sorted(second) or len(pairs & others) > ALIKE * len(pairs | others):
        return True
    short, long = sorted((first, second), key=len)
    return short in long and len(short) + 2 <= len(long) <= 2 * len(short)


def _script(words: frozenset[str]) -> str:
    firsts = {word[0] for word in words if word[0] != "~"}
    if any(map(is_han, firsts)):
        return "han"
    if any(map(is_cyrillic, firsts)):
        return "cyrillic"
    return "latin" if firsts else "names"


def _cut(shown: str) -> str:
    return shown if len(shown) <= MOST_NAME_CHARACTERS else f"{shown[: MOST_NAME_CHARACTERS - 1].rstrip()}…"


def _name(spellings: Counter[str]) -> str:
    return min(spellings, key=lambda shown: (-spellings[shown], len(shown), shown))
