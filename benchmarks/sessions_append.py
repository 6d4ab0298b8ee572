"""Appending over HTTP by several clients, against the same clients' bare INSERTs into a copy of the table.

    .venv/bin/python -m benchmarks.sessions_append [--clients 8] [--requests 100] [--batch 50] [--rounds 3]

Each client is a process with sessions of its own and sends the same messages both ways, in turn: by one request of
``--batch`` messages after the other to the real server, on one connection; and by ``executemany`` of the same rows
(ids, texts, hashes, token counts worked out beforehand) into a table ``LIKE messages INCLUDING ALL``, its indexes
included, one transaction a batch, over a connection of its own; and the same by one statement after the other. The
median of the rounds. A Markdown table.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import shutil
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from benchmarks.session_server import Served
from benchmarks.threads import made
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.memory.hashing import content_hash

TARGET = 0.5
COPY = "append_copy"
INSERT = (
    f"INSERT INTO {COPY} (chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score, is_outgoing,"
    " role, external_id, content, content_hash) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)

Batch = list[dict[str, Any]]


def batches(name: str, requests: int, size: int) -> list[Batch]:
    """What one client sends."""
    said = cycle(row["text"] for row in made(300, tools_every=0).rows)
    start, number = datetime(2026, 3, 1, tzinfo=UTC), 0
    found: list[Batch] = []
    for _ in range(requests):
        batch: Batch = []
        for text in islice(said, size):
            number += 1
            at = (start + timedelta(seconds=number)).isoformat()
            role = "user" if number % 2 else "assistant"
            batch.append({"id": f"{name}-{number}", "role": role, "text": f"{text} ({number})", "sent_at": at})
        found.append(batch)
    return found


def over_http(port: int, name: str, sent: list[Batch], gate: Barrier) -> None:
    """The chat is made before the clock starts."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    path = f"/v1/sessions/{quote(f'bench:{name}', safe='')}/messages"
    bodies = [json.dumps({"messages": batch}).encode() for batch in sent]
    first = json.dumps({"messages": [{**sent[0][0], "id": "first"}, {**sent[0][1], "id": "second"}]}).encode()
    for number, body in enumerate([first, *bodies]):
        if number == 1:
            gate.wait()
        connection.request("POST", path, body=body, headers={"content-type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status < 300, said
    gate.wait()


def bare(url: str, sent: list[Batch], gate: Barrier, *, is_pipelined: bool = True) -> None:
    counter = TiktokenCounter()
    chat, speaker = uuid.uuid4(), uuid.uuid4()
    now = datetime.now(UTC)
    rows = [
        [
            (chat, speaker, one["sent_at"], now, counter.count(one["text"]), 0.1, one["role"] == "user", one["role"],
             one["id"], one["text"], content_hash(one["text"]))
            for one in batch
        ]
        for batch in sent
    ]  # fmt: skip
    with engine.connect(url) as connection, connection.cursor() as cursor:
        connection.execute("SELECT 1")
        connection.commit()
        gate.wait()
        for batch in rows:
            if is_pipelined:
                cursor.executemany(INSERT, batch)
            else:
                for row in batch:
                    cursor.execute(INSERT, row)
            connection.commit()
        gate.wait()


def one_by_one(url: str, sent: list[Batch], gate: Barrier) -> None:
    bare(url, sent, gate, is_pipelined=False)


def timed(clients: int, work: Callable[[str, Barrier], tuple[Callable[..., None], tuple[Any, ...]]]) -> float:
    """Seconds from when all clients are ready to when the last one is done."""
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(clients + 1)
    mark = uuid.uuid4().hex[:8]
    processes = []
    for client in range(clients):
        target, arguments = work(f"{mark}-{client}", gate)
        processes.append(context.Process(target=target, args=arguments))
        processes[-1].start()
    gate.wait()
    started = time.perf_counter()
    gate.wait()
    seconds = time.perf_counter() - started
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkg-bench-"))
    server_url = embedded.start(folder)
    try:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE appending")
        url = engine.with_database(server_url, "appending")
        migrate.upgrade(url)
        with engine.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {COPY} (LIKE messages INCLUDING ALL)")  # type: ignore[arg-type]
        served = Served(url)
        total = given.clients * given.requests * given.batch
        rates: dict[str, list[float]] = {"bare": [], "one by one": [], "http": []}
        for _ in range(given.rounds):
            for kind in rates:
                if kind == "http":
                    seconds = timed(given.clients, lambda name, gate: (
                        over_http, (served.port, name, batches(name, given.requests, given.batch), gate)))  # fmt: skip
                else:
                    way = bare if kind == "bare" else one_by_one
                    seconds = timed(given.clients, lambda name, gate, way=way: (
                        way, (url, batches(name, given.requests, given.batch), gate)))  # fmt: skip
                rates[kind].append(total / seconds)
        served.close()
        with engine.connect(url, autocommit=True) as connection:
            wrong = connection.execute(
                "SELECT count(*) FROM conversation_sessions s WHERE s.message_count <>"
                " (SELECT count(*) FROM messages m WHERE m.chat_id = s.id)"
            ).fetchone()
        assert wrong == (0,), "counters are not those of a recount"
        print(f"{given.clients} clients, {total:,} messages a round, {given.batch} a request or transaction\n")
        print("| way | messages/s | of all rounds |\n|---|---:|---|")
        for kind, name in (
            ("bare", "bare INSERTs into a copy of the table, pipelined by `executemany`"),
            ("one by one", "the same, one statement after the other"),
            ("http", "append over HTTP"),
        ):
            spread = ", ".join(f"{rate:,.0f}" for rate in rates[kind])
            print(f"| {name} | {statistics.median(rates[kind]):,.0f} | {spread} |")
        middle = {kind: statistics.median(found) for kind, found in rates.items()}
        print(f"\nappend / bare = {middle['http'] / middle['bare']:.2f} pipelined,", end=" ")
        print(f"{middle['http'] / middle['one by one']:.2f} one by one (at least {TARGET})")
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
