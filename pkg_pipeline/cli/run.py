"""``pkg-pipeline run``: all that is due now, or a range of days, through Dagster, in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.cli.terminal import FAILED, JsonFlag, counted, notes, settings_in_force, show
from pkg_pipeline.defs.due import ASSETS, has_work
from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened
from pkg_pipeline.settings import Settings

if TYPE_CHECKING:
    from pkg_pipeline.defs.here import RunRow

PARTITIONED = "interaction_summaries"
SETTLE_POLL_SECONDS = 0.25
LONGEST_SETTLE_SECONDS = 5.0
"""A file copied in just before the command is waited for; one that is still growing is left to the next run."""

SHOWN_ROWS = 40


def run(
    only: Annotated[str | None, typer.Option("--only", help=f"One asset: {', '.join(ASSETS)}.")] = None,
    partition: Annotated[
        str | None, typer.Option("--partition", help="One day (YYYY-MM-DD), due or not.", show_default=False)
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="First day of a range, due or not.", show_default=False)
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day of it.", show_default=False)] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Dagster's own log on standard error.")] = False,
    json: JsonFlag = False,
) -> None:
    """Work off all that is due now, or a range of days, through Dagster, here."""
    settings = settings_in_force()
    keys = _keys(settings, only=only, partition=partition, first=from_, last=to)
    with _progress(as_json=json) as on_row:
        summary = work_off(settings, assets=_assets(only), keys=keys, on_row=on_row, verbose=verbose)
    show(summary.to_json(), as_json=json, human=lambda screen: _print(screen, summary))
    if summary.failed:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What was worked off: attempted partitions, interactions that still wait, wall seconds."""

    rows: list[RunRow]
    waiting: int
    seconds: float

    @property
    def failed(self) -> int:
        return sum(row.status != "done" or (row.asset == "messages" and row.failed > 0) for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The shape of ``run --json``."""
        return {"runs": [asdict(row) for row in self.rows], "failed": self.failed, "pending": self.waiting}

    def line(self) -> str:
        """One line for people."""
        if not self.rows:
            return "Nothing is due." if not self.waiting else f"Nothing is due now; {_left(self.waiting)}."
        total = sum(row.rows for row in self.rows if row.asset == PARTITIONED)
        runs = len({row.run_id for row in self.rows})
        cost = sum(row.cost_usd for row in self.rows)
        made = counted(total, "summary", "summaries")
        return f"{counted(runs, 'run')} in {self.seconds:.1f} s: {made}, {cost:.4f} USD"


def work_off(
    settings: Settings,
    *,
    assets: tuple[str, ...] = ASSETS,
    keys: Sequence[str] = (),
    on_row: Callable[[RunRow], object] = lambda _: None,
    verbose: bool = False,
) -> RunSummary:
    """Run what is due (or the days ``keys``) through Dagster in this process; nothing due starts nothing."""
    rows: list[RunRow] = []

    def note(row: RunRow) -> None:
        rows.append(row)
        on_row(row)

    started = time.monotonic()
    with opened(settings) as memory:
        if "messages" in assets and not keys:
            _let_settle(memory.inbox)
        if keys or any(has_work(memory, asset) for asset in assets):
            _execute(memory, assets, list(keys), note, verbose=verbose)
        waiting = memory.pending(PARTITIONED)
    return RunSummary(rows, waiting, time.monotonic() - started)


def _execute(
    memory: PipelineMemory,
    assets: tuple[str, ...],
    keys: list[str],
    on_row: Callable[[RunRow], None],
    *,
    verbose: bool,
) -> None:
    """Dagster is loaded here and not before: it takes seconds."""
    from pkg_pipeline.adapters import dagster_home
    from pkg_pipeline.defs import here

    with dagster_home.instance(memory.settings.dagster_home, memory.database_url) as instance:
        runs = here.LocalRuns(memory, instance, log_level="DEBUG" if verbose else "CRITICAL")
        if keys:
            here.run_days(runs, keys, on_row)
        else:
            here.run_due(runs, memory, assets, on_row)


def _assets(only: str | None) -> tuple[str, ...]:
    if only is None:
        return ASSETS
    if only not in ASSETS:
        raise typer.BadParameter(f"{only!r} is no asset; there are {', '.join(ASSETS)}", param_hint="--only")
    return (only,)


def _keys(
    settings: Settings, *, only: str | None, partition: str | None, first: str | None, last: str | None
) -> list[str]:
    """The days asked for; none means what is due. Wrong usage ends with exit code 2."""
    if partition is None and first is None and last is None:
        return []
    if only not in (None, PARTITIONED):
        raise typer.BadParameter(f"{only} has no partitions; only {PARTITIONED} has", param_hint="--only")
    if partition is not None and (first is not None or last is not None):
        raise typer.BadParameter("give one day, or a range by --from and --to", param_hint="--partition")
    if partition is not None:
        first = last = partition
    if first is None or last is None:
        raise typer.BadParameter("a range needs both --from and --to", param_hint="--from/--to")
    from pkg_pipeline.defs.keys import keys_between

    start, end = _day(first), _day(last)
    today = datetime.now(settings.zone).date()
    if end < start:
        raise typer.BadParameter(f"{last} is before {first}", param_hint="--to")
    if start < settings.partitions_start or end > today:
        limits = f"{settings.partitions_start} to {today}"
        raise typer.BadParameter(f"days run from {limits} in {settings.timezone}", param_hint="--partition/--from/--to")
    return keys_between(start, end)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is no day such as 2026-03-01", param_hint="--partition/--from/--to"
        ) from error


def _let_settle(inbox: Inbox) -> None:
    """Wait for what was put into the inbox a moment ago, as far as it comes to rest soon."""
    deadline = time.monotonic() + LONGEST_SETTLE_SECONDS
    while len(inbox.ready()) < len(inbox.drops()) and time.monotonic() < deadline:
        time.sleep(SETTLE_POLL_SECONDS)
    late = {drop.name for drop in inbox.drops()} - {drop.name for drop in inbox.ready()}
    for name in sorted(late):
        notes().print(f"{name} in the inbox is still being written; the next run takes it", markup=False)


@contextmanager
def _progress(*, as_json: bool) -> Iterator[Callable[[RunRow], None]]:
    """Shows how far it is, on a terminal only."""
    screen = notes()
    if as_json or not screen.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("starting Dagster", total=None)

        def advance(row: RunRow) -> None:
            progress.update(task, advance=1, description=f"{row.asset} {row.partition or ''}")

        yield advance


def _print(screen: Console, summary: RunSummary) -> None:
    rows = summary.rows
    if rows:
        screen.print(_table(rows[:SHOWN_ROWS]))
    if len(rows) > SHOWN_ROWS:
        screen.print(f"… and {len(rows) - SHOWN_ROWS:,} more")
    screen.print(summary.line())
    if rows and summary.waiting:
        screen.print(_left(summary.waiting))
    for row in rows:
        if row.error is not None:
            notes().print(f"failed: {row.asset} {row.partition or ''}: {row.error}", markup=False)


def _table(rows: Sequence[RunRow]) -> Table:
    table = Table("asset", "partition", "status", "rows", "pending", "failed", "USD", "seconds", box=None)
    for column in table.columns[3:]:
        column.justify = "right"
    for row in rows:
        numbers = (row.rows, row.pending, row.failed)
        cost, took = f"{row.cost_usd:.4f}", f"{row.seconds:.2f}"
        table.add_row(row.asset, row.partition or "", row.status, *(f"{number:,}" for number in numbers), cost, took)
    return table


def _left(waiting: int) -> str:
    return (
        f"{counted(waiting, 'interaction')} still to be summarised: a budget, a pause or the age of 7 days holds them"
    )
