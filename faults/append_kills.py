"""The API killed while clients append to it: what was acknowledged is there, what was sent twice is there once."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, LiteralString

from faults.ground import Ground
from faults.kinds import Outcome, fault
from faults.served import AUTHORIZED, JSON, PATIENCE_SECONDS, Server
from pkg_pipeline.adapters.postgres import engine

SEED = 7
CLIENTS = 8
BATCH = 20
LIVES_SECONDS = (0.5, 4.0)
"""Between which a server lives from its first answer to its death."""

WRONG_COUNTERS: LiteralString = """
SELECT c.external_id FROM conversation_sessions s JOIN chats c ON c.id = s.id
JOIN LATERAL (SELECT count(*) AS messages, sum(token_count) AS tokens FROM messages WHERE chat_id = s.id) m ON true
WHERE (s.message_count, s.token_count) IS DISTINCT FROM (m.messages, m.tokens)"""


def _append(port: int, client: int, number: int) -> Counter[str]:
    """Send one batch until it is answered; returns the answer's counts. Some messages are without a time."""
    ids = range(number * BATCH, (number + 1) * BATCH)
    messages: list[dict[str, Any]] = [
        {
            "id": f"{client}-{index}",
            "role": "assistant" if index % 2 else "user",
            "content": f"message {index} of client {client}",
            **({"sent_at": datetime(2026, 1, 1, index % 24, tzinfo=UTC).isoformat()} if index % 3 else {}),
        }
        for index in ids
    ]
    body = json.dumps({"messages": messages}).encode()
    headers = {**JSON, **AUTHORIZED}
    # every other batch goes into a session that all clients share
    session = "agent%3Ashared" if number % 2 else f"agent%3Aclient-{client}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("POST", f"/v1/sessions/{session}/messages", body, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status == 200:
                return Counter({key: value for key, value in json.loads(said).items() if isinstance(value, int)})
            raise RuntimeError(f"{answer.status}: {said[:300].decode()}")
        except (OSError, http.client.HTTPException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        finally:
            connection.close()


@fault(
    "API killed while appending",
    how=f"{CLIENTS} clients send batches of {BATCH}, again until acknowledged, while `serve` is killed with `kill -9`",
    short=2,
    full=20,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """A try is a kill. Counted are messages: acknowledged and absent; there more than once."""
    outcome = Outcome(ends="the client's repeat is acknowledged; counters of sessions equal a recount")
    chance = random.Random(SEED)
    over = threading.Event()

    with ground.database() as url:
        server = Server(ground.folder / "home", url)

        def work(client: int) -> int:
            number = 0
            while not over.is_set():
                _append(server.port, client, number)
                number += 1
            return number

        server.start()
        with ThreadPoolExecutor(CLIENTS) as clients:
            working = [clients.submit(work, client) for client in range(CLIENTS)]
            try:
                for _ in range(tries):
                    time.sleep(chance.uniform(*LIVES_SECONDS))
                    server.kill()
                    outcome.tries += 1
                    server.start()
            finally:
                over.set()
            batches = [done.result() for done in working]
        server.kill()
        expected = Counter(f"{client}-{index}" for client, made in enumerate(batches) for index in range(made * BATCH))
        with engine.connect(url) as connection:
            found = Counter(str(key) for (key,) in connection.execute("SELECT external_id FROM messages").fetchall())
            wrong = connection.execute(WRONG_COUNTERS).fetchall()
    outcome.lost = (expected - found).total()
    outcome.doubled = (found - expected).total()
    outcome.wrong.extend(f"the counters of session {name} are not those of its messages" for (name,) in wrong)
    outcome.ends += f"; {expected.total():,} messages acknowledged"
    return outcome
