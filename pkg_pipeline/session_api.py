"""Live sessions from Python: what the commands and the routes do, in one call each.

``pkg_pipeline.append``, ``event``, ``fold``, ``set_session``, ``window``: the answers have the shapes of the commands'
``--json``. Each opens the memory by the settings in force, or works with one that is open, which is what a program that
talks all the time wants::

    with pkg_pipeline.open() as memory:
        pkg_pipeline.append("agent:thread-1", [{"id": 1, "role": "user", "text": "Which port?"}], memory=memory)
        prompt = pkg_pipeline.window("agent:thread-1", model_window=200_000, memory=memory)["messages"]

Failures of the memory are those of the command line: ``SettingsError``, ``DatabaseUnavailable``, ``EmbeddedError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack
from uuid import UUID

from pkg_pipeline.memory.session.records import Policy, SessionEvent, Strategy
from pkg_pipeline.settings import Settings, load
from pkg_pipeline.stages.sessions.parsing import listed
from pkg_pipeline.stages.window.stage import WindowOptions
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline.wiring.sessions import SessionWork


@contextmanager
def open(settings: Settings | None = None) -> Iterator[Memory]:  # noqa: A001 - pkg_pipeline.open() is its name
    """The memory, migrated and ready, while the block runs; settings default to those in force."""
    with open_memory(load() if settings is None else settings) as memory:
        yield memory


def append(
    session: str | UUID, messages: Sequence[Mapping[str, Any]], *, memory: Memory | None = None
) -> dict[str, Any]:
    """Add messages in order; repeated ones change nothing, other text is an edit.

    A message is a mapping with ``id``, ``text`` (or ``content``, ``parts``), ``role`` or ``sender_id``, and others
    named in the guide. Unreadable ones are in ``rejected``; if all are, raises ``NothingRead``. An unknown key creates
    the session, an unknown id raises ``SessionUnknown``.
    """
    with _sessions(memory) as sessions:
        return sessions.append(str(session), listed(messages)).to_json()


def event(session: str | UUID, event: SessionEvent, *, memory: Memory | None = None) -> dict[str, Any]:
    """Record an event that requests a fold now (H7). Raises ``SessionUnknown``."""
    with _sessions(memory) as sessions:
        return sessions.event(str(session), event)


def fold(session: str | UUID, *, memory: Memory | None = None) -> dict[str, Any]:
    """Fold what is complete now, and wait. Raises ``SessionUnknown``, ``LlmMisconfigured``."""
    with _sessions(memory) as sessions:
        return sessions.fold(str(session))


def set_session(
    session: str | UUID,
    *,
    policy: Policy | None = None,
    strategy: Strategy | None = None,
    summary_interval: int | None = None,
    label: str | None = None,
    memory: Memory | None = None,
) -> dict[str, Any]:
    """Change settings of a session; an unknown key creates it."""
    with _sessions(memory) as sessions:
        return sessions.set(
            str(session), policy=policy, strategy=strategy, summary_interval=summary_interval, label=label
        )


def window(session: str | UUID, *, memory: Memory | None = None, **options: Unpack[WindowOptions]) -> dict[str, Any]:
    """The messages for the next model call, in ``messages``, with their tokens.

    ``options``: ``model_window`` and ``system_tokens`` in tokens, ``strategy``, ``form`` of the messages
    (``anthropic``, ``openai``, ``langchain``), ``model``, ``query`` for recall. Raises ``SessionUnknown``,
    ``BadRequest``, ``LiveTurnTooLong``.
    """
    with _sessions(memory) as sessions:
        return sessions.window(str(session), **options)


@contextmanager
def _sessions(memory: Memory | None) -> Iterator[SessionWork]:
    if memory is not None:
        yield memory.sessions
        return
    with open() as opened:
        yield opened.sessions
