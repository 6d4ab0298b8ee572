"""A bounded queue in front of a sink: a read neither waits for its record nor fails with it."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

Record = TypeVar("Record")

QUEUE_RECORDS: Final = 1_000
BATCH_RECORDS: Final = 100
CLOSE_SECONDS: Final = 10.0


class BatchSink(Protocol[Record]):
    @property
    def lost(self) -> int:
        """Records that could not be kept."""
        ...

    def put_many(self, records: list[Record], /) -> None:
        """Save them or count them as lost; raises nothing."""
        ...


class BackgroundSink(Generic[Record]):
    """Passes records to a sink in a thread, which starts with the first record."""

    def __init__(self, sink: BatchSink[Record], *, size: int = QUEUE_RECORDS, name: str = "receipts") -> None:
        self._sink = sink
        self._name = name
        self._queue: queue.Queue[Record | threading.Event | None] = queue.Queue(maxsize=size)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._overflown = 0

    @property
    def lost(self) -> int:
        return self._overflown + self._sink.lost

    def put(self, receipt: Record) -> None:
        """Returns at once; a full queue drops the record and counts it."""
        self._start()
        try:
            if self._closed:
                raise queue.Full
            self._queue.put_nowait(receipt)
        except queue.Full:
            self._overflown += 1

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until everything put so far is saved or lost; False on timeout."""
        if self._thread is None or self._closed:
            return True
        done = threading.Event()
        try:
            self._queue.put(done, timeout=timeout_seconds)
        except queue.Full:
            return False
        return done.wait(timeout_seconds)

    def close(self) -> None:
        """Write what is queued and end the thread; later records are lost."""
        with self._lock:
            thread, self._closed = self._thread, True
        if thread is not None:
            with suppress(queue.Full):
                self._queue.put(None, timeout=CLOSE_SECONDS)
                thread.join(CLOSE_SECONDS)

    def _start(self) -> None:
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed:
                    self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                    self._thread.start()

    def _work(self) -> None:
        following = self._queue.get()
        while following is not None:
            batch: list[Record] = []
            while following is not None and not isinstance(following, threading.Event):
                batch.append(following)
                if len(batch) == BATCH_RECORDS or self._queue.empty():
                    break
                following = self._queue.get_nowait()
            if batch:
                self._sink.put_many(batch)
            if isinstance(following, threading.Event):
                following.set()
            if following is not None:
                following = self._queue.get()
