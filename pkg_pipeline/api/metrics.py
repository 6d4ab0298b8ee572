"""Prometheus metrics of one server: figures read on request, and answer times; a registry per application. What several
processes of a server count lies in files of theirs and is summed when read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pkg_pipeline.stages.monitoring.stage import MonitoringParams, Statistics, statistics
from pkg_pipeline.stages.monitoring.stores import LedgerFigures, QueueCounts
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.wiring.process import Space

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore

LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
UNMATCHED = "unmatched"
MEMORY_LABEL = "memory"
SHARED_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus_client when it is imported."""

FIGURES = {
    "total_interactions": "Interactions known.",
    "eligible_interactions": "Completed interactions with enough messages in chats that are not mass.",
    "summarized_interactions": "Eligible interactions whose summary says what they say now.",
    "summarization_coverage": "Summarised of eligible, 0 to 1.",
    "pending_in_queue": "Eligible interactions that wait for a summary, due or not.",
    "failed_interactions": "Eligible interactions that were given up.",
    "stale_summaries": "Served summaries of another prompt, model or schema version.",
    "avg_summarization_time_ms": "Mean time to make a served summary.",
    "avg_compression_ratio": "Mean of source tokens to summary tokens over served summaries.",
    "total_cost_today": "USD billed today.",
    "total_cost_month": "USD billed this month.",
    "avg_cost_per_summary": "Mean USD of a served summary.",
    "avg_key_points_per_summary": "Mean key points of a served summary.",
    "avg_decisions_per_summary": "Mean decisions of a summarised conversation.",
    "total_open_action_items": "Open action items, overdue ones among them.",
    "overdue_action_items": "Open action items that were due before today.",
    "perhaps_done_action_items": "Action items that were perhaps kept.",
    "lapsed_action_items": "Action items due or said long ago of which nothing was heard since.",
    "archived_messages": "Messages whose text lies in the archive.",
    "days_behind": "Days that stand as they were counted last, since too many changed at once.",
}
"""Numbers of ``stats`` → help text of the gauge."""

_CALL = ("lane", "task", "model", "outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCounts:
    """What one process counts since it started."""

    receipts_lost: Callable[[], int] | None = None
    window_holes: Callable[[], int] | None = None
    shared: Path | None = None
    """Folder of the files of a server's processes, ``SHARED_VARIABLE`` of each; None: there is one process."""


class Metrics:
    """``render`` gives the page; ``Latencies`` feeds ``answered``."""

    def __init__(
        self,
        store: PostgresMonitoringStore,
        params: MonitoringParams,
        *,
        clock: Clock,
        server: ServerCounts | None = None,
        disk: Callable[[], Space | None] = lambda: None,
        memory: str | None = None,
    ) -> None:
        """``memory``: the named one of a server of several. Its page has its own numbers alone, without its name."""
        counts = server or ServerCounts()
        self.registry = CollectorRegistry(auto_describe=False)
        # what the processes share is read from their files alone, or it would be told twice
        own = self.registry if counts.shared is None else None
        # the files are of all memories, so that there each number has to say of which it is
        named = {} if counts.shared is None or memory is None else {MEMORY_LABEL: memory}
        self._named = named
        self._latency = Histogram(
            "pkg_api_request_seconds",
            "Time from a request's head to its whole answer.",
            ("route", "method", "status", *named),
            buckets=LATENCY_BUCKETS,
            registry=own,
        )
        lost = "Receipts of served contexts and windows that could not be kept."
        holes = "Messages that windows left out and no summary stands for."
        self._followers = [
            _Follower(_labelled(Counter(name, said, tuple(named), registry=own), named), count)
            for name, said, count in (
                ("pkg_context_receipts_lost", lost, counts.receipts_lost),
                ("pkg_window_unsummarised_messages", holes, counts.window_holes),
            )
            if count is not None
        ]
        self.registry.register(_MemoryCollector(store, params, clock))
        if counts.shared is not None:
            self.registry.register(_SharedCollector(counts.shared, memory))
        self.registry.register(_DiskCollector(disk))

    def render(self, accept: str) -> tuple[bytes, str]:
        """The page and content type in the format that ``accept`` asks for. Raises StoreUnavailable."""
        self._follow()
        encode, content_type = choose_encoder(accept)
        return encode(self.registry), content_type

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request; also tells the other processes what this one lost so far."""
        self._latency.labels(route, method, str(status), *self._named.values()).observe(seconds)
        self._follow()

    def _follow(self) -> None:
        for follower in self._followers:
            follower.follow()


class _Follower:
    """A counter that follows a number of this process, which only grows."""

    def __init__(self, counter: Counter, count: Callable[[], int]) -> None:
        self._counter, self._count = counter, count
        self._told = 0
        self._lock = threading.Lock()

    def follow(self) -> None:
        if self._count() > self._told:
            with self._lock:
                now = self._count()
                self._counter.inc(now - self._told)
                self._told = now


class Latencies:
    """Middleware: answer times by route, not by path, so that names and ids do not become labels."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", UNMATCHED)
            method = scope["method"] if route != UNMATCHED else "any"
            self._metrics.answered(route, method, status, time.perf_counter() - started)


