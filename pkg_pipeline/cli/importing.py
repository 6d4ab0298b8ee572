"""``pkg-pipeline import``: imports files, cuts interactions, prints what summarising would cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.prompt import IntPrompt

from pkg_pipeline.adapters.exports.formats import NAMES
from pkg_pipeline.cli.progress import SHORT_SECONDS, OnPart, showing
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
from pkg_pipeline.memory.message.deletions import Verdict
from pkg_pipeline.stages.ingest.owner import SelfUnknown
from pkg_pipeline.stages.ingest.records import ExportSource, ImportReport, IngestCounts
from pkg_pipeline.stages.items.report import ItemsEstimate
from pkg_pipeline.wiring import ImportFailed, Memory
from pkg_pipeline.wiring.forecasts import WorkEstimate
from pkg_pipeline.wiring.monitoring import leave_unreported

SHOWN_REJECTIONS = 10


def import_files(
    paths: Annotated[list[Path], typer.Argument(help="Files, folders or zips.", show_default=False)],
    format_name: Annotated[
        str | None, typer.Option("--format", help=f"{' or '.join(reversed(NAMES))}; else told from the content.")
    ] = None,
    self_rule: Annotated[
        str | None, typer.Option("--self", help="Who you are in it: a name, an id, or none.", show_default=False)
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept-deletions", help="What a newer export lacks is deleted, however much it is.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep-missing", help="What this export lacks stays.")] = False,
    json: JsonFlag = False,
) -> None:
    """Take conversations in. Repeating or overlapping imports change nothing twice."""
    if accept and keep:
        raise typer.BadParameter("--accept-deletions and --keep-missing exclude each other")
    said: Verdict = "accepted" if accept else "kept" if keep else "open"
    with memory_in_force() as memory:
        report, problems = import_all(
            memory, paths, format_name=format_name, self_rule=self_rule, missing=said, as_json=json
        )
        if not json and report.counts.new > 20_000:
            notes().print("making interactions …")
        made = memory.make_searchable(report.chats)
        leave_unreported(memory, report, made)
        estimate = memory.estimate()
    answer = {**report.to_json(), "interactions_changed": made.interactions, "estimate": estimate.to_json()}
    show(answer, as_json=json, human=lambda screen: print_report(screen, report, estimate))
    for problem in problems:
        notes().print(f"[red]not imported[/red] {plain(problem)}")
    for file in report.damaged:
        lost = "what could be read of it went in, messages are missing: export it again"
        notes().print(f"[red]damaged[/red] {plain(file)}: {lost}")
    if problems or report.damaged:
        raise typer.Exit(FAILED)


def import_all(
    memory: Memory,
    paths: list[Path],
    *,
    format_name: str | None,
    self_rule: str | None,
    missing: Verdict = "open",
    as_json: bool,
) -> tuple[ImportReport, list[str]]:
    """Imports all paths into one report; a failing path does not stop the others."""
    whole, problems = ImportReport(), list[str]()
    for path in paths:
        try:
            with showing(as_json=as_json, after_seconds=SHORT_SECONDS, lines=False, in_bytes=True) as on_part:

                def on_progress(export: ExportSource, say: OnPart = on_part) -> None:
                    say(export.name[-40:], export.bytes_read, export.bytes_total)

                take = partial(
                    memory.import_path, path, format_name=format_name, missing=missing, on_progress=on_progress
                )
                report = _import_one(take, self_rule, as_json=as_json)
        except (ImportFailed, SelfUnknown) as failure:
            if len(paths) == 1:
                raise CommandFailed(str(failure)) from failure
            problems.append(str(failure) if str(path) in str(failure) else f"{path}: {failure}")
            continue
        _add(whole, report)
    return whole, problems


def _import_one(take: Callable[..., ImportReport], self_rule: str | None, *, as_json: bool) -> ImportReport:
    """Imports one path; on a terminal asks who the user is and whether a large deletion is right."""
    can_ask = not as_json and sys.stdin.isatty()
    try:
        report = take(self_rule=self_rule)
    except SelfUnknown as unknown:
        if not can_ask or not unknown.candidates:
            raise
        self_rule = _ask_who(unknown)
        report = take(self_rule=self_rule)
    if can_ask and report.held and _ask_about_missing(report):
        again = take(self_rule=self_rule, missing="accepted")
        report.counts += IngestCounts(updated=again.counts.updated, deleted=again.counts.deleted)
        report.held = again.held
    return report


def _ask_about_missing(report: ImportReport) -> bool:
    screen = notes()
    for line in _held_lines(report):
        screen.print(plain(line))
    try:
        return typer.confirm("Were they deleted? Then they go here too.", default=False, err=True)
    except typer.Abort:
        return False


def _held_lines(report: ImportReport) -> list[str]:
    return [
        f"{one.source}:{one.external_id}: {one.missing:,} of {one.known:,} messages are missing in a newer export"
        for one in report.held
    ]


def _ask_who(unknown: SelfUnknown) -> str:
    screen = notes()
    screen.print("The export does not say whose it is. Which of these is you?")
    shown = unknown.candidates[:20]
    for number, (external_id, name, messages) in enumerate(shown, 1):
        screen.print(f"  {number:>2}  {plain(name)}  [dim]{plain(external_id)}, {counted(messages, 'message')}[/dim]")
    screen.print("   0  none of them")
    numbers = [str(number) for number in range(len(shown) + 1)]
    try:
        chosen = IntPrompt.ask("Number", console=screen, choices=numbers, show_choices=False)
    except EOFError:
        raise unknown from None  # no answer: the line names the command's option for it
    return "none" if chosen == 0 else shown[chosen - 1][0]


def _add(whole: ImportReport, part: ImportReport) -> None:
    whole.files += part.files
    whole.chats |= part.chats
    whole.entities |= part.entities
    whole.counts = whole.counts + part.counts
    whole.replaced_characters += part.replaced_characters
    whole.rejected += part.rejected
    whole.rejected_count += part.rejected_count
    whole.warnings += part.warnings
    whole.damaged += part.damaged
    whole.held += part.held
    whole.forgotten += part.forgotten


def print_report(screen: Console, report: ImportReport, estimate: WorkEstimate) -> None:
    counts: IngestCounts = report.counts
    rows = table()
    people = counted(len(report.entities), "person", "people")
    rows.add_row("read", f"{counted(report.files, 'file')}, {counted(len(report.chats), 'chat')}, {people}")
    rows.add_row(
        "messages",
        f"{counts.new:,} new, {counts.updated:,} updated, {counts.unchanged:,} unchanged, {counts.deleted:,} deleted",
    )
    if report.forgotten:
        rows.add_row("left out", f"{counted(report.forgotten, 'message')} that you had forgotten")
    if report.replaced_characters:
        replaced = counted(report.replaced_characters, "character")
        rows.add_row("cleaned", f"{replaced} that cannot be stored became U+FFFD")
    if report.rejected_count:
        rows.add_row("rejected", f"{report.rejected_count:,}, everything around them went in:")
    screen.print(rows)
    for file, where, reason in report.rejected[:SHOWN_REJECTIONS]:
        screen.print(f"  [yellow]{plain(Path(file).name)} {plain(where)}[/yellow] {plain(reason)}")
    if report.rejected_count > SHOWN_REJECTIONS:
        screen.print(f"  … and {report.rejected_count - SHOWN_REJECTIONS:,} more (--json lists them)")
    for warning in report.warnings:
        screen.print(f"[yellow]note[/yellow] {plain(warning)}")
    for line in _held_lines(report):
        choice = "import it again with --accept-deletions, or with --keep-missing"
        screen.print(f"[yellow]kept[/yellow] {plain(line)}: {choice}")
    screen.print(f"to summarise: {estimate_line(estimate, hint=True)}")


def estimate_line(estimate: WorkEstimate, *, hint: bool = False) -> str:
    """What summarising would cost now and later, and what reading for items, if it costs something, in one line; with
    ``hint`` also the command that does it.
    """
    due, readings = estimate.summaries, estimate.readings
    later = f"{counted(due.later, 'interaction')} later, once old enough"
    if due.interactions:
        price = f"about {due.usd:.2f} USD" if due.usd else "nothing to pay"
        now = f"{counted(due.interactions, 'interaction')} due now, {due.tokens:,} tokens, {price}"
    else:
        now = "nothing is due now" if due.later else "nothing"
    parts = [f"{now}, {later}" if due.later else now]
    if readings.tokens:
        parts.append(f"to read for what is open: {readings_line(readings)}")
    if hint and (due.interactions or readings.tokens):
        parts.append("do it by: pkg-pipeline run")
    return "; ".join(parts)


def readings_line(readings: ItemsEstimate) -> str:
    asked = f"{counted(readings.talks, 'conversation')} in {counted(readings.calls, 'call')}"
    return f"{asked}, about {readings.tokens:,} tokens, {readings.usd:.4f} USD"
