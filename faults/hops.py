"""A small memory and every hop over it as the program wires it; a hop may be told to die at its n-th exchange.

``main`` is run in a process of its own by ``pkg_pipeline_tests.forks``.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from pydantic import SecretStr

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.archive.rebuilding import PostgresRebuilding
from pkg_pipeline.adapters.postgres.items.verdicts import PostgresVerdictStore
from pkg_pipeline.memory import hashing
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.stages.items.deciding import ItemEdit, decide
from pkg_pipeline.stages.items.fact_deciding import FactEdit
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.entities import list_entities
from pkg_pipeline.stages.reads.facts import FactFilter, list_facts
from pkg_pipeline.stages.reads.items import ItemFilter, list_items
from pkg_pipeline.stages.reads.paging import MOST_ROWS
from pkg_pipeline.stages.reads.stores import BadRequest, EntityUnknown
from pkg_pipeline.wiring import Memory, PinnedClock
from pkg_pipeline.wiring.facts import FactReview
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
DAYS = (date(2025, 6, 1), date(2026, 3, 14))
SESSION = "jsonl:live"
STARTS = (datetime(2025, 6, 3, 10, 0, tzinfo=UTC), datetime(2026, 2, 2, 10, 0, tzinfo=UTC))
SAID = (
    ("Anna", "Hello, shall we agree on the price of the boat?"),
    ("Me", "We agreed on 4,500 USD, the deadline is 20 February."),
    ("Anna", "Good. I will send the contract by Friday."),
    ("Me", "Thank you, my number is +49 30 901820."),
)
LATER = (("Anna", "The contract is sent."),)
"""Said at the end of the newer talks."""


def lines() -> list[dict[str, Any]]:
    """Two people and a group, each with an old talk and a newer one, as lines of the generic format."""
    made: list[dict[str, Any]] = []
    for chat, other, kind in (("c1", "Anna", "direct"), ("c2", "Boris", "direct"), ("g1", "Carla", "group")):
        for start in STARTS:
            for number, (sender, text) in enumerate(SAID + (LATER if start == STARTS[-1] else ())):
                name = other if sender == "Anna" else sender
                at = start + timedelta(minutes=number)
                made.append(
                    {
                        "chat_id": chat,
                        "message_id": f"{chat}-{at:%Y%m%d}-{number}",
                        "sender_id": name.lower(),
                        "sender_name": name,
                        "sent_at": at.isoformat(),
                        "text": f"{text} ({chat})",
                        "chat_kind": kind,
                        "is_self": sender == "Me",
                    }
                )
    return made


def live_turns() -> list[tuple[str, Any]]:
    """Turns of a running conversation, long enough for a fold."""
    start = NOW - timedelta(hours=3)
    return [
        (
            f"turn {number}",
            {
                "id": f"t{number}",
                "role": "assistant" if number % 2 else "user",
                "content": f"Turn {number}: the hull is ready, the mast needs {number} more days of work.",
                "sent_at": (start + timedelta(minutes=number)).isoformat(),
            },
        )
        for number in range(30)
    ]


def _import(memory: Memory) -> None:
    memory.import_path(memory.settings.home / "export.jsonl")


def _interactions(memory: Memory) -> None:
    memory.build_interactions()


def _items(memory: Memory) -> None:
    memory.items.run(Billing("backfill"))


def _verdicts(memory: Memory) -> None:
    """A person ends every task and takes every decision back in other words, by a clock that stands."""
    store = PostgresVerdictStore(memory.connections)
    for wanted, edit in (
        (ItemFilter(kind="action_item"), ItemEdit(due_date=NOW.date(), status="done")),
        (ItemFilter(kind="decision"), ItemEdit(text="The paper", status="cancelled")),
    ):
        found = list_items(memory.item_reads, wanted, now=NOW, limit=MOST_ROWS, cursor=None).items
        assert found, f"no {wanted.kind} was read"
        for item in sorted(found, key=lambda item: item["id"]):
            decide(store, UUID(item["id"]), edit, now=NOW)


def _summaries(memory: Memory) -> None:
    memory.summarize(DAYS, Billing("backfill"))


def _profiles(memory: Memory) -> None:
    memory.profiles.build_weeks(memory.profiles.due_weeks()[-3:], Billing("backfill"))


def _chunks(memory: Memory) -> None:
    memory.chunks.build(DAYS)


def _archive(memory: Memory) -> None:
    memory.archive.archive_months(memory.archive.due_months())


def _restore(memory: Memory) -> None:
    memory.archive.restore(RestoreScope(chat=("jsonl", "c1")))


def _append(memory: Memory) -> None:
    turns = live_turns()
    for first in range(0, len(turns), 10):
        memory.sessions.append(SESSION, turns[first : first + 10])


def _fact_verdicts(memory: Memory) -> None:
    """A person corrects every phone number and rejects what else is known."""
    review = FactReview(memory)
    known = list_facts(review.reads, FactFilter(), limit=MOST_ROWS, cursor=None).items
    assert known, "no fact was read"
    for fact in sorted(known, key=lambda fact: str(fact["id"])):
        if fact["decided_by"] == "memory":
            is_phone = fact["type"] == "phone"
            review.decide(
                UUID(str(fact["id"])), FactEdit(value="+49 30 111") if is_phone else FactEdit(status="rejected")
            )


def _rebuild(memory: Memory) -> None:
    """Everything derived goes and is made again, from the answers that are kept."""
    PostgresRebuilding(memory.connections).clear()
    _items(memory)
    _summaries(memory)
    _profiles(memory)
    _chunks(memory)


def _forget(memory: Memory) -> None:
    """Boris is forgotten, what a dead command left is finished, and what is left of groups is made anew."""
    memory.forgetting.resume(rewrite=False)
    for one in list_entities(memory.reads, query="Boris", limit=1, cursor=None).items:
        memory.forgetting.forget(memory.forgetting.person(UUID(str(one["id"]))), by="somebody", rewrite=False)
    _interactions(memory)


def _fold(memory: Memory) -> None:
    state = memory.sessions.state(SESSION)
    assert state is not None
    memory.folding.fold_session(state.id)


def _merge(memory: Memory) -> None:
    with suppress(EntityUnknown):  # an earlier round forgot one of them
        PeopleWork(memory).merge(*(hashing.entity_id("jsonl", name) for name in ("anna", "boris")))


def _split(memory: Memory) -> None:
    with suppress(EntityUnknown, BadRequest):
        PeopleWork(memory).split(hashing.entity_id("jsonl", "anna"), ["jsonl:boris"])


HOPS: dict[str, Callable[[Memory], None]] = {
    "import": _import,
    "interactions": _interactions,
    "items": _items,
    "verdicts of a person": _verdicts,
    "interaction summaries": _summaries,
    "relationship profiles": _profiles,
    "chunks": _chunks,
    "archive": _archive,
    "restore": _restore,
    "append to a session": _append,
    "session folds": _fold,
    "merge of people": _merge,
    "split of people": _split,
    "verdicts on facts": _fact_verdicts,
    "a rebuild": _rebuild,
    "forgetting a person": _forget,
}
"""In the order in which a memory is made; each finds what those before it left."""


@contextmanager
def opened(url: str, folder: Path, base_url: str, *, wait_seconds: float = engine.WAIT_SECONDS) -> Iterator[Memory]:
    """The memory over ``url`` with the model at ``base_url``, asked by the real SDK, one question at a time.

    Nobody waits longer than ``wait_seconds`` for a connection.
    """
    given: dict[str, Any] = {"llm": "anthropic", "anthropic_api_key": SecretStr("sk-test"), "llm_concurrency": 1}
    settings = Settings(
        home=folder, database_url=SecretStr(url), now=NOW, anthropic_base_url=base_url, embedder="none", **given
    )
    connections = engine.pool(url, size=4, wait_seconds=wait_seconds)
    memory = Memory(settings, url=url, connections=connections, clock=PinnedClock(NOW))
    memory.counter = LetterCounter()
    try:
        yield memory
    finally:
        memory.close()


def write_export(folder: Path) -> None:
    """The file that the first hop reads."""
    text = "".join(json.dumps(line) + "\n" for line in lines())
    (folder / "export.jsonl").write_text(text, encoding="utf-8")


def die(_: psycopg.Connection[Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def count_exchanges(*, at: int = 0, act: Callable[[psycopg.Connection[Any]], None] = die) -> list[int]:
    """From now on every exchange with PostgreSQL is counted (statement, COPY, BEGIN, COMMIT); returns the counter.

    ``act`` is done to the connection before exchange ``at``, counted from 1; 0: never.
    """
    met = [0]
    wait = psycopg.Connection.wait

    def counting(self: Any, *arguments: Any, **options: Any) -> Any:
        met[0] += 1
        if met[0] == at:
            act(self)
        return wait(self, *arguments, **options)

    psycopg.Connection.wait = counting  # type: ignore[method-assign]
    return met


def main(url: str, folder: str, base_url: str, hop: str, die_at: str) -> None:
    with opened(url, Path(folder), base_url) as memory:
        met = count_exchanges(at=int(die_at))
        HOPS[hop](memory)
        print(met[0])
