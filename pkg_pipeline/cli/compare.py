"""``pkg-pipeline compare``: a conversation with compression and without, as a table, a document and a plot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from rich.console import Console

from pkg_pipeline.cli.progress import SHORT_SECONDS, OnPart, showing
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    YesFlag,
    as_text,
    confirm,
    counted,
    memory_in_force,
    notes,
    one_of,
    plain,
    show,
    table,
)
from pkg_pipeline.compare.figures import sampled
from pkg_pipeline.compare.page import page, setup
from pkg_pipeline.compare.playing import Conversation, NothingToCompare
from pkg_pipeline.compare.report import Compared
from pkg_pipeline.memory.session.records import Policy, Strategy
from pkg_pipeline.stages.llm.run import OutOfBudget
from pkg_pipeline.stages.ports import LlmError
from pkg_pipeline.stages.sessions.records import SessionUnknown

if TYPE_CHECKING:
    from pkg_pipeline.compare.wiring import CompareWork

SHOWN_TURNS = 24
"""Rows of the printed table; document and page hold all turns."""

NAME_CHARACTERS = 60
NO_PLOT = "a plot needs matplotlib: pip install 'pkg-pipeline[plots]'"
POLICIES = tuple(one for one in get_args(Policy) if one != "thread_size")


def compare(
    conversation: Annotated[str, typer.Argument(help="Chat key or id in the memory, or a file of any import format.")],
    model_window: Annotated[
        int | None, typer.Option(min=1, help="Tokens that the model takes; else the setting.", show_default=False)
    ] = None,
    system_tokens: Annotated[int, typer.Option(min=0, help="Tokens of your own system prompt.")] = 0,
    policy: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(POLICIES)}; else the setting.", show_default=False)
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(get_args(Strategy))}; else the setting.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model whose prices hold for the turns; else the setting.", show_default=False)
    ] = None,
    chat: Annotated[
        str | None, typer.Option(help="Which one, where a file holds several: its key or title.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for compare-NAME.png and .html.")] = Path(),
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Play a conversation with compression and without: tokens and cost of every turn, and from when it pays.

    Nothing of it is stored. With a paid model its folds are paid for, after asking, within the caps of the live lane.
    """
    from pkg_pipeline.compare.wiring import CompareWork

    one_of(policy, POLICIES, "--policy")
    one_of(strategy, get_args(Strategy), "--strategy")
    _priced(model)
    with memory_in_force() as memory, _said():
        work = CompareWork(memory)
        played = _conversation(work, as_text(conversation), None if chat is None else as_text(chat))
        settings = work.settings(
            policy=cast("Policy | None", policy),
            strategy=cast("Strategy | None", strategy),
            model_window=model_window,
            system_tokens=system_tokens,
        )
        if work.is_paid and not yes:
            with _progress(json) as on_part:
                on_turn = partial(on_part, "what folding would cost")
                foretold = work.play(played, settings, model=model, is_forecast=True, on_turn=on_turn)
            confirm(_question(foretold), yes=yes, as_json=json)
        with _progress(json) as on_part:
            compared = work.play(played, settings, model=model, on_turn=partial(on_part, "playing"))
    document = compared.to_json()
    document["files"] = _written(compared, document, out)
    show(document, as_json=json, human=lambda screen: print_compared(screen, compared, document))


def _progress(as_json: bool) -> AbstractContextManager[OnPart]:
    return showing(as_json=as_json, after_seconds=SHORT_SECONDS, lines=False)


@contextmanager
def _said() -> Iterator[None]:
    """Turns reasons why a control run is impossible into one line."""
    try:
        yield
    except (NothingToCompare, SessionUnknown, OutOfBudget) as error:
        raise CommandFailed(str(error)) from error
    except LlmError as error:
        raise CommandFailed(f"the model gave no answer, and half a comparison would mislead: {error}") from error


def _priced(model: str | None) -> None:
    from pkg_pipeline.adapters.llm.prices import known_models, price_row
    from pkg_pipeline.settings import load
    from pkg_pipeline.stages.ports import LlmMisconfigured
    from pkg_pipeline.wiring.models import price_table

    table = price_table(load())
    try:
        if model is not None:
            price_row(model, table=table)
    except LlmMisconfigured as error:
        known = ", ".join(known_models(table))
        raise typer.BadParameter(f"no price is known for {model!r}; known are {known}", param_hint="--model") from error


