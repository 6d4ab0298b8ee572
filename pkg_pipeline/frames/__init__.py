"""The memory as typed pandas DataFrames, for notebooks and exports::

    from pkg_pipeline import frames
    frames.action_items(entity="Olga Petrova").query("status == 'open'").sort_values("due_date")

Every column is in docs/frames.md. Frames of an empty memory have the same dtypes. Nothing here can write the memory,
and what rests on a message deleted at its source is withheld as everywhere (P29). pandas is loaded by the first frame.
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
    """What narrows a table. ``entity``: id, name or key; ``chat``: key or id; days are local and both included.

    ``memory`` is one that is open; by default the one that the settings name is opened for the call.
    """

    entity: str | UUID | None
    chat: str | UUID | None
    since: date | str | None
    until: date | str | None
    memory: Memory | None


def summaries(**given: Unpack[Given]) -> pd.DataFrame:
    """The summaries that are served, newest interaction first."""
    return table("summaries", **given)


def decisions(**given: Unpack[Given]) -> pd.DataFrame:
    """Decisions, newest interaction first."""
    return table("decisions", **given)


def action_items(**given: Unpack[Given]) -> pd.DataFrame:
    """Action items, newest interaction first."""
    return table("action_items", **given)


def profiles(**given: Unpack[Given]) -> pd.DataFrame:
    """Relationship profiles, a row a person and week. Not narrowed by ``chat``."""
    return table("profiles", **given)


def topics(**given: Unpack[Given]) -> pd.DataFrame:
    """What each profile says was talked about, a row a person, week and topic. Not narrowed by ``chat``."""
    return table("topics", **given)


def activity(**given: Unpack[Given]) -> pd.DataFrame:
    """How often there is contact with each person, week by week, and who answers how fast. Not narrowed by ``chat``."""
    return table("activity", **given)


def messages(**given: Unpack[Given]) -> pd.DataFrame:
    """Messages by time; of a person those of dialogs with them and what of groups belongs to them."""
    return table("messages", **given)


def costs(**given: Unpack[Given]) -> pd.DataFrame:
    """The ledger of calls by time. Not narrowed by ``entity`` or ``chat``."""
    return table("costs", **given)


def recall(query: str, *, top_k: int | None = None, **given: Unpack[Given]) -> pd.DataFrame:
    """What answers a question, the best first. Not narrowed by days. Raises ``BadRequest``."""
    from pkg_pipeline.frames.rows import recalled
    from pkg_pipeline.frames.typed import typed
    from pkg_pipeline.memory.hashing import chat_id

    with _opened("recall", given) as (memory, wanted):
        chat = None if wanted.chat is None else chat_id(*wanted.chat)
        answer = memory.recall.search(query, entity_id=wanted.entity_id, chat_id=chat, top_k=top_k)
    return typed("recall", recalled(answer))


def table(name: str, **given: Unpack[Given]) -> pd.DataFrame:
    """Any table but ``recall`` by its name.

    Raises ``EntityUnknown``, ``EntityAmbiguous``, ``ChatUnknown``, ``ChatAmbiguous``, ``ValueError`` for a filter that
    the table has not, and what opening the memory raises.
    """
    from pkg_pipeline.frames.typed import typed

    with _opened(name, given) as (memory, wanted), batches(memory, name, wanted) as found:
        return typed(name, (row for batch in found for row in batch))


@contextmanager
def batches(memory: Memory, name: str, wanted: Narrowed) -> Iterator[Generator[list[Row]]]:
    """The rows of a table over a connection of its own that cannot write, a batch in memory at a time."""
    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.frames.rows import FrameRows

    connections = engine.pool(memory.url, size=1, readonly=True)
    try:
        with closing(FrameRows(connections, memory.settings.zone).of(name, wanted)) as found:
            yield found
    finally:
        connections.close()


@contextmanager
def _opened(name: str, given: Given) -> Iterator[tuple[Memory, Narrowed]]:
    """The memory and what is wanted of it."""
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
