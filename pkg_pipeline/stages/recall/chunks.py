"""Interactions → chunks with their terms and vectors, by day (L7); only interactions with changed input.

No transaction is open during an embedding call. The state of an interaction is written last, so a killed run is
continued by the next.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from pkg_pipeline.memory.profile.topics import TopicMention, merge_topics
from pkg_pipeline.memory.recall.chunking import continued_chunks, derived_chunks, message_chunks
from pkg_pipeline.memory.recall.lexical import document_vector, term_number
from pkg_pipeline.memory.recall.records import Chunk, ChunkedMessage
from pkg_pipeline.memory.text.name_forms import across_scripts, inflections
from pkg_pipeline.memory.text.name_links import keys_of_name
from pkg_pipeline.stages.partitions import FinishedPartition, PartitionReport, PartitionStore
from pkg_pipeline.stages.ports import Clock, TermAnalyzer
from pkg_pipeline.stages.recall.chunk_vectors import Vectorising
from pkg_pipeline.stages.recall.records import NO_SPACE, Built, ChunkRow, DueInteraction

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.recall.chunks import PostgresChunkStore, PostgresHeldInteractions

ASSET = "memory_chunks"

BATCH_CHUNKS = 500
"""Per transaction."""

GROUP_MESSAGES = 500
"""Short interactions are processed together up to about this many messages."""

REMEMBERED_LINES = 1_024
"""Whose terms are known: what a passage says stands around four others, too."""

STALE_AT_ONCE = 1_000

BUSY_SECONDS = 60.0
"""Database clock: when interactions held by another run are tried again."""

ONE_TALK = datetime(1970, 1, 1, tzinfo=UTC)
"""Time given to the key points of one interaction."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ChunkDeps:
    """Dependencies; ``vectorising`` None: terms only."""

    store: PostgresChunkStore
    partitions: PartitionStore
    analyzer: TermAnalyzer
    clock: Clock
    vectorising: Vectorising | None


@dataclass(slots=True)
class DayReport(PartitionReport):
    """The result for one day. Of the ``chunks`` of its outdated ``interactions`` ``kept`` are unchanged; ``refused`` by
    the embedder got no vector; ``removed`` are no longer derived.
    """

    day: date
    interactions: int = 0
    chunks: int = 0
    kept: int = 0
    embedded: int = 0
    refused: int = 0
    removed: int = 0


def build_days(
    days: tuple[date, date], *, deps: ChunkDeps, on_day: Callable[[DayReport], None] = lambda _: None
) -> list[DayReport]:
    """Update the chunks of a closed range of days, oldest first; ``on_day`` gets each report.

    Pending are interactions held by another run and vectors the embedder cannot give now. A day without marks,
    leftovers or work is not written.
    """
    keys = _keys(days)
    marks = deps.partitions.begin(ASSET, keys, now=deps.clock.now())
    remove_unwanted(deps)
    space_id = deps.vectorising.space_id if deps.vectorising else NO_SPACE
    due = deps.store.due(days, space_id=space_id)
    reports = {date.fromisoformat(key): DayReport(date.fromisoformat(key)) for key in keys}
    for one in due:
        reports[one.day].pending += 1
    work = Work(deps, reports, space_id)
    waiting = deque(reports.values())
    groups = [*_groups(due)]
    for group, following in zip(groups, chain((one[0].day for one in groups[1:]), [None]), strict=False):
        work.off(group)
        while waiting and following is not None and waiting[0].day < following:
            _finish(waiting.popleft(), deps=deps, marks=marks, on_day=on_day)
    while waiting:
        _finish(waiting.popleft(), deps=deps, marks=marks, on_day=on_day)
    if deps.vectorising is not None:
        deps.vectorising.keep_indexes()
    return list(reports.values())


def remove_unwanted(deps: ChunkDeps) -> int:
    """Delete chunks of merged interactions and of mass chats; returns the number of interactions."""
    removed = 0
    for ids in batched(deps.store.unwanted(), GROUP_MESSAGES):
        with deps.store.hold(ids) as held:
            still = set(deps.store.unwanted()) if held.ids else set[UUID]()
            gone = [one for one in held.ids if one in still]
            held.see_none()
            _remove_stale(held, gone)
            held.forget(gone)
            removed += len(gone)
    return removed