def _conversation(work: CompareWork, given: str, chat: str | None) -> Conversation:
    """From the file of that name, or else from the memory."""
    from pkg_pipeline.adapters.exports.containers import UnreadableExport
    from pkg_pipeline.compare.wiring import chosen

    path = Path(given)
    if not path.exists():
        if chat is not None:
            raise typer.BadParameter(f"there is no file {given}", param_hint="CONVERSATION")
        return work.remembered(given)
    try:
        read = work.exported(path)
    except (UnreadableExport, ValueError) as error:
        raise CommandFailed(str(error)) from error
    if read.rejected:
        notes().print(f"{counted(read.rejected, 'piece')} of {plain(given)} could not be read", soft_wrap=True)
    found = chosen(read.conversations, chat)
    if found is None:
        names = ", ".join(one.key for one in read.conversations[:10]) or "none"
        raise CommandFailed(f"which conversation? name it by --chat; {path.name} holds {names}")
    return found


def _question(foretold: Compared) -> str:
    found = foretold.totals
    calls = sum(fold.calls for turn in foretold.turns for fold in turn.folds)
    return (
        f"Folding it by {foretold.fold_priced_as} takes about {counted(calls, 'call')}, {found.fold_tokens:,} tokens"
        f" and {found.fold_usd:.4f} USD. Go on?"
    )


# ── files and output ──────────────────────────────────────────────────────────────────────────────


def _written(compared: Compared, document: dict[str, Any], folder: Path) -> dict[str, str]:
    """Writes the plot as PNG and as HTML; returns their paths."""
    from pkg_pipeline.compare import plots

    rows = document["turns"]
    figure = plots.ComparisonFigure(
        turns=[row["turn"] for row in rows],
        prompt_tokens=[row["prompt_tokens"] for row in rows],
        hypothetical_tokens=[row["hypothetical_tokens"] for row in rows],
        usd=[row["cumulative_usd"] for row in rows],
        hypothetical_usd=[row["cumulative_hypothetical_usd"] for row in rows],
        fold_turns=[row["turn"] for row in rows if row["folds"]],
        pays_from=compared.pays_from,
        overflows_from=compared.overflows_from,
        available_tokens=compared.settings.budget.available + compared.settings.budget.system,
        model=compared.model,
    )
    folder.mkdir(parents=True, exist_ok=True)
    name = f"compare-{file_name(compared.conversation.key)}"
    picture, told = folder / f"{name}.png", folder / f"{name}.html"
    files, svg = {"html": str(told)}, ""
    try:
        picture.write_bytes(plots.png(figure))
        files, svg = {"png": str(picture), **files}, plots.svg(figure)
    except ImportError:
        document["warnings"] = [*document["warnings"], NO_PLOT]
    told.write_text(page(document, svg=svg, said=compared.outcome()), encoding="utf-8")
    return files


def file_name(key: str) -> str:
    """A conversation's key as part of a file name: letters of any script stay, unsafe characters go."""
    return re.sub(r"[^\w.-]+", "-", key).strip("-.")[:NAME_CHARACTERS] or "conversation"


def print_compared(screen: Console, compared: Compared, document: dict[str, Any]) -> None:
    """Prints the outcome, then some turns: the first, the last, and the one from which compression pays."""
    turns = compared.turns
    headers = ("turn", "prompt", "uncompressed", "answer", "folds", "USD so far", "uncompressed")
    shown = table(*headers, numbers=slice(None))
    rows = {row["turn"]: row for row in document["turns"]}
    for turn in sampled(turns, SHOWN_TURNS, keep=(compared.pays_from,)):
        row = rows[turn.number]
        shown.add_row(
            f"{turn.number:,}",
            f"{turn.prompt_tokens:,}",
            f"{turn.hypothetical_tokens:,}",
            f"{turn.completion_tokens:,}",
            str(len(turn.folds) or ""),
            f"{row['cumulative_usd']:.6f}",
            f"{row['cumulative_hypothetical_usd']:.6f}",
            style="bold" if turn.number == compared.pays_from else None,
        )
    found = compared.totals
    screen.print(shown)
    screen.rule(style="dim")
    screen.print(f"{plain(compared.conversation.key)}: {plain(setup(document))}")
    screen.print(
        f"{counted(found.turns, 'turn')}, a prompt of {found.mean_prompt_tokens:,.0f} tokens on average instead of"
        f" {found.mean_hypothetical_tokens:,.0f}; {counted(found.folds, 'fold')} of"
        f" {counted(found.folded_messages, 'message')} took {found.fold_tokens:,} tokens"
    )
    screen.print(compared.outcome(), style="bold")
    for warning in document["warnings"]:
        screen.print(f"note: {plain(warning)}")
    screen.print("written: " + " and ".join(map(plain, document["files"].values())))
