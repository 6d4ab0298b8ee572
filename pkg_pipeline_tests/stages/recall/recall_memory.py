"""A memory in three languages, imported and indexed as the program does, and the means to ask it. No expectations."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.clock import PinnedClock
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.memory.hashing import chat_id, message_key
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Vectors
from pkg_pipeline.stages.recall.stage import RecallParts, RecallRequest, RecallResult, recall
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline.wiring.recall import recall_parts
from pkg_pipeline_tests.databases import TEMPLATE
from pkg_pipeline_tests.stages.reads.context_memory import counter, exact_tokens

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
EVER = (date(2026, 1, 1), date(2026, 3, 31))
MODEL = "offline:use-multilingual-3"

ME = ("me", "Me")
ANNA, MASHA, WEI = ("anna", "Anna Petrova"), ("masha", "Маша Белова"), ("wei", "陈伟")
KINDS = {"anna": "direct", "masha": "direct", "wei": "direct", "yard": "group"}

Spoken = tuple[str, str, tuple[str, str], str]
"""Chat, time, who, what. Its external id is its place in the table, from 1."""

TALKS: list[Spoken] = [
    ("anna", "2026-01-12T10:00", ANNA, "We sold the old boat to Viktor for 4,500 euros."),
    ("anna", "2026-01-12T10:01", ME, "Good price, I would have taken less."),
    ("anna", "2026-01-12T10:02", ANNA, "The mooring fee for the summer is 300 euros, I think."),
    ("masha", "2026-02-02T18:00", MASHA, "Отдала велосипед в ремонт на Садовой, обещали сделать быстро."),
    ("masha", "2026-02-02T18:05", ME, "Дорого взяли?"),
    ("masha", "2026-02-10T09:00", MASHA, "С завтрашнего дня я в отпуске, две недели в горах."),
    ("masha", "2026-02-26T20:00", MASHA, "Забрала велосипед из ремонта, поставили новую цепь."),
    ("masha", "2026-03-02T12:00", MASHA, "В апреле переезжаю в Берлин, нашла квартиру у парка."),
    ("wei", "2026-01-20T08:00", WEI, "妈妈的眼睛手术安排在星期四上午九点，在市第一医院。"),
    ("wei", "2026-01-20T08:02", ME, "好的，我陪她去。"),
    ("wei", "2026-02-14T08:00", WEI, "我女儿考上了音乐学院，弹大提琴。"),
    ("yard", "2026-02-20T15:00", WEI, "The mooring fee for the summer is 350 euros, they raised it."),
    ("yard", "2026-02-20T15:04", ANNA, "The crane comes on Monday, please move the trailers."),
    ("yard", "2026-03-10T15:00", ME, "Who has the key of the paint store?"),
]
TOPICS = {"money": (1, 3, 12)}
"""The messages with a topic."""


def key(number: int) -> str:
    """Of a message of the table."""
    return message_key("jsonl", TALKS[number - 1][0], str(number))


def chat(name: str) -> UUID:
    return chat_id("jsonl", name)


def lines(talks: Sequence[Spoken] = TALKS) -> list[dict[str, Any]]:
    return [
        {
            "chat_id": where,
            "chat_kind": KINDS[where],
            "chat_title": {"yard": "Boat yard"}.get(where),
            "message_id": str(number),
            "sender_id": who[0],
            "sender_name": who[1],
            "is_self": who == ME,
            "sent_at": f"{at}:00+00:00",
            "text": text,
        }
        for number, (where, at, who, text) in enumerate(talks, 1)
    ]


@contextmanager
def opened(url: str, folder: Path, **settings: Any) -> Iterator[Memory]:
    """The program's memory over a database of somebody else's."""
    given = Settings(**{"home": folder, "llm": "offline", "embedder": "offline", "now": NOW, **settings})
    memory = Memory(given, url=url, connections=engine.pool(url, size=4), clock=PinnedClock(NOW))
    try:
        yield memory
    finally:
        memory.close()


def fill(memory: Memory, folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Import, interactions, chunks."""
    file = folder / f"{uuid.uuid4().hex}.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    memory.import_path(file, unknown_self_ok=True)
    memory.build_interactions()
    memory.chunks.build(EVER)


@dataclass
class Asked:
    """A memory that is asked over connections that cannot write."""

    memory: Memory
    reads: ConnectionPool
    parts: RecallParts

    def __call__(self, query: str, *, parts: RecallParts | None = None, **scope: Any) -> RecallResult:
        """The answer, after the checks that hold for every one."""
        answer = recall(parts or self.parts, RecallRequest(query=query, now=NOW, **scope))
        check(answer, scope.get("max_tokens"))
        return answer

    def numbers(self, query: str, **scope: Any) -> list[int]:
        """The messages of the answer, best first."""
        return numbers(self(query, **scope))

    def person(self, who: tuple[str, str]) -> UUID:
        (found,) = self.memory.reads.entities_named(who[1], exact=True, limit=2)
        return found.id

    def by(self, embedder: Any) -> RecallParts:
        """The parts with another embedder for every space."""
        return replace(self.parts, embedders=lambda _: embedder)


def numbers(answer: RecallResult) -> list[int]:
    return [int(one.rsplit("/", 1)[1]) for line in answer.block.lines for one in line.ranked.candidate.message_ids]


def check(answer: RecallResult, max_tokens: int | None) -> None:
    shape = answer.to_json()
    assert exact_tokens(shape["text"]) == shape["tokens"]
    assert max_tokens is None or shape["tokens"] <= max_tokens
    assert all(f"- {one['text']}\n" in shape["text"] for one in shape["results"])
    assert (shape["embedding_model"] is None) == (shape["mode"] == "keyword")
    assert bool(shape["warnings"]) or shape["mode"] != "keyword", "less than all is always said"


class FixedEmbedder:
    """Gives one vector, or raises one error; knows what it was asked."""

    def __init__(self, vector: Any = None, *, model: str = MODEL, error: Exception | None = None) -> None:
        self.model = model
        self.asked: list[str] = []
        self._vector, self._error = vector, error

    @property
    def dimensions(self) -> int | None:
        return None if self._vector is None else len(self._vector)

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        if self._error is not None:
            raise self._error
        return np.array([self._vector] * len(texts), np.float32)


@contextmanager
def recalled(server_url: str) -> Iterator[Asked]:
    """The memory of the table in a database of its own, gone afterwards."""
    name = f"t_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(TEMPLATE)))
    url = engine.with_database(server_url, name)
    try:
        with tempfile.TemporaryDirectory() as scratch, opened(url, Path(scratch)) as memory:
            fill(memory, Path(scratch), lines())
            with memory.connections.connection() as connection:
                for topic, chosen in TOPICS.items():
                    connection.execute(
                        "UPDATE memory_chunks SET topics = ARRAY[%s] WHERE message_ids && ARRAY(SELECT id FROM messages"
                        " WHERE external_id = ANY(%s))",
                        (topic, [str(number) for number in chosen]),
                    )
            reads = engine.pool(url, size=2, readonly=True)
            try:
                yield Asked(memory, reads, recall_parts(memory.settings, reads, counter()))
            finally:
                reads.close()
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
