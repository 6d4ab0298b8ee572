"""A context in brief (P7): how things stand, what is current, what is open, what to remember.

``brief_input`` is what a model is shown of a block, ``chosen`` a brief of the block's own lines where none is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, time
from typing import Final, Literal, NamedTuple, get_args

from pkg_pipeline.memory.context.card import about
from pkg_pipeline.memory.context.records import (
    Block,
    BlockItem,
    BlockRules,
    ContextRows,
    HeardMessage,
    ItemKind,
    Mark,
)
from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.items.records import ItemOwner
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.lines import ELLIPSIS, one_line
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count
from pkg_pipeline.memory.text.phrases import Phrases, phrases

Part = Literal["state", "current", "open", "facts"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""As the source document's section 5 orders them."""

LineKind = ItemKind | Literal["card"]

MOST: Final[Mapping[Part, int]] = {"state": 2, "current": 4, "open": 6, "facts": 6}
"""Sentences of a part."""

LINES_OF_THE_LAST_DAY: Final = 2
FEWEST_WORDS: Final = 4
"""Of a message that says something, unless it has a date, a sum or an agreement."""
ENOUGH_WORDS: Final = 16
"""Beyond these a message tells no more."""
SCORE_IN_WORDS: Final = 10
"""So many words weigh as much as the highest score (P15)."""
LONGEST_CHARS: Final = 220
"""A line of a brief made by rule is cut beyond this."""

_OF_A_DAY: Final[tuple[LineKind, ...]] = ("decision", "summary", "message")
_CLOCK: Final = re.compile(r"\d\d:\d\d ")


@dataclass(frozen=True, slots=True)
class BriefLine:
    """One line of the block, by its number in the prompt; number 0 is the card. ``said``: its own words;
    ``speaker``: whose message, or whose task, if it is one of the two.
    """

    number: int
    kind: LineKind
    id: str
    day: date
    at: datetime
    text: str
    said: str
    speaker: Person | None
    owner: ItemOwner | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class BriefInput:
    """What a brief is made from: the lines of a block that hold, and whom it is about.

    Lines that rest on an edited message are not among them (P29).
    """

    person: Person
    me: Person | None
    language: Language
    timezone: str
    day: date
    hint: str
    lines: tuple[BriefLine, ...]

    @property
    def input_hash(self) -> str:
        """Of all that a model is shown: the same for the same block on the same day."""
        return content_hash(json.dumps(asdict(self), sort_keys=True, default=str))


class Told(NamedTuple):
    """A sentence or line of a brief, and the items of the block that it rests on."""

    text: str
    items: tuple[tuple[LineKind, str], ...]


BriefParts = Mapping[Part, tuple[Told, ...]]


def brief_input(rows: ContextRows, block: Block, rules: BlockRules, language: Language) -> BriefInput:
    """The lines of a block as they are shown to a model."""
    entity, words = rows.entity, phrases(language)
    person = Person(entity.id, entity.name, entity.is_self, entity.type, entity.organization)
    heard, items = _heard(rows), {str(one.id): one for one in (*rows.open_items, *rows.decisions)}
    speakers: dict[ItemOwner, Person | None] = {"self": rows.me, "them": person}

    def line(number: int, item: BlockItem) -> BriefLine:
        message, known = heard.get(item.id), items.get(item.id)
        if message is not None and item.kind == "message":
            said, speaker, owner = one_line(message.text), _speaker(message, person, rows.me), None
        elif known is not None:
            owner = known.owner if item.kind == "action_item" else None
            said, speaker = one_line(known.text), None if owner is None else speakers.get(owner)
        else:
            said, speaker, owner = item.text, None, None
        day = item.at.astimezone(rules.zone).date()
        return BriefLine(number, item.kind, item.id, day, item.at, item.text, said, speaker, owner, item.marks)

    known_of = _about(rows, rules, words)
    midnight = datetime.combine(rules.today, time(), rules.zone)
    card = BriefLine(0, "card", str(entity.id), rules.today, midnight, known_of, known_of, None, None, ())
    kept = [item for tier in block.tiers for item in tier.items if "stale" not in item.marks]
    unique = {(item.kind, item.id): item for item in kept}
    lines = [card] * bool(known_of) + [line(number, item) for number, item in enumerate(unique.values(), start=1)]
    return BriefInput(person, rows.me, language, rules.zone.key, rules.today, rules.hint, tuple(lines))


def _about(rows: ContextRows, rules: BlockRules, words: Phrases) -> str:
    return " · ".join(about(rows, rules, words))


def _heard(rows: ContextRows) -> dict[str, HeardMessage]:
    talks = (*rows.unsummarised, *rows.whole.values())
    return {one.id: one for one in (*rows.hot, *(message for talk in talks for message in talk.messages))}


