"""Keeps the leases of what is being worked on alive while a model takes its time. No claiming, no work, no storage."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar
from uuid import UUID

BEATS_A_LEASE = 3
"""Two beats may fail before a lease runs out."""


class Leased(Protocol):
    """Something under a lease."""

    @property
    def lease_id(self) -> UUID: ...


Held = TypeVar("Held", bound=Leased)
HeldContra = TypeVar("HeldContra", bound=Leased, contravariant=True)


class Renewing(Protocol[HeldContra]):
    def renew(self, claimed: Sequence[HeldContra], *, lease_seconds: float) -> None: ...


class Heartbeat(Generic[Held]):
    """A thread that renews every held lease three times within its length. Context manager.

    A beat that fails is no failure of the work: whether a lease was lost is decided when the result is saved.
    """

    def __init__(self, store: Renewing[Held], *, lease_seconds: float) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._held: dict[UUID, Held] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, claimed: Iterable[Held]) -> None:
        """From now on these are renewed; the thread starts with the first of them."""
        with self._lock:
            self._held.update({one.lease_id: one for one in claimed})
        if self._thread is None and self._held:
            self._thread = threading.Thread(target=self._beat, name="lease heartbeat", daemon=True)
            self._thread.start()

    def let_go(self, claimed: Held) -> None:
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
