"""``pkg-pipeline window``: the next prompt of a session as a model gets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast, get_args

import typer
from rich.console import Console

from pkg_pipeline.cli.sessions.words import print_messages, session_named
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, as_text, counted, one_of, plain, show, table
from pkg_pipeline.memory.session.records import Strategy
from pkg_pipeline.memory.window.records import LiveTurnTooLong
from pkg_pipeline.memory.window.rendering import Form


def window(
    session: Annotated[str, typer.Argument(help="Id or chat key, source:external-id.")],
    model_window: Annotated[
        int | None, typer.Option(min=1, help="Tokens that the model takes; else the setting.", show_default=False)
    ] = None,
    system_tokens: Annotated[int, typer.Option(min=0, help="Tokens of your own system prompt.")] = 0,
    strategy: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(get_args(Strategy))}; else the session's.")
    ] = None,
    form: Annotated[
        str, typer.Option("--as", help=f"Form of the messages: {', '.join(get_args(Form))}.")
    ] = "anthropic",
    model: Annotated[
        str | None, typer.Option(help="Model that is asked, for its own count of tokens.", show_default=False)
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="What to recall by; else the live turn.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """The messages to give to a model next: summaries, what is recalled, and all that is not folded yet."""
    one_of(strategy, get_args(Strategy), "--strategy")
    one_of(form, get_args(Form), "--as")
    with session_named(session) as (sessions, key):
        try:
            answer = sessions.window(
                key,
                model_window=model_window,
                system_tokens=system_tokens,
                strategy=cast("Strategy | None", strategy),
                form=cast("Form", form),
                model=None if model is None else as_text(model),
                query=None if query is None else as_text(query),
            )
        except LiveTurnTooLong as error:
            raise CommandFailed(str(error)) from error
    show(answer, as_json=json, human=lambda screen: print_window(screen, answer))


def print_window(screen: Console, answer: Mapping[str, Any]) -> None:
    """Prints the budget, then each message with its role and beginning."""
    tiers = table("tier", "tokens", "messages", numbers=slice(1, None))
    for tier in answer["tiers"]:
        tiers.add_row(tier["tier"], f"{tier['tokens']:,}", f"{len(tier['messages']):,}")
    screen.print(tiers)
    screen.rule(style="dim")
    print_messages(screen, answer["messages"])
    screen.rule(style="dim")
    budget = answer["budget"]
    screen.print(
        f"{counted(len(answer['messages']), 'message')}, {answer['tokens']:,} of at most {budget['available']:,} tokens"
        f" by {answer['strategy']}; the whole history: {answer['hypothetical_tokens']:,} tokens"
    )
    if answer["topics"]:
        screen.print(f"topics: {plain(', '.join(answer['topics']))}")
    for warning in answer["warnings"]:
        screen.print(f"note: {plain(warning)}")
