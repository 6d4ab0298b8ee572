"""compare as a real process: table, document, picture and page; what it keeps, what it refuses, what it asks first."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.threads import made
from pkg_pipeline.cli.compare import file_name
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY
from pkg_pipeline_tests.cli.processes import Program, written

TURN = {
    "turn", "message_id", "at", "prompt_tokens", "hypothetical_tokens", "completion_tokens", "usd", "hypothetical_usd",
    "folds", "triggers", "fold_tokens", "fold_usd", "cumulative_usd", "cumulative_hypothetical_usd",
}  # fmt: skip
KEPT = ("messages", "chats", "conversation_sessions", "session_summaries", "served_windows", "llm_calls")


def lines(turns: int, chat: str = "talk") -> list[dict[str, Any]]:
    """A made thread as lines of the generic format."""
    return [
        {"source": "made", "chat_id": chat, "chat_title": f"Talk <b>{chat}</b>", "sender_id": row["role"], "text": "",
         **{("message_id" if name == "id" else name): value for name, value in row.items()}}
        for row in made(turns).rows
    ]  # fmt: skip


@pytest.fixture
def told(given: Program) -> Program:
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none"}
    written(given.home.parent / "talk.jsonl", lines(36))
    return given


def stored(program: Program) -> dict[str, int]:
    """Rows of every table that a conversation could have gone into."""
    with psycopg.connect(program.variables["DATABASE_URL"], options="-csearch_path=pkg,public") as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # type: ignore[index, arg-type]
            for table in KEPT
        }


class Page(HTMLParser):
    """What is in a page: tags, what they refer to, rows of tables, words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_file_in_both_modes_as_table_document_picture_and_page(told: Program) -> None:
    out = told.home.parent / "out"
    file = told.home.parent / "talk.jsonl"
    asked = ("compare", file, "--model-window", "2000", "--system-tokens", "30", "--policy", "interval", "--out", out)
    found = told.ok(*asked, "--json").json
    assert found["conversation"] == "made:talk"
    assert (found["policy"], found["strategy"], found["model"]) == ("interval", "hybrid", "claude-haiku-5-5")
    assert found["budget"] == {"window": 2000, "margin": 200, "output": 500, "system": 30, "available": 1270}
    turns = found["turns"]
    assert {frozenset(turn) for turn in turns} == {frozenset(TURN)}
    assert [turn["turn"] for turn in turns] == list(range(1, 42))  # 36 answers and 5 calls of a tool
    assert turns[0]["prompt_tokens"] == turns[0]["hypothetical_tokens"]
    assert all(turn["prompt_tokens"] <= 1300 for turn in turns)
    assert all(one["hypothetical_tokens"] < two["hypothetical_tokens"] for one, two in pairwise(turns))
    # 0.10 USD a million in, 0.50 out
    first = turns[0]
    assert first["usd"] == pytest.approx((first["prompt_tokens"] * 0.10 + first["completion_tokens"] * 0.50) / 1e6)
    assert turns[-1]["cumulative_usd"] == pytest.approx(sum(turn["usd"] + turn["fold_usd"] for turn in turns))
    assert found["totals"]["folds"] == sum(turn["folds"] for turn in turns) >= 3
    assert {name for turn in turns for name in turn["triggers"]} == {"interval"}
    assert turns[found["overflows_from"] - 1]["hypothetical_tokens"] > 1300
    assert all(value == 0 for value in stored(told).values())

    assert Path(found["files"]["png"]).read_bytes().startswith(b"\x89PNG")
    page = Page(text := Path(found["files"]["html"]).read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert all(one.startswith("#") for one in page.references), page.references
    assert "svg" in page.tags
    assert page.tags.count("tr") == 1 + len(turns)
    assert "Talk <b>talk</b>" in page.words, "somebody's words are no markup"
    assert "default-src 'none'" in text

    said = told.ok(*asked)
    assert found["files"]["png"] in said.out
    assert "uncompressed" in said.out
    assert f"{found['totals']['turns']} turns" in said.out
    assert len(said.out.splitlines()) < 40, "some of the turns are enough for people"


def test_a_conversation_of_the_memory_gives_the_same(told: Program) -> None:
    file, out = told.home.parent / "talk.jsonl", told.home.parent / "out"
    told.ok("import", file, "--self", "none", "--json")
    before = stored(told)
    asked = ("--model-window", "2000", "--strategy", "rolling", "--model", "claude-sonnet-5-5", "--out", out, "--json")
    remembered, read = (told.ok("compare", one, *asked).json for one in ("made:talk", file))
    assert remembered["turns"] == read["turns"]
    assert remembered["model"] == "claude-sonnet-5-5"
    assert stored(told) == before
    told("compare", "made:other", "--out", out).failed("no chat made:other")


def test_what_cannot_be_compared_is_said(told: Program) -> None:
    folder = told.home.parent / "several"
    written(folder / "one.jsonl", lines(3, "one"))
    written(folder / "two.jsonl", lines(3, "two"))
    written(folder / "lonely.jsonl", lines(1, "lonely")[:1])
    told("compare", folder).failed("which conversation?", "made:one", "made:two", "--chat")
    assert told.ok("compare", folder, "--chat", "two", "--out", folder, "--json").json["conversation"] == "made:two"
    told("compare", folder / "lonely.jsonl").failed("no turn to compare")
    told("compare", folder / "one.jsonl", "--model", "gpt-9").refused("no price is known", "claude-haiku-5-5")
    told("compare", folder / "one.jsonl", "--policy", "thread_size").refused("thread_size")
    assert list(folder.glob("compare-*lonely*")) == []


def test_paid_folds_are_asked_for_first_and_replayed_later(told: Program) -> None:
    file, out = told.home.parent / "talk.jsonl", told.home.parent / "out"
    with FakeAnthropic(api_key=KEY) as fake:
        paid = {"PKG_LLM": "anthropic", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": fake.url}
        asked = ("compare", file, "--policy", "interval", "--out", out, "--json")
        refused = told(*asked, **paid)
        refused_line = refused.failed("--yes", "USD", "claude-haiku-5-5")
        assert "calls" in refused_line
        assert fake.journal == []
        found = told.ok(*asked, "--yes", **paid).json
        calls = len(fake.journal)
        assert calls >= found["totals"]["folds"] >= 3
        assert stored(told)["llm_calls"] == calls
        again = told.ok(*asked, "--yes", **paid).json
        assert again["turns"] == found["turns"]
        assert len(fake.journal) == calls, "what was paid for is not asked again"
    assert stored(told)["conversation_sessions"] == 0


@pytest.mark.parametrize(
    ("key", "expected"),
    [("telegram:personal_chat:5", "telegram-personal_chat-5"), ("a:../../b", "a-..-..-b"), ("х:чат", "х-чат"),
     (":::", "conversation"), ("a" * 99, "a" * 60)],
)  # fmt: skip
def test_names_of_files(key: str, expected: str) -> None:
    assert file_name(key) == expected
    json.dumps(expected)
