"""A memory in which one text stands wherever words of a message can get to; its messages are then deleted.

A dialog, in which a message with the text was edited before it was deleted, and a session. What no offline model would
word so is planted: a model may say anything of what it read. No expectations are here.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests import databases

NAME = "deleted_words"
IBAN = "DE89370400440532013000"
CHAT, SESSION, OTHER = "jsonl:c1", "agent:thread-1", "Olga Petrova"
GONE, GONE_IN_SESSION = "c1-2", "2"
NOW = "2025-03-15T12:00:00+00:00"
DAYS = (date(2025, 1, 1), date(2025, 3, 31))
SAID = (
    ("Me", "Hello, shall we agree on the price of the boat?"),
    (OTHER, f"We agreed on 4,500 USD by 20 February 2025, the account for the transfer is {IBAN}."),
    ("Me", "Good. I will send the contract for the boat by Friday."),
    (OTHER, "Please send it to the yard as well, they need it before 7 February."),
    ("Me", "Done, and I paid the deposit of 500 USD today."),
    (OTHER, "Thank you, the transfer is confirmed!"),
)
TALK = ("Which account takes the transfer?", f"The account is {IBAN}.", "And the yard?", "It takes cash.")
AFTER = ("When does the transfer for the boat arrive?", "On Friday.", "Is the boat ours then?", "Yes, it is.")
"""What is said later in the session, and folded with the summary of what came before in view."""

PLANTED = Path(__file__).with_suffix(".sql")


@contextmanager
def opened(url: str, home: Path, now: str) -> Iterator[wiring.Memory]:
    """The memory at a moment, offline."""
    given: dict[str, Any] = {"home": home, "database_url": url, "now": now, "llm": "offline", "embedder": "none"}
    with wiring.open_memory(Settings.model_validate({**given, "summary_min_age_days": 1})) as memory:
        yield memory


def line(number: int, sender: str, text: str, **more: object) -> dict[str, Any]:
    return {
        "chat_id": "c1",
        "message_id": f"c1-{number}",
        "sender_id": sender.casefold(),
        "sender_name": sender,
        "is_self": sender == "Me",
        "sent_at": f"2025-01-10T10:{number:02}:00+00:00",
        "text": text,
        "chat_kind": "direct",
        "metadata": {"said": text},
        **more,
    }


def take(memory: wiring.Memory, lines: Sequence[Mapping[str, Any]], *, written: str, folder: Path) -> None:
    """An export that was written then."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "export.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    at = datetime.fromisoformat(written).timestamp()
    os.utime(file, (at, at))
    memory.import_path(file)


def work(memory: wiring.Memory, *, chunks: bool = True) -> None:
    """Everything that a run does about these conversations, but for weeks and months."""
    memory.build_interactions()
    memory.summarize(DAYS, Billing("backfill"))
    memory.folding.fold_due(Billing("backfill"))
    memory.build_interactions()
    if chunks:
        memory.chunks.build(DAYS)


def fill(url: str, home: Path) -> None:
    """Both conversations, each with a version before the one that stands, and the text in all that was made of them."""
    exports = home / "exports"
    original = [line(number, sender, text) for number, (sender, text) in enumerate(SAID, 1)]
    original[1]["text"] = f"The account is {IBAN}."
    with opened(url, home, "2025-01-25T12:00:00+00:00") as memory:
        take(memory, original, written="2025-01-11T00:00:00+00:00", folder=exports)
        memory.sessions.append(SESSION, _turns(TALK, "2025-01-25T11:00:00+00:00"))
        work(memory)
        memory.folding.fold_session(memory.sessions.ensure(SESSION).id)
        edited = {"id": "1", "role": "user", "text": "Which account takes the transfer, please?"}
        memory.sessions.append(SESSION, [("", edited)])
    with opened(url, home, "2025-02-10T12:00:00+00:00") as memory:
        edited = {**line(2, *SAID[1]), "edited_at": "2025-01-28T09:00:00+00:00"}
        take(memory, [edited], written="2025-02-01T00:00:00+00:00", folder=exports)
        memory.folding.fold_session(memory.sessions.ensure(SESSION).id)
        memory.sessions.append(SESSION, _turns(AFTER, "2025-01-25T11:30:00+00:00", start=5))
        memory.folding.fold_session(memory.sessions.ensure(SESSION).id)
        work(memory)
    with psycopg.connect(url, options="-c search_path=pkg,public -c pkg.now=2025-02-10T12:00:00Z") as connection:
        given = {"iban": IBAN, "gone": GONE, "in_session": GONE_IN_SESSION}
        for statement in PLANTED.read_text().split(";\n"):
            connection.execute(statement.encode(), given)
    with opened(url, home, "2025-02-11T12:00:00+00:00") as memory:
        with engine.transaction(memory.connections) as connection:
            connection.execute("UPDATE chunk_states SET input_hash = ''")
            connection.execute(
                "INSERT INTO dirty_partitions (asset, partition_key, reason)"
                " SELECT DISTINCT 'memory_chunks', to_char(day, 'YYYY-MM-DD'), 'planted' FROM interactions"
            )
        memory.chunks.build(DAYS)


def made(server_url: str) -> str:
    """The name of a database that is filled so, once a test run."""

    def make(url: str) -> str:
        with tempfile.TemporaryDirectory() as home:
            fill(url, Path(home))
        return ""

    databases.kept(server_url, NAME, make)
    return NAME


def delete(url: str, home: Path, *, now: str = "2025-03-01T12:00:00+00:00") -> None:
    """Both messages at their source; the export says once more what they said."""
    gone = {**line(2, *SAID[1]), "edited_at": "2025-02-20T09:00:00+00:00", "deleted": True}
    with opened(url, home, now) as memory:
        take(memory, [gone], written="2025-02-25T00:00:00+00:00", folder=home / "exports")
        said = {"id": GONE_IN_SESSION, "role": "assistant", "text": TALK[1], "deleted": True}
        memory.sessions.append(SESSION, [("", said)])


ROWS_OF_TABLES = {"live_summaries", "standing_folds"}
"""Views for statements: rows as their tables have them, with the words that are withheld until they are blanked."""


def shown_by_views(url: str) -> set[int]:
    """How many rows of the views that are read by people hold the text."""
    return {count for name, count in texts(url, schema="pkg", kind="VIEW").items() if name not in ROWS_OF_TABLES}


def texts(url: str, *, schema: str, kind: str) -> dict[str, int]:
    """How many rows of each relation of a schema hold the text; ``kind``: VIEW or BASE TABLE."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = %s ORDER BY 1",
            (schema, kind),
        ).fetchall()
        counted = {
            name: connection.execute(
                f"SELECT count(*) FROM {schema}.{name} AS t WHERE position(%s IN lower(t::text)) > 0".encode(),
                (IBAN.lower(),),
            ).fetchone()
            for (name,) in found
        }
    return {name: row[0] for name, row in counted.items() if row}


def _turns(said: Sequence[str], at: str, *, start: int = 1) -> list[tuple[str, dict[str, Any]]]:
    moment = datetime.fromisoformat(at).astimezone(UTC)
    return [
        (
            "",
            {"id": str(number), "role": ("assistant", "user")[number % 2], "text": text, "sent_at": moment.isoformat()},
        )
        for number, text in enumerate(said, start)
    ]
