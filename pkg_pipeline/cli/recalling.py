"""``pkg-pipeline recall``: what the memory holds about a question."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console

from pkg_pipeline.cli.reading import KnownAsOf, found_chat, found_entity, moment_of, say_if_empty
from pkg_pipeline.cli.terminal import (
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    settings_in_force,
    show,
    without_controls,
)
from pkg_pipeline.memory.hashing import chat_id
from pkg_pipeline.stages.recall.stage import MOST_TOP_K, RecallResult
from pkg_pipeline.wiring import Memory


def recall(
    query: Annotated[str, typer.Argument(help="The question, in any language.")],
    entity: Annotated[str | None, typer.Option(help="Only about whom: name, id or key.", show_default=False)] = None,
    session: Annotated[str | None, typer.Option(help="Only this session: id or chat key.", show_default=False)] = None,
    chat: Annotated[str | None, typer.Option(help="Only this chat: source:external-id.", show_default=False)] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only with this topic.", show_default=False)] = None,
    top_k: Annotated[
        int | None, typer.Option(min=1, max=MOST_TOP_K, help="At most this many pieces.", show_default=False)
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="At most this many tokens.", show_default=False)] = None,
    as_of: Annotated[
        str | None, typer.Option(help="As it was at that moment, ISO time; a day means its end.", show_default=False)
    ] = None,
    known_as_of: KnownAsOf = None,
    json: JsonFlag = False,
) -> None:
    """The messages, decisions and facts that answer a question, by meaning and by words."""
    settings = settings_in_force()
    where = None if (given := session or chat) is None else as_text(given)
    if session is not None and chat is not None:
        raise typer.BadParameter("a session is a chat: give one of them", param_hint="--session")
    with memory_in_force(settings) as memory:
        moment = moment_of(as_of, settings, memory)
        answer = memory.recall.search(
            as_text(query),
            entity_id=None if entity is None else found_entity(memory, entity).id,
            chat_id=None if where is None else _chat_id(memory, where, "--session" if session else "--chat"),
            topics=tuple(map(as_text, topic or ())),
            top_k=top_k,
            max_tokens=max_tokens,
            as_of=moment,
            known_as_of=moment_of(known_as_of, settings, memory, "--known-as-of"),
        )
        say_if_empty(memory, found=answer.block.lines)
    show(answer.to_json(), as_json=json, human=lambda screen: print_recall(screen, answer))


def print_recall(screen: Console, answer: RecallResult) -> None:
    """The text as a model gets it, then how it was found."""
    if not answer.block.lines:
        screen.print("nothing found")
    screen.print(without_controls(answer.block.text), markup=False, end="")
    screen.rule(style="dim")
    pieces = counted(len(answer.block.lines), "piece", "pieces")
    screen.print(f"{pieces}, {answer.block.tokens:,} tokens, found by {_HOW[answer.mode]}")
    for warning in answer.warnings:
        screen.print(f"note: {without_controls(warning)}", markup=False)


_HOW = {"hybrid": "meaning and words", "vector": "meaning", "keyword": "words"}


def _chat_id(memory: Memory, given: str, option: str) -> UUID:
    return chat_id(*found_chat(memory, given, option=option, must_exist=True))
