"""``pkg-pipeline export``: a table of the memory as CSV, JSON lines or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pkg_pipeline import frames
from pkg_pipeline.cli.progress import showing
from pkg_pipeline.cli.reading import day_of, found_chat, found_entity
from pkg_pipeline.cli.terminal import (
    CommandFailed,
    JsonFlag,
    as_text,
    counted,
    memory_in_force,
    one_of,
    plain,
    settings_in_force,
    show,
    without_controls,
)
from pkg_pipeline.frames.columns import tables
from pkg_pipeline.frames.rows import Narrowed, Row, narrowed, recalled
from pkg_pipeline.memory.hashing import chat_id
from pkg_pipeline.stages.recall.stage import MOST_TOP_K
from pkg_pipeline.wiring import Memory

FORMATS = ("csv", "jsonl", "parquet")


def export(
    table: Annotated[str, typer.Argument(help=f"One of {', '.join(tables())}.")],
    format: Annotated[  # noqa: A002 - the option's name
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}; else by the file's name, else csv.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write; else standard output.")] = None,
    entity: Annotated[str | None, typer.Option(help="Only of whom: name, id or key.", show_default=False)] = None,
    chat: Annotated[str | None, typer.Option(help="Only of this chat: source:external-id.", show_default=False)] = None,
    since: Annotated[str | None, typer.Option(help="First day.", show_default=False)] = None,
    until: Annotated[str | None, typer.Option(help="Last day.", show_default=False)] = None,
    query: Annotated[str | None, typer.Option(help="The question; for recall alone.", show_default=False)] = None,
    top_k: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_TOP_K, help="Most pieces; for recall.", show_default=False),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Write a table of the memory to a file or to standard output; docs/frames.md tells its columns.

    --json says how many rows a file got.
    """
    asked = {"entity": entity, "chat": chat, "since": since, "until": until, "query": query, "top-k": top_k}
    form = _checked(table, format, out, [name for name, given in asked.items() if given is not None])
    if json and out is None:
        raise typer.BadParameter("the rows themselves go to standard output; take --format jsonl, or --out FILE")
    days = (day_of(since, "--since"), day_of(until, "--until"))
    settings = settings_in_force()
    with memory_in_force(settings) as memory:
        wanted = narrowed(
            settings.zone,
            entity_id=None if entity is None else found_entity(memory, entity).id,
            chat=None if chat is None else found_chat(memory, chat, option="--chat", must_exist=True),
            first_day=days[0],
            last_day=days[1],
        )
        with _rows(memory, table, wanted, query=query, top_k=top_k) as found:
            rows = _written(table, found, form, out, as_json=json)
    if out is not None:
        answer = {"table": table, "format": form, "rows": rows, "file": str(out)}
        said = f"{counted(rows, 'row')} of {table} in {plain(out)}"
        show(answer, as_json=json, human=lambda screen: screen.print(said))


def _checked(table: str, given: str | None, out: Path | None, asked: list[str]) -> str:
    """The format. Reports wrong usage before anything is opened."""
    one_of(table, tables(), "TABLE")
    allowed = (*tables()[table].filters, *(("query", "top-k") if table == "recall" else ()))
    for name in asked:
        if name not in allowed:
            listed = ", ".join(f"--{one}" for one in allowed)
            raise typer.BadParameter(f"{table} is not narrowed by it, only by {listed}", param_hint=f"--{name}")
    if table == "recall" and "query" not in asked:
        raise typer.BadParameter("recall answers a question: say which", param_hint="--query")
    form = given or (out.suffix.removeprefix(".") if out is not None and out.suffix[1:] in FORMATS else "csv")
    one_of(form, FORMATS, "--format")
    if form == "parquet" and out is None:
        raise typer.BadParameter("Parquet is no text: name a file by --out", param_hint="--format")
    return form


@contextmanager
def _rows(
    memory: Memory, table: str, wanted: Narrowed, *, query: str | None, top_k: int | None
) -> Generator[Generator[list[Row]]]:
    if query is None:
        with frames.batches(memory, table, wanted) as found:
            yield found
        return
    chat = None if wanted.chat is None else chat_id(*wanted.chat)
    answer = memory.recall.search(as_text(query), entity_id=wanted.entity_id, chat_id=chat, top_k=top_k)
    yield (one for one in [recalled(answer)])


def _written(table: str, found: Generator[list[Row]], form: str, out: Path | None, *, as_json: bool) -> int:
    from pkg_pipeline.frames.export import ParquetMissing, private_file, write_parquet, write_text

    if out is None:
        is_seen = sys.stdout.isatty()  # conversation text may hold control sequences of terminals

        def write(text: str) -> None:
            sys.stdout.write(without_controls(text) if is_seen else text)

        return write_text(table, found, form, write, lambda _: None)
    with showing(as_json=as_json) as on_part, private_file(out) as stream:

        def on_rows(rows: int) -> None:
            on_part(table, rows, rows)

        try:
            if form == "parquet":
                return write_parquet(table, found, stream, on_rows)
            return write_text(table, found, form, lambda text: stream.write(text.encode()), on_rows)
        except ParquetMissing as error:
            raise CommandFailed(str(error)) from error
