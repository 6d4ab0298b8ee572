"""A memory on a server of its own, what work on it costs this process and the server, and a model that costs nothing.

A machine that does other work makes clocks say little: processor time of both sides is what is compared.
"""

from __future__ import annotations

import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Vectors
from pkg_pipeline.wiring import Memory, SystemClock

DIMENSIONS = 512
NANOSECONDS = 1e9


class FreeEmbedder:
    """Unit vectors by the checksum of the words, from a table: a model that costs nothing."""

    dimensions = DIMENSIONS

    def __init__(self, model: str) -> None:
        self.model = model
        made = np.random.default_rng(1).normal(size=(8192, DIMENSIONS)).astype(np.float32)
        self._table = made / np.linalg.norm(made, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._table[[zlib.crc32(text.encode()) % 8192 for text in texts]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one piece of work: wall, this process's CPU, and the server's."""

    wall: float
    own: float
    server: float

    @property
    def cpu(self) -> float:
        return self.own + self.server

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.own + other.own, self.server + other.server)


class FreshMemory:
    """A memory in the database ``bench`` of the server in ``folder/pg``, empty where it is not there yet."""

    def __init__(self, folder: Path, server: str) -> None:
        self.folder = folder
        with engine.connect(server, search_path="public", autocommit=True) as connection:
            if connection.execute("SELECT FROM pg_database WHERE datname = 'bench'").fetchone() is None:
                connection.execute("CREATE DATABASE bench")
        self.url = engine.with_database(server, "bench")
        migrate.upgrade(self.url)
        self.memory = opened(self.url, folder)

    @contextmanager
    def costing(self) -> Iterator[list[Cost]]:
        """Adds what the block costs to the list."""
        found = list[Cost]()
        wall, own, server = time.perf_counter(), time.process_time(), self.server_seconds()
        yield found
        found.append(Cost(time.perf_counter() - wall, time.process_time() - own, self.server_seconds() - server))

    def server_seconds(self) -> float:
        """CPU of the server's processes; its clients are the connections of the pool, which stay open."""
        main = int((self.folder / "pg" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])
        return sum(_seconds(one.pid) for one in [psutil.Process(main), *psutil.Process(main).children()])

    def value(self, text: str) -> int:
        with engine.connect(self.url) as connection:
            row = connection.execute(text.encode()).fetchone()
            assert row is not None
            return row[0]


def _seconds(process: int) -> float:
    """By the scheduler's count, which is finer than the clock ticks of ``cpu_times``."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0]) / NANOSECONDS
    except FileNotFoundError:
        return 0.0


def opened(url: str, folder: Path) -> Memory:
    return Memory(Settings(home=folder), url=url, connections=engine.pool(url, size=4), clock=SystemClock())


@contextmanager
def fresh_memory() -> Iterator[FreshMemory]:
    with tempfile.TemporaryDirectory(prefix="pkgb-") as name, embedded.running(Path(name) / "pg") as server:
        made = FreshMemory(Path(name), server)
        yield made
        made.memory.close()
