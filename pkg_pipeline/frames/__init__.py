"""The memory as typed pandas DataFrames, for notebooks and exports; columns in docs/frames.md.

``frames.action_items(entity="Olga Petrova").query("status == 'open'").sort_values("due_date")``

Read-only; content based on deleted messages is withheld (P29). pandas is imported by the first frame.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from typing import TYPE_CHECKING, TypedDict, Unpack
from uuid import UUID

if TYPE_CHECKING:
    import pandas as pd

    from pkg_pipeline.frames.rows import Narrowed, Row
    from pkg_pipeline.wiring import Memory


class Given(TypedDict, total=False):
    """Filters. ``entity``: id, name or key; ``chat``: key or id; local days, both included. ``memory``: an open one,
    default: opened from the settings.
    """

    entity: str | UUID | None
    chat: str | UUID | None
    since: date | str | None
    until: date | str | None
    memory: Memory | None


def summaries(**given: Unpack[Given]) -> pd.DataFrame:
    """Served summaries, newest interaction first."""
    return table("summaries", **given)


def decisions(**given: Unpack[Given]) -> pd.DataFrame:
    """Decisions, the newest first, those that were superseded among them."""
    return table("decisions", **given)


def action_items(**given: Unpack[Given]) -> pd.DataFrame:
    """Action items, the newest first, as they stand now."""
    return table("action_items", **given)


def item_states(**given: Unpack[Given]) -> pd.DataFrame:
    """The history of decisions and action items, state by state."""
    return table("item_states", **given)


def profiles(**given: Unpack[Given]) -> pd.DataFrame:
    """Relationship profiles, one row per person and week. No ``chat`` filter."""
    return table("profiles", **given)


def topics(**given: Unpack[Given]) -> pd.DataFrame:
    """Topics of each profile, one row per person, week and topic. No ``chat`` filter."""
    return table("topics", **given)


def activity(**given: Unpack[Given]) -> pd.DataFrame:
    """Contact and response times per person and week. No ``chat`` filter."""
    return table("activity", **given)


def messages(**given: Unpack[Given]) -> pd.DataFrame:
    """Messages by time; for a person: direct chats, and attributed messages of groups."""
    return table("messages", **given)


def costs(**given: Unpack[Given]) -> pd.DataFrame:
    """The ledger of model calls by time. No ``entity`` or ``chat`` filter."""
    return table("costs", **given)


def recall(query: str, *, top_k: int | None = None, **given: Unpack[Given]) -> pd.DataFrame:
    """Recall results, best first. No filter by days. Raises ``BadRequest``."""
    from pkg_pipeline.frames.rows import recalled
    from pkg_pipeline.frames.typed import typed
    from pkg_pipeline.memory.hashing import chat_id

    with _opened("recall", given) as (memory, wanted):
        chat = None if wanted.chat is None else chat_id(*wanted.chat)
        answer = memory.recall.search(query, entity_id=wanted.entity_id, chat_id=chat, top_k=top_k)
    return typed("recall", recalled(answer))


def table(name: str, **given: Unpack[Given]) -> pd.DataFrame:
    """Any table but ``recall`` by name. Raises ``EntityUnknown``, ``EntityAmbiguous``, ``ChatUnknown``,
    ``ChatAmbiguous``, ``ValueError`` for an unsupported filter, and errors of opening the memory.
    """
    from pkg_pipeline.frames.typed import typed

    with _opened(name, given) as (memory, wanted), batches(memory, name, wanted) as found:
        return typed(name, (row for batch in found for row in batch))


@contextmanager
def batches(memory: Memory, name: str, wanted: Narrowed) -> Iterator[Generator[list[Row]]]:
    """The rows of a table in batches, over a read-only connection of its own."""
    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.frames.rows import FrameRows

    connections = engine.pool(memory.url, size=1, readonly=True)
    try:
        with closing(FrameRows(connections, memory.settings.zone, now=memory.clock.now()).of(name, wanted)) as found:
            yield found
    finally:
        connections.close()


@contextmanager
def _opened(name: str, given: Given) -> Iterator[tuple[Memory, Narrowed]]:
    from pkg_pipeline.frames.columns import tables
    from pkg_pipeline.frames.rows import narrowed
    from pkg_pipeline.session_api import open as open_memory
    from pkg_pipeline.stages.reads.chats import find_chat
    from pkg_pipeline.stages.reads.entities import find_entity

    for one, value in given.items():
        if one != "memory" and value is not None and one not in tables()[name].filters:
            raise ValueError(f"{name} cannot be narrowed by {one}, only by {', '.join(tables()[name].filters)}")
    with ExitStack() as opening:
        memory = given.get("memory") or opening.enter_context(open_memory())
        entity, chat = given.get("entity"), given.get("chat")
        yield (
            memory,
            narrowed(
                memory.settings.zone,
                entity_id=None if entity is None else find_entity(memory.reads, str(entity)).id,
                chat=None if chat is None else find_chat(memory.reads, str(chat)),
                first_day=_day(given.get("since")),
                last_day=_day(given.get("until")),
            ),
        )


def _day(given: date | str | None) -> date | None:
    return date.fromisoformat(given) if isinstance(given, str) else given
