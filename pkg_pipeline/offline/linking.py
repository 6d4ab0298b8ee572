"""An open item meets every later message: kept, perhaps kept, cancelled, renewed, or still open (B16)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pkg_pipeline.memory.gate.duty import says_done
from pkg_pipeline.memory.items.records import CandidateChange, CandidateEnd, ShownItem
from pkg_pipeline.memory.items.states import CERTAIN_FROM
from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.decisions import FoundDecision
from pkg_pipeline.offline.evidence import Heard, features, fit, heard, rivals_of
from pkg_pipeline.offline.matters import Open, Weights, matter_of, roots_of_names, roots_of_text, shown_matter
from pkg_pipeline.offline.reading import Reading
from pkg_pipeline.offline.same_matter import replaced, same_tasks
from pkg_pipeline.offline.settling import cancelled_by, promised_anew, put_off, quote_of

SURE = CERTAIN_FROM
"""From here on a promise counts as kept; below, down to ``PERHAPS``, as perhaps kept."""
PERHAPS = 0.6
UNSAID = 0.7
"""The most that a closing is worth whose words do not say that it was done."""
ALSO_FIT = 0.5
"""A message closes a second item only if it speaks of that one in its own words, or of all of them."""
DECIMALS = 4
"""Logits are rounded, so that machines agree."""
_WEIGHTS_FILE = Path(__file__).with_name("closing.json")


@dataclass(frozen=True, slots=True)
class Linked:
    """``changes`` of shown items; ``repeats``: indices of found tasks that only repeat a shown one; ``ends``: of found
    tasks ended in the same talk; ``replaces``: by index of a decision the ref that it supersedes; ``again``: indices
    of decisions that only repeat a shown one.
    """

    changes: tuple[CandidateChange, ...] = ()
    repeats: frozenset[int] = frozenset()
    replaces: Mapping[int, str] = field(default_factory=dict[int, str])
    ends: Mapping[int, CandidateEnd] = field(default_factory=dict[int, CandidateEnd])
    again: frozenset[int] = frozenset()


@cache
def weights() -> Mapping[str, float]:
    """Weights of the features of ``evidence`` in log-odds; ``python -m training.closing`` makes them."""
    return json.loads(_WEIGHTS_FILE.read_text("utf-8"))


def probability(given: Mapping[str, float], by: Mapping[str, float] | None = None) -> float:
    """How probably a message says that an item was kept."""
    table = weights() if by is None else by
    logit = round(sum(table[name] * value for name, value in given.items()), DECIMALS)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


@dataclass(frozen=True, slots=True)
class Kept:
    """An item that a message closes, by index, and how probably."""

    item: int
    said: Heard
    probability: float


def closings(
    items: Sequence[Open],
    since: Sequence[int],
    talk: Sequence[Heard],
    by: Mapping[str, float] | None = None,
    *,
    least: float = PERHAPS,
) -> dict[int, Kept]:
    """The best closing message of each item. ``since``: the line of this talk after which an item counts, -1 before."""
    scale = Weights(item.matter for item in items)
    best: dict[int, Kept] = {}
    for said in talk:
        if said.only_asks:
            continue
        for kept in _kept_by(said, items, since, scale, by, least):
            if kept.item not in best or kept.probability > best[kept.item].probability:
                best[kept.item] = kept
    return best


def _kept_by(
    said: Heard,
    items: Sequence[Open],
    since: Sequence[int],
    scale: Weights,
    by: Mapping[str, float] | None,
    least: float,
) -> list[Kept]:
    """What one message closes: the best-fitting item, further ones only if it says so."""
    open_now = [i for i in range(len(items)) if since[i] < said.line.index]
    found: list[tuple[float, float, int]] = []
    for i, given in pair_features(said, items, open_now, scale):
        chance = probability(given, by)
        if chance >= least:
            found.append((chance, given["own_fit"], i))
    found.sort(key=lambda one: (-one[0], one[2]))
    also = [one for one in found[1:] if "all" in said.says or (one[0] >= SURE and one[1] >= ALSO_FIT)]
    return [Kept(i, said, chance) for chance, _, i in (*found[:1], *also)]


def pair_features(
    said: Heard, items: Sequence[Open], open_now: Sequence[int], scale: Weights
) -> list[tuple[int, dict[str, float]]]:
    """The features of a message with every item open at it, by the item's index."""
    fits = [fit(items[i], said, scale) for i in open_now]
    return [
        (i, features(items[i], said, scale, rivals_of(items, open_now, n, said, fits))) for n, i in enumerate(open_now)
    ]