class Work:
    def __init__(self, deps: ChunkDeps, reports: Mapping[date, DayReport], space_id: int) -> None:
        self._deps, self._reports, self._space_id = deps, reports, space_id
        analyzer = deps.analyzer

        @lru_cache(maxsize=REMEMBERED_LINES)
        def numbers(line: str) -> tuple[int, ...]:
            return tuple(map(term_number, analyzer.terms(line)))

        self._numbers: Callable[[str], tuple[int, ...]] = numbers

    def off(self, group: Sequence[DueInteraction]) -> None:
        begun = time.perf_counter()
        with self._deps.store.hold([one.id for one in group]) as held:
            # after the embedder failed only terms are updated
            taken = held.outdated(NO_SPACE if self._has_stopped else self._space_id)
            if taken:
                self.make(held, taken)
            left = {one.id for one in group} - set(held.ids)
        seconds = time.perf_counter() - begun
        messages = sum(one.messages for one in group) or len(group)
        for one in group:
            report = self._reports[one.day]
            report.seconds += seconds * (one.messages or 1) / messages
            if one.id in left:
                report.add_reason("another run works on some of it")
            elif not self._has_stopped:
                report.pending -= 1
            elif self._deps.vectorising is not None:
                report.add_reason(self._deps.vectorising.stop_reason)

    @property
    def _has_stopped(self) -> bool:
        vectorising = self._deps.vectorising
        return vectorising is not None and vectorising.stop_reason is not None

    def make(self, held: PostgresHeldInteractions, taken: Sequence[DueInteraction]) -> None:
        """Terms, vectors, stale chunks, state: in this order, so that a kill only repeats work."""
        day_of = {one.id: one.day for one in taken}
        whole = [one.id for one in taken if one.goes_on is None]
        points = held.key_points(list(day_of))
        goes_on = {one.id: one.goes_on for one in taken if one.goes_on is not None}
        named = [*whole, *(one for one, standing in goes_on.items() if standing.is_joined)]
        speakers = held.speakers([*{*named, *points}])
        chunks, refused = Counter[UUID](), Counter[UUID]()
        for interaction, standing in goes_on.items():
            chunks[interaction] = standing.chunks
        for batch in batched(self._chunks(held, taken, points, speakers), BATCH_CHUNKS):
            kept = held.save([self._row(chunk) for chunk in batch])
            given = self._deps.vectorising.give(batch, kept) if self._deps.vectorising else None
            for interaction, pairs in groupby(zip(batch, kept, strict=True), key=lambda pair: _of(pair[0])):
                made = list(pairs)
                standing, report = goes_on.get(interaction), self._reports[day_of[interaction]]
                chunks[interaction] += sum(
                    standing is None or (chunk.subject_id is None and chunk.at > standing.after) for chunk, _ in made
                )
                report.chunks += len(made)
                report.kept += sum(not row.is_changed for _, row in made)
                if given is not None:
                    bad = sum(row.no in given.refused for _, row in made)
                    report.embedded += sum(row.no in given.embedded for _, row in made)
                    report.refused += bad
                    refused[interaction] += bad
        if whole:
            self._reports[taken[0].day].removed += _remove_stale(held, whole)
        if named:
            held.name_speakers(self._names(speakers[one] for one in named))
        built = [Built(one.id, one.input_hash, chunks[one.id], refused[one.id]) for one in taken]
        spaces = {NO_SPACE} if self._has_stopped else {NO_SPACE, self._space_id}
        held.finish(built, spaces=sorted(spaces))
        for one in taken:
            self._reports[one.day].interactions += 1

    def _chunks(
        self,
        held: PostgresHeldInteractions,
        taken: Sequence[DueInteraction],
        points: Mapping[UUID, Sequence[str]],
        speakers: Mapping[UUID, Mapping[UUID, str]],
    ) -> Iterator[Chunk]:
        """A long interaction is streamed: a few passages and one page of messages at a time."""
        sources = {one.id: one.interaction for one in taken}
        for interaction, found in points.items():
            topics = topics_of(found, besides=speakers[interaction].values())
            sources[interaction] = replace(sources[interaction], topics=topics)
        whole = [one.id for one in taken if one.goes_on is None]
        if whole:
            for interaction, said in groupby(held.messages(whole), key=lambda pair: pair[0]):
                yield from message_chunks(sources[interaction], _messages(said))
        for one in taken:
            if one.goes_on is not None:
                yield from continued_chunks(sources[one.id], one.goes_on.after, _messages(held.last_messages(one)))
        for interaction, texts in held.derived(list(sources)).items():
            source = sources[interaction]
            yield from derived_chunks(source, (replace(text, topics=text.topics or source.topics) for text in texts))

    def _row(self, chunk: Chunk) -> ChunkRow:
        around = chain.from_iterable(map(self._numbers, chunk.around.split("\n")))
        return ChunkRow(chunk, document_vector(self._numbers(chunk.own), around))

    def _names(self, speakers: Iterable[Mapping[UUID, str]]) -> dict[UUID, list[int]]:
        """Entity → numbers of the terms of its name parts in all forms."""
        names = {entity: name for some in speakers for entity, name in some.items()}
        return {entity: name_terms(name, self._deps.analyzer) for entity, name in names.items()}


