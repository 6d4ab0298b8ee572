"""Too little room on the disk: nothing is begun that writes much, and everything that watches says so."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.defs.pipeline_memory import OpenedMemory
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import process
from pkg_pipeline.wiring.process import MEGABYTE, SpaceLow
from pkg_pipeline_tests.cli.processes import Program, dialogue, servers, written
from pkg_pipeline_tests.small_disk import small_disk, write_until_full

TOO_MUCH = {"PKG_MINIMUM_FREE_MEGABYTES": "999999999"}
WORDS = ("MB are free", "PKG_MINIMUM_FREE_MEGABYTES")
Usage = namedtuple("Usage", "total used free")


def test_imports_and_runs_are_refused_by_one_line_and_reads_are_not(program: Program) -> None:
    chat = written(program.home.parent / "chat.jsonl", dialogue())
    program.ok("import", chat)
    program.ok("db", "start")
    try:
        for arguments in (
            ("import", chat),
            ("run",),
            ("run", "--partition", "2025-01-01"),
            ("backfill",),
            ("reembed", "--to", "offline"),
        ):
            program(*arguments, **TOO_MUCH).failed(*WORDS)
        for arguments in (("entities",), ("stats",), ("backfill", "--dry-run"), ("reembed", "--list"), ("queue",)):
            program.ok(*arguments, **TOO_MUCH)
        said = program("doctor", "--json", **TOO_MUCH)
        assert said.code == 1
        assert said.json["disk"]["is_low"]
        assert any(all(word in problem for word in WORDS) for problem in said.json["problems"])
        assert not program.ok("doctor", "--json").json["disk"]["is_low"]
    finally:
        program.ok("db", "stop")


def test_a_server_of_somebody_else_is_not_ours_to_watch(given: Program) -> None:
    given.ok("import", written(given.home.parent / "chat.jsonl", dialogue()), **TOO_MUCH)
    assert "disk" not in given.ok("doctor", "--json", **TOO_MUCH).json


def test_work_ends_between_two_pieces_once_the_room_has_gone(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter([2_000 * MEGABYTE, 100 * MEGABYTE])
    monkeypatch.setattr(process.shutil, "disk_usage", lambda _: Usage(0, 0, next(left, 100 * MEGABYTE)))
    settings = Settings.model_validate({"home": program.home})
    with wiring.open_memory(settings) as memory:
        with pytest.raises(SpaceLow, match="only 100 MB"):
            memory.import_path(written(tmp_path / "chat.jsonl", dialogue()))
        taken = OpenedMemory(memory)
        for work in (
            taken.make_searchable,
            lambda: taken.import_drop(tmp_path / "chat.jsonl"),
            lambda: taken.fold_sessions(Billing("live"), asks_all=False),
        ):
            with pytest.raises(SpaceLow):
                work()


def test_a_disk_that_ran_full_under_commands_is_a_line_each_and_space_is_all_it_needs(program: Program) -> None:
    """The whole way: the log fills the disk, the server panics, commands answer in time, room comes back."""
    with small_disk(200 * MEGABYTE) as disk:
        small = Program(
            disk.folder / "home", program.launcher, {**program.variables, "PKG_MINIMUM_FREE_MEGABYTES": "30"}
        )
        chat = written(program.home.parent / "chat.jsonl", dialogue())
        small.ok("import", chat)
        before = small.ok("entities", "--json").json
        with embedded.running(small.data) as url:
            disk.fill(leaving=20 * MEGABYTE)
            committed = write_until_full(url)
        assert servers(disk.folder) == []
        disk.fill(leaving=0)
        for arguments in (("import", chat), ("entities",), ("stats",), ("run",), ("backfill", "--list")):
            said = small(*arguments)
            assert said.code == 1, (arguments, said)
            assert "MB are free" in said.err or "is full" in said.err, said.err
            assert len(said.err.strip().splitlines()) == 1, said.err
        disk.empty()
        assert small.ok("entities", "--json").json == before
        with embedded.running(small.data) as url, psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM committed").fetchone() == (committed,)
        small.ok("import", chat)
        assert servers(disk.folder) == []
