"""Recognising text that gives orders to the model that reads it (B15), by ``languages/*/orders.toml``.

A list of patterns is no proof against injection, and none is promised: it is one of the gate's nets, beside the quotes,
the numbers and the names. It errs on the side of flagging, since what is flagged is only not *rested upon*.
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
"""An order may be spread over this many messages in a row."""

WEAK_SIGNS_NEEDED = 2

_GAP: Final = r".{0,60}"
_SHORT: Final = frozenset(("ai", "ia", "ki", "bot"))
"""Words for a reader that stand inside too many other words."""
_READER_ALONE: Final = re.compile(r"(?<![a-z])(?:ais?|ia|ki|bot)(?![a-z])|\bии\b")


@dataclass(frozen=True, slots=True)
class Signs:
    """What orders are recognised by: ``strong`` ones by themselves, of ``weak`` ones it takes two.

    One of ``triggers`` stands in whatever a pattern finds: looking for those first is far faster than the patterns.
    """

    strong: tuple[re.Pattern[str], ...]
    weak: tuple[re.Pattern[str], ...]
    triggers: tuple[str, ...]


@cache
def signs(*languages: str) -> Signs:
    """The signs of these languages; of all that have some where none is named."""
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
    """The patterns of a language that has only words: what is to be ignored, who is spoken to, where is written.

    Chinese characters and kana have no edges of words; Turkish and Japanese name the place before the verb.
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
    """Whether the text speaks to the model that reads it rather than to a person."""
    return _gives_orders(plain(text))


@lru_cache(maxsize=4096)
def _gives_orders(looked_at: str) -> bool:
    if not may_give_orders(looked_at):
        return False
    if any(pattern.search(looked_at) for pattern in signs().strong):
        return True
    return sum(len(set(pattern.findall(looked_at))) for pattern in signs().weak) >= WEAK_SIGNS_NEEDED


def may_give_orders(looked_at: str) -> bool:
    """Whether any pattern can find anything in this plain text; most texts hold none of the words."""
    return any(trigger in looked_at for trigger in signs().triggers) or _READER_ALONE.search(looked_at) is not None


def ordering_numbers(messages: Sequence[SourceMessage]) -> frozenset[int]:
    """The numbers of the messages that give orders, alone or joined with the next ones of the same sender.

    What the same sender says right after an order that was split, or that ends in a colon, belongs to it.
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
