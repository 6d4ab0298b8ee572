"""Writes tables as CSV, JSON lines or Parquet (needs pyarrow), one batch in memory at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import orjson
import pandas as pd

from pkg_pipeline.frames.columns import tables
from pkg_pipeline.frames.typed import typed
from pkg_pipeline.memory.text.timestamps import iso

FORMATS: Final = ("csv", "jsonl", "parquet")
ARROW: Final = {"str": "string", "Int64": "int64", "Float64": "float64", "boolean": "bool", "day": "date32"}


class ParquetMissing(Exception):
    """pyarrow is not installed; the message says what to do."""

    def __init__(self) -> None:
        super().__init__("Parquet needs pyarrow: pip install 'pkg-pipeline[parquet]', or take --format csv or jsonl")


def write_text(
    table: str,
    batches: Iterator[list[Any]],
    form: str,
    write: Callable[[str], object],
    on_rows: Callable[[int], object],
) -> int:
    """Writes ``csv`` with header or ``jsonl``; returns the number of rows. ``on_rows`` gets the rows written so far."""
    rows = 0
    if form == "csv":
        write(_csv(table, [], head=True))
    for batch in batches:
        write(_csv(table, batch) if form == "csv" else _lines(table, batch))
        on_rows(rows := rows + len(batch))
    return rows


def write_parquet(table: str, batches: Iterator[list[Any]], stream: IO[bytes], on_rows: Callable[[int], object]) -> int:
    """One row group per batch; returns the number of rows. Raises ParquetMissing."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise ParquetMissing from None
    kinds = {
        **{name: pa.type_for_alias(alias) for name, alias in ARROW.items()},
        "moment": pa.timestamp("us", tz="UTC"),
        "category": pa.dictionary(pa.int32(), pa.string()),
        "list": pa.list_(pa.string()),
    }
    schema = pa.schema([(one.name, kinds[one.dtype]) for one in tables()[table].columns])

    def made(rows: list[Any]) -> pa.Table:
        return pa.Table.from_pandas(typed(table, rows), schema=schema, preserve_index=False)

    rows = 0
    with ParquetWriter(stream, made([]).schema) as writer:
        for batch in batches:
            writer.write_table(made(batch))
            on_rows(rows := rows + len(batch))
    return rows


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """A file with mode 0600, replaced atomically if the block succeeds."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _csv(table: str, rows: list[Any], *, head: bool = False) -> str:
    frame = _plain(table, rows)
    for one in tables()[table].columns:
        if one.dtype == "list":
            frame[one.name] = [json.dumps(given, ensure_ascii=False) for given in frame[one.name]]
    return frame.to_csv(index=False, header=head, lineterminator="\n")


def _lines(table: str, rows: list[Any]) -> str:
    records = _plain(table, rows).to_dict("records")
    return "".join(orjson.dumps(one, default=lambda _: None).decode() + "\n" for one in records)


def _plain(table: str, rows: list[Any]) -> pd.DataFrame:
    frame = typed(table, rows)
    for one in tables()[table].columns:
        if one.dtype in ("moment", "day"):
            shown = iso if one.dtype == "moment" else lambda at: at.date().isoformat()
            values = [None if pd.isna(at) else shown(at.to_pydatetime()) for at in frame[one.name]]
            frame[one.name] = pd.Series(values, dtype=object, index=frame.index)
    return frame
