"""``pkg-pipeline run``: what is due now, or a range of partitions, through Dagster in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from pkg_pipeline.adapters.inbox import Inbox
from pkg_pipeline.cli.progress import OnPart, showing
from pkg_pipeline.cli.reading import nothing_imported
from pkg_pipeline.cli.terminal import FAILED, JsonFlag, counted, notes, settings_in_force, show, table
from pkg_pipeline.defs.automation.due import has_work
from pkg_pipeline.defs.hops import ASSETS, GRAIN_OF
from pkg_pipeline.defs.keys import Grain, existing, keys_between
from pkg_pipeline.defs.pipeline_memory import PipelineMemory, opened
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring.process import require_space

if TYPE_CHECKING:
    from pkg_pipeline.defs.local_runs import CheckRow, RunRow

SUMMARIES = "interaction_summaries"
SETTLE_POLL_SECONDS = 0.25
LONGEST_SETTLE_SECONDS = 5.0
"""Waits this long for a file that was just copied in; one still growing is left to the next run."""

SHOWN_ROWS = 40
SHOWN_AS_COLUMNS = ("pending", "failed")
"""Checks whose numbers are columns of the table."""


def run(
    only: Annotated[str | None, typer.Option("--only", help=f"One asset: {', '.join(ASSETS)}.")] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            "--partition",
            help="One partition, due or not: a day (YYYY-MM-DD), a week by its Sunday, a month by its first.",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", help="First day of a range: all partitions that begin in it.", show_default=False),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day of it.", show_default=False)] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Dagster's own log on standard error.")] = False,
    json: JsonFlag = False,
) -> None:
    """Work off all that is due now, or a range of partitions, through Dagster, here."""
    settings = settings_in_force()
    assets = _assets(only, has_keys=any(given is not None for given in (partition, from_, to)))
    asked = _asked(assets, partition=partition, first=from_, last=to)

    def keys(memory: PipelineMemory) -> list[str]:
        return [] if asked is None else _there(memory, asked)

    with showing(as_json=json, starting="starting Dagster") as on_part:
        summary = work_off(settings, assets=assets, keys=keys, on_part=on_part, verbose=verbose)
    show(summary.to_json(), as_json=json, human=lambda screen: _print(screen, summary))
    if summary.is_empty:
        notes().print(f"note: {nothing_imported()}", markup=False)
    if summary.failed:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Attempted partitions, interactions still waiting, wall seconds, failing checks."""

    rows: list[RunRow]
    waiting: int
    seconds: float
    checks: Sequence[CheckRow] = ()
    is_empty: bool = False

    @property
    def failed(self) -> int:
        return sum(row.status != "done" or (row.asset == "messages" and row.failed > 0) for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "runs": [asdict(row) for row in self.rows],
            "failed": self.failed,
            "pending": self.waiting,
            "checks": [asdict(row) for row in self.checks],
        }

    def line(self) -> str:
        if not self.rows:
            return "Nothing is due." if not self.waiting else f"Nothing is due now; {_left(self.waiting)}."
        total = sum(row.rows for row in self.rows if row.asset == SUMMARIES)
        runs = len({row.run_id for row in self.rows})
        cost = sum(row.cost_usd for row in self.rows)
        made = counted(total, "summary", "summaries")
        return f"{counted(runs, 'run')} in {self.seconds:.1f} s: {made}, {cost:.4f} USD"


def work_off(
    settings: Settings,
    *,
    assets: tuple[str, ...] = ASSETS,
    keys: Callable[[PipelineMemory], Sequence[str]] = lambda _: (),
    on_part: OnPart = lambda *_: None,
    verbose: bool = False,
) -> RunSummary:
    """Runs what is due in this process through Dagster, or the partitions that ``keys`` gives for one asset."""
    rows: list[RunRow] = []
    checks: Sequence[CheckRow] = ()

    started = time.monotonic()
    require_space(settings)
    with opened(settings) as memory:
        chosen = list(keys(memory))
        if "messages" in assets and not chosen:
            _let_settle(memory.inbox)
        if chosen or any(has_work(memory, asset) for asset in assets):
            checks = _execute(memory, assets, chosen, rows.append, on_part, verbose=verbose)
        waiting = memory.pending(SUMMARIES)
        is_empty = not rows and memory.is_empty()
    return RunSummary(rows, waiting, time.monotonic() - started, checks, is_empty=is_empty)


def _execute(
    memory: PipelineMemory,
    assets: tuple[str, ...],
    keys: list[str],
    on_row: Callable[[RunRow], None],
    on_part: OnPart,
    *,
    verbose: bool,
) -> Sequence[CheckRow]:
    """Loads Dagster, which takes seconds. Returns the failing checks."""
    from pkg_pipeline.adapters import dagster_home
    from pkg_pipeline.defs import local_runs as here
    from pkg_pipeline.wiring.process import running

    with dagster_home.instance(memory.settings.dagster_home, memory.database_url, running(memory.settings)) as instance:
        runs = here.LocalRuns(memory, instance, log_level="DEBUG" if verbose else "CRITICAL", on_part=on_part)
        if keys:
            here.run_partitions(runs, assets[0], keys, on_row)
        else:
            here.run_due(runs, memory, assets, on_row)
        return runs.failing_checks


