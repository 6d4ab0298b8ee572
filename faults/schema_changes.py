"""Migrations up and down under a running API: answers or 503, never 500, and as before once they are done."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from faults.ground import Ground
from faults.kinds import Outcome, fault
from faults.served import Server, served
from pkg_pipeline.adapters.postgres.engine import DatabaseUnavailable
from pkg_pipeline.adapters.postgres.migrations import migrate

CLIENTS = 4
FAR_BACK = "0001"
SESSION = "/v1/sessions/agent%3Aone"
ENTITY = "/v1/entities/00000000-0000-0000-0000-000000000007"
READS = (
    "/v1/entities", ENTITY, f"{ENTITY}/context", f"{ENTITY}/timeline", "/v1/summaries", "/v1/recall?query=message",
    "/v1/sessions", SESSION, f"{SESSION}/messages", f"{SESSION}/window", "/v1/summarization/stats",
    "/v1/summarization/queue", "/v1/summarization/queue/waiting", "/metrics", "/health",
)  # fmt: skip
WRITES = (
    ("POST", f"{SESSION}/messages", [{"id": 1, "role": "user", "content": "message 1"}]),
    ("POST", f"{SESSION}/events", {"event": "manual"}),
    ("PATCH", SESSION, {"label": "of a trial"}),
    ("POST", "/v1/summarization/backfill", {"dry_run": True}),
)
REQUESTS = [*(("GET", path, None) for path in READS), *WRITES]
SOUND = frozenset({200, 202, 404, 503})
"""404: what a migration has dropped is not there."""


@fault(
    "schema changed under the API",
    how=f"{CLIENTS} clients ask every route while migrations run down to {FAR_BACK} and up again",
    short=1,
    full=10,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """A try is a way down and up. Afterwards every route answers at once, on every connection that it keeps."""
    outcome = Outcome(ends="each answer is the right one or 503 with Retry-After; afterwards all routes answer at once")
    answers: Counter[int] = Counter()
    over = threading.Event()

    def work(client: int) -> None:
        turn = client
        while not over.is_set():
            method, path, body = REQUESTS[turn % len(REQUESTS)]
            status, said = server.ask(method, path, body)
            answers[status] += 1
            if status not in SOUND:
                outcome.wrong.append(f"{method} {path} during a migration: {status} {said[:200].decode()}")
            turn += 1

    with ground.database() as url, served(ground.folder / "home", url) as server:
        with ThreadPoolExecutor(CLIENTS) as clients:
            working = [clients.submit(work, client) for client in range(CLIENTS)]
            try:
                for _ in range(tries):
                    _until_done(lambda: migrate.downgrade(url, FAR_BACK))
                    _until_done(lambda: migrate.upgrade(url))
                    outcome.tries += 1
            finally:
                over.set()
            for done in working:
                done.result()
        _is_well(server, outcome)
    told = ", ".join(f"{answers[status]:,} × {status}" for status in sorted(answers))
    outcome.ends += f" ({told})"
    return outcome


def _until_done(migrate_once: Callable[[], None]) -> None:
    """PostgreSQL may end a migration rather than a reader that it deadlocks with: nothing is changed then."""
    while True:
        try:
            return migrate_once()
        except DatabaseUnavailable as error:
            if "deadlock" not in str(error):
                raise


def _is_well(server: Server, outcome: Outcome) -> None:
    for method, path, body in REQUESTS * 3:
        status, said = server.ask(method, path, body)
        if status not in SOUND - {503}:
            outcome.wrong.append(f"{method} {path} after the migrations: {status} {said[:200].decode()}")
