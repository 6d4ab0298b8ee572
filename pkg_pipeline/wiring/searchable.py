"""After an append: what was said is found without a run of the pipeline."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final
from uuid import UUID

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

log = logging.getLogger(__name__)

REST: Final = 3
"""It rests so many times as long as the work took: appends that come meanwhile are one piece of work."""


class SearchableChats:
    """What ``BackgroundSink`` writes for appends: interactions and chunks of the chats. What fails here, or is dropped,
    is still marked and made by the pipeline's next run.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._ended = threading.Event()
        self.lost = 0

    def put_many(self, chats: list[UUID]) -> None:
        started = time.perf_counter()
        try:
            self._memory.make_searchable(set(chats), alone=True)
        except Exception as error:  # noqa: BLE001 - the append was answered: nobody is there to be told
            self.lost += len(chats)
            log.warning("what was appended is found after the next run: %s", type(error).__name__)
        self._ended.wait(REST * (time.perf_counter() - started))

    def end(self) -> None:
        """Rests no longer."""
        self._ended.set()
