"""Shared by the session commands: the named session, choices of options, messages for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from pkg_pipeline.cli.terminal import CommandFailed, as_text, memory_in_force, plain, table
from pkg_pipeline.memory.hashing import chat_id_of, chat_key, key_spellings
from pkg_pipeline.stages.reads.chats import find_chat
from pkg_pipeline.stages.reads.stores import ChatAmbiguous, ChatUnknown
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.wiring.sessions import SessionWork

SHOWN_CHARACTERS = 120


@contextmanager
def session_named(session: str, *, makes: bool = False) -> Iterator[tuple[SessionWork, str]]:
    """The sessions of the memory in force, and the key of an existing session or the key as given. A bad or unknown
    name ends the command. With ``makes`` an unknown key is a new session, also if it is a person's key.
    """
    given = as_text(session)
    try:
        chat_id_of(given)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="SESSION") from error
    with memory_in_force() as memory:
        try:
            try:
                known = find_chat(memory.reads, given)
                is_meant = not makes or known in key_spellings(given) or ":" not in given
                found = chat_key(*known) if is_meant else given
            except ChatUnknown:
                found = given  # created by this command, or refused as a session
            except ChatAmbiguous as error:
                raise CommandFailed(str(error)) from error
            yield memory.sessions, found
        except SessionUnknown as error:
            raise CommandFailed(f"{error}; pkg-pipeline sessions lists those there are") from error


def minute(moment: str | None) -> str:
    return "" if moment is None else moment[:16].replace("T", " ")


def print_state(screen: Console, state: Mapping[str, Any]) -> None:
    """Prints one session: its policy, what it holds, when it is checked next."""
    rows = table()
    rows.add_row("session", plain(state["session"]) + (f" ({plain(state['label'])})" if state["label"] else ""))
    rows.add_row("id", str(state["id"]))
    rows.add_row("policy", f"{state['policy']}, {state['strategy']}")
    rows.add_row(
        "messages",
        f"{state['messages']:,}, {state['tokens']:,} tokens; {state['folded']:,} folded, {state['unfolded']:,} not",
    )
    for name, field in (
        ("last message", "last_message_at"),
        ("last fold", "last_fold_at"),
        ("next look", "next_due_at"),
    ):
        if state[field]:
            rows.add_row(name, minute(state[field]))
    if state["last_error"]:
        rows.add_row("[yellow]last fold failed[/yellow]", plain(state["last_error"]))
    screen.print(rows)


def print_messages(screen: Console, messages: Sequence[Mapping[str, Any]]) -> None:
    """Prints each with its role or sender and the beginning of its text."""
    rows = table()
    for message in messages:
        rows.add_row(plain(speaker(message)), plain(beginning(message)))
    screen.print(rows)


def speaker(message: Mapping[str, Any]) -> str:
    """Role or sender of a message in any format."""
    return str(message.get("role") or message.get("sender_name") or message.get("sender") or message.get("type") or "")


def beginning(message: Mapping[str, Any]) -> str:
    """One line of a message in any format; tool calls and results are named."""
    said = " ".join(" ".join(_pieces(message)).split())
    return said if len(said) <= SHOWN_CHARACTERS else said[: SHOWN_CHARACTERS - 1] + "…"


def _pieces(message: Mapping[str, Any]) -> list[str]:
    content: Any = next((message[key] for key in ("content", "parts", "text") if message.get(key)), "")
    blocks: list[Any] = [content] if isinstance(content, str) else list(content)
    calls = message.get("tool_calls") or ()
    named = [f"[calls {call.get('name') or call.get('function', {}).get('name')}]" for call in calls]
    return [*map(_piece, blocks), *named]


def _piece(block: Any) -> str:
    if not isinstance(block, dict):
        return str(block)
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "tool_use":
            return f"[calls {block.get('name')}]"
        case "tool_result":
            return f"[result] {' '.join(_pieces(block))}"
        case kind:
            return f"[{kind}]"
