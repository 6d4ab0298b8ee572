"""archive as a real process: status, restore, compact and every refusal; backup, downgrade, uninstall around it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.cli.processes import Program, line, written
from pkg_pipeline_tests.stages.archive.archive_rig import ArchiveRig

LATER = "2025-10-01T12:00:00+00:00"
TEXTS = ("Did you see the river?", "Yes, it was wonderful", "Let us go there again", "I would love to")


def rows(program: Program, statement: str) -> list[tuple[object, ...]]:
    with engine.connect(program.variables["DATABASE_URL"]) as connection:
        return connection.execute(statement.encode()).fetchall()


@pytest.fixture
def archived(given: Program) -> Program:
    """A conversation of January in the archive, and one of February without a summary."""
    given.variables["PKG_NOW"] = LATER
    folder = given.home.parent / "exports"
    said = [
        line(number, ("Me", "Olga")[number % 2], text, is_self=number % 2 == 0) for number, text in enumerate(TEXTS)
    ]
    written(folder / "one.jsonl", said)
    given.ok("import", folder)
    again = [{**one, "chat_id": "c2", "sent_at": one["sent_at"].replace("2025-01", "2025-02")} for one in said]
    given.ok("import", written(folder / "two.jsonl", again))
    settings = Settings.model_validate(
        {"home": Path(given.home), "database_url": given.variables["DATABASE_URL"], "now": LATER, "llm": "offline"}
    )
    with wiring.open_memory(settings) as memory:
        memory.build_interactions()
        memory.summarize((date(2025, 1, 1), date(2025, 1, 31)), Billing("backfill"))
        months = memory.archive.due_months()
        assert months == [date(2025, 1, 1), date(2025, 2, 1)]
        heard: list[date] = []
        reports = memory.archive.archive_months(months, run_id="r", on_month=lambda report: heard.append(report.month))
        assert heard == months
        assert [report.messages for report in reports][1] == 0
    return given


def test_status_tells_what_is_there_due_and_held_back(archived: Program) -> None:
    found = archived.ok("archive", "status", "--json").json
    assert {key: found[key] for key in ("archive_after_days", "archive_keep_months", "due", "will_drop")} == {
        "archive_after_days": 180.0,
        "archive_keep_months": None,
        "due": [],
        "will_drop": [],
    }
    january, february = found["months"]
    moved = rows(archived, "SELECT count(*), sum(octet_length(content)) FROM archived_messages")[0]
    assert (january["month"], january["state"], january["messages"], january["bytes"]) == ("2025-01", "kept", *moved)
    assert (found["messages"], found["bytes"]) == moved
    assert (february["month"], february["state"], february["held_back"]) == ("2025-02", "none", {"no summary": 1})
    shown = archived.ok("archive", "status").out
    assert "archived 180 days after a conversation's end, kept for ever" in shown
    assert "1 no summary" in shown
    told = archived.ok("archive", "status", "--json", PKG_ARCHIVE_KEEP_MONTHS="6").json
    assert told["will_drop"] == told["due"] == ["2025-01"]
    assert "drops the month for good" in archived.ok("archive", "status", PKG_ARCHIVE_KEEP_MONTHS="6").out


def test_restore_by_each_of_its_options(archived: Program) -> None:
    moved = rows(archived, "SELECT external_id FROM archived_messages ORDER BY 1")
    first = moved[0][0]
    said = archived.ok("archive", "restore", "--message", f"jsonl:c1/{first}", "--json").json
    assert (said["messages"], said["interactions"], said["dropped"], said["mismatched"]) == (1, 1, 0, [])
    interaction = rows(archived, "SELECT DISTINCT interaction_id FROM archived_messages")[0][0]
    assert isinstance(interaction, UUID)
    assert "restored" in archived.ok("archive", "restore", "--interaction", interaction).out
    assert archived.ok("archive", "restore", "--chat", "jsonl:c1", "--json").json["messages"] == 0
    assert archived.ok("archive", "restore", "--month", "2025-01", "--json").json["messages"] == 0
    texts = rows(archived, "SELECT content FROM messages ORDER BY sent_at")
    assert [text for (text,) in texts] == [*TEXTS, *TEXTS]


def test_what_cannot_be_restored(archived: Program) -> None:
    archived("archive", "restore").refused("exactly one")
    archived("archive", "restore", "--chat", "jsonl:c1", "--month", "2025-01").refused("exactly one")
    archived("archive", "restore", "--chat", "c1").refused("--chat")
    archived("archive", "restore", "--message", "jsonl:c1").refused("--message")
    archived("archive", "restore", "--interaction", "7").refused("--interaction")
    archived("archive", "restore", "--month", "January").refused("--month", "2025-03")
    archived("archive", "restore", "--chat", "jsonl:nowhere").failed("no such message, interaction or chat")


def test_compact_says_what_it_gave_back_and_waits_for_nobody_for_ever(archived: Program) -> None:
    found = archived.ok("archive", "compact", "--json").json
    assert 0 < found["bytes_after"] <= found["bytes_before"]
    assert "given back" in archived.ok("archive", "compact").out
    with engine.connect(archived.variables["DATABASE_URL"]) as reader:
        reader.execute("SELECT count(*) FROM messages")
        archived("archive", "compact").failed("somebody else is using the memory")


def test_a_backup_holds_the_archive_and_brings_it_back(archived: Program, tmp_path: Path) -> None:
    rig = ArchiveRig(archived.variables["DATABASE_URL"])
    before, texts = rig.logical(), rig.texts()
    assert before["archive"] != []
    archived.ok("backup", tmp_path / "memory.dump")
    archived.ok("archive", "restore", "--chat", "jsonl:c1")
    archived.ok("restore", tmp_path / "memory.dump", "--yes")
    rig.close()
    rig = ArchiveRig(archived.variables["DATABASE_URL"])
    assert (rig.logical(), rig.texts()) == (before, texts)
    rig.restore()
    assert set(rig.live().values()) == set(TEXTS)
    rig.close()


def test_going_back_to_the_revision_before_puts_every_text_back(archived: Program) -> None:
    archived.ok("db", "downgrade", "0001", "--yes")
    assert {text for (text,) in rows(archived, "SELECT content FROM messages")} == set(TEXTS)
    archived.ok("db", "upgrade")
    assert rows(archived, "SELECT * FROM archived_messages") == []
    archived.ok("uninstall", "--yes")
