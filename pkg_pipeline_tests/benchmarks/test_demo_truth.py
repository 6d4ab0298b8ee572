"""The labels of the demo's conversations fit the account they speak of."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.demo import account

TRUTH = json.loads((Path(__file__).parents[2] / "benchmarks/demo_truth.json").read_text(encoding="utf-8"))
NOW = datetime.fromisoformat(TRUTH["now"])
STATUSES = {"open", "perhaps_done", "done", "cancelled", "lapsed", "superseded"}


def said_on(item: dict[str, Any]) -> list[str]:
    renewed = [message for one in item["renewed"] for message in one["messages"]]
    return [*item["messages"], *item["closed_by"], *item["cancelled_by"], *renewed]


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every message of the account by chat number and id, with its local time."""
    found: dict[str, str] = {}
    for path in account.write_exports(tmp_path_factory.mktemp("account"), NOW):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".jsonl":
            for row in map(json.loads, text.splitlines()):
                found[f"{row['chat_id']}/{row['message_id']}"] = row["sent_at"]
        else:
            for chat in json.loads(re.sub(r"\\x01", "", text))["chats"]["list"]:
                found |= {f"{chat['id']}/{one['id']}": one["date"] for one in chat["messages"] if "date" in one}
    return found


def short(message: str) -> str:
    return message.rsplit(":", 1)[1]


def test_every_message_named_is_in_the_account(times: dict[str, str]) -> None:
    named = [message for item in TRUTH["items"] for message in said_on(item)]
    named += [message for fact in TRUTH["facts"] for message in fact["messages"]]
    assert len(named) > 800
    assert [message for message in named if short(message) not in times] == []
    for item in TRUTH["items"]:
        assert {message.rsplit("/", 1)[0] for message in item["messages"]} == {item["chat"]}


def test_what_became_of_an_item_fits_its_status(times: dict[str, str]) -> None:
    for item in TRUTH["items"]:
        assert item["status"] in STATUSES, item["text"]
        begun = min(times[short(message)] for message in item["messages"])
        assert all(times[short(message)] >= begun for message in said_on(item)), item["text"]
        assert bool(item["closed_by"]) == (item["status"] in {"done", "perhaps_done"}), item["text"]
        assert bool(item["cancelled_by"]) == (item["status"] == "cancelled"), item["text"]
        after = item["superseded_by"]
        assert after is None or TRUTH["items"][after]["kind"] == item["kind"]
        assert after is None or item["status"] == "superseded", item["text"]


def test_nothing_that_is_surely_open_lapsed_long_ago() -> None:
    for item in TRUTH["items"]:
        days = [one["due_date"] for one in item["renewed"] if one["due_date"]] or [item["due_date"]]
        if item["kind"] == "action_item" and item["status"] == "open" and item["sure"] and days[-1]:
            late = (NOW.date() - date.fromisoformat(days[-1])).days
            assert late <= 30 or item.get("status_sure") is False, item["text"]
