"""Processes claimed items in threads under one heartbeat, and always releases their leases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, TypeVar
from uuid import UUID

from pkg_pipeline.stages.ports import LlmMisconfigured

CLAIMED_AT_ONCE = 8
"""Leases taken together, at least twice the threads; few, so that a killed worker delays little."""

BEATS_A_LEASE = 3
"""Two beats may fail before a lease ends."""


@dataclass(frozen=True, slots=True)
class WorkRules:
    """P19, lease length, concurrency; ``holder`` owns the leases."""

    holder: str
    attempt_limit: int = 3
    backoff_seconds: float = 60.0
    lease_seconds: float = 300.0
    concurrency: int = 1

    @property
    def claimed_at_once(self) -> int:
        return max(CLAIMED_AT_ONCE, 2 * self.concurrency)


class Leased(Protocol):
    """Something under a lease; ``token`` is the fencing token."""

    @property
    def lease_id(self) -> UUID: ...
    @property
    def token(self) -> int: ...


Held = TypeVar("Held", bound=Leased)
Done = TypeVar("Done")


class Leases(Protocol):
    """A store of leases; a lost lease stays with its new holder."""

    def renew(self, claimed: Sequence[Leased], *, lease_seconds: float) -> None: ...
    def release(self, claimed: Sequence[Leased]) -> None: ...


class Heartbeat:
    """A thread that renews held leases; context manager. A failed beat is ignored: saving detects a lost lease."""

    def __init__(self, store: Leases, *, lease_seconds: float) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._held: dict[UUID, Leased] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, claimed: Iterable[Leased]) -> None:
        with self._lock:
            self._held.update({one.lease_id: one for one in claimed})
        if self._thread is None and self._held:
            self._thread = threading.Thread(target=self._beat, name="lease heartbeat", daemon=True)
            self._thread.start()

    def stop_renewing(self, claimed: Leased) -> None:
        with self._lock:
            self._held.pop(claimed.lease_id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(self._lease_seconds / BEATS_A_LEASE):
            with self._lock:
                held = list(self._held.values())
            if not held:
                continue
            try:
                self._store.renew(held, lease_seconds=self._lease_seconds)
            except Exception:  # noqa: BLE001 - any trouble of any storage; the next beat tries again
                continue


class Workers:
    """A thread pool under one heartbeat; made by ``workers``."""

    def __init__(self, store: Leases, heartbeat: Heartbeat, threads: ThreadPoolExecutor) -> None:
        self._store, self._heartbeat, self._threads = store, heartbeat, threads

    def all(
        self,
        claim: Callable[[], Sequence[Held]],
        make: Callable[[Held], Done],
        *,
        keeps_lease: Callable[[Done], bool] = lambda _: True,
    ) -> Iterator[tuple[Held, Done]]:
        """``batch`` after ``batch`` until ``claim`` returns nothing."""
        while claimed := claim():
            yield from zip(claimed, self.batch(claimed, make, keeps_lease=keeps_lease), strict=True)

    def batch(
        self,
        claimed: Sequence[Held],
        make: Callable[[Held], Done],
        *,
        keeps_lease: Callable[[Done], bool] = lambda _: True,
    ) -> list[Done]:
        """Results of ``make``, in order. Raises its errors, ``LlmMisconfigured`` first.

        Releases a lease on an error and where ``keeps_lease(result)``; otherwise saving released it.
        """
        left = {one.lease_id: one for one in claimed}

        def made(one: Held) -> Done:
            try:
                done = make(one)
            finally:
                self._heartbeat.stop_renewing(one)
            if not keeps_lease(done):
                left.pop(one.lease_id, None)
            return done

        self._heartbeat.hold(claimed)
        try:
            return self._results(claimed, made)
        finally:
            for one in left.values():
                self._heartbeat.stop_renewing(one)
            self._store.release(list(left.values()))

    def _results(self, claimed: Sequence[Held], made: Callable[[Held], Done]) -> list[Done]:
        futures = [self._threads.submit(made, one) for one in claimed]
        try:
            errors = [error for future in futures if (error := future.exception()) is not None]
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            wait(futures)  # what is under way is finished and saved, the rest is given back
            raise
        if errors:
            raise next((error for error in errors if isinstance(error, LlmMisconfigured)), errors[0])
        return [future.result() for future in futures]


@contextmanager
def workers(store: Leases, rules: WorkRules) -> Generator[Workers]:
    with ExitStack() as open_things:
        heartbeat = open_things.enter_context(Heartbeat(store, lease_seconds=rules.lease_seconds))
        # threads even for one at a time: an interrupt reaches the main thread, which only waits
        threads = open_things.enter_context(ThreadPoolExecutor(max_workers=rules.concurrency))
        yield Workers(store, heartbeat, threads)
