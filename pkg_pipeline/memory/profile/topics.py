"""Which topics the key points of many summaries add up to (P21), merged over spelling, case, inflection and script.

A short key point (up to four words that say something) is one, as it stands. Of a longer one, which is a statement,
it is the run of one or two such words that most other interactions mention too; if nobody else does, its longest run.
Two are the same if at least half of their stems are the same; a group goes to the most mentioned one it is the same
as, so that no chain of likenesses joins strangers. Names are compared over scripts (Docker, докер) by a common
spelling, and two phrases of different scripts are the same if they hold the same names. The meaning of words is not
known here: what translates one another without sharing a name stays two.

Everything depends on the set of mentions only, never on their order.
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
"""Up to so many content words, of so many words in all, a key point is a topic as it stands; more make a statement."""
SHORT_HAN_CHARACTERS: Final = 8
MOST_HAN_CHARACTERS: Final = 6
"""A longer unbroken piece of Chinese is a clause; its pieces of two to four characters are looked at."""
ALIKE: Final = 0.5
"""From this share of common stems on, two topics are one."""
MOST_LEADERS: Final = 2_000
"""So many topics are kept apart while merging; what is mentioned less joins one of them or is dropped."""
MOST_TEXTS: Final = 4_000
"""So many different key points are looked at, the newest: what was talked of before the last four thousand is no top
topic, and the time stays below a second."""
MOST_NAME_CHARACTERS: Final = 60

_MARK_INSIDE: Final = re.compile(r"[,.;!?。，；！？]\s*\w")


class TopicMention(NamedTuple):
    """One key point of one summary. ``at`` is its interaction's end: mentions with the same ``at`` are of one talk."""

    text: str
    at: datetime


@dataclass(slots=True)
class _Group:
    """Mentions with the same stems."""

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
    """Of ``TopicMention``s the ``limit`` topics that most interactions mention, the more recent first among equals.

    ``besides`` are names of the people who took part: they are in everything and no topic. A topic bears its
    commonest spelling; ``Topic.mentions`` counts different ``at``.
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


# ── what a key point is about ────────────────────────────────────────────────────────────────


def _phrases(read: dict[str, list[Element]], moments: dict[str, set[datetime]]) -> dict[str, tuple[Element, ...]]:
    """The topic of each key point, as a run of its words; key points without content have none."""
    spoken: Counter[tuple[str, ...]] = Counter()
    candidates: dict[str, list[tuple[Element, ...]]] = {}
    for text, elements in read.items():
        if not elements:
            continue
        runs = _runs(elements)
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
    """Single words and neighbours; long pieces of Chinese in smaller ones."""
    found: list[tuple[Element, ...]] = []
    for index, element in enumerate(elements):
        if len(element.word) > MOST_HAN_CHARACTERS and is_han(element.word):
            found += [(piece,) for size in (2, 3, 4) for piece in _pieces(element, size)]
            continue
        if not element.is_verb:
            found.append((element,))
        if index and elements[index - 1].run == element.run and not (element.is_verb or elements[index - 1].is_verb):
            found.append((elements[index - 1], element))
    return found or [(element,) for element in elements]


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
    """The run that most others share; what is longer counts a little more, and wins where nobody shares anything."""

    def worth(run: tuple[Element, ...]) -> tuple[float, int, int]:
        others = spoken[_key(run)] - own
        length = sum(len(element.word) for element in run)
        return others * (1.0 if len(run) == 1 else 1.5), length, -run[0].start

    return runs[0] if len(runs) == 1 else max(runs, key=worth)


# ── the same topic ───────────────────────────────────────────────────────────────────────────


def _strength(group: _Group) -> tuple[int, float, int, list[str]]:
    return -len(group.moments), -max(group.moments).timestamp(), len(group.stems), sorted(group.stems)


def _joined(groups: Sequence[_Group]) -> list[_Group]:
    """Groups in the order of their strength, each joined to the strongest it is the same as."""
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
    """The same characters in another order, most pairs in common, or one said of the other with one word more."""
    if sorted(first) == sorted(second) or len(pairs & others) > ALIKE * len(pairs | others):
        return True
    short, long = sorted((first, second), key=len)
    return short in long and len(short) + 2 <= len(long) <= 2 * len(short)


def _script(words: frozenset[str]) -> str:
    """The script of what is no name: names say nothing about it."""
    firsts = {word[0] for word in words if word[0] != "~"}
    if any(map(is_han, firsts)):
        return "han"
    if any(map(is_cyrillic, firsts)):
        return "cyrillic"
    return "latin" if firsts else "names"


def _cut(shown: str) -> str:
    return shown if len(shown) <= MOST_NAME_CHARACTERS else f"{shown[: MOST_NAME_CHARACTERS - 1].rstrip()}…"


def _name(spellings: Counter[str]) -> str:
    """The commonest spelling; of equally common ones the shortest."""
    return min(spellings, key=lambda shown: (-spellings[shown], len(shown), shown))
