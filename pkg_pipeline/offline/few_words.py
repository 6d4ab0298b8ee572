"""What is told as done in two words, to who just asked for it: "the receipts are due on the 25th" - "sent!!"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pkg_pipeline.offline.evidence import Heard
from pkg_pipeline.offline.judging import Judged
from pkg_pipeline.offline.matters import Open

KEPT: Final = 0.8
"""How probably such words keep the one item that they may mean."""
NOT_YET: Final = frozenset({"not_yet", "later", "partly", "sorry"})
"""Words by which something is still to come, or is excused."""


def kept_in_few_words(items: Sequence[Open], since: Sequence[int], talk: Sequence[Heard]) -> dict[int, Judged]:
    """The last message by which the owner of an item says so, where one item alone was spoken of just before.

    ``since``: the line after which an item counts, -1 before the talk.
    """
    found: dict[int, Judged] = {}
    for said in talk:
        if said.matter.things or said.matter.sums or said.says & NOT_YET or said.is_question:
            continue
        told = frozenset[str]().union(
            *(one.matter.things for one in said.before if one.line.speaker != said.line.speaker)
        )
        meant = [
            place
            for place, item in enumerate(items)
            if since[place] < said.line.index and told & item.matter.things and _tells(said, item)
        ]
        if len(meant) == 1:
            found[meant[0]] = Judged(meant[0], said, KEPT)
    return found


def _tells(said: Heard, item: Open) -> bool:
    """Whether the owner of an item tells its deed as done, or names no deed and tells that something was."""
    is_done = said.done & item.matter.deeds if said.done else "finished" in said.says
    return bool(is_done) and item.owner == said.line.speaker.entity_id