class _MemoryCollector(Collector):
    def __init__(self, store: PostgresMonitoringStore, params: MonitoringParams, clock: Clock) -> None:
        self._store, self._params, self._clock = store, params, clock

    def collect(self) -> Iterator[Metric]:
        found = statistics(self._store, self._params, now=self._clock.now())
        yield from _figures(found)
        yield from _queue(found, self._store.queue_counts())
        yield from _budgets(found)
        yield from _calls(found.ledger)


class _SharedCollector(Collector):
    """What all processes counted, of one memory."""

    def __init__(self, folder: Path, memory: str | None) -> None:
        self._files, self._memory = MultiProcessCollector(None, str(folder)), memory

    def collect(self) -> Iterator[Metric]:
        for metric in self._files.collect():
            metric.samples = [
                one._replace(labels={key: value for key, value in one.labels.items() if key != MEMORY_LABEL})
                for one in metric.samples
                if one.labels.get(MEMORY_LABEL) == self._memory
            ]
            if metric.samples:
                yield metric


class _DiskCollector(Collector):
    def __init__(self, disk: Callable[[], Space | None]) -> None:
        self._disk = disk

    def collect(self) -> Iterator[Metric]:
        if (found := self._disk()) is not None:
            said = "Bytes free on the disk of the embedded database."
            yield GaugeMetricFamily("pkg_disk_free_bytes", said, value=found.free_bytes)
            said = "Bytes that imports and runs need to be free there."
            yield GaugeMetricFamily("pkg_disk_minimum_bytes", said, value=found.minimum_bytes)


def _figures(found: Statistics) -> Iterator[Metric]:
    shape = found.to_json()
    for name, said in FIGURES.items():
        if shape[name] is not None:
            yield GaugeMetricFamily(f"pkg_{name}", said, value=shape[name])
    if found.memory.oldest_pending_at is not None:
        said = "End of the oldest interaction that waits."
        at = found.memory.oldest_pending_at.timestamp()
        yield GaugeMetricFamily("pkg_oldest_unsummarized_timestamp_seconds", said, value=at)


