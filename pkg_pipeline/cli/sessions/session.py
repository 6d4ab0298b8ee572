"""``pkg-pipeline session …``: append messages, report an event, fold, change, show."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, cast, get_args

import typer
from rich.console import Console

from pkg_pipeline.adapters.exports import lenient_json
from pkg_pipeline.cli.sessions.words import print_messages, print_state, session_named
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, as_text, one_of, plain, show, table, working
from pkg_pipeline.memory.session.records import SessionEvent, Strategy
from pkg_pipeline.stages.sessions.parsing import NothingRead
from pkg_pipeline.wiring.sessions import SessionWork

BATCH_MESSAGES = 1_000
"""Messages per transaction."""

LONGEST_LINE_BYTES = 16 * 1024 * 1024
SHOWN_REJECTIONS, REPORTED_REJECTIONS = 10, 1_000
POLICIES = ("hysteresis", "sliding", "interval")
_COUNTS = ("new", "updated", "unchanged", "deleted")

session = typer.Typer(
    help="A live session: append, event, fold, set, show.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Session = Annotated[str, typer.Argument(help="Id or chat key, source:external-id.", show_default=False)]


@session.command()
def append(
    session: Session,
    file: Annotated[
        Path | None, typer.Argument(help="JSONL, one message a line; else standard input.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Add messages in their order, each once by its id. An unknown key makes the session."""
    with _lines_of(file) as lines, session_named(session, makes=True) as (sessions, key):
        answer = _appended(sessions, key, lines)
    show(answer, as_json=json, human=lambda screen: _print_appended(screen, answer))


@session.command()
def event(
    session: Session,
    event: Annotated[str, typer.Argument(help=f"One of {', '.join(get_args(SessionEvent))}.")],
    json: JsonFlag = False,
) -> None:
    """Say what happened: the fold is due at once and made by the pipeline's sensor, or the next run."""
    one_of(event, get_args(SessionEvent), "EVENT")
    with session_named(session) as (sessions, key):
        answer = sessions.event(key, cast("SessionEvent", event))
    show(answer, as_json=json, human=lambda screen: print_state(screen, answer))


@session.command()
def fold(session: Session, json: JsonFlag = False) -> None:
    """Fold what is complete, here and now."""
    with session_named(session) as (sessions, key), working("folding", as_json=json):
        answer = sessions.fold(key)
    show(answer, as_json=json, human=lambda screen: _print_fold(screen, answer))


@session.command(name="set")
def set_(
    session: Session,
    policy: Annotated[str | None, typer.Option(help=f"One of {', '.join(POLICIES)}.", show_default=False)] = None,
    strategy: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(get_args(Strategy))}.", show_default=False)
    ] = None,
    summary_interval: Annotated[
        int | None, typer.Option(min=0, help="Messages a fold, for interval; 0 takes the setting.", show_default=False)
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="A name for lists; empty takes it away.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Change how a session is folded and served. An unknown key makes it."""
    one_of(policy, POLICIES, "--policy")
    one_of(strategy, get_args(Strategy), "--strategy")
    changes = {"policy": policy, "strategy": strategy, "summary_interval": summary_interval}
    if all(value is None for value in (*changes.values(), label)):
        raise typer.BadParameter("say what to change", param_hint="--policy, --strategy, --summary-interval, --label")
    with session_named(session, makes=True) as (sessions, key):
        answer = sessions.set(key, **changes, label=None if label is None else as_text(label))
    show(answer, as_json=json, human=lambda screen: print_state(screen, answer))


@session.command(name="show")
def show_(session: Session, json: JsonFlag = False) -> None:
    """Counters and the last messages, without reading the history."""
    with session_named(session) as (sessions, key):
        answer = sessions.show(key)
    show(answer, as_json=json, human=lambda screen: _print_session(screen, answer))


# ── reading lines ─────────────────────────────────────────────────────────────────────────────


@contextmanager
def _lines_of(file: Path | None) -> Iterator[Iterator[tuple[str, Any]]]:
    if file is None:
        yield _messages(sys.stdin.buffer)
        return
    with file.open("rb") as stream:
        yield _messages(stream)


def _messages(stream: BinaryIO) -> Iterator[tuple[str, Any]]:
    """(line number, JSON value) of each non-blank line. Invalid JSON stays bytes, which are rejected as a message."""
    number = 0
    while line := stream.readline(LONGEST_LINE_BYTES):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.isspace():
            continue
        try:
            yield f"line {number}", lenient_json.loads(line)
        except lenient_json.NotJson as error:
            yield f"line {number}", error


def _appended(sessions: SessionWork, session: str, lines: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """One answer over all batches: those before a failure stay, and repeating the lines changes nothing."""
    counts: dict[str, int] = dict.fromkeys(_COUNTS, 0)
    rejected, rejected_count = list[dict[str, str]](), 0
    answer: dict[str, Any] | None = None
    batch = list(islice(lines, BATCH_MESSAGES))
    while batch or (answer is None and not rejected):
        readable = [(where, value) for where, value in batch if not isinstance(value, lenient_json.NotJson)]
        refused = [_refused(where, value) for where, value in batch if isinstance(value, lenient_json.NotJson)]
        try:
            if readable or not refused:
                answer = sessions.append(session, readable).to_json()
                for name in _COUNTS:
                    counts[name] += answer[name]
                refused += answer["rejected"]
        except NothingRead as nothing:
            refused += [_refused(one.where, one.reason) for one in nothing.rejected]
        rejected += refused[: REPORTED_REJECTIONS - len(rejected)]
        rejected_count += len(refused)
        batch = list(islice(lines, BATCH_MESSAGES))
    if answer is None:
        raise CommandFailed(f"no message could be read: {rejected[0]['where']}: {rejected[0]['reason']}")
    return {**answer, **counts, "rejected": rejected, "rejected_count": rejected_count}


def _refused(where: str, reason: object) -> dict[str, str]:
    return {"where": where, "reason": str(reason)}


# ── output ────────────────────────────────────────────────────────────────────────────────────


def _print_appended(screen: Console, answer: Mapping[str, Any]) -> None:
    screen.print(
        f"{plain(answer['session'])}: {answer['new']:,} new, {answer['updated']:,} updated,"
        f" {answer['unchanged']:,} unchanged, {answer['deleted']:,} deleted"
    )
    if answer["rejected_count"]:
        screen.print(f"rejected: {answer['rejected_count']:,}, everything around them went in:")
    for one in answer["rejected"][:SHOWN_REJECTIONS]:
        screen.print(f"  [yellow]{plain(one['where'])}[/yellow] {plain(one['reason'])}")
    if answer["rejected_count"] > SHOWN_REJECTIONS:
        screen.print(f"  … and {answer['rejected_count'] - SHOWN_REJECTIONS:,} more (--json lists them)")


def _print_session(screen: Console, answer: Mapping[str, Any]) -> None:
    print_state(screen, answer)
    screen.rule(style="dim")
    print_messages(screen, answer["recent"])


def _print_fold(screen: Console, answer: Mapping[str, Any]) -> None:
    rows = table()
    for name, value in answer.items():
        if value not in (None, 0, [], {}, ""):
            rows.add_row(name.replace("_", " "), plain(value))
    screen.print(rows)
    if not answer.get("folds") and not answer.get("refolds"):
        screen.print("nothing was folded")
