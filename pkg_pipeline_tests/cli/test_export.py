"""export as a real process: every form gives the same rows; where they go, who may read them, what is refused."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pkg_pipeline import wiring
from pkg_pipeline.frames import export as exports
from pkg_pipeline.frames.columns import tables
from pkg_pipeline.frames.typed import typed
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests import databases
from pkg_pipeline_tests.cli.processes import NOW, Launcher, Program, dialogue, line, on_terminal, short_folder, written

STORED = [name for name in tables() if name != "recall"]


@pytest.fixture
def told(launcher: Launcher, server_url: str, copy_of: Callable[[str], str]) -> Iterator[Program]:
    """A summarised dialog, and a message that begins like a formula and has lines, quotes and a control sequence."""

    def fill(url: str) -> str:
        with short_folder() as folder:
            written(folder / "exports" / "one.jsonl", dialogue())
            text = 'He said "so",\n=1+1; \N{SNOWMAN} \x1b[31mred'
            written(folder / "exports" / "two.jsonl", [line(1, "Wei Chen", text, chat="c2", day=3)])
            over(url, folder).ok("import", folder / "exports")
            settings = {"home": folder / "home", "database_url": url, "now": NOW, "llm": "offline"}
            with wiring.open_memory(Settings.model_validate(settings)) as memory:
                memory.items.run(Billing("backfill"))
                memory.summarize((date(2025, 1, 1), date(2025, 1, 1)), Billing("backfill"))
                memory.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))
        return ""

    def over(url: str, folder: Path) -> Program:
        return Program(folder / "home", launcher, {"PKG_NOW": NOW, "DATABASE_URL": url})

    databases.kept(server_url, "exported", fill)
    with short_folder() as folder:
        yield over(copy_of("exported"), folder)


def in_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def in_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(row) for row in text.splitlines()]


@pytest.mark.parametrize("table", STORED)
def test_all_forms_hold_the_same_rows_in_the_same_order(told: Program, table: str) -> None:
    names = [one.name for one in tables()[table].columns]
    text = told.ok("export", table).out
    rows, lines = in_csv(text), in_lines(told.ok("export", table, "--format", "jsonl").out)
    assert text.splitlines()[0].split(",") == names, "the head is there without a row, too"
    assert len(rows) == len(lines)
    assert bool(rows) == (
        table in {"summaries", "decisions", "action_items", "item_states", "activity", "messages", "costs"}
    )
    for row, one in zip(rows, lines, strict=True):
        assert list(one) == names
        for name, value in one.items():
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
            assert row[name] == ("" if shown is None else str(shown)), name
    file = told.home.parent / f"{table}.parquet"
    assert told.ok("export", table, "--out", file, "--json").json == {
        "table": table, "format": "parquet", "rows": len(rows), "file": str(file),
    }  # fmt: skip
    found = pd.read_parquet(file)
    assert list(found.columns) == names
    assert len(found) == len(rows)
    keys = ["id"] if "id" in names else []
    assert found[keys].to_dict("list") == {name: [one[name] for one in lines] for name in keys}
    for name, dtype in typed(table, []).dtypes.items():
        if str(dtype) not in {"datetime64[s]", "object"}:
            assert str(found[name].dtype) == str(dtype), name
    assert told.ok("export", table).out == text


def test_what_others_said_comes_out_as_it_is(told: Program) -> None:
    (row,) = in_csv(told.ok("export", "messages", "--chat", "jsonl:c2").out)
    assert row["text"].endswith("\N{SNOWMAN} \x1b[31mred")
    assert '"so",\n=1+1' in row["text"]
    assert (row["sent_at"], row["sender"], row["is_self"]) == ("2025-01-03T10:01:00Z", "Wei Chen", "False")
    assert "\x1b[31m" not in on_terminal(told, "export", "messages", "--chat", "jsonl:c2", answers=[]).out


def test_rows_by_person_chat_and_day(told: Program) -> None:
    for options, count in (
        (("--entity", "olga"), 6),
        (("--entity", "Wei Chen"), 1),
        (("--since", "2025-01-02"), 1),
        (("--until", "2025-01-02"), 6),
        (("--since", "2025-01-01", "--until", "2025-01-03", "--chat", "jsonl:c1"), 6),
    ):
        assert len(in_csv(told.ok("export", "messages", *options).out)) == count, options
    (best, *_) = in_lines(told.ok("export", "recall", "--query", "price of the boat", "--format", "jsonl").out)
    assert (best["rank"], best["chat"]) == (1, "jsonl:c1")
    assert len(in_lines(told.ok("export", "recall", "--query", "boat", "--top-k", "2", "--format", "jsonl").out)) == 2


def test_a_file_is_for_its_owner_alone_and_whole_or_not_there(told: Program) -> None:
    file = told.home.parent / "messages.csv"
    file.write_text("what was here before")
    file.chmod(0o644)
    assert "7 rows of messages in" in told.ok("export", "messages", "--out", file).out
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(in_csv(file.read_text(encoding="utf-8"))) == 7
    with pytest.raises(ZeroDivisionError), exports.private_file(file) as stream:
        stream.write(b"half" * (1 // 0))
    assert len(in_csv(file.read_text(encoding="utf-8"))) == 7
    assert [one.name for one in file.parent.glob(".*.part")] == []
    told("export", "messages", "--out", told.home.parent / "none" / "x.csv").failed("No such file or directory")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("frobnicate",), "is none of summaries, decisions"),
        (("costs", "--entity", "Olga"), "costs is not narrowed by it, only by --since, --until"),
        (("profiles", "--chat", "jsonl:c1"), "--chat"),
        (("messages", "--query", "x"), "--query"),
        (("recall",), "say which"),
        (("messages", "--format", "xlsx"), "is none of csv, jsonl, parquet"),
        (("messages", "--format", "parquet"), "name a file by --out"),
        (("messages", "--json"), "--format jsonl"),
        (("messages", "--since", "yesterday"), "is no day"),
        (("recall", "--query", " "), "--query"),
    ],
)
def test_wrong_usage(told: Program, arguments: tuple[str, ...], word: str) -> None:
    told("export", *arguments).refused(word)


def test_who_and_what_is_not_there(told: Program) -> None:
    told("export", "messages", "--entity", "Nobody").failed("nobody here is called 'Nobody'")
    told("export", "messages", "--chat", "jsonl:none").failed("no chat jsonl:none")


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(exports.ParquetMissing, match="pkg-pipeline\\[parquet\\]"),
        (tmp_path / "x").open("wb") as stream,
    ):
        exports.write_parquet("costs", iter([]), stream, lambda _: None)


def test_a_table_of_any_length_is_written_in_little_memory(tmp_path: Path) -> None:
    """Two hundred batches of a thousand rows: what is held is one of them."""
    code = f"""
import resource, sys
from pathlib import Path
from pkg_pipeline.frames.columns import tables
from pkg_pipeline.frames.export import private_file, write_parquet, write_text
columns = tables()["messages"].columns
def batches(count):
    for _ in range(count):
        yield [["x" * 200 if one.name == "text" else None for one in columns] for _ in range(1000)]
def write(count):
    write_text("messages", batches(count), "csv", lambda text: None, lambda _: None)
    with private_file(Path({str(tmp_path / "m.parquet")!r})) as stream:
        write_parquet("messages", batches(count), stream, lambda _: None)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
write(5)
before = peak()
write(200)
print(peak() - before)
"""
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 40, f"{grown} MB; all rows are more than 100"
