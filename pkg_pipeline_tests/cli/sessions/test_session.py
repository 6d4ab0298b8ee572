"""session, sessions and window as real processes: the promised shapes, what people see, every refusal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pkg_pipeline_tests.cli.processes import COMMAND, Program
from pkg_pipeline_tests.digest import digest

KEY = "agent:hole:thread/1"
COUNTERS = {"messages", "tokens", "messages_since_hwm", "tokens_since_hwm", "messages_since_fold"}
SESSION = {
    *("session", "id", "label", "policy", "strategy", "messages", "tokens", "folded", "unfolded"),
    *("last_message_at", "last_fold_at", "next_due_at", "hwm", "last_error"),
}
WINDOW = {"session", "strategy", "messages", "tokens", "budget", "tiers", "hypothetical_tokens", "topics"}
FOLD = {"session", "id", "folds", "refolds", "messages", "failed", "deferred", "pending", "cost_usd", "warnings"}


def turn(number: int, role: str, text: str, **more: object) -> dict[str, Any]:
    return {"id": number, "role": role, "text": text, "sent_at": f"2025-03-15T10:{number:02}:00Z", **more}


TALK = [
    turn(1, "user", "Which port does the old server use?"),
    turn(2, "assistant", "Port 8321, unless --port says otherwise."),
    turn(3, "user", "And where is its configuration?"),
    turn(4, "assistant", "In the folder of the home, in a file of its own.\u202e\x1b[31m"),
    turn(5, "user", "Please move it to the new machine."),
    turn(6, "assistant", "Done, it listens on 8321 there too."),
]


@pytest.fixture
def agent(given: Program) -> Program:
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none"}
    given.home.mkdir(parents=True)
    return given


def lines(program: Program, *messages: Any, name: str = "talk.jsonl") -> Path:
    file = program.home / name
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in messages))
    return file


def test_messages_of_a_file_go_in_once(agent: Program) -> None:
    file = lines(agent, TALK[0], "{broken", "", *TALK[1:4], [1], {"id": 9, "text": "whose?"})
    answer = agent.ok("session", "append", KEY, file, "--json").json
    assert set(answer) >= {"session", "new", "updated", "unchanged", "deleted", "rejected", "counters", "next_due_at"}
    assert set(answer["counters"]) >= COUNTERS
    assert (answer["session"], answer["new"], answer["unchanged"], answer["rejected_count"]) == (KEY, 4, 0, 3)
    assert [one["where"] for one in answer["rejected"]] == ["line 2", "line 7", "line 8"]
    again = agent.ok("session", "append", KEY, file)
    assert f"{KEY}: 0 new, 0 updated, 4 unchanged, 0 deleted" in again.out
    assert "rejected: 3" in again.out
    assert "line 7" in again.out
    edited = lines(agent, {**TALK[0], "text": "Which port?", "edited_at": "2025-03-15T10:30:00Z"})
    assert agent.ok("session", "append", answer["id"], edited, "--json").json["updated"] == 1
    piped = subprocess.run(
        [*COMMAND, "session", "append", KEY, "--json"],
        input="\ufeff" + "\n".join(map(json.dumps, TALK)),
        env=agent.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    counts = json.loads(piped.stdout)
    assert (counts["new"], counts["unchanged"] + counts["updated"]) == (2, 4)
    assert agent.ok("session", "append", "agent:empty", lines(agent), "--json").json["counters"]["messages"] == 0
    agent("session", "append", KEY, lines(agent, "{", {"id": 1})).failed("no message could be read", "line 1")
    agent("session", "append", KEY, agent.home / "none.jsonl").failed("none.jsonl", "No such file")
    agent("session", "append", "nocolon", file).refused("SESSION")
    unknown, file = "00000000-0000-0000-0000-000000000007", lines(agent, *TALK)
    agent("session", "append", unknown, file).failed(unknown, "pkg-pipeline sessions")


def test_an_append_repeated_weeks_later_leaves_the_history(agent: Program) -> None:
    """Messages without a time, appended and summarised in October, appended again in November."""
    talk = lines(agent, *({name: one[name] for name in ("id", "role", "text")} for one in TALK))
    agent.ok("session", "append", KEY, talk, PKG_NOW="2025-10-01T09:00:00Z")
    agent.ok("run", "--json", PKG_NOW="2025-10-12T09:00:00Z")

    def history() -> tuple[Any, str]:
        summaries = agent.ok("summaries", "--json", PKG_NOW="2025-11-20T09:00:00Z").json
        with psycopg.connect(agent.variables["DATABASE_URL"], options="-c search_path=pkg,public") as connection:
            return summaries, digest(connection)

    before = history()
    assert [one["started_at"] for one in before[0]["items"]] == ["2025-10-01T09:00:00Z"]
    for day in (10, 11):
        again = agent.ok("session", "append", KEY, talk, "--json", PKG_NOW=f"2025-11-{day}T09:00:00Z").json
        assert [again[name] for name in ("new", "updated", "unchanged", "deleted")] == [0, 0, 6, 0]
    agent.ok("run", "--json", PKG_NOW="2025-11-20T09:00:00Z")
    assert history() == before


def test_a_session_from_its_first_message_to_a_fold(agent: Program) -> None:
    assert agent.ok("sessions", "--json").json == {"items": [], "next": None}
    assert "0 sessions" in agent.ok("sessions").out
    agent.ok("session", "append", KEY, lines(agent, *TALK))

    changed = agent.ok(
        "session", "set", KEY, "--policy", "interval", "--summary-interval", "4", "--label", "[red]s", "--json"
    )
    assert set(changed.json) >= SESSION
    assert (changed.json["policy"], changed.json["summary_interval"], changed.json["label"]) == (
        "interval",
        4,
        "[red]s",
    )
    told = agent.ok("session", "event", KEY, "handoff", "--json").json
    assert (told["event"], told["next_due_at"]) == ("handoff", "2025-03-15T12:00:00Z")
    folded = agent.ok("session", "fold", KEY, "--json").json
    assert set(folded) >= FOLD
    assert (folded["session"], folded["folds"], folded["messages"]) == (KEY, 1, 6)
    assert "nothing was folded" in agent.ok("session", "fold", KEY).out

    (row,) = agent.ok("sessions", "--json").json["items"]
    assert (row["session"], row["messages"], row["folded"], row["unfolded"], row["event"]) == (KEY, 6, 6, 0, None)
    listed = agent.ok("sessions").out
    assert f"{KEY} ([red]s)" in listed
    assert "1 session" in listed
    shown = agent.ok("session", "show", KEY, "--json").json
    assert [one["text"] for one in shown["recent"]][:1] == [TALK[0]["text"]]
    human = agent.ok("session", "show", KEY).out
    assert "6 folded, 0 not" in human
    assert TALK[5]["text"] in human
    assert "\x1b" not in human


def test_the_window_in_its_forms(agent: Program) -> None:
    agent.ok("session", "append", KEY, lines(agent, *TALK[:5]))
    for form in ("anthropic", "openai", "langchain"):
        answer = agent.ok("window", KEY, "--as", form, "--model-window", "8000", "--system-tokens", "50", "--json").json
        assert set(answer) >= WINDOW
        assert (answer["session"], answer["strategy"], answer["budget"]["window"]) == (KEY, "hybrid", 8000)
        assert answer["tokens"] <= answer["budget"]["available"]
        assert TALK[4]["text"] in json.dumps(answer["messages"])
    said = agent.ok("window", KEY, "--strategy", "rolling").out
    assert "recent" in said
    assert TALK[4]["text"] in said
    assert "\x1b" not in said
    assert "by rolling" in said


def test_refusals(agent: Program) -> None:
    agent.ok("session", "append", KEY, lines(agent, turn(1, "user", "word " * 2000)))
    agent("window", KEY, "--model-window", "2000").failed("tokens")
    agent("window", KEY, "--as", "csv").refused("--as", "anthropic")
    agent("window", KEY, "--strategy", "all").refused("--strategy", "hybrid")
    agent("window", KEY, "--model-window", "0").refused("--model-window")
    agent("window", "nocolon").refused("SESSION")
    agent("window", "agent:none").failed("agent:none", "pkg-pipeline sessions")
    agent("session", "show", "agent:none").failed("agent:none", "pkg-pipeline sessions")
    agent("session", "fold", "agent:none").failed("pkg-pipeline sessions")
    agent("session", "event", KEY, "party").refused("EVENT", "handoff")
    agent("session", "event", "agent:none", "manual").failed("agent:none")
    agent("session", "set", KEY).refused("say what to change")
    agent("session", "set", KEY, "--policy", "thread_size").refused("--policy")
    agent("session", "set", KEY, "--strategy", "x").refused("--strategy")
    agent("session", "set", KEY, "--summary-interval", "1").refused("--summary-interval")
    agent("sessions", "--cursor", "nonsense").refused("--cursor")
