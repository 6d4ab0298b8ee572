"""What is printed in the room that the tiers leave: whole conversations in place of what is told of them, then further
summaries, newest first (P6). Nothing is said twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    _headings: Counter[str] = field(default_factory=Counter[str])
    _sizes: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def tokens(self) -> int:
        return sum(size for _, size in self.lines.values()) + sum(self._sizes[key] for key in +self._headings)

    def add(self, lines: Iterable[Line]) -> None:
        new = [line for line in lines if line.key not in self.lines]
        titles = {key: title for line in new for key, title in line.headings if key not in self._sizes}
        sizes = self.count_many([*(bullet(line.text) for line in new), *titles.values()])
        self._sizes |= dict(zip(titles, sizes[len(new) :], strict=True))
        for line, size in zip(new, sizes, strict=False):
            self.lines[line.key] = (line, size)
            self._headings.update(key for key, _ in line.headings)

    def remove(self, lines: Iterable[Line]) -> None:
        for line in lines:
            if self.lines.pop(line.key, None) is not None:
                self._headings.subtract(key for key, _ in line.headings)

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
    for summary in rows.summaries:
        key = summary.interaction_id
        line = renderer.summary(summary, place=(*talk_place(summary), 0))
        if line is None or key in told or key in whole or not printed.replace([], [line], limit=limit):
            continue
        told[key] = [line]
        if key in rows.whole:
            try_whole(rows.whole[key], printed.tokens)
    for talk in talks:
        if talk.interaction_id not in whole:
            try_whole(talk, limit)
    return frozenset(whole)
