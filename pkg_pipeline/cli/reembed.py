"""``pkg-pipeline reembed``: computes the vectors of another model beside those in use."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pkg_pipeline.cli.progress import SHORT_SECONDS, showing
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, counted, memory_in_force, plain, show, table
from pkg_pipeline.stages.recall.records import SpaceMismatch
from pkg_pipeline.stages.recall.reembed import (
    Phase,
    ReembedBusy,
    ReembedForecast,
    ReembedReport,
    ReembedStopped,
    SpaceSize,
    SpaceUnknown,
)

if TYPE_CHECKING:
    from pkg_pipeline.wiring import Memory


def reembed(
    to: Annotated[
        str | None, typer.Option("--to", metavar="MODEL", help="Change over to it: offline, openai:NAME or NAME.")
    ] = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="After the switch, take the vectors of all retired models away.")
    ] = False,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="MODEL", help="Only take the vectors of this model away.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="The models that have vectors here.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would take; write nothing.")] = False,
    json: JsonFlag = False,
) -> None:
    """Make the vectors anew with another model beside those in use; searches change over when all are there.

    It may be stopped at any time: the same command goes on where it was.
    """
    if sum((to is not None, drop is not None, list_)) != 1:
        raise typer.BadParameter("say what to do by one of --to MODEL, --drop MODEL and --list")
    if to is None and (drop_old or dry_run):
        raise typer.BadParameter("--drop-old and --dry-run go with --to MODEL")
    model = None if to is None else _model(to, "--to")
    with memory_in_force() as memory:
        if drop is not None:
            _drop(memory, drop, as_json=json)
        elif model is None:
            _list(memory, as_json=json)
        elif dry_run:
            _foretell(memory, model, as_json=json)
        else:
            _run(memory, model, drop_old=drop_old, as_json=json)


def _model(given: str, option: str) -> str:
    from pkg_pipeline.wiring.chunks import ModelUnknown, space_named

    try:
        return space_named(given)
    except ModelUnknown as unknown:
        raise typer.BadParameter(str(unknown), param_hint=option) from unknown


def _run(memory: Memory, model: str, *, drop_old: bool, as_json: bool) -> None:
    done, total = 0, 0

    def far() -> str:
        return f"{done:,} of {counted(total, 'chunk')} have a vector of {model}; {_goes_on(memory, model)}"

    with showing(as_json=as_json, after_seconds=SHORT_SECONDS, lines=False) as on_part:

        def on_progress(phase: Phase, now_done: int, now_total: int) -> None:
            nonlocal done, total
            done, total = now_done, now_total
            on_part(phase, done, total)

        try:
            report = memory.reembedding.run(model, drop_old=drop_old, on_progress=on_progress)
        except ReembedStopped as stopped:
            done, total = stopped.done, stopped.total
            raise CommandFailed(f"{stopped}; {far()}") from stopped
        except (ReembedBusy, SpaceMismatch) as error:
            raise CommandFailed(str(error)) from error
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped: {far()}") from None
    show(asdict(report), as_json=as_json, human=lambda screen: _print_report(screen, report))


def _goes_on(memory: Memory, model: str) -> str:
    active = next((one.model for one in memory.reembedding.sizes() if one.state == "active"), None)
    meanwhile = f"searches use {active}" if active not in (None, model) else "searches use what is there"
    return f"{meanwhile}; pkg-pipeline reembed --to {model} goes on from there"


def _foretell(memory: Memory, model: str, *, as_json: bool) -> None:
    found = memory.reembedding.forecast(model)
    usd = memory.reembedding.usd(model, found.tokens)
    answer = {"dry_run": True, **asdict(found), "usd": usd}
    show(answer, as_json=as_json, human=lambda screen: _print_forecast(screen, found, usd))


def _drop(memory: Memory, given: str, *, as_json: bool) -> None:
    known = [one.model for one in memory.reembedding.sizes()]
    model = given if given in known else _model(given, "--drop")
    try:
        vectors = memory.reembedding.drop(model)
    except SpaceUnknown as unknown:
        there = ", ".join(known) or "none"
        raise typer.BadParameter(f"no vectors of {model} here; there are: {there}", param_hint="--drop") from unknown
    except (ReembedBusy, SpaceMismatch) as error:
        raise CommandFailed(str(error)) from error
    show(
        {"dropped": {model: vectors}},
        as_json=as_json,
        human=lambda screen: screen.print(_dropped(model, vectors), markup=False),
    )


def _list(memory: Memory, *, as_json: bool) -> None:
    found = memory.reembedding.sizes()
    show({"items": [asdict(one) for one in found]}, as_json=as_json, human=lambda screen: _print_sizes(screen, found))


# ── output ────────────────────────────────────────────────────────────────────────────────────


def _print_report(screen: Console, report: ReembedReport) -> None:
    made = f"{counted(report.embedded, 'vector')} made in {report.seconds:,.1f} s"
    refused = f", {counted(report.refused, 'text')} refused by the model" if report.refused else ""
    screen.print(f"{made}{refused}; all of {counted(report.chunks, 'chunk')} are there", markup=False)
    before = report.switched_from
    screen.print(f"searches use {report.model}{', as before' if before is None else ' now'}", markup=False)
    for model, vectors in report.dropped.items():
        screen.print(_dropped(model, vectors), markup=False)
    if before is not None and before not in report.dropped:
        screen.print(f"{before} is kept; to free its space: pkg-pipeline reembed --drop {before}", markup=False)


def _dropped(model: str, vectors: int) -> str:
    return f"{counted(vectors, 'vector')} of {model} dropped"


def _print_forecast(screen: Console, found: ReembedForecast, usd: float | None) -> None:
    price = "price unknown here, ask the service" if usd is None else "no cost" if not usd else f"{usd:.4f} USD"
    said = f"{counted(found.chunks, 'chunk')} to embed, about {found.tokens:,} tokens, {price}"
    screen.print(f"{found.model}: {said}", markup=False)
    if found.unread:
        screen.print(f"{counted(found.unread, 'conversation')} not searchable yet come on top of it")
    if not found.is_switch:
        screen.print("searches use it already")


def _print_sizes(screen: Console, found: list[SpaceSize]) -> None:
    if not found:
        screen.print("No vectors yet: pkg-pipeline run --only memory_chunks makes them.")
        return
    rows = table("model", "state", "dimensions", "vectors", "missing", "indexes", numbers=slice(2, None))
    for one in found:
        size = "" if one.dimensions is None else f"{one.dimensions:,}"
        rows.add_row(plain(one.model), one.state, size, f"{one.vectors:,}", f"{one.missing:,}", f"{one.indexes:,}")
    screen.print(rows)
