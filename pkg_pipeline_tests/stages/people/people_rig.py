"""A memory with somebody on two sources, in a group of each, and others; imported and worked off as a run does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.memory import hashing
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline_tests.digest import DERIVED_TABLES, LOGICAL_TABLES, tables

NOW = "2025-03-15T12:00:00+00:00"
WEEK = date(2025, 6, 15)
LATER = "2025-06-23T12:00:00+00:00"
"""When somebody is known for long enough to have a profile of that week."""

DAYS = (date(2025, 1, 1), date(2025, 3, 31))
RITA, OTHER_RITA, OLEG = (
    hashing.entity_id(source, name) for source, name in (("chat", "rita"), ("mail", "rg"), ("chat", "oleg"))
)

Line = tuple[str, str, str, str, str]
"""(source, chat, sender, when, text)"""

CHAT: tuple[Line, ...] = (
    ("chat", "with-rita", "rita", "2025-01-10T10:00", "Hi! I moved: my number is +49 30 901820 now."),
    ("chat", "with-rita", "me", "2025-01-10T10:01", "I will send you the contract by 20 January 2025."),
    ("chat", "with-rita", "rita", "2025-01-10T10:02", "Great, thank you. I work at Bosch since January."),
    ("chat", "club", "rita", "2025-01-11T18:00", "Who comes on Sunday?"),
    ("chat", "club", "oleg", "2025-01-11T18:01", "I will bring the big tent, the ropes and the lamps by Sunday."),
    ("chat", "club", "me", "2025-01-11T18:02", "Margarita, please book the place by 14 January 2025."),
    ("chat", "club", "oleg", "2025-01-11T18:03", "Fine with me, see you."),
)
MAIL: tuple[Line, ...] = (
    ("mail", "with-rg", "rg", "2025-01-12T09:00", "We agreed on 4,500 EUR for the boat, payment by 1 February 2025."),
    ("mail", "with-rg", "me", "2025-01-12T09:05", "Agreed. I will pay the deposit by 15 January 2025."),
    ("mail", "with-rg", "rg", "2025-01-12T09:06", "My email is rita@example.org, please use it."),
    ("mail", "yard", "rg", "2025-01-13T11:00", "The yard needs the papers, I will bring them by 18 January 2025."),
    ("mail", "yard", "ivo", "2025-01-13T11:01", "Thanks, the yard is open until six."),
    ("mail", "yard", "me", "2025-01-13T11:02", "I will call the yard tomorrow."),
)
NAMES = {"rita": "Rita Hoffmann", "rg": "Rita Hoffmann", "oleg": "Oleg Tarasov", "ivo": "Ivo Brandt", "me": "Me"}


@contextmanager
def opened(url: str, home: Path, *, now: str = NOW, **more: Any) -> Iterator[wiring.Memory]:
    given: dict[str, Any] = {"home": home, "database_url": url, "now": now, "llm": "offline", "embedder": "none"}
    with wiring.open_memory(Settings.model_validate({**given, "summary_min_age_days": 1, **more})) as memory:
        yield memory


class People:
    """``names``: what accounts are called in the exports."""

    def __init__(self, memory: wiring.Memory, folder: Path) -> None:
        self.memory, self.folder = memory, folder
        self.work = PeopleWork(memory)
        self.names = dict(NAMES)

    def take(self, lines: Sequence[Line], *, selves: Sequence[str] = ("me",)) -> None:
        """One export with these messages, numbered by when they were said."""
        file = self.folder / "export.jsonl"
        file.write_text("".join(json.dumps(self._line(one, selves)) + "\n" for one in lines))
        at = datetime.fromisoformat("2025-02-01T00:00:00+00:00").timestamp()
        os.utime(file, (at, at))
        self.memory.import_path(file, unknown_self_ok=True)

    def _line(self, one: Line, selves: Sequence[str]) -> dict[str, Any]:
        source, chat, sender, when, text = one
        is_direct = chat.startswith("with")
        return {
            "source": source,
            "chat_id": chat,
            "message_id": f"{chat}-{when}",
            "sender_id": sender,
            "sender_name": self.names[sender],
            "is_self": sender in selves,
            "sent_at": f"{when}:00+00:00",
            "text": text,
            "chat_kind": "direct" if is_direct else "group",
            "chat_title": None if is_direct else chat,
        }

    def run(self, *, chunks: bool = True, profiles: bool = False) -> None:
        """What a run of Dagster does about all of it."""
        memory = self.memory
        memory.build_interactions()
        memory.items.run(Billing("backfill"))
        memory.summarize(DAYS, Billing("backfill"))
        if profiles:
            memory.profiles.build_weeks([WEEK], Billing("backfill"))
        memory.build_interactions()
        if chunks:
            memory.chunks.build(DAYS)

    def context(self, person: UUID, **more: Any) -> str:
        return self.memory.context(person, max_tokens=None, as_of=None, **more).to_json()["text"]

    def rows(self, asked: str, *given: object) -> list[tuple[Any, ...]]:
        with self.memory.connections.connection() as connection:
            return connection.execute(asked.encode(), given or None).fetchall()

    def told(self) -> dict[str, str]:
        """The summary of each chat, which has one interaction."""
        return dict(
            self.rows(
                "SELECT c.external_id, s.summary FROM live_summaries s JOIN interactions i ON i.id = s.interaction_id"
                " JOIN chats c ON c.id = i.chat_id ORDER BY 1"
            )
        )

    def held(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that was imported, or made of it."""
        with engine.connect(self.memory.url) as connection:
            return tables(connection, {**LOGICAL_TABLES, **DERIVED_TABLES})


@contextmanager
def people(url: str, home: Path, **more: Any) -> Iterator[People]:
    with opened(url, home, **more) as memory:
        yield People(memory, home)