def _assets(only: str | None, *, has_keys: bool) -> tuple[str, ...]:
    """All assets, or one; ``--partition`` and ``--from`` alone mean the summaries."""
    if only is None:
        return (SUMMARIES,) if has_keys else ASSETS
    if only not in ASSETS:
        raise typer.BadParameter(f"{only!r} is no asset; there are {', '.join(ASSETS)}", param_hint="--only")
    return (only,)


@dataclass(frozen=True, slots=True)
class _Asked:
    """First days of the named partitions; ``hint`` is the option that named them."""

    grain: Grain
    keys: Sequence[date]
    hint: str


def _asked(assets: tuple[str, ...], *, partition: str | None, first: str | None, last: str | None) -> _Asked | None:
    """The partitions asked for; None means what is due. Wrong usage ends with exit code 2."""
    if partition is None and first is None and last is None:
        return None
    grain = GRAIN_OF.get(assets[0])
    if grain is None:
        raise typer.BadParameter(f"{assets[0]} has no partitions; {', '.join(GRAIN_OF)} have", param_hint="--only")
    if partition is not None and (first is not None or last is not None):
        raise typer.BadParameter(f"give one {grain.noun}, or a range by --from and --to", param_hint="--partition")
    if partition is not None:
        return _one(grain, _day(partition, hint="--partition"))
    if first is None or last is None:
        raise typer.BadParameter("a range needs both --from and --to", param_hint="--from/--to")
    return _range(grain, _day(first, hint="--from"), _day(last, hint="--to"))


def _one(grain: Grain, key: date) -> _Asked:
    begin = grain.begin(key)
    if begin != key:
        raise typer.BadParameter(
            f"{key} is no {grain.noun}: it lies in that of {begin}, its first day", param_hint="--partition"
        )
    return _Asked(grain, [key], "--partition")


def _range(grain: Grain, first: date, last: date) -> _Asked:
    if last < first:
        raise typer.BadParameter(f"{last} is before {first}", param_hint="--to")
    begun = [date.fromisoformat(key) for key in keys_between(first, last, grain)]
    if not begun:
        raise typer.BadParameter(f"no {grain.noun} begins between {first} and {last}", param_hint="--from/--to")
    return _Asked(grain, begun, "--from/--to")


def _there(memory: PipelineMemory, asked: _Asked) -> list[str]:
    """Keys of what was asked for. All must exist, but a range may begin before the memory does."""
    settings, start, grain = memory.settings, memory.partitions_start, asked.grain
    today = datetime.now(settings.zone).date()
    found = existing(asked.keys, grain, start=start, today=today)
    if not found or len(found) < sum(key >= grain.begin(start) for key in asked.keys):
        ends = f"{grain.begin(start)} to {grain.last(today)}"
        over = "" if grain.has_current else ", once they are over"
        raise typer.BadParameter(f"{grain.noun}s run from {ends} in {settings.timezone}{over}", param_hint=asked.hint)
    return found


def _day(text: str, *, hint: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no day such as 2026-03-01", param_hint=hint) from error


def _let_settle(inbox: Inbox) -> None:
    """Waits for recent files in the inbox, for a few seconds at most."""
    deadline = time.monotonic() + LONGEST_SETTLE_SECONDS
    while len(inbox.ready()) < len(inbox.drops()) and time.monotonic() < deadline:
        time.sleep(SETTLE_POLL_SECONDS)
    late = {drop.name for drop in inbox.drops()} - {drop.name for drop in inbox.ready()}
    for name in sorted(late):
        notes().print(f"{name} in the inbox is still being written; the next run takes it", markup=False)


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
            notes().print(f"{row.status}: {row.asset} {row.partition or ''}: {row.error}", markup=False)
    for check in summary.checks:
        if check.check not in SHOWN_AS_COLUMNS:
            notes().print(f"check {check.check} of {check.asset}: {check.reason}", markup=False)


def _table(rows: Sequence[RunRow]) -> Table:
    made = table("asset", "partition", "status", "rows", "pending", "failed", "USD", "seconds", numbers=slice(3, None))
    for row in rows:
        numbers = (row.rows, row.pending, row.failed)
        cost, took = f"{row.cost_usd:.4f}", f"{row.seconds:.2f}"
        made.add_row(row.asset, row.partition or "", row.status, *(f"{number:,}" for number in numbers), cost, took)
    return made


def _left(waiting: int) -> str:
    return (
        f"{counted(waiting, 'interaction')} still to be summarised: a budget, a pause or the age of 7 days holds them"
    )
