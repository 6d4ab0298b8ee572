"""No command, view or mart shows what rests on a deleted message; after a time no table of messages holds it either."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import psycopg
import pytest

from pkg_pipeline.cli.app import COMMANDS
from pkg_pipeline.frames.columns import tables
from pkg_pipeline_tests.cli.processes import Program
from pkg_pipeline_tests.marts.conftest import DBT, dbt
from pkg_pipeline_tests.stages import deleted_words as words

QUESTION = "which account takes the transfer for the boat"
MOMENTS = ("2025-01-11T00:00:00Z", "2025-01-29T00:00:00Z", "2025-02-21T00:00:00Z", "2025-03-02T00:00:00Z")
FOR_PEOPLE, FOR_PROGRAMS = (), ("--json",)
STATUSES = ("candidate", "completed", "dirty", "superseded", "quarantined")
READING = {
    "entities",
    "context",
    "recall",
    "sessions",
    "window",
    "session",
    "summaries",
    "items",
    "facts",
    "stats",
    "queue",
    "compare",
    "export",
}
OTHERS = {
    *("demo", "import", "run", "backfill", "dev", "serve", "reembed", "init", "doctor", "db", "archive", "threads"),
    *("backup", "restore", "uninstall", "forget", "chats", "receipts", "why", "rebuild", "memories"),
}
"""Commands that read no conversation, write, or show one line or block by its id. ``backup`` holds all tables."""


@pytest.fixture
def deleting(given: Program) -> Program:
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none", "PKG_NOW": words.NOW}
    given.variables["PKG_SUMMARY_MIN_AGE_DAYS"] = "1"
    words.fill(given.variables["DATABASE_URL"], given.home)
    return given


def reads(folder: Path) -> Iterator[tuple[str, ...]]:
    """Every command that reads conversations, with every choice of what it shows."""
    yield from (("entities",), ("stats",), ("queue",), ("sessions",), ("summaries",))
    yield from (("summaries", "--status", status) for status in STATUSES)
    yield from (("items", "list", "--kind", kind) for kind in ("action_item", "decision"))
    yield ("facts", "list")
    yield from (("context", words.OTHER, *hint) for hint in ((), ("--hint", QUESTION)))
    yield from (("context", words.OTHER, "--max-tokens", "20000", "--as-of", moment) for moment in MOMENTS)
    for scope in ((), ("--entity", words.OTHER), ("--chat", words.CHAT), ("--session", words.SESSION)):
        yield ("recall", QUESTION, "--top-k", "50", *scope)
    yield from (("recall", QUESTION, "--as-of", moment) for moment in MOMENTS)
    yield from (("session", "show", session) for session in (words.SESSION,))
    for strategy in ("rolling", "retrieval", "hybrid"):
        yield from (("window", words.SESSION, "--strategy", strategy, "--as", form) for form in ("anthropic", "openai"))
    stored = [name for name in tables() if name != "recall"]
    yield from (("export", name, "--format", form) for name, form in zip(stored, cycle(("csv", "jsonl"))))
    yield ("export", "recall", "--query", QUESTION)
    yield from (("compare", chat, "--out", str(folder)) for chat in (words.CHAT, words.SESSION))


def leaking(program: Program, folder: Path, *forms: tuple[str, ...]) -> set[str]:
    """The commands whose output, in these forms, or whose files hold the text."""
    found = set[str]()
    for arguments in reads(folder):
        for form in ((),) if arguments[0] == "export" else forms or (FOR_PROGRAMS,):
            said = program(*arguments, *form)
            if words.IBAN.casefold() in (said.out + said.err).casefold():
                found.add(arguments[0])
    if any(words.IBAN.encode() in file.read_bytes() for file in folder.iterdir()):
        found.add("compare")
    return found


def test_every_command_is_looked_at() -> None:
    assert set(COMMANDS) == READING | OTHERS, "a new command reads conversations, or it does not: say which"


def test_no_command_view_or_mart_shows_what_rests_on_a_deleted_message(deleting: Program, tmp_path: Path) -> None:
    url, folder = deleting.variables["DATABASE_URL"], tmp_path / "out"
    folder.mkdir()
    marts = DBT.exists()
    if marts:
        assert dbt("run", url, tmp_path / "target", now=words.NOW).returncode == 0
    assert leaking(deleting, folder) >= {"context", "recall", "window", "session", "summaries", "export"}
    shown = {name for kind in ("VIEW", "BASE TABLE") for name, count in in_marts(url, kind).items() if count}
    assert not marts or shown >= {"decisions", "action_items", "milestones"}
    for file in folder.iterdir():
        file.unlink()
    words.delete(url, deleting.home)
    for forms in ([FOR_PEOPLE, FOR_PROGRAMS], [FOR_PROGRAMS]):
        assert leaking(deleting, folder, *forms) == set()
        assert words.shown_by_views(url) == {0}
        assert set(in_marts(url, "VIEW").values()) <= {0}
        deleting.ok("run", "--json")
    if marts:
        assert dbt("run", url, tmp_path / "target", now=words.NOW).returncode == 0
    assert set(in_marts(url, "BASE TABLE").values()) <= {0}


def test_after_the_time_that_the_settings_name_the_words_are_gone(deleting: Program) -> None:
    """Deleted on 1 March; the import of a later export of the same does not bring them back."""
    url = deleting.variables["DATABASE_URL"]
    words.delete(url, deleting.home)
    assert kept(url) == {"messages": 2, "message_revisions": 3, "archived_messages": 0}
    deleting.ok("run", "--json", PKG_NOW="2025-03-30T12:00:00+00:00")
    assert kept(url) == {"messages": 2, "message_revisions": 3, "archived_messages": 0}
    deleting.ok("run", "--json", PKG_NOW="2025-04-01T12:00:00+00:00")
    assert kept(url) == {"messages": 0, "message_revisions": 0, "archived_messages": 0}
    with psycopg.connect(url) as connection:
        hashes = "SELECT count(*), count(DISTINCT content_hash) FROM pkg.message_revisions"
        before = connection.execute(hashes).fetchone()
    words.delete(url, deleting.home, now="2025-04-02T12:00:00+00:00")
    assert kept(url) == {"messages": 0, "message_revisions": 0, "archived_messages": 0}
    with psycopg.connect(url) as connection:
        assert connection.execute(hashes).fetchone() == before


def test_with_no_time_at_all_they_are_gone_at_once(deleting: Program) -> None:
    url = deleting.variables["DATABASE_URL"]
    exports = deleting.home / "exports"
    gone = {**words.line(2, *words.SAID[1]), "edited_at": "2025-02-20T09:00:00+00:00", "deleted": True}
    settings = {"PKG_DELETED_REVISION_RETENTION_DAYS": "0"}
    (exports / "gone.jsonl").write_text(json.dumps(gone))
    deleting.ok("import", exports / "gone.jsonl", "--json", **settings)
    said = {"id": words.GONE_IN_SESSION, "role": "assistant", "text": words.TALK[1], "deleted": True}
    (exports / "turn.jsonl").write_text(json.dumps(said))
    deleting.ok("session", "append", words.SESSION, exports / "turn.jsonl", "--json", **settings)
    assert kept(url) == {"messages": 0, "message_revisions": 0, "archived_messages": 0}


def in_marts(url: str, kind: str) -> dict[str, int]:
    return words.texts(url, schema="marts", kind=kind)


def kept(url: str) -> dict[str, int]:
    """Rows of messages that hold the text, by table."""
    found = words.texts(url, schema="pkg", kind="BASE TABLE")
    return {name: found[name] for name in ("messages", "message_revisions", "archived_messages")}
