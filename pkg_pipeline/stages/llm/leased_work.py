"""Works on what is claimed, in threads, and gives back every lease whatever happens.

What is claimed, in which order and what is done with it is the stage's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import Generic, Protocol, TypeVar

from pkg_pipeline.stages.llm.heartbeat import Heartbeat, Held, HeldContra, Renewing
from pkg_pipeline.stages.ports import LlmMisconfigured

CLAIMED_AT_ONCE = 8
"""Leases taken together, and twice the threads at least: few enough that a killed worker delays little."""

Done = TypeVar("Done")


class Leasing(Renewing[HeldContra], Protocol[HeldContra]):
    def release(self, claimed: Sequence[HeldContra]) -> None: ...


class Workers(Generic[Held]):
    """A few at a time, under one heartbeat; made by ``workers``."""

    def __init__(self, store: Leasing[Held], heartbeat: Heartbeat[Held], threads: ThreadPoolExecutor) -> None:
        self._store, self._heartbeat, self._threads = store, heartbeat, threads

    def work_off(
        self, claimed: Sequence[Held], make: Callable[[Held], Done], *, keeps_lease: Callable[[Done], bool]
    ) -> list[Done]:
        """What ``make`` returns for each, in their order. A lease is given back where it raised and where
        ``keeps_lease`` of its result: elsewhere saving did so. Raises its errors, ``LlmMisconfigured`` before others.
        """
        left = {one.lease_id: one for one in claimed}

        def made(one: Held) -> Done:
            try:
                done = make(one)
            finally:
                self._heartbeat.let_go(one)
            if not keeps_lease(done):
                left.pop(one.lease_id, None)
            return done

        self._heartbeat.hold(claimed)
        try:
            return self._all(claimed, made)
        finally:
            for one in left.values():
                self._heartbeat.let_go(one)
            self._store.release(list(left.values()))

    def _all(self, claimed: Sequence[Held], made: Callable[[Held], Done]) -> list[Done]:
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
def workers(store: Leasing[Held], *, lease_seconds: float, concurrency: int) -> Generator[Workers[Held]]:
    """Threads and heartbeat; both end with the context."""
    with ExitStack() as open_things:
        heartbeat = open_things.enter_context(Heartbeat(store, lease_seconds=lease_seconds))
        # in threads even one at a time: an interrupt reaches the main thread, which only waits
        threads = open_things.enter_context(ThreadPoolExecutor(max_workers=concurrency))
        yield Workers(store, heartbeat, threads)


def claimed_at_once(concurrency: int) -> int:
    return max(CLAIMED_AT_ONCE, 2 * concurrency)
