"""Keeps the leases of what is being worked on alive while a model takes its time. No claiming, no work, no storage."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self
from uuid import UUID

from pkg_pipeline.stages.stores import Claimed

BEATS_A_LEASE = 3
"""Two beats may fail before a lease runs out."""


class Renewing(Protocol):
    def renew(self, claimed: Sequence[Claimed], *, lease_seconds: float) -> None: ...


class Heartbeat:
    """A thread that renews every held lease three times within its length. Context manager.

    A beat that fails is no failure of the work: whether a lease was lost is decided when the result is saved.
    """

    def __init__(self, store: Renewing, *, lease_seconds: float) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._held: dict[UUID, Claimed] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, claimed: Iterable[Claimed]) -> None:
        """From now on these are renewed; the thread starts with the first of them."""
        with self._lock:
            self._held.update({one.source.interaction_id: one for one in claimed})
        if self._thread is None and self._held:
            self._thread = threading.Thread(target=self._beat, name="lease heartbeat", daemon=True)
            self._thread.start()

    def let_go(self, claimed: Claimed) -> None:
        with self._lock:
            self._held.pop(claimed.source.interaction_id, None)

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