def _speaker(message: HeardMessage, person: Person, me: Person | None) -> Person | None:
    if message.is_self:
        return me
    return person if message.speaker == person.name else None


def chosen(source: BriefInput) -> BriefParts:
    """The brief without a model: lines of the block as they stand, nothing said that they do not say."""
    words = phrases(source.language)
    sure = [line for line in source.lines if "perhaps" not in line.marks]
    lines = sorted(source.lines, key=lambda line: line.at, reverse=True)
    found: dict[Part, list[Told]] = {
        "state": _state(source, lines),
        "current": _current(lines, words),
        "open": [_told(line) for line in source.lines if line.kind == "action_item" and "lapsed" not in line.marks],
        "facts": [_told(line) for kind in ("fact", "decision") for line in sure if line.kind == kind],
    }
    taken: set[tuple[LineKind, str]] = set()
    parts: dict[Part, tuple[Told, ...]] = {}
    for part in PARTS:
        new = [told for told in found[part] if taken.isdisjoint(told.items)]
        parts[part] = tuple(new[: MOST[part]])
        taken.update(item for told in parts[part] for item in told.items)
    return parts


def _state(source: BriefInput, lines: Sequence[BriefLine]) -> list[Told]:
    cards = [_told(line) for line in source.lines if line.kind == "card"]
    profiles = (line for line in lines if line.kind == "profile")
    space = "" if source.language == "zh" else " "
    return cards + [_told(line, space.join(_first(line.text, 2))) for line in profiles]


def _current(lines: Sequence[BriefLine], words: Phrases) -> list[Told]:
    """The latest days that left anything: what was decided, what a conversation was about, or its most telling words;
    two lines of the last day, one of each before it. What stands among what is open is not told twice.
    """
    tasks = [_plain(line.said) for line in lines if line.kind == "action_item" and "lapsed" not in line.marks]
    days: dict[date, list[BriefLine]] = {}
    for line in lines:
        plain = _plain(line.said)
        is_open = any(plain in task or task in plain for task in tasks)
        if line.kind in _OF_A_DAY and "perhaps" not in line.marks and not is_open:
            days.setdefault(line.day, []).append(line)
    told: list[Told] = []
    for best in filter(None, map(_most_telling, days.values())):
        most = best[: 1 if told else LINES_OF_THE_LAST_DAY]
        told += [_told(line, _dated(line, words)) for line in sorted(most, key=lambda line: line.at)]
    return told


def _plain(text: str) -> str:
    return comparable(text).strip(" .!?…。！？")


def _most_telling(lines: Sequence[BriefLine]) -> list[BriefLine]:
    """Decisions and summaries before words; of words those that say and matter most, and none that say nothing."""
    from pkg_pipeline.memory.message.importance import score_many  # numpy, which contexts do without

    weights: dict[str, float] = {}
    for line, score in zip(lines, score_many([line.said for line in lines]), strict=True):
        size = word_count(line.said)
        if line.kind != "message" or score.value or size >= FEWEST_WORDS:
            weights[line.id] = min(size, ENOUGH_WORDS) + SCORE_IN_WORDS * score.value
    kept = [line for line in lines if line.id in weights]
    return sorted(kept, key=lambda line: (_OF_A_DAY.index(line.kind), -weights[line.id]))


def _dated(line: BriefLine, words: Phrases) -> str:
    if line.kind == "summary":
        return f"{words.day(line.day)}{words.colon}{_first(line.text, 1)[0]}"
    return f"{words.day(line.day)}{words.comma}{line.text}" if _CLOCK.match(line.text) else line.text


def _first(text: str, count: int) -> list[str]:
    return sentences(text)[:count] or [text]


def _told(line: BriefLine, text: str | None = None) -> Told:
    shown = line.text if text is None else text
    cut = shown if len(shown) <= LONGEST_CHARS else shown[:LONGEST_CHARS].rsplit(" ", 1)[0].rstrip(" ,;") + ELLIPSIS
    return Told(cut, ((line.kind, line.id),))


def completed(parts: BriefParts, ruled: BriefParts) -> BriefParts:
    """A model's parts; those that it left empty, or lost whole, are told by the block's lines."""
    return {part: parts.get(part) or ruled[part] for part in PARTS}


def brief_text(parts: BriefParts, language: Language) -> str:
    """As it is printed: the parts that say anything, under their headings."""
    return "".join(_printed(parts, phrases(language)))


def _printed(parts: BriefParts, words: Phrases) -> Iterator[str]:
    for part in PARTS:
        if told := parts.get(part):
            yield f"## {getattr(words, f'brief_{part}')}\n"
            yield from (f"- {one_line(one.text)}\n" for one in told)


def items_of(lines: Iterable[BriefLine]) -> tuple[tuple[LineKind, str], ...]:
    return tuple((line.kind, line.id) for line in lines)
