"""Whatever a list or an error prints is taken where it is asked for; names in another script; who is near."""

from __future__ import annotations

import re
from datetime import date

import pytest

from pkg_pipeline import wiring
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline_tests.cli.processes import NOW, Program, dialogue, line, written


@pytest.fixture
def told(given: Program) -> Program:
    """Two people of one name, one in Cyrillic, one in Chinese; chats whose keys hold signs that are encoded."""
    folder = given.home.parent / "exports"
    given.variables |= {"PKG_LLM": "offline", "PKG_EMBEDDER": "none"}
    lines = [
        *dialogue("Olga Petrova", chat="user:11"),
        *dialogue("Марина Лебедева", chat="user:12/a%3Ab"),
        *dialogue("Zhou Min", chat="user:13"),
        line(1, "Olga Petrova", "Another Olga.", chat="user:14", sender_id="user14", day=9),
        line(2, "Me", "Indeed, another one.", chat="user:14", day=9, is_self=True),
        line(3, "Olga Petrova", "Let us meet on Friday.", chat="user:14", sender_id="user14", day=9),
        *(line(number, name, "All of us.", chat="all", chat_kind="group", is_self=name == "Me", day=12)
          for number, name in enumerate(("Me", "Zhou Min", "Марина Лебедева"), 1)),
    ]  # fmt: skip
    written(folder / "all.jsonl", lines)
    settings = Settings.model_validate(
        {"home": given.home, "database_url": given.variables["DATABASE_URL"], "now": NOW, "llm": "offline",
         "embedder": "none"}
    )  # fmt: skip
    with wiring.open_memory(settings) as memory:
        memory.import_path(folder)
        memory.build_interactions()
        memory.summarize((date(2025, 1, 1), date(2025, 1, 31)), Billing("backfill"))
        memory.chunks.build((date(2025, 1, 1), date(2025, 1, 31)))
    return given


def name_of(program: Program, asked: str) -> str:
    return program.ok("context", asked, "--json").json["entity"]["name"]


def test_every_id_and_key_of_a_person_finds_that_person(told: Program) -> None:
    people = told.ok("entities", "--json").json["items"]
    assert len(people) == 5
    shown = told.ok("entities").out
    for one in people:
        for identity in one["identities"]:
            assert identity in shown
            assert told.ok("context", identity, "--json").json["entity"]["id"] == one["id"], identity
            encoded = identity.replace(":", ":", 1).replace(".", "%2E")
            assert told.ok("context", encoded, "--json").json["entity"]["id"] == one["id"], encoded
            assert told.ok("summaries", "--entity", identity, "--json").code == 0
            assert told.ok("recall", "price", "--entity", identity, "--json").code == 0
        assert told.ok("context", one["id"], "--json").json["entity"]["id"] == one["id"]


def test_what_an_error_lists_can_be_asked_again(told: Program) -> None:
    said = told("context", "Olga Petrova").failed("fits 2")
    listed = re.findall(r"\(([0-9a-f-]{36}), (jsonl:\S+),", said)
    assert len(listed) == 2
    for identity, key in listed:
        assert name_of(told, identity) == name_of(told, key) == "Olga Petrova"
    near = told("context", "Marinna Lebedevo").failed("nobody", "did you mean", "last contact 2025-01-")
    (key,) = re.findall(r"Марина Лебедева \((\S+),", near)
    assert name_of(told, key) == "Марина Лебедева"