def _queue(found: Statistics, counts: QueueCounts) -> Iterator[Metric]:
    yield _gauge(
        "queue",
        "Interactions in the queue by state; active includes leases on anything else.",
        ("state",),
        [
            (("waiting",), max(found.memory.pending - counts.active, 0)),
            (("active",), counts.active + counts.active_others),
            (("failed",), found.memory.failed),
        ],
    )
    profiles = [(("put_off",), counts.profiles_put_off), (("failed",), counts.profiles_failed)]
    yield _gauge("profiles_queue", "Profiles that are put off or given up.", ("state",), profiles)
    yield GaugeMetricFamily("pkg_backfills_open", "Backfills requested or running.", value=counts.backfills)
    yield GaugeMetricFamily("pkg_batches_open", "Message batches on their way.", value=counts.batches)
    questions = counts.batch_questions
    yield GaugeMetricFamily("pkg_batch_questions", "Questions in these without a result yet.", value=questions)
    yield _gauge(
        "partitions_pending",
        "Partitions of which an attempt left something undone.",
        ("asset",),
        [((one.asset,), one.partitions) for one in found.leftovers],
    )
    yield _gauge(
        "rows_pending",
        "Rows that attempts left undone.",
        ("asset",),
        [((one.asset,), one.pending) for one in found.leftovers],
    )
    yield _gauge(
        "rows_put_off",
        "Rows of these that a budget, a retry or a service holds back.",
        ("asset",),
        [((one.asset,), one.put_off) for one in found.leftovers],
    )


def _budgets(found: Statistics) -> Iterator[Metric]:
    lanes = found.lanes()
    tasks = [(lane.lane, task) for lane in lanes for task in lane.tasks]
    said = "USD taken from the lane's budget of today, reservations included."
    yield _gauge("budget_usd", said, ("lane",), [((one.lane,), one.usd_taken) for one in lanes])
    caps = [((one.lane,), one.usd_cap) for one in lanes if one.usd_cap is not None]
    yield _gauge("budget_usd_cap", "USD that the lane may take a day.", ("lane",), caps)
    names = ("lane", "task", "period")
    calls = [((lane, task.task, task.period), task.calls) for lane, task in tasks]
    yield _gauge("budget_calls", "Calls taken from the budget in its period.", names, calls)
    limits = [((lane, task.task, task.period), task.cap) for lane, task in tasks if task.cap is not None]
    yield _gauge("budget_calls_cap", "Calls that may be taken in the period.", names, limits)


def _calls(ledger: Iterable[LedgerFigures]) -> Iterator[Metric]:
    """Ledger totals. An answer refused later by the gate stays ``answered``: a counter must not fall."""
    sums: dict[tuple[str, ...], list[float]] = {}
    refused: list[tuple[tuple[str, ...], float]] = []
    for one in ledger:
        outcome = "answered" if one.outcome in ("ok", "quarantined") else one.outcome
        if one.outcome == "quarantined":
            refused.append(((one.lane, one.task, one.model), one.calls))
        tokens = (one.input_tokens, one.output_tokens, one.cache_read_tokens, one.cache_write_tokens)
        numbers = [one.calls, one.cost_usd, one.duration_seconds, *tokens]
        key = (one.lane, one.task, one.model, outcome)
        sums[key] = [left + right for left, right in zip(sums.get(key, [0.0] * 7), numbers, strict=True)]
    for place, (name, said) in enumerate(
        (("calls", "Calls."), ("cost_usd", "USD billed."), ("seconds", "Time waited."))
    ):
        yield _counter(f"llm_{name}", said, _CALL, [(key, numbers[place]) for key, numbers in sums.items()])
    kinds = ("input", "output", "cache_read", "cache_write")
    counted = [((*key, kind), numbers[3 + place]) for key, numbers in sums.items() for place, kind in enumerate(kinds)]
    yield _counter("llm_tokens", "Tokens used.", (*_CALL, "kind"), counted)
    yield _counter("llm_refused_answers", "Answers that the gate refused.", _CALL[:3], refused)


def _labelled(counter: Counter, labels: Mapping[str, str]) -> Counter:
    return counter.labels(**labels) if labels else counter


def _gauge(name: str, said: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], Any]]) -> Metric:
    return _filled(GaugeMetricFamily(f"pkg_{name}", said, labels=labels), values)


def _counter(name: str, said: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], Any]]) -> Metric:
    return _filled(CounterMetricFamily(f"pkg_{name}", said, labels=labels), values)


def _filled(family: Any, values: Iterable[tuple[tuple[str, ...], Any]]) -> Metric:
    for key, value in values:
        family.add_metric(key, value)
    return family
