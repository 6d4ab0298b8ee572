"""``pkg-pipeline backfill``: forecast, the runs in this process through Dagster, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from pkg_pipeline.cli.importing import readings_line
from pkg_pipeline.cli.progress import showing
from pkg_pipeline.cli.terminal import (
    FAILED,
    CommandFailed,
    JsonFlag,
    counted,
    memory_in_force,
    notes,
    plain,
    show,
    table,
)
from pkg_pipeline.stages.ports import LlmError
from pkg_pipeline.stages.summaries.backfill import BackfillUnknown, BackfillWrong
from pkg_pipeline.stages.summaries.backfill_stores import Backfill, BackfillRequest, Forecast

if TYPE_CHECKING:
    from pkg_pipeline.defs.local_runs import RunRow
    from pkg_pipeline.stages.items.report import ItemsEstimate
    from pkg_pipeline.wiring import Memory

LISTED = 20
NAMES = {"older_than_days": "--older-than-days", "limit": "--limit", "to": "--from/--to"}


def backfill(
    backfill_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Of which backfill, for --resume, --cancel and --list.")
    ] = None,
    older_than_days: Annotated[
        float | None, typer.Option("--older-than-days", help="Ended at least so many days ago (by default 7).")
    ] = None,
    from_: Annotated[str | None, typer.Option("--from", help="First day, by the start of interactions.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="Last day, included.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", help="Interactions at most (by default 100).")] = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Summaries and items that another prompt, model or schema made, again.")
    ] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only what was given up after its attempts.")] = False,
    batch: Annotated[
        bool | None,
        typer.Option("--batch/--no-batch", help="In message batches: half the price, answers within a day."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would take; write nothing.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the open ones, or with ID.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="End ID as it is; what was made stays.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Open and ended ones, newest first.")] = False,
    json: JsonFlag = False,
) -> None:
    """Summarise older conversations, oldest first, or stale ones again; the forecast comes first.

    The same command again goes on where it was.
    """
    if sum((dry_run, resume, cancel, list_)) > 1:
        raise typer.BadParameter("choose one of --dry-run, --resume, --cancel and --list")
    if backfill_id is not None and not (resume or cancel or list_):
        raise typer.BadParameter("an id goes with --resume, --cancel or --list", param_hint="ID")
    if cancel and backfill_id is None:
        raise typer.BadParameter("which one? pkg-pipeline backfill --list shows the ids", param_hint="--cancel")
    chosen = None if backfill_id is None else _id(backfill_id)
    given = {"older_than_days": older_than_days, "limit": limit, "stale": stale, "failed": failed, "batch": batch}
    days = {"first_day": _day(from_, "--from"), "last_day": _day(to, "--to")}
    with memory_in_force() as memory, _said():
        if list_:
            _list(memory, chosen, as_json=json)
        elif cancel:
            _cancel(memory, chosen, as_json=json)
        elif resume:
            _resume(memory, chosen, as_json=json)
        else:
            _ask(memory, _request(memory, **given, **days), dry_run=dry_run, as_json=json)


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except BackfillUnknown as unknown:
        raise CommandFailed(f"{unknown}; backfill --list shows the ids") from unknown


def _request(memory: Memory, **given: Any) -> BackfillRequest:
    try:
        return memory.backfills.request(**given)
    except BackfillWrong as wrong:
        raise typer.BadParameter(str(wrong), param_hint=NAMES[wrong.field]) from wrong


def _ask(memory: Memory, request: BackfillRequest, *, dry_run: bool, as_json: bool) -> None:
    if dry_run:
        forecast = memory.backfills.foretell(request)
        answer = {"id": None, "dry_run": True, "request": request.to_json(), "forecast": forecast.to_json()}
        readings = _stale_readings(memory, request)
        show(
            answer | _told(readings), as_json=as_json, human=lambda on: _print_forecast(on, forecast, memory, readings)
        )
        return
    with _runs(memory) as work:
        work.prepare()
        readings = _stale_readings(memory, request)
        asked = memory.backfills.ask(request, requested_by="command line")
        if asked.backfill is None:
            answer = {"id": None, "dry_run": False, "request": request.to_json(), "forecast": asked.forecast.to_json()}
            first = lambda screen: _print_forecast(screen, asked.forecast, memory, readings)  # noqa: E731
            show(answer | _told(readings), as_json=as_json, human=first)
            _end(work.read_again(readings))
            return
        if not as_json:
            notes().print("A new backfill:" if asked.is_new else "The same was asked for before; it goes on:")
            _print_forecast(notes(), asked.forecast, memory, readings)
        rows = [*work.read_again(readings), *work.off(asked.backfill, as_json=as_json)]
    after = memory.backfills.told(asked.backfill.id)
    answer = {**after.to_json(), "dry_run": False, "runs": [asdict(row) for row in rows], **_told(readings)}
    show(answer, as_json=as_json, human=lambda screen: _print_outcome(screen, after, paid=memory.llm.is_paid))
    _end(rows)


def _stale_readings(memory: Memory, request: BackfillRequest) -> ItemsEstimate | None:
    """What is read for items too, of all days; None without ``stale``."""
    return memory.items.estimate(stale=True) if request.stale else None


def _told(readings: ItemsEstimate | None) -> dict[str, Any]:
    return {} if readings is None else {"readings": readings.to_json()}


def _resume(memory: Memory, chosen: UUID | None, *, as_json: bool) -> None:
    open_ids = [found for found, _ in memory.backfills.open()]
    if chosen is not None:
        if not memory.backfills.told(chosen).is_open:
            raise CommandFailed(f"the backfill {chosen} has ended; nothing of it is left to do")
        open_ids = [chosen]
    rows: list[RunRow] = []
    ended: list[Backfill] = []
    if open_ids:
        with _runs(memory) as work:
            work.prepare()
            for one in open_ids:
                asked = memory.backfills.told(one)
                rows += work.read_again(_stale_readings(memory, asked.request))
                rows += work.off(asked, as_json=as_json)
                ended.append(memory.backfills.told(one))
    answer = {"items": [one.to_json() for one in ended], "runs": [asdict(row) for row in rows]}

    def human(screen: Console) -> None:
        if not ended:
            screen.print("No backfill is open.")
        for one in ended:
            _print_outcome(screen, one, paid=memory.llm.is_paid)

    show(answer, as_json=as_json, human=human)
    _end(rows)


def _cancel(memory: Memory, chosen: UUID | None, *, as_json: bool) -> None:
    assert chosen is not None, "looked at with the options"
    known = memory.backfills.told(chosen)
    try:
        if not memory.backfills.cancel(chosen):
            raise CommandFailed(f"the backfill {chosen} is {known.state} already")
    except LlmError as error:
        notes().print(f"Its message batches could not be ended and cost what they cost: {error}", markup=False)
    after = memory.backfills.told(chosen)
    show(
        after.to_json(),
        as_json=as_json,
        human=lambda screen: screen.print(f"Ended; {after.progress.left} left undone."),
    )


def _list(memory: Memory, chosen: UUID | None, *, as_json: bool) -> None:
    found = [memory.backfills.told(chosen)] if chosen is not None else memory.backfills.store.listed(limit=LISTED)
    answer = {"items": [one.to_json() for one in found], "stale": memory.backfills.stale_count()}

    def human(screen: Console) -> None:
        screen.print(_listed(found) if found else "No backfill yet.")
        if answer["stale"]:
            stale = counted(answer["stale"], "summary is", "summaries are")
            screen.print(f"{stale} stale: made by another prompt, model or schema. backfill --stale redoes them.")

    show(answer, as_json=as_json, human=human)


# ── runs ──────────────────────────────────────────────────────────────────────────────────────


class _Work:
    """Runs in this process; Dagster is loaded by the first."""

    def __init__(self, memory: Memory, runs: Any, pipeline: Any) -> None:
        self._memory, self._runs, self._pipeline = memory, runs, pipeline

    def prepare(self) -> None:
        """Cuts new messages into interactions first, since a backfill may choose them."""
        from pkg_pipeline.defs.automation.due import has_work
        from pkg_pipeline.wiring import reconcile

        reconcile(self._memory)
        if has_work(self._pipeline, "interactions"):
            self._runs.asset("interactions")

    def read_again(self, readings: ItemsEstimate | None) -> list[RunRow]:
        """Items of what another prompt, model or schema read."""
        return self._runs.asset("items", stale=True) if readings is not None and readings.talks else []

    def off(self, asked: Backfill, *, as_json: bool) -> list[RunRow]:
        """Works off all that can be done now."""
        from pkg_pipeline.defs import local_runs as here

        rows: list[RunRow] = []
        total = asked.progress.left
        with showing(as_json=as_json) as on_part:
            on_part("summarising", 0, total)
            self._memory.backfills.on_left = lambda _, left: on_part("summarising", total - left, total)
            here.run_backfill(self._runs, self._pipeline, asked.id, rows.append)
        return rows


@contextmanager
def _runs(memory: Memory) -> Iterator[_Work]:
    from pkg_pipeline.adapters import dagster_home
    from pkg_pipeline.defs import local_runs as here
    from pkg_pipeline.defs.pipeline_memory import OpenedMemory
    from pkg_pipeline.wiring.process import require_space, running

    require_space(memory.settings)
    pipeline = OpenedMemory(memory)
    with dagster_home.instance(memory.settings.dagster_home, memory.url, running(memory.settings)) as instance:
        yield _Work(memory, here.LocalRuns(pipeline, instance), pipeline)


def _end(rows: Sequence[RunRow]) -> None:
    broken = [row for row in rows if row.error is not None]
    for row in broken:
        notes().print(f"failed: {row.asset} {row.partition or ''}: {row.error}", markup=False)
    if any(row.status == "failed" for row in broken):
        raise typer.Exit(FAILED)


# ── output ────────────────────────────────────────────────────────────────────────────────────


def _print_forecast(screen: Console, forecast: Forecast, memory: Memory, readings: ItemsEstimate | None = None) -> None:
    if readings is not None and readings.talks:
        what = readings_line(readings) if readings.tokens else counted(readings.talks, "conversation")
        screen.print(f"To read again for items, of all days: {what}.")
    later = memory.summaries.estimate().later
    young = f" {counted(later, 'interaction')} become due later." if later else ""
    if not forecast.interactions:
        screen.print(f"Nothing fits: there is nothing to do.{young}")
        return
    screen.print(
        f"{counted(forecast.interactions, 'interaction')} of {counted(forecast.days, 'day')} with"
        f" {counted(forecast.messages, 'message')}: {counted(forecast.calls, 'call')},"
        f" about {forecast.tokens:,} tokens, {forecast.usd:.4f} USD{_batched(forecast)}.{young}"
    )
    if not memory.llm.is_paid:
        screen.print("The offline summariser costs nothing.")
    elif forecast.lasts_days is None:
        screen.print("The backfill lane may spend nothing a day (backfill_usd_per_day = 0): it would wait for ever.")
    elif forecast.lasts_days > 1:
        screen.print(f"At {forecast.usd_per_day:.2f} USD a day it takes {forecast.lasts_days} days.")


def _batched(forecast: Forecast) -> str:
    return f" in message batches ({forecast.usd_at_once:.4f} at once), within a day" if forecast.batched else ""


def _print_outcome(screen: Console, one: Backfill, *, paid: bool) -> None:
    told, done = one.forecast, one.progress
    rows = table("", "forecast", "actual", numbers=slice(1, None))
    rows.add_row("interactions", f"{told.interactions:,}", f"{done.summarized:,}")
    rows.add_row("calls", f"{told.calls:,}", f"{one.actual.calls:,}")
    rows.add_row("tokens", f"{told.tokens:,}", f"{one.actual.tokens:,}")
    if paid:
        rows.add_row("USD", f"{told.usd:.4f}", f"{one.actual.usd:.4f}")
    screen.print(rows)
    if done.failed:
        screen.print(f"{counted(done.failed, 'interaction')} given up; backfill --failed tries again.")
    if done.dropped:
        screen.print(f"{counted(done.dropped, 'interaction')} gone or went on since; the nightly runs take those.")
    if done.left:
        screen.print(f"{counted(done.left, 'interaction')} left: {_why(one)}.")
        screen.print(f"It goes on by itself where the pipeline runs, and by: pkg-pipeline backfill --resume {one.id}")


def _why(one: Backfill) -> str:
    if one.progress.in_batches:
        return f"{one.progress.in_batches:,} are asked about in message batches, which take up to a day"
    if one.resume_at is None:
        return "they are worked on elsewhere, wait for another try or were touched by an import"
    return f"{plain(one.waits_for)}; from {one.resume_at:%Y-%m-%d %H:%M} UTC on there is more"


def _listed(found: Sequence[Backfill]) -> Table:
    titles = ("id", "asked", "by", "state", "left", "failed", "interactions", "tokens", "USD", "waits for")
    rows = table(*titles, numbers=slice(4, 9))
    rows.columns[0].no_wrap = True
    for one in found:
        told = one.forecast
        rows.add_row(
            str(one.id),
            f"{one.requested_at:%Y-%m-%d %H:%M}",
            plain(one.requested_by),
            one.state,
            f"{one.progress.left:,}",
            f"{one.progress.failed:,}",
            f"{one.progress.summarized:,} of {told.interactions:,}",
            f"{one.actual.tokens:,} of {told.tokens:,}",
            f"{one.actual.usd:.4f} of {told.usd:.4f}",
            plain(one.waits_for or ""),
        )
    return rows


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r} is no id; pkg-pipeline backfill --list shows them", param_hint="ID"
        ) from error


def _day(text: str | None, option: str) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no day such as 2026-03-01", param_hint=option) from error