def test_every_key_of_a_chat_finds_that_chat(told: Program) -> None:
    summaries = told.ok("summaries", "--json").json["items"]
    keys = {one["chat"] for one in summaries}
    assert {"jsonl:user:11", "jsonl:user:12/a%3Ab", "jsonl:user:13"} <= keys
    shown = told.ok("summaries").out
    for key in keys:
        assert key in shown
        ours = {one["id"] for one in summaries if one["chat"] == key}
        encoded = "jsonl:" + key.removeprefix("jsonl:").replace("%", "%25").replace(":", "%3A").replace("/", "%2F")
        for asked in (key, encoded):
            found = told.ok("summaries", "--chat", asked, "--json").json["items"]
            assert {one["id"] for one in found} == ours, asked
            assert told.ok("recall", "price, another one, all of us", "--chat", asked, "--json").json["results"], asked
    for waiting in told.ok("queue", "--json", PKG_NOW="2025-01-10T12:00:00+00:00").json["lists"]["waiting"]["items"]:
        assert told.ok("summaries", "--chat", waiting["chat"], "--json").code == 0


def test_keys_of_people_lead_to_their_one_direct_chat_and_back(told: Program) -> None:
    chat = told.ok("summaries", "--chat", "jsonl:zhou.min", "--json").json["items"]
    assert {one["chat"] for one in chat} == {"jsonl:user:13"}
    assert name_of(told, "jsonl:user:13") == "Zhou Min"
    assert told.ok("summaries", "--chat", "jsonl:all", "--json").code == 0
    told("context", "jsonl:all").failed("nobody")
    said = told.ok("summaries", "--chat", "jsonl:nobody", "--json")
    assert said.json["items"] == []
    assert "no chat jsonl:nobody" in said.err
    told("recall", "price", "--chat", "jsonl:nobody").failed("no chat jsonl:nobody")


def test_message_keys_restore_as_they_are_printed_and_as_they_are_typed(told: Program) -> None:
    found = told.ok("recall", "the price of the boat", "--chat", "jsonl:user:12/a%3Ab", "--json").json["results"]
    key = found[0]["message_ids"][0]
    assert "%253A" in key
    plain = "jsonl:user:12/a%3Ab/" + key.rpartition("/")[2].replace("%3A", ":").replace("%2F", "/").replace("%25", "%")
    for asked in (key, plain.replace("user:12/a%3Ab/user:12/a%3Ab-", "user:12/a%3Ab/user:12/a%3Ab-")):
        said = told("archive", "restore", "--message", asked)
        assert said.code != 2, said.err


def test_sessions_take_keys_as_they_are_printed(told: Program) -> None:
    file = written(told.home.parent / "s.jsonl", [{"id": "1", "role": "user", "content": "Hello there"}])
    told.ok("session", "append", "app:a:b", file)
    shown = told.ok("sessions", "--json").json["items"]
    assert [one["session"] for one in shown] == ["app:a:b"]
    for asked in ("app:a:b", "app:a%3Ab", shown[0]["id"]):
        assert told.ok("session", "show", asked, "--json").json["messages"] == 1, asked
        assert told.ok("window", asked, "--json").json["messages"], asked
        told.ok("session", "append", asked, file)
    assert len(told.ok("sessions", "--json").json["items"]) == 1
    # a person's key makes a session of that name and never writes into the chat with that person
    told.ok("session", "append", "jsonl:zhou.min", file)
    assert told.ok("session", "show", "jsonl:zhou.min", "--json").json["messages"] == 1


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Marina", "Марина Лебедева"),
        ("marina lebedeva", "Марина Лебедева"),
        ("Lebedeva", "Марина Лебедева"),
        ("周敏", "Zhou Min"),
        ("Чжоу Мин", None),
        ("Маринка", None),
        ("Zho Min", None),
        ("Ольга", None),
        ("敏", None),
        ("Кирилл", None),
    ],
)
def test_a_name_in_another_script_finds_its_person_or_says_who_is_near(
    told: Program, asked: str, name: str | None
) -> None:
    if name is not None:
        assert name_of(told, asked) == name
        return
    said = told("context", asked)
    line = said.failed()
    assert "nobody here is called" in line or "fits 2" in line, "never somebody else without a word"
    if asked == "Ольга":
        assert len(re.findall("Olga Petrova", line)) == 2
    if asked in ("Zho Min", "敏"):
        assert "did you mean Zhou Min (jsonl:zhou.min, last contact 2025-01-12)" in line
