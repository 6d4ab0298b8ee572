"""import as a real process: what goes in, what is refused, who is asked, what is said."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from pkg_pipeline_tests.cli.processes import Program, dialogue, line, on_terminal, written

SHAPE = {
    "files", "chats", "entities", "messages_new", "messages_updated", "messages_unchanged", "messages_deleted",
    "rejected", "estimate",
}  # fmt: skip


@pytest.fixture
def exports(given: Program) -> Path:
    return given.home.parent / "exports"


def test_a_file_goes_in_once_and_the_shape_is_the_promised_one(given: Program, exports: Path) -> None:
    lines = dialogue()
    file = written(exports / "chat.jsonl", [*lines[:3], {"chat_id": "c1"}, *lines[3:]])
    first = given.ok("import", file, "--json").json
    assert set(first) >= SHAPE
    assert (first["files"], first["chats"], first["entities"]) == (1, 1, 2)
    assert (first["messages_new"], first["messages_unchanged"]) == (6, 0)
    assert [set(entry) for entry in first["rejected"]] == [{"file", "where", "reason"}]
    assert first["rejected"][0]["file"] == str(file)
    assert "4" in first["rejected"][0]["where"]
    assert set(first["estimate"]) == {"interactions", "tokens", "usd", "later", "readings"}
    assert first["estimate"]["readings"] == {"talks": 1, "calls": 0, "tokens": 0, "usd": 0.0}
    assert first["estimate"]["interactions"] == 1
    assert first["estimate"]["usd"] == 0
    again = given.ok("import", file, "--json").json
    assert (again["messages_new"], again["messages_updated"], again["messages_unchanged"]) == (0, 0, 6)
    told = given.ok("import", file)
    assert "0 new, 0 updated, 6 unchanged, 0 deleted" in told.out
    assert "chat.jsonl" in told.out
    assert "pkg-pipeline run" in told.out


def test_an_edit_and_a_deletion_are_counted(given: Program, exports: Path) -> None:
    lines = dialogue()
    given.ok("import", written(exports / "a.jsonl", lines))
    lines[0] |= {"text": "Hello!", "edited_at": "2025-01-02T00:00:00+00:00"}
    lines[1] |= {"deleted": True}
    said = given.ok("import", written(exports / "b.jsonl", lines), "--json").json
    assert (said["messages_updated"], said["messages_deleted"], said["messages_unchanged"]) == (1, 1, 4)


def test_folders_and_zips_are_read_through(given: Program, exports: Path) -> None:
    written(exports / "deep" / "one.jsonl", dialogue())
    written(exports / "two.jsonl", dialogue("Wei Chen", chat="c2"))
    assert given.ok("import", exports, "--json").json["messages_new"] == 12
    archive = exports.parent / "all.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.write(written(exports.parent / "three.jsonl", dialogue("Ana Ruiz", chat="c3")), "in/three.jsonl")
        zipped.write(exports / "two.jsonl", "two.jsonl")
    said = given.ok("import", archive, "--json").json
    assert (said["messages_new"], said["messages_unchanged"]) == (6, 6)


def test_one_bad_path_does_not_hold_up_the_others(given: Program, exports: Path) -> None:
    good = written(exports / "good.jsonl", dialogue())
    said = given("import", exports / "missing.jsonl", good, "--json")
    assert said.code == 1
    assert said.json["messages_new"] == 6
    assert "missing.jsonl" in said.err


def test_a_truncated_export_goes_in_as_far_as_it_goes_and_is_not_a_success(given: Program, exports: Path) -> None:
    whole = written(exports / "chat.jsonl", dialogue())
    cut = exports / "cut.jsonl"
    cut.write_bytes(whole.read_bytes().rstrip()[:-20])
    said = given("import", cut, "--json")
    assert said.code == 1
    assert (said.json["messages_new"], said.json["damaged"]) == (5, [str(cut)])
    assert "cut.jsonl: what could be read of it went in, messages are missing" in said.err
    assert "Traceback" not in said.err
    assert given.ok("import", whole, "--json").json["damaged"] == []


def test_what_cannot_be_read_is_one_line(given: Program, exports: Path) -> None:
    missing, strange = exports / "missing.json", exports / "strange.json"
    given("import", missing).failed(str(missing))
    strange.parent.mkdir(parents=True, exist_ok=True)
    strange.write_text(json.dumps({"mapping": {}, "title": "x"}), encoding="utf-8")
    given("import", strange).failed("strange.json")
    given("import", strange, "--json").failed("strange.json")
    file = written(exports / "chat.jsonl", dialogue())
    given("import", file, "--format", "morse").failed("morse", "telegram", "jsonl")
    given("import").refused("Missing argument")


def test_without_a_self_the_candidates_are_named(given: Program, exports: Path) -> None:
    file = written(exports / "chat.jsonl", dialogue(marked=False))
    line = given("import", file).failed("--self NAME-OR-ID", "Olga Petrova (olga.petrova)", "Me (me)")
    assert given("import", file, "--json").json == {"error": line.removeprefix("error: ")}
    given("import", file, "--self", "Nobody").failed("Nobody", "Olga Petrova")
    assert given.ok("entities", "--json").json["items"] == []


@pytest.mark.parametrize(("rule", "mine"), [("none", []), ("olga petrova", ["Olga Petrova"]), ("me", ["Me"])])
def test_self_by_none_name_or_id(given: Program, exports: Path, rule: str, mine: list[str]) -> None:
    file = written(exports / "chat.jsonl", dialogue(marked=False))
    assert given.ok("import", file, "--self", rule, "--json").json["messages_new"] == 6
    found = given.ok("entities", "--json").json["items"]
    assert [one["name"] for one in found if one["is_self"]] == mine


def test_on_a_terminal_the_question_is_asked(given: Program, exports: Path) -> None:
    lines = [
        line(1, "A [b]x[/b]", "Hi there", chat="g"),
        line(2, "Bo", "Hello", chat="g"),
        line(3, "Bo", "?", chat="g"),
    ]
    file = written(exports / "chat.jsonl", lines)
    said = on_terminal(given, "import", file, answers=[("Number", "9\n"), ("Number", "2\n")])
    assert said.code == 0, said.out
    assert "A [b]x[/b]" in said.out, "a name is never markup"
    assert "1  Bo" in said.out
    found = given.ok("entities", "--json").json["items"]
    assert [one["name"] for one in found if one["is_self"]] == ["A [b]x[/b]"]


def test_no_answer_on_a_terminal_is_the_one_line(given: Program, exports: Path) -> None:
    file = written(exports / "chat.jsonl", dialogue(marked=False))
    said = on_terminal(given, "import", file, answers=[("Number", "\x04")])
    assert said.code == 1
    assert "Traceback" not in said.out
    assert "pass --self NAME-OR-ID" in said.out
