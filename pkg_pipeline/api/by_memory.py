"""One server for several memories: each request goes to the application of the memory that its token opens.

An application holds one memory's connections and caches and nothing of another's. It is opened when it is first asked,
closed when nobody has asked for long, and opened anew when its memory was dropped and made again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

import psycopg
from psycopg_pool import PoolTimeout
from starlette.types import ASGIApp, Receive, Scope, Send

from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.adapters.server.embedded import EmbeddedError
from pkg_pipeline.api.problems import RETRY_SECONDS, problem
from pkg_pipeline.api.security import digest_of
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.reads.stores import StoreUnavailable

log = logging.getLogger(__name__)

MOST_OPEN = 256
"""Applications that wait for the next request of their memory; each takes about a megabyte and no connection."""

IDLE_SECONDS = 600.0
LOOK_SECONDS = 2.0
"""So long a memory that was dropped may still be asked; its connections end at once."""

SWEEP_SECONDS = 10.0
OPENED_AT_ONCE = 4

NOT_OPENED = (DatabaseUnavailable, EmbeddedError, SettingsError, StoreUnavailable, psycopg.Error, PoolTimeout)


@dataclass(eq=False, slots=True)
class OpenMemory:
    """``identity``: what must be the same for it to stay open. ``users``: requests under way."""

    name: str
    app: ASGIApp
    identity: Hashable
    closing: ExitStack
    looked: float
    used: float
    users: int = 1
    is_left: bool = False
    is_closed: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def close_if_left(self) -> None:
        """Once, when the last request is answered."""
        with self.lock:
            if self.is_left and not self.users and not self.is_closed:
                self.is_closed = True
                self.closing.close()


class OpenMemories:
    """``open_`` opens one by its name; ``identify`` tells which one it is now, None where there is none."""

    def __init__(
        self,
        open_: Callable[[str], AbstractContextManager[ASGIApp]],
        identify: Callable[[str], Hashable | None],
        *,
        on_sweep: Callable[[], None] = lambda: None,
        most: int = MOST_OPEN,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._open, self._identify, self._on_sweep = open_, identify, on_sweep
        self._most, self._idle_seconds = most, idle_seconds
        self._there: dict[str, OpenMemory] = {}
        self._left: set[OpenMemory] = set()
        self._opening: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._doors = ThreadPoolExecutor(OPENED_AT_ONCE, thread_name_prefix="memories")
        self._ended = threading.Event()
        threading.Thread(target=self._sweep_for_ever, name="memories-idle", daemon=True).start()

    @property
    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._there)

    async def enter(self, name: str) -> OpenMemory | None:
        """The memory, held open until ``leave``; None where there is none of that name. Raises what opening raises."""
        return self._recent(name) or await asyncio.get_running_loop().run_in_executor(self._doors, self._enter, name)

    def leave(self, memory: OpenMemory) -> None:
        with self._lock:
            memory.users -= 1
            memory.used = time.monotonic()
        if memory.is_left and not memory.users:
            threading.Thread(target=memory.close_if_left, daemon=True).start()  # it may wait for records

    def sweep(self) -> None:
        """Closes what nobody has asked for long, and of too many those that were asked least lately."""
        before = time.monotonic() - self._idle_seconds
        with self._lock:
            quiet = sorted((one for one in self._there.values() if not one.users), key=lambda one: one.used)
            too_many = len(self._there) - self._most
            left = [one for place, one in enumerate(quiet) if place < too_many or one.used <= before]
            for one in left:
                self._forget(one)
        for one in left:
            one.close_if_left()

    def close(self) -> None:
        self._ended.set()
        self._doors.shutdown(wait=True)
        with self._lock:
            for one in list(self._there.values()):
                self._forget(one)
            left, self._left = self._left, set()
        for one in left:
            one.users = 0
            one.close_if_left()

    def _recent(self, name: str) -> OpenMemory | None:
        with self._lock:
            found = self._there.get(name)
            if found is None or time.monotonic() - found.looked > LOOK_SECONDS:
                return None
            found.users += 1
            return found

    def _enter(self, name: str) -> OpenMemory | None:
        with self._lock:
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:
            identity = self._identify(name)
            with self._lock:
                found = self._there.get(name)
                if found is not None and found.identity == identity:
                    found.looked, found.users = time.monotonic(), found.users + 1
                    return found
                if found is not None:
                    self._forget(found)
            if found is not None:
                found.close_if_left()
            if identity is None:
                return None
            with ExitStack() as closing:
                app, now = closing.enter_context(self._open(name)), time.monotonic()
                made = OpenMemory(name, app, identity, closing.pop_all(), looked=now, used=now)
            with self._lock:
                self._there[name] = made
        self.sweep()
        return made

    def _forget(self, memory: OpenMemory) -> None:
        memory.is_left = True
        del self._there[memory.name]
        self._left = {one for one in self._left if not one.is_closed} | {memory}

    def _sweep_for_ever(self) -> None:
        while not self._ended.wait(SWEEP_SECONDS):
            self.sweep()
            self._on_sweep()


class ByMemory:
    """Outermost layer of the application of the settings' own memory, which answers what no other memory's token asks:
    to it, a token of a memory that is not there is as unknown as any.
    """

    def __init__(self, app: ASGIApp, *, memory_of: Callable[[str], str | None], memories: OpenMemories) -> None:
        self._own, self._memory_of, self._memories = app, memory_of, memories

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        digest = digest_of(scope) if scope["type"] == "http" else None
        name = None if digest is None else self._memory_of(digest)
        if name is None:
            await self._own(scope, receive, send)
            return
        try:
            memory = await self._memories.enter(name)
        except NOT_OPENED as error:
            said = type(error).__name__ if isinstance(error, psycopg.Error) else error  # the driver's may quote rows
            log.warning("the memory %s cannot be opened: %s", name, said)
            detail = "the memory cannot be opened now; the server's log says why"
            headers = {"Retry-After": RETRY_SECONDS}
            await problem(503, detail, kind="database-unavailable", headers=headers)(scope, receive, send)
            return
        if memory is None:
            await self._own(scope, receive, send)
            return
        try:
            await memory.app(scope, receive, send)
        finally:
            self._memories.leave(memory)