def link(
    reading: Reading, shown: Sequence[ShownItem], found: Sequence[FoundAction], decided: Sequence[FoundDecision]
) -> Linked:
    """What a talk says of the items shown to it and of its own. Pure."""
    names = roots_of_names(reading.source.participants)
    tasks = [item for item in shown if item.kind == "action_item" and item.status in ("open", "perhaps_done")]
    items = [_shown(reading, item, names) for item in tasks] + [found_open(reading, one, names) for one in found]
    since = [-1] * len(tasks) + [max(one.lines[:1] or (one.sentence.line,)) for one in found]
    talk = heard(reading, names)
    kept = closings(items, since, talk)
    scale = Weights(item.matter for item in items)
    repeated = same_tasks(items[: len(tasks)], items[len(tasks) :], found)
    repeated |= _put_off_again(items[: len(tasks)], talk, scale, found, repeated)
    changes: list[CandidateChange] = []
    for index, shown_item in enumerate(tasks):
        of_it = [found[i] for i, at in repeated.items() if at == index]
        change = (
            _closed(shown_item.ref, items[index], kept.get(index), SURE)
            or cancelled_by(shown_item, items, index, talk, scale)
            or put_off(reading, shown_item, items, index, talk, scale, of_it)
            or _closed(shown_item.ref, items[index], kept.get(index), PERHAPS)
        )
        if change is not None:
            changes.append(change)
    replaces, again = replaced(reading, [item for item in shown if item.kind == "decision"], decided, names)
    return Linked(
        changes=tuple(changes),
        repeats=frozenset(repeated),
        replaces=replaces,
        ends={i: _end(items[at], kept[at]) for i in range(len(found)) if (at := len(tasks) + i) in kept},
        again=again,
    )


def _put_off_again(
    tasks: Sequence[Open], talk: Sequence[Heard], scale: Weights, found: Sequence[FoundAction], known: Mapping[int, int]
) -> dict[int, int]:
    """New tasks that are only the words by which an open one is put off, by index the open one's."""
    again: dict[int, int] = {}
    for said in talk:
        of_line = [i for i, one in enumerate(found) if one.sentence.line == said.line.index and i not in known]
        if len(of_line) == 1:
            meant = [i for i in range(len(tasks)) if promised_anew(tasks, i, said, scale) is not None]
            again.update({of_line[0]: meant[0]} if len(meant) == 1 else {})
    return again


def _closed(ref: str, item: Open, kept: Kept | None, least: float) -> CandidateChange | None:
    end = None if kept is None else _end(item, kept)
    if end is None or end.probability < least:
        return None
    return CandidateChange(ref=ref, to=end.state, quote=end.quote, numbers=end.numbers, probability=end.probability)


def _end(item: Open, kept: Kept) -> CandidateEnd:
    """Kept, or only perhaps: what the quoted words do not say is not sure."""
    message, quote, sure = kept.said.line.message, quote_of(kept.said, item), kept.probability
    if sure >= SURE and not says_done([message], quote):
        sure = UNSAID
    return CandidateEnd("done" if sure >= SURE else "perhaps_done", quote, (message.number,), round(sure, 2))


def _shown(reading: Reading, item: ShownItem, names: frozenset[str]) -> Open:
    me, others = reading.source.self_person, reading.source.others
    owner = item.owner_entity_id
    if item.owner == "self" and me is not None:
        owner = me.entity_id
    elif item.owner == "them" and owner is None and len(others) == 1:
        owner = others[0].entity_id
    around = roots_of_text(item.said) - names
    return Open(shown_matter(item, names), owner, item.said_at, item.due_date, item.text, around)


def found_open(reading: Reading, one: FoundAction, names: frozenset[str]) -> Open:
    text = one.sentence.text if one.helper is None else f"{one.sentence.text}\n{one.helper.text}"
    owner = None if one.owner_person is None or one.owner == "both" else one.owner_person.entity_id
    said_at = reading.lines[one.sentence.line].message.sent_at
    around = roots_of_text("\n".join(reading.lines[line].message.text for line in one.lines)) - names
    return Open(matter_of(text, names=names), owner, said_at, one.due, text, around)
