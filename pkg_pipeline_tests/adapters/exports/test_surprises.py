"""Values that no parser foresaw: each is one counted reject with its place, and everything around it goes in."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.adapters.exports.detect import open_export
from pkg_pipeline_tests.adapters.exports.content import Items, account, chat, entry, jsonl, telegram

DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = {
    "two signs": '"--5"',
    "a sign": '"-"',
    "digits of another script": '"\u0665"',
    "a superscript": '"\u00b2"',
    "thousands of digits": "9" * 5_000,
    "digits as text": json.dumps("9" * 5_000),
    "not a number": "NaN",
    "infinity": "-Infinity",
    "a fraction": "1e400",
    "true": "true",
    "a list": "[[]]",
    "an object": '{"a": {"id": "--5"}}',
    "deep": DEEP,
    "deep objects": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "a lone surrogate": '"\\ud800"',
    "NUL": '"\\u0000"',
    "long": json.dumps("x" * 100_000),
}
KEYS = sorted(
    {*entry(), "edited", "edited_unixtime", "reply_to_message_id", "text_entities", "poll", "action", "title"}
)
PLACE = "%hostile%"


def spoilt(document: Any, value: str) -> bytes:
    return json.dumps(document, indent=1).replace(json.dumps(PLACE), value).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_no_value_at_any_key_of_an_entry_takes_others_with_it(name: str) -> None:
    for key in KEYS:
        document = account(chat(entry(1), {**entry(9), key: PLACE}, entry(2)), chat(entry(1), id=6))
        items = telegram(spoilt(document, HOSTILE[name]))
        others = [(m.chat_external_id, m.external_id) for m in items.messages if m.where != "chats.list[0].messages[1]"]
        assert others == [("user:5", "1"), ("user:5", "2"), ("user:6", "1")], key
        assert [one.where for one in items.rejected] in ([], ["chats.list[0].messages[1]"]), key
        assert len(items.messages) + len(items.rejected) == 4, key
        assert not any(one.is_damage for one in items.rejected)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("key", ["name", "type", "id", "more"])
def test_no_value_in_the_head_of_a_chat_takes_the_next_chat_with_it(name: str, key: str) -> None:
    items = telegram(
        spoilt(account({key: PLACE} | chat(entry(1), **{key: PLACE}), chat(entry(1), id=6)), HOSTILE[name])
    )
    assert len(items.messages) + sum(one.where.startswith("chats.list[0]") for one in items.rejected) == 2
    assert items.messages[-1].chat_external_id == "user:6"


@pytest.mark.parametrize("name", HOSTILE)
def test_no_value_in_a_section_takes_the_chats_with_it(name: str) -> None:
    sections = {"personal_information": PLACE, "contacts": {"list": [PLACE]}, "left_chats": PLACE}
    document = {**sections, **account(chat(entry(1)), **sections)}
    items = telegram(spoilt(document, HOSTILE[name]))
    assert [message.external_id for message in items.messages] == ["1"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_value_at_any_key_of_a_line_takes_others_with_it(name: str) -> None:
    usual = {"chat_id": "c", "message_id": "1", "sender_id": "a", "sent_at": "2026-01-01T00:00:00Z", "text": "x"}
    more = ("source", "chat_title", "chat_kind", "reply_to", "edited_at", "parts", "metadata", "role", "is_self")
    for key in (*usual, *more):
        odd = spoilt({**usual, "message_id": "2", key: PLACE}, HOSTILE[name]).replace(b"\n", b"")
        items = jsonl(b"\n".join([json.dumps(usual).encode(), odd, json.dumps({**usual, "message_id": "3"}).encode()]))
        assert [m.external_id for m in items.messages if m.where != "line 2"] == ["1", "3"], key
        assert len(items.messages) + len(items.rejected) == 3, key


def test_an_entry_whose_json_is_broken_costs_itself_only() -> None:
    whole = json.dumps(account(chat(*map(entry, range(1, 6))), chat(entry(1), id=6)), indent=1).encode()
    at = whole.index(b'"text"', whole.index(b'"id": 3'))
    items = telegram(whole[:at] + b"#" + whole[at + 1 :])
    assert [(m.chat_external_id, m.external_id) for m in items.messages] == [
        *(("user:5", str(number)) for number in (1, 2, 4, 5)),
        ("user:6", "1"),
    ]
    (damage,) = items.rejected
    assert damage.is_damage
    assert damage.reason.startswith(f"not valid JSON at byte {at}")


def test_behind_a_broken_head_nothing_is_laid_into_another_chat() -> None:
    document = account(chat(entry(1)), chat(entry(1), entry(2), id=6), chat(entry(1), id=7))
    items = telegram(json.dumps(document, indent=1).replace('"id": 6', '"id" 6').encode())
    assert [(m.chat_external_id, m.external_id) for m in items.messages] == [("user:5", "1"), ("user:7", "1")]
    assert [one.reason for one in items.rejected[1:]] == ["nobody can tell which chat it belongs to"] * 2


@pytest.mark.parametrize(("key", "damaged"), [("messages", "messagds"), ("chats", "chatr"), ("list", "lisu")])
def test_one_wrong_letter_in_a_key_hides_no_messages(key: str, damaged: str) -> None:
    text = json.dumps({**account(chat(entry(1))), "left_chats": {"list": [chat(entry(1), id=6)]}}, indent=1)
    assert len(telegram(text.replace(f'"{key}"', f'"{damaged}"', 1).encode()).messages) == 2


def test_what_is_cut_off_is_damage_in_either_format() -> None:
    whole = json.dumps(chat(*map(entry, range(1, 6))), indent=1).encode()
    assert [one.is_damage for one in telegram(whole[:-40]).rejected] == [True]
    line = b'{"chat_id": "c", "message_id": "1", "sender_id": "a", "sent_at": "2026-01-01", "text": "x"}\n'
    assert [one.is_damage for one in jsonl(line * 2 + line[:40]).rejected] == [True]
    assert [one.is_damage for one in jsonl(line + line[:40] + b"\n" + line).rejected] == [False]


def test_a_part_that_cannot_be_opened_holds_up_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and nothing more")
    (tmp_path / "result.json").write_text(json.dumps(chat(entry(1))))
    items = Items(item for export in open_export(tmp_path) for item in export.items())
    assert (len(items.messages), [one.is_damage for one in items.rejected]) == (1, [True])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_two_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in (5, 6):
            archive.writestr("result.json", json.dumps(chat(entry(1), id=number)))
    items = Items(item for export in open_export(tmp_path / "a.zip") for item in export.items())
    assert [message.chat_external_id for message in items.messages] == ["user:5", "user:6"]
