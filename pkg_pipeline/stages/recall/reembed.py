"""Changes the embedding model (B4): fills a new space (repeatable), then activates it once complete."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pkg_pipeline.stages.ports import TokenCounter
from pkg_pipeline.stages.recall.records import Space, SpaceMismatch, SpaceState

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore
    from pkg_pipeline.adapters.postgres.recall.vectors import PostgresVectorStore

ROUNDS_WITHOUT_PROGRESS = 3
"""Passes without a new vector before it gives up."""

WAIT_SECONDS = 1.0
PATIENCE_SECONDS = 600.0
"""How long to wait for interactions held by another run."""

SAMPLE_CHUNKS = 300
AROUND_PIECES, AROUND_TOKENS = 4, 35
"""A message is embedded with the ends of up to four neighbours; tokens of each."""


class ReembedStopped(Exception):
    """Stopped for now; saved vectors stay: ``done`` of ``total`` chunks."""

    def __init__(self, reason: str, *, done: int, total: int) -> None:
        super().__init__(reason)
        self.done, self.total = done, total


class ReembedBusy(Exception):
    """Another process fills or drops a space."""


class SpaceUnknown(Exception):
    """There is no space of this model."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The result of one pass. ``pending`` interactions are held by another run."""

    embedded: int
    refused: int
    pending: int
    stop_reason: str | None


Fill = Callable[[Space, Callable[[int], None]], Filled]
"""(space, callback with the size of each saved batch) → one pass that fills the space."""


@dataclass(frozen=True, slots=True)
class SpaceSize:
    model: str
    state: SpaceState
    dimensions: int | None
    vectors: int
    missing: int
    indexes: int


@dataclass(frozen=True, slots=True)
class ReembedDeps:
    """Dependencies; ``wait`` sleeps for seconds."""

    spaces: PostgresSpaceStore
    vectors: PostgresVectorStore
    fill: Fill
    wait: Callable[[float], None]


@dataclass(slots=True)
class ReembedReport:
    """The result. ``switched_from``: the model active before, None if unchanged."""

    model: str
    chunks: int = 0
    embedded: int = 0
    refused: int = 0
    indexes: list[str] = field(default_factory=list[str])
    switched_from: str | None = None
    dropped: dict[str, int] = field(default_factory=dict[str, int])
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReembedForecast:
    """An estimate; ``tokens`` from a sample, without the ``unread`` interactions."""

    model: str
    chunks: int
    tokens: int
    unread: int
    is_switch: bool


Phase = Literal["embedding", "indexing", "dropping"]
Progress = Callable[[Phase, int, int], None]
"""(phase, chunks with a vector, all chunks)."""


def no_progress(phase: Phase, done: int, total: int) -> None:
    del phase, done, total


def reembed(
    model: str, *, deps: ReembedDeps, drop_old: bool = False, on_progress: Progress = no_progress
) -> ReembedReport:
    """Fill the space of ``model``, activate it, and with ``drop_old`` drop all retired spaces.

    Safe to repeat. Raises ReembedStopped, ReembedBusy.
    """
    begun = time.monotonic()
    with deps.spaces.filling() as is_mine:
        if not is_mine:
            raise ReembedBusy("another re-embedding runs already; it goes on by itself")
        before = deps.spaces.active()
        space = deps.spaces.open(model)
        report = ReembedReport(model)
        _Filling(deps, space, report, on_progress).to_the_end()
        if before is not None and before.id != space.id:
            report.switched_from = before.model
        if drop_old:
            for one in deps.spaces.spaces():
                if one.state == "retired":
                    on_progress("dropping", report.chunks, report.chunks)
                    report.dropped[one.model] = deps.spaces.drop(one.id)
    report.seconds = time.monotonic() - begun
    return report


class _Filling:
    def __init__(self, deps: ReembedDeps, space: Space, report: ReembedReport, on_progress: Progress) -> None:
        self._deps, self._space, self._report, self._on_progress = deps, space, report, on_progress
        self._done = self._total = 0

    def to_the_end(self) -> None:
        idle, waited = 0, 0.0
        while True:
            filled = self._pass()
            self._report.indexes += self._indexed()
            try:
                self._deps.spaces.activate(self._space.id)
            except SpaceMismatch as mismatch:
                if filled.pending and waited < PATIENCE_SECONDS:
                    self._deps.wait(WAIT_SECONDS)
                    waited += WAIT_SECONDS
                    continue
                idle = 0 if filled.embedded or self._deps.spaces.forget_incomplete(self._space.id) else idle + 1
                if idle == ROUNDS_WITHOUT_PROGRESS:
                    raise self._stopped(str(mismatch)) from mismatch
            else:
                self._report.chunks = self._deps.spaces.chunks()
                return

    def _pass(self) -> Filled:
        self._measure()
        filled = self._deps.fill(self._space, self._saved)
        self._report.embedded += filled.embedded
        self._report.refused += filled.refused
        if filled.stop_reason is not None:
            self._measure()
            raise self._stopped(filled.stop_reason)
        return filled

    def _measure(self) -> None:
        missing = self._deps.spaces.missing(self._space.id)[1]
        self._total = self._deps.spaces.chunks()
        self._done = self._total - missing
        self._on_progress("embedding", self._done, self._total)

    def _saved(self, count: int) -> None:
        self._done += count
        self._total = max(self._total, self._done)
        self._on_progress("embedding", self._done, self._total)

    def _indexed(self) -> list[str]:
        self._on_progress("indexing", self._done, self._total)
        return self._deps.vectors.keep_indexes(self._space.id)

    def _stopped(self, reason: str) -> ReembedStopped:
        return ReembedStopped(reason, done=self._done, total=self._total)


def drop(model: str, *, spaces: PostgresSpaceStore) -> int:
    """Drop a model's space; returns its number of vectors. Raises SpaceUnknown, SpaceMismatch, ReembedBusy."""
    with spaces.filling() as is_mine:
        if not is_mine:
            raise ReembedBusy("a re-embedding runs; drop when it has ended")
        for one in spaces.spaces():
            if one.model == model:
                return spaces.drop(one.id)
    raise SpaceUnknown(model)


def forecast(model: str, *, spaces: PostgresSpaceStore, counter: TokenCounter) -> ReembedForecast:
    known = next((one for one in spaces.spaces() if one.model == model), None)
    space_id = known.id if known else 0
    chunks = spaces.missing(space_id)[1]
    return ReembedForecast(
        model=model,
        chunks=chunks,
        tokens=_tokens(spaces.sample(space_id, SAMPLE_CHUNKS), chunks, counter=counter),
        unread=spaces.unread(),
        is_switch=known is None or known.state != "active",
    )


def _tokens(sample: Sequence[tuple[bool, str]], chunks: int, *, counter: TokenCounter) -> int:
    if not sample:
        return 0
    counts = counter.count_many([words for _, words in sample])
    read = sum(
        count + (AROUND_PIECES * min(count, AROUND_TOKENS) if is_message else 0)
        for count, (is_message, _) in zip(counts, sample, strict=True)
    )
    return round(read / len(sample) * chunks)
