"""Detects text that gives orders to a model (B15), by the patterns of ``languages/*/orders.toml``.

Heuristic and no proof against injection; false positives only cost an item its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

from pkg_pipeline.memory.languages import folders, patterns, table
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import plain

SPLIT_OVER_MESSAGES = 3
"""An order may be split over this many consecutive messages."""

WEAK_SIGNS_NEEDED = 2

_GAP: Final = r".{0,60}"
_SHORT: Final = frozenset(("ai", "ia", "ki", "bot"))
"""Names for a model that occur inside too many other words."""
_READER_ALONE: Final = re.compile(r"(?<![a-z])(?:ais?|ia|ki|bot)(?![a-z])|\bии\b")


_DIGIT_IN_WORD: Final = re.compile(r"(?<=[a-z])[013457](?=[a-z])")
_AS_LETTERS: Final = str.maketrans("013457", "oieast")


@dataclass(frozen=True, slots=True)
class Signs:
    """Patterns of orders: one ``strong`` or two ``weak`` ones.

    ``triggers``: every match contains one of them; they are searched first for speed.
    """

    strong: tuple[re.Pattern[str], ...]
    weak: tuple[re.Pattern[str], ...]
    triggers: tuple[str, ...]


@cache
def signs(*languages: str) -> Signs:
    """The signs of these languages; of all languages without an argument."""
    strong: list[str] = []
    weak: list[str] = []
    triggers: set[str] = set()
    for language in languages or folders("orders"):
        data = table(language, "orders")
        strong += patterns(language, "orders", data.get("strong", ()))
        weak += patterns(language, "orders", data.get("weak", ()))
        triggers |= set(data.get("triggers", ()))
        if order := data.get("order"):
            strong += patterns(language, "orders", _made_of(order))
            weak.append(_any(order["now"]))
            groups = (order["instructions"], order["reader"], order["output"], order["system"], order["now"])
            triggers |= {
                max(word.split("_"), key=len) for group in groups for word in group.split() if word not in _SHORT
            }
    return Signs(tuple(map(re.compile, strong)), tuple(map(re.compile, weak)), tuple(sorted(triggers)))


def _any(words: str) -> str:
    alternatives = (re.escape(word).replace("_", r"\W{1,3}") for word in words.split())
    return f"(?:{'|'.join(alternatives)})"


def _made_of(order: Mapping[str, Any]) -> Iterator[str]:
    """The patterns made of a language's word lists.

    Chinese and kana have no word boundaries; Turkish and Japanese put the place before the verb.
    """
    edge, end = (r"\b", r"\w{0,4}") if order.get("has_edges", True) else ("", "")
    ignore, instructions, output, write = (
        edge + _any(order[name]) for name in ("ignore", "instructions", "output", "write")
    )
    short = " ".join(word for word in order["reader"].split() if word in _SHORT)
    reader = edge + _any(" ".join(word for word in order["reader"].split() if word not in _SHORT)) + end
    if short:
        reader = rf"(?:(?<![a-z]){_any(short)}(?![a-z])|{reader})"
    yield f"{ignore}{_GAP}{instructions}"
    yield f"{instructions}{_GAP}{ignore}"
    yield edge + _any(order["system"])
    yield rf"(?:^|[.!?。！？] ?)(?:\w+ ){{0,3}}{reader} ?[:：—]"
    yield rf"<IF_YOU_ARE>.{{0,15}}{reader}"
    yield rf"<FOR> (?:\w+ ){{0,2}}{reader} ?[:：—]"
    if order.get("place_first"):
        yield rf"{reader} icin\b"
        yield rf"{output}{_GAP}{write}"
    else:
        yield rf"{write}{_GAP}<INTO> (?:\w+ ){{0,2}}{output}"
        yield rf"{output}\w* <MUST>\b"


def gives_orders(text: str) -> bool:
    """Whether the text addresses a model rather than a person; also with digits for letters ("Ign0re")."""
    looked_at = plain(text)
    return _gives_orders(looked_at) or (
        _DIGIT_IN_WORD.search(looked_at) is not None
        and _gives_orders(_DIGIT_IN_WORD.sub(lambda found: found.group().translate(_AS_LETTERS), looked_at))
    )


@lru_cache(maxsize=4096)
def _gives_orders(looked_at: str) -> bool:
    if not may_give_orders(looked_at):
        return False
    if any(pattern.search(looked_at) for pattern in signs().strong):
        return True
    return sum(len(set(pattern.findall(looked_at))) for pattern in signs().weak) >= WEAK_SIGNS_NEEDED


def may_give_orders(looked_at: str) -> bool:
    """Whether this plain text holds a trigger; most hold none."""
    return any(map(looked_at.__contains__, signs().triggers)) or _READER_ALONE.search(looked_at) is not None


def ordering_numbers(messages: Sequence[SourceMessage]) -> frozenset[int]:
    """The numbers of messages that give orders, alone or joined with the sender's next ones.

    Includes what the same sender says right after a split order or one that ends in a colon.
    """
    alone = {message.number for message in messages if gives_orders(message.text)}
    split: set[int] = set()
    for size in range(2, SPLIT_OVER_MESSAGES + 1):
        for start in range(len(messages) - size + 1):
            run = messages[start : start + size]
            numbers = {message.number for message in run}
            is_new = _of_one_sender(run) and not numbers & (alone | split)
            if is_new and gives_orders(" ".join(message.text for message in run)):
                split |= numbers
    goes_on = {
        message.number for message in messages if message.number in alone and message.text.rstrip()[-1:] in ":："
    }
    following = {
        after.number
        for before, after in pairwise(messages)
        if before.number in split | goes_on and _of_one_sender((before, after))
    }
    return frozenset(alone | split | following)


def _of_one_sender(messages: Sequence[SourceMessage]) -> bool:
    return len({message.sender.entity_id for message in messages}) == 1