def name_terms(name: str, analyzer: TermAnalyzer) -> list[int]:
    """Numbers of the terms by which a question may name this person: all forms, other scripts, short names."""
    parts = name.casefold().replace("ё", "е").split()
    forms = chain.from_iterable(inflections(part) for part in parts)
    terms = {term for form in forms for term in analyzer.terms(form)}
    keys = {key for part in parts for key in across_scripts(part)}
    return sorted(map(term_number, terms | keys | set(keys_of_name(name))))


def topics_of(key_points: Iterable[str], *, besides: Iterable[str]) -> tuple[str, ...]:
    """Topics of one interaction (P21), case-folded and sorted; ``besides`` are the speakers' names."""
    mentions = [TopicMention(point, ONE_TALK) for point in key_points]
    return tuple(sorted({topic.name.casefold() for topic in merge_topics(mentions, besides=besides)}))


def _remove_stale(held: PostgresHeldInteractions, interactions: Sequence[UUID]) -> int:
    removed = 0
    while numbers := held.stale(interactions, STALE_AT_ONCE):
        held.delete(numbers)
        removed += len(numbers)
    return removed


def _finish(
    report: DayReport,
    *,
    deps: ChunkDeps,
    marks: Mapping[str, tuple[int, ...]],
    on_day: Callable[[DayReport], None],
) -> None:
    key = report.day.isoformat()
    if key in marks or report.interactions or report.pending:
        rest = 0.0
        if report.pending:
            stopped = deps.vectorising.rest_seconds if deps.vectorising else 0.0
            rest = max(BUSY_SECONDS, stopped)
        done = FinishedPartition(key, marks.get(key, ()), report.pending, None, rest_seconds=rest)
        deps.partitions.finish(ASSET, [done])
    on_day(report)


def _groups(due: Iterable[DueInteraction]) -> Iterator[list[DueInteraction]]:
    group: list[DueInteraction] = []
    messages = 0
    for one in due:
        if group and messages + one.messages > GROUP_MESSAGES:
            yield group
            group, messages = [], 0
        group.append(one)
        messages += max(one.messages, 1)
    if group:
        yield group


def _messages(said: Iterable[tuple[UUID, ChunkedMessage]]) -> Iterator[ChunkedMessage]:
    return (message for _, message in said)


def _of(chunk: Chunk) -> UUID:
    assert chunk.interaction_id is not None, "what this stage derives belongs to an interaction"
    return chunk.interaction_id


def _keys(days: tuple[date, date]) -> list[str]:
    count = (days[1] - days[0]).days + 1
    return [(days[0] + timedelta(days=index)).isoformat() for index in range(count)]


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
