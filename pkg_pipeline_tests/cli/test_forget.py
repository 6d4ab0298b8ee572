"""``forget`` on a home of its own: no word is left in any table, file of the server, or file of the inbox (B3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from pkg_pipeline_tests.cli.processes import Program, line, written

CANARY = "zanzibarium"
KEPT = "quincunxial"


def lines(chat: str, word: str, friend: str) -> list[dict[str, Any]]:
    said = [
        ("Me", f"Shall we buy the {word} for 4,500 EUR?"),
        (friend, f"Yes, agreed: the {word} for 4,500 EUR, I will send the contract by 20 February 2025."),
        ("Me", f"Good. I will pay for the {word} by Friday."),
        (friend, f"Thank you, the {word} is reserved for you."),
    ]
    said.append((friend, f"I work at {word.title()} Works as an engineer, and I am allergic to {word}."))
    return [
        line(number, sender, text, chat=chat, is_self=sender == "Me") for number, (sender, text) in enumerate(said, 1)
    ]


def files_with(folder: Path, word: str) -> list[str]:
    """Files of a home that hold the word, in whatever case."""
    wanted = word.lower().encode()
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and wanted in path.read_bytes().lower()
    ]


def test_a_planted_word_is_in_no_table_and_no_file_any_more(program: Program) -> None:
    olga, boris = lines("c1", CANARY, "Olga Petrova"), lines("c2", KEPT, "Boris")
    export = written(program.home.parent / "export.jsonl", [*olga, *boris])
    done = program.home / "inbox" / "done"
    for name, rows in (("with.jsonl", [*olga, *boris]), ("without.jsonl", boris)):
        written(done / name, rows)
        (done / f"{name}.report.json").write_text("{}")
    program.ok("import", export)
    program.ok("run")
    with psycopg.connect(program.ok("db", "start", "--json").json["url"]) as connection:
        connection.execute("ANALYZE")  # as the server does by itself: words of messages become samples
    before = files_with(program.home, CANARY)
    assert any("pg_wal" in name for name in before), "the log of changes has it too"
    assert any("/base/" in name for name in before), before

    dry = program.ok("forget", "entity", "Olga Petrova", "--dry-run", "--json").json
    assert (dry["counts"]["messages"], dry["counts"]["summaries"]) == (5, 1)
    program("forget", "entity", "Olga Petrova").failed("--yes")
    program("forget", "entity", "Nobody").failed("Nobody")
    receipt = program.ok("forget", "entity", "Olga Petrova", "--yes", "--json").json
    assert (receipt["state"], receipt["counts"]["messages"], receipt["counts"]["files"]) == ("done", 5, 1)

    proof = program.ok("forget", "verify", receipt["id"], "--word", CANARY, "--word", "Olga Petrova", "--json").json
    assert proof["verified"], proof
    assert proof["kept_out"] == 2, "the person and the chat"
    assert files_with(program.home, CANARY) == []
    assert sorted(path.name for path in done.iterdir()) == ["without.jsonl", "without.jsonl.report.json"]
    assert KEPT in program.ok("context", "Boris").out
    found = program("forget", "verify", receipt["id"], "--word", KEPT, "--json")
    assert found.code == 1
    assert {one["place"] for one in found.json["residues"]} >= {"pkg.messages", "inbox/done/without.jsonl"}

    again = program.ok("import", export, "--json").json
    assert (again["messages_new"], again["messages_forgotten"], again["rejected"]) == (0, 5, [])
    assert "Olga" not in program.ok("entities").out
    assert [one["id"] for one in program.ok("forget", "list", "--json").json["items"]] == [receipt["id"]]
    assert program.ok("forget", "resume", "--json").json == {"finished": 0}
    program.ok("forget", "lift", receipt["id"][:8], "--yes")
    assert program.ok("import", export, "--json").json["messages_new"] == 5


def test_chats_messages_and_days_by_their_keys(given: Program) -> None:
    export = written(given.home.parent / "export.jsonl", lines("c1", CANARY, "Olga Petrova"))
    given.ok("import", export)
    one = given.ok("forget", "message", "jsonl:c1/c1-4", "--yes", "--json").json
    assert (one["kind"], one["counts"]["messages"]) == ("message", 1)
    given("forget", "message", "jsonl:c1/c1-4", "--yes").failed("nothing")
    given("forget", "message", "c1").refused("MESSAGE")
    given("forget", "range", "jsonl:c1", "--from", "2025-01-02", "--to", "2025-01-01", "--yes").refused("ends before")
    assert "forgotten" in given.ok("forget", "--chat", "jsonl:c1", "--yes").out
    given("forget", "--chat", "jsonl:c1", "--yes").failed("no chat")
    given("forget").refused("--entity")
    given("forget", "verify", "0000").failed("no receipt")
    assert "done" in given.ok("forget", "list").out
