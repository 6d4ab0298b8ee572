"""``pkg-pipeline threads``: threads of LangGraph agents in the database of their checkpointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from pkg_pipeline.cli.importing import estimate_line
from pkg_pipeline.cli.sessions.words import minute
from pkg_pipeline.cli.terminal import (
    FAILED,
    CommandFailed,
    JsonFlag,
    YesFlag,
    confirm,
    counted,
    memory_in_force,
    notes,
    plain,
    settings_in_force,
    show,
    table,
)
from pkg_pipeline.stages.ingest.threads import PruneResult
from pkg_pipeline.wiring.threads import ThreadImport, ThreadWork

threads = typer.Typer(
    help="Threads of LangGraph agents: list, import, prune, delete.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Url = Annotated[
    str | None,
    typer.Option(help="Database of LangGraph's saver, instead of PKG_LANGGRAPH_URL.", show_default=False),
]
Names = Annotated[list[str] | None, typer.Argument(help="Threads by their ids.", metavar="THREAD", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Every thread there is.")]


@threads.command(name="list")
def list_threads(url: Url = None, json: JsonFlag = False) -> None:
    """Threads with label and last activity, latest first, and what the memory has of each."""
    with _opened(url) as work:
        found = work.list()
    show({"items": found}, as_json=json, human=lambda screen: _print_list(screen, found))


@threads.command(name="import")
def import_threads(names: Names = None, every: All = False, url: Url = None, json: JsonFlag = False) -> None:
    """Threads into the memory, as sessions. Repeating it changes nothing twice; LangGraph's database is only read."""
    with _opened(url) as work:
        done = work.take_in(_chosen(work, names, every=every), on_thread=_telling("reading", as_json=json))
        made, estimate = work.build(done.report)
    answer = {**done.to_json(), "interactions_changed": made.interactions, "estimate": estimate.to_json()}
    show(answer, as_json=json, human=lambda screen: _print_import(screen, done, estimate_line(estimate, hint=True)))
    if done.passed_over and names:
        raise typer.Exit(FAILED)


@threads.command()
def prune(
    names: Names = None,
    every: All = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and take nothing out.")] = False,
    url: Url = None,
    json: JsonFlag = False,
) -> None:
    """Old messages out of long threads, once the memory has them with summary, topics and vectors."""
    with _opened(url) as work:
        telling = _telling("pruning", as_json=json)
        results: list[PruneResult] = []
        for name in _chosen(work, names, every=every):
            telling(name)
            results.append(work.prune(name, dry_run=dry_run))
    answer = {"dry_run": dry_run, "threads": [one.to_json() for one in results]}
    show(answer, as_json=json, human=lambda screen: _print_pruned(screen, results, dry_run=dry_run))
    if any(one.is_refused for one in results):
        raise typer.Exit(FAILED)


@threads.command()
def delete(
    name: Annotated[str, typer.Argument(help="The thread's id.", metavar="THREAD", show_default=False)],
    yes: YesFlag = False,
    url: Url = None,
    json: JsonFlag = False,
) -> None:
    """A thread out of LangGraph's tables and every trace of it out of the memory. There is no way back."""
    with _opened(url) as work:
        work.source.list()  # before any question: the database must exist
        confirm(f"Delete the thread {name!r} for good?", yes=yes, as_json=json)
        was_there, report = work.delete(name)
        if not was_there and not any(report.to_json().values()):
            raise CommandFailed(f"there is no thread {name!r}; pkg-pipeline threads list shows them")
    answer = {"thread": name, "was_in_langgraph": was_there, **report.to_json()}
    words = f"{counted(report.messages, 'message')}, {counted(report.summaries, 'summary', 'summaries')}"
    show(
        answer,
        as_json=json,
        human=lambda screen: screen.print(f"deleted; of the memory {words}, {counted(report.chunks, 'chunk')}"),
    )


@contextmanager
def _opened(url: str | None) -> Iterator[ThreadWork]:
    """Threads over a memory. Checks address and extra before a server is started."""
    from pkg_pipeline.wiring.threads import open_threads

    settings = settings_in_force()
    given = url or (settings.langgraph_url.get_secret_value() if settings.langgraph_url else None)
    open_threads(given)
    from pkg_pipeline.adapters.langgraph.checkpoints import ThreadsUnavailable

    with memory_in_force(settings) as memory:
        try:
            yield memory.threads.at(given)
        except ThreadsUnavailable as error:
            raise CommandFailed(str(error)) from error


def _chosen(work: ThreadWork, names: Sequence[str] | None, *, every: bool) -> list[str]:
    if every == bool(names):
        raise typer.BadParameter("name threads, or give --all", param_hint="THREAD")
    return work.names() if every else list(dict.fromkeys(names or ()))


def _telling(words: str, *, as_json: bool) -> Any:
    screen = notes()
    if as_json or not screen.is_terminal:
        return lambda _: None
    return lambda thread: screen.print(f"{words} {plain(thread)} …")


def _print_list(screen: Console, found: Sequence[Mapping[str, Any]]) -> None:
    rows = table("thread", "label", "last activity", "imported", "folds", numbers=slice(3, None))
    for one in found:
        rows.add_row(
            plain(one["thread"]),
            plain(one["label"] or ""),
            minute(one["last_activity_at"]),
            f"{one['imported_messages']:,}",
            f"{one['folds']:,}",
        )
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "thread"))


def _print_import(screen: Console, done: ThreadImport, estimate: str) -> None:
    report = done.report
    screen.print(
        f"{counted(report.files, 'thread')}: {report.counts.new:,} new, {report.counts.updated:,} updated,"
        f" {report.counts.unchanged:,} unchanged"
    )
    for thread, reason in done.passed_over:
        screen.print(f"[yellow]passed over[/yellow] {plain(thread)}: {plain(reason)}")
    for file, where, reason in report.rejected:
        screen.print(f"[yellow]{plain(file)} {plain(where)}[/yellow] {plain(reason)}")
    for warning in report.warnings:
        screen.print(f"[yellow]note[/yellow] {plain(warning)}")
    screen.print(f"to summarise: {estimate}")


def _print_pruned(screen: Console, results: Sequence[PruneResult], *, dry_run: bool) -> None:
    for one in results:
        number = one.would_remove if dry_run else one.removed
        said = f"{counted(number, 'message')} of {one.messages:,} {'would go' if dry_run else 'taken out'}"
        reason = f": {plain(one.reason)}" if one.reason else ""
        mark = "[yellow]left alone[/yellow]" if one.is_refused else said if number else "nothing to do"
        screen.print(f"{plain(one.thread)}  {mark}{reason}")
    screen.print(counted(len(results), "thread"))
