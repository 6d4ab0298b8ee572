"""Which earlier items a reading is shown, and the hash of that."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from uuid import UUID

from pkg_pipeline.memory.items.records import Importance, ShownItem
from pkg_pipeline.memory.items.states import UNSETTLED

MOST_OPEN = 30
MOST_DECISIONS = 12
MOST_SETTLED = 6

SETTLED_WITHIN = timedelta(days=30)
"""What was settled longer ago is not shown: it would be mistaken for what is talked of now."""

MOST_SILENT = 20
SILENT_WITHIN = timedelta(days=60)
"""Silent items said longer ago are kept by nothing any more."""

SPOKEN_WITHIN = timedelta(days=400)
"""What nobody spoke of for longer is not shown."""

_SHOWN = [field.name for field in fields(ShownItem) if field.name != "said"]
"""What the hash is of; the words behind an item follow from it."""
_IMPORTANCE = {"high": 0, "medium": 1, "low": 2}


@dataclass(frozen=True, slots=True)
class Known:
    """An item as it stood before a talk: ``item`` without its ref, ``at``: of that state."""

    item: ShownItem
    at: datetime
    importance: Importance


def choose(known: Iterable[Known], before: datetime, silent: Iterable[ShownItem] = ()) -> tuple[ShownItem, ...]:
    """What a talk that ended at ``before`` is shown, oldest first in each kind, with refs (a1 …, d1 …, s1 …).

    ``silent``: the silent items that the talk may keep; those of them that are ``known`` were kept before.
    """
    known = list(known)
    fresh = [one for one in known if before - one.at < SPOKEN_WITHIN]
    kept = {one.item.id for one in known}
    waiting = (one for one in silent if one.id not in kept and before - one.said_at < SILENT_WITHIN)
    due = [one for one in fresh if one.item.kind == "action_item" and one.item.status in UNSETTLED]
    in_force = [one for one in fresh if one.item.kind == "decision" and one.item.status == "open"]
    settled = [one for one in fresh if one.item.status not in UNSETTLED and before - one.at < SETTLED_WITHIN]
    chosen = [
        *sorted(due, key=lambda one: (_away(one, before), one.item.id))[:MOST_OPEN],
        *sorted(in_force, key=_weight)[:MOST_DECISIONS],
        *sorted(settled, key=lambda one: (before - one.at, one.item.id))[:MOST_SETTLED],
    ]
    actions = [one.item for one in chosen if one.item.kind == "action_item"]
    decisions = [one.item for one in chosen if one.item.kind == "decision"]
    return (*_named("a", actions), *_named("d", decisions), *_named("s", sorted(waiting, key=_said)[-MOST_SILENT:]))


def _said(item: ShownItem) -> tuple[datetime, UUID]:
    return item.said_at, item.id


def _weight(one: Known) -> tuple[int, float, object]:
    return _IMPORTANCE[one.importance], -one.at.timestamp(), one.item.id


def _away(one: Known, before: datetime) -> float:
    """Days to when it was spoken of, or is due, whichever is nearer."""
    spoken = abs((before - one.at).total_seconds()) / 86_400
    if one.item.due_date is None:
        return spoken
    return min(spoken, abs((before.date() - one.item.due_date).days))


def _named(letter: str, items: Sequence[ShownItem]) -> tuple[ShownItem, ...]:
    ordered = sorted(items, key=_said)
    return tuple(replace(item, ref=f"{letter}{number}") for number, item in enumerate(ordered, 1))


def shown_hash(shown: Iterable[ShownItem]) -> str:
    """sha256 over all that is shown: with the same hash a talk is read the same way."""
    digest = hashlib.sha256()
    for item in shown:
        digest.update(repr([str(getattr(item, name)) for name in _SHOWN]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
