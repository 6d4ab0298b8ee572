"""How probably a message says that an open item was kept, renewed or given up, by weights of ``closing.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from pkg_pipeline.memory.items.states import CERTAIN_FROM
from pkg_pipeline.offline.evidence import Heard, asked_of, features, fit, rivals_of
from pkg_pipeline.offline.heads import chance_of
from pkg_pipeline.offline.line_context import Floats
from pkg_pipeline.offline.matters import Open, Weights

SURE = CERTAIN_FROM
"""From here on a promise counts as kept."""
PERHAPS = 0.7
"""From here on a promise was perhaps kept, and is no longer shown as open."""
RENEWED = 0.6
"""From here on an item counts as promised again: 39 of 62 are right on ordinary worlds left out, of 130."""
RATHER = 0.9
"""A renewal is at most so much less likely, in log-odds, than that the same message keeps the item."""
NEVER = -30.0
"""Log-odds of what is not so."""
CANCELLED = 0.3
"""From here on an item counts as given up."""
ALSO_FIT = 0.5
"""A message closes a second item only if it speaks of that one in its own words, or of all of them."""
DECIMALS = 4
"""Logits are rounded, so that machines agree."""
Head = Literal["kept", "cancelled"]
WEIGHTS_FILE = Path(__file__).with_name("closing.json")


@cache
def weights() -> Mapping[Head, Mapping[str, float]]:
    """Weights of the features of ``evidence`` in log-odds; ``python -m training.closing`` makes them."""
    return json.loads(WEIGHTS_FILE.read_text("utf-8"))


@dataclass(frozen=True)
class Met:
    """A message with the features of it and of every item open at it, by the item's index. ``asked``: the items that it
    only asks of, and does not keep.
    """

    said: Heard
    pairs: tuple[tuple[int, Mapping[str, float]], ...]
    asked: frozenset[int] = frozenset()

    @cached_property
    def x(self) -> Floats:
        """Pairs by features."""
        return np.array([list(given.values()) for _, given in self.pairs])

    def log_odds(self, by: Mapping[str, float]) -> Floats:
        """Of each pair, that the message says of the item what the weights are for."""
        if not self.pairs:
            return np.zeros(0)
        return np.round(self.x @ [by[name] for name in self.pairs[0][1]], DECIMALS)


@dataclass(frozen=True, slots=True)
class Judged:
    """An item that a message closes or renews, by index, and how probably."""

    item: int
    said: Heard
    probability: float


def meet(items: Sequence[Open], since: Sequence[int], talk: Sequence[Heard]) -> tuple[Met, ...]:
    """Every message that states something. ``since``: the line of this talk after which an item counts, -1 before."""
    scale = Weights(item.matter for item in items)
    found: list[Met] = []
    for said in talk:
        if said.only_asks:
            continue
        open_now = [i for i in range(len(items)) if since[i] < said.line.index]
        fits = [fit(items[i], said, scale) for i in open_now]
        rivals = [rivals_of(items, open_now, place, said, fits) for place in range(len(open_now))]
        pairs = ((i, features(items[i], said, scale, one)) for i, one in zip(open_now, rivals, strict=True))
        found.append(Met(said, tuple(pairs), asked_of({i: items[i] for i in open_now}, said)))
    return tuple(found)


def closings(talk: Sequence[Met], log_odds: Sequence[Sequence[float]], *, least: float = SURE) -> dict[int, Judged]:
    """The best closing message of each item. ``log_odds``: of each pair of each message, that it closes the item."""
    best: dict[int, Judged] = {}
    for met, said in zip(talk, log_odds, strict=True):
        for kept in _kept_by(met, said, least):
            if kept.item not in best or kept.probability > best[kept.item].probability:
                best[kept.item] = kept
    return best


def _kept_by(met: Met, log_odds: Sequence[float], least: float) -> list[Judged]:
    """What one message closes: the best-fitting item, further ones only if it says so."""
    found: list[tuple[float, float, int]] = []
    for (i, given), said in zip(met.pairs, log_odds, strict=True):
        chance = chance_of(said)
        if chance >= least and i not in met.asked:
            found.append((chance, given["own_fit"], i))
    found.sort(key=lambda one: (-one[0], one[2]))
    also = [one for one in found[1:] if "all" in met.said.says or (one[0] >= SURE and one[1] >= ALSO_FIT)]
    return [Judged(i, met.said, chance) for chance, _, i in (*found[:1], *also)]


def renewals(
    talk: Sequence[Met],
    again: Sequence[Sequence[float]],
    kept: Sequence[Sequence[float]],
    *,
    least: float = RENEWED,
) -> dict[int, Judged]:
    """The last message that promises each item again or puts it off, rather than keeps it (``RATHER``). ``again``,
    ``kept``: log-odds of each pair of each message.
    """
    rather = [
        [one if one > other - RATHER else NEVER for one, other in zip(*both, strict=True)]
        for both in zip(again, kept, strict=True)
    ]
    return _last_meant(talk, rather, least)


def cancellations(
    talk: Sequence[Met], by: Mapping[str, float] | None = None, *, least: float = CANCELLED
) -> dict[int, Judged]:
    """The last message that gives each item up in words that say so."""
    said = [met for met in talk if "cancelled" in met.said.says and "postponed" not in met.said.says]
    by = by or weights()["cancelled"]
    return _last_meant(said, [met.log_odds(by).tolist() for met in said], least)


def _last_meant(talk: Sequence[Met], log_odds: Sequence[Sequence[float]], least: float) -> dict[int, Judged]:
    """A message means the likeliest item."""
    last: dict[int, Judged] = {}
    for met, said in zip(talk, log_odds, strict=True):
        if not met.pairs:
            continue
        best = max(range(len(said)), key=said.__getitem__)
        i, chance = met.pairs[best][0], chance_of(said[best])
        if chance >= least:
            last[i] = Judged(i, met.said, chance)
    return last
