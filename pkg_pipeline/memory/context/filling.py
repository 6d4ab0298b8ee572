"""What is printed in the room that the tiers leave: whole conversations in place of what is told of them, then further
summaries, newest first (P6). Nothing is said twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from uuid import UUID

from pkg_pipeline.memory.context.records import ContextRows, WholeTalk
from pkg_pipeline.memory.context.relevance import CountMany
from pkg_pipeline.memory.context.rendering import Line, LineRenderer, talk_place
from pkg_pipeline.memory.text.lines import bullet


@dataclass(slots=True)
class Printed:
    """Lines that are printed, with their tokens; headings count once."""

    count_many: CountMany
    lines: dict[str, tuple[Line, int]] = field(default_factory=dict[str, tuple[Line, int]])
    tokens: int = 0
    _headings: Counter[str] = field(default_factory=Counter[str])
    _sizes: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, lines: Iterable[Line]) -> None:
        new = [line for line in lines if line.key not in self.lines]
        titles = {key: title for line in new for key, title in line.headings if key not in self._sizes}
        sizes = self.count_many([*(bullet(line.text) for line in new), *titles.values()])
        self._sizes |= dict(zip(titles, sizes[len(new) :], strict=True))
        for line, size in zip(new, sizes, strict=False):
            self.lines[line.key] = (line, size)
            self.tokens += size
            for key, _ in line.headings:
                self._headings[key] += 1
                self.tokens += self._sizes[key] if self._headings[key] == 1 else 0

    def remove(self, lines: Iterable[Line]) -> None:
        for line in lines:
            if (held := self.lines.pop(line.key, None)) is None:
                continue
            self.tokens -= held[1]
            for key, _ in held[0].headings:
                self._headings[key] -= 1
                self.tokens -= self._sizes[key] if self._headings[key] == 0 else 0

    def replace(self, old: Sequence[Line], new: Sequence[Line], *, limit: int) -> bool:
        """Print ``new`` instead of ``old`` if the tokens then are at most ``limit``; whether it was done."""
        self.remove(old)
        self.add(new)
        if self.tokens <= limit:
            return True
        self.remove(new)
        self.add(old)
        return False


def fill_rest(
    printed: Printed, rows: ContextRows, renderer: LineRenderer, *, limit: int, elsewhere: frozenset[str]
) -> frozenset[UUID]:
    """Add to the warm tier's ``printed`` lines up to ``limit`` tokens; returns the conversations printed whole.

    First whole conversations without a summary, then more summaries, then more whole conversations.
    ``elsewhere``: keys of lines of other tiers, which are not repeated.
    """
    told: dict[UUID, list[Line]] = {}
    for line, _ in printed.lines.values():
        told.setdefault(UUID(line.headings[-1][0].split()[-1]), []).append(line)
    talks = sorted(rows.whole.values(), key=talk_place)
    summaries = {one.interaction_id for one in rows.summaries}
    whole = {key for key in rows.whole if any(f"whole {key}" in dict(line.headings) for line in told.get(key, ()))}

    def try_whole(talk: WholeTalk, most: int) -> None:
        lines = [line for line in renderer.whole(talk) if line.key not in elsewhere]
        if printed.replace(told.get(talk.interaction_id, []), lines, limit=min(most, limit)):
            whole.add(talk.interaction_id)

    for talk in talks:
        if talk.interaction_id not in summaries:
            try_whole(talk, limit)
    too_long: float = inf  # characters: no longer one is tried where one of so many had no room
    for summary in rows.summaries:
        key = summary.interaction_id
        if key in told or key in whole or len(summary.text) >= too_long:
            continue
        line = renderer.summary(summary, place=(*talk_place(summary), 0))
        if line is None or not printed.replace([], [line], limit=limit):
            too_long = too_long if line is None else len(summary.text)
            continue
        told[key] = [line]
        if key in rows.whole:
            try_whole(rows.whole[key], printed.tokens)
    for talk in talks:
        if talk.interaction_id not in whole:
            try_whole(talk, limit)
    return frozenset(whole)
