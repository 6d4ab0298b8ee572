"""P34 over a whole stretch at once, the plain way: what the streaming stage is compared with."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.message.attribution import NEIGHBOURS, named_in, with_neighbours

E = TypeVar("E", bound=Hashable)


def belonging(
    senders: Sequence[E | None],
    reply_to: NDArray[np.int64],
    texts: Sequence[str],
    names: Mapping[E, Sequence[str]],
    *,
    neighbours: int = NEIGHBOURS,
) -> dict[E, NDArray[np.int64]]:
    """For every entity of ``names`` the sorted indexes of the messages that belong to it (P34).

    One stretch of one chat in order: ``senders`` (n,) the writing entity or None, ``reply_to`` (n,) index of the
    message replied to or -1, ``texts`` (n,). ``names`` has all participants, since a first name counts alone only if
    no other of them has it. Neighbours reach no farther than the stretch. ``ValueError`` on unequal lengths or a reply
    to an index outside.
    """
    count = len(texts)
    if not len(senders) == len(reply_to) == count:
        raise ValueError(f"{len(senders)} senders and {len(reply_to)} replies for {count} texts")
    if count and (reply_to.min() < -1 or reply_to.max() >= count):
        raise ValueError("reply_to must be -1 or an index of the stretch")
    marks: dict[E, list[int]] = {entity: [] for entity in names}
    for index, sender in enumerate(senders):
        if sender in marks:
            marks[sender].append(index)
    for index in np.flatnonzero(reply_to >= 0).tolist():
        answered = senders[int(reply_to[index])]
        if answered in marks:
            marks[answered].append(index)
    for entity, indexes in named_in(texts, names).items():
        marks[entity].extend(indexes.tolist())
    return {entity: with_neighbours(indexes, count, neighbours) for entity, indexes in marks.items()}
