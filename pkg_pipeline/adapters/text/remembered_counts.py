"""A token counter with a cache by digests of texts."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

from pkg_pipeline.stages.ports import TokenCounter

REMEMBERED_TEXTS = 65_536
"""About 10 MB: the messages of some hundred live sessions."""


class RememberedCounts:
    """``ports.TokenCounter`` over another one. Thread-safe."""

    def __init__(self, counter: TokenCounter, *, size: int = REMEMBERED_TEXTS) -> None:
        self._counter = counter
        self._size = size
        self._lock = threading.Lock()
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    @property
    def name(self) -> str:
        return self._counter.name

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        digests = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            known = {digest: self._counts[digest] for digest in digests if digest in self._counts}
            for digest in known:
                self._counts.move_to_end(digest)
        fresh = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if fresh:
            known |= zip(fresh, self._counter.count_many(list(fresh.values())), strict=True)
            with self._lock:
                for digest in fresh:
                    self._counts[digest] = known[digest]
                while len(self._counts) > self._size:
                    self._counts.popitem(last=False)
        return [known[digest] for digest in digests]
