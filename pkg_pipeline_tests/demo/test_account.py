"""The demo's exports: true to the format, deterministic, right on any day, and readable by the importers."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pkg_pipeline.adapters.exports.detect import open_export
from pkg_pipeline.demo.account import OWNER, SHOWCASE, TIMEZONE, load_chats, write_exports
from pkg_pipeline.demo.timing import said
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
Document = dict[str, Any]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_exports(tmp_path_factory.mktemp("demo"), NOW)


def document(path: Path) -> Document:
    return json.loads(path.read_text("utf-8").replace("\\x01", "\\u0001"))


@pytest.fixture(scope="module")
def first(paths: list[Path]) -> Document:
    return document(paths[0])


@pytest.fixture(scope="module")
def second(paths: list[Path]) -> Document:
    return document(paths[1])


def chat_named(export: Document, name: str | None) -> Document:
    return next(chat for chat in export["chats"]["list"] if chat.get("name", "-") == name)


def messages_by_key(export: Document) -> dict[tuple[int, int], Document]:
    return {(chat["id"], message["id"]): message for chat in export["chats"]["list"] for message in chat["messages"]}


def test_the_same_now_gives_the_same_bytes(paths: list[Path], tmp_path: Path) -> None:
    again = write_exports(tmp_path, NOW)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]
    assert [path.parent.name for path in again[:2]] == ["DataExport_2026-03-06", "DataExport_2026-03-15"]


def test_now_needs_a_zone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="time zone"):
        write_exports(tmp_path, datetime(2026, 3, 15))  # noqa: DTZ001


@pytest.mark.parametrize("moment", ["00:00", "00:10", "06:30", "23:59"])
@pytest.mark.parametrize("day", range(7))
def test_every_conversation_is_in_order_and_in_the_past_on_any_day(day: int, moment: str) -> None:
    now = datetime.fromisoformat(f"2027-10-{24 + day}T{moment}:00+00:00")  # over the end of summer time
    for chat in load_chats():
        assert said(chat, now=now, zone=ZoneInfo(TIMEZONE))


def test_people_write_at_sensible_hours() -> None:
    lines = [(chat.title, line.clock) for chat in load_chats() for line in chat.lines]
    at_night = [line for line in lines if line[1] < "06:00"]
    assert {title for title, _ in at_night} == {"Полдень · цех"}  # the installation in the mall, after closing time
    assert len(at_night) <= 5


def test_the_account_is_as_large_as_promised(first: Document) -> None:
    kinds = Counter(chat["type"] for chat in first["chats"]["list"])
    assert kinds == {
        "personal_chat": 8,
        "private_group": 1,
        "private_supergroup": 2,
        "public_channel": 1,
        "bot_chat": 1,
        "verification_codes": 1,
        "saved_messages": 1,
    }
    assert 900 <= sum(len(chat["messages"]) for chat in first["chats"]["list"]) <= 1500


def test_every_message_follows_the_exporters_form(first: Document, second: Document) -> None:
    zone = ZoneInfo(TIMEZONE)
    for export in (first, second):
        assert export["personal_information"]["user_id"] == int(OWNER.external_id.removeprefix("user"))
        for chat in export["chats"]["list"]:
            numbers = [message["id"] for message in chat["messages"]]
            assert numbers == sorted(set(numbers))
            assert isinstance(chat["id"], int)
            for message in chat["messages"]:
                if message["type"] == "unsupported":
                    assert message.keys() == {"id", "type"}
                    continue
                assert isinstance(message["date_unixtime"], str)
                local = datetime.fromisoformat(message["date"]).replace(tzinfo=zone)
                assert local.timestamp() == int(message["date_unixtime"])
                assert re.fullmatch(r"(user|channel)\d+", message.get("from_id") or message["actor_id"])
                parts = message["text"] if isinstance(message["text"], list) else [message["text"]]
                flat = "".join(part if isinstance(part, str) else part["text"] for part in parts)
                assert flat == "".join(part["text"] for part in message["text_entities"])
                assert not re.search(r"[{}]", flat)


def test_the_variety_of_a_real_export(first: Document, second: Document) -> None:
    everything = [*messages_by_key(first).values(), *messages_by_key(second).values()]
    for key in (
        "edited",
        "reply_to_message_id",
        "forwarded_from",
        "photo",
        "file_name",
        "poll",
        "reactions",
        "contact_information",
        "place_name",
    ):
        assert any(key in message for message in everything), key
    assert {"voice_message", "video_file", "sticker"} <= {message.get("media_type") for message in everything}
    assert {"phone_call", "pin_message", "topic_created", "create_group", "invite_members", "migrate_from_group"} <= {
        message.get("action") for message in everything
    }
    entities = {part["type"] for message in everything for part in message.get("text_entities", [])}
    assert {"plain", "bold", "link", "email", "phone", "mention", "hashtag", "bot_command"} <= entities
    assert {"message", "service", "unsupported"} == {message["type"] for message in everything}


def test_names_are_missing_where_the_exporter_has_none(first: Document) -> None:
    by_type = {chat["type"]: chat for chat in first["chats"]["list"]}
    assert "name" not in by_type["saved_messages"]
    assert "name" not in by_type["verification_codes"]
    deleted = chat_named(first, None)
    assert {message["from"] for message in deleted["messages"]} == {None, "Alex Dorokhov"}


def test_what_was_a_basic_group_has_negative_ids(first: Document) -> None:
    messages = chat_named(first, "Бургундия 🍷")["messages"]
    moved = next(index for index, message in enumerate(messages) if message.get("action") == "migrate_from_group")
    assert all(message["id"] < 0 for message in messages[:moved])
    assert messages[moved]["id"] == 1


def test_only_the_first_export_is_broken_json(paths: list[Path]) -> None:
    with pytest.raises(json.JSONDecodeError, match="Invalid"):
        json.loads(paths[0].read_text("utf-8"))
    json.loads(paths[1].read_text("utf-8"))


def test_the_second_export_overlaps_brings_late_messages_and_edits(first: Document, second: Document) -> None:
    old, new = messages_by_key(first), messages_by_key(second)
    first_made = NOW - timedelta(days=9)
    late = [key for key in new.keys() - old.keys() if int(new[key].get("date_unixtime", 0)) < first_made.timestamp()]
    assert len(late) >= 15
    assert len(old.keys() & new.keys()) >= 80
    changed = [key for key in old.keys() & new.keys() if old[key]["text"] != new[key]["text"]]
    (edited,) = changed
    assert old[edited]["text"] == "Ладно, 425 000 за всё. Договорились"
    assert new[edited]["text"] == "Ладно, 425 000 за всё с диммером, аванс 50%. Договорились"
    assert int(new[edited]["edited_unixtime"]) > first_made.timestamp()


def test_dates_in_the_texts_are_right_relative_to_the_clock(second: Document) -> None:
    texts = [message["text"] for message in chat_named(second, SHOWCASE)["messages"]]
    # 15 March − 6 days = 9 March; "до" + 8 days = 17 March; the survey is on −4 + 6 = 17 March
    assert "Оплатим до 17 марта" in texts
    assert "Да, пропуск закажу на 17 марта с 10 утра" in texts
    # the old invoice was due on −52 + 12 = −40 days: 3 February
    assert "Марина, и неудобный вопрос. Счёт № 46, 250 000, срок был 3 февраля" in texts


def test_the_team_chat_is_generic_jsonl_with_an_edit_and_a_deletion(paths: list[Path]) -> None:
    rows = [json.loads(line) for line in paths[2].read_text("utf-8").splitlines()]
    for row in rows:
        assert {"chat_id", "message_id", "sender_id", "sent_at", "text"} <= row.keys()
        assert datetime.fromisoformat(row["sent_at"]).tzinfo is not None
    (deleted,) = [row for row in rows if row.get("deleted")]
    (edited,) = [row for row in rows if "edited_at" in row]
    ids = Counter(row["message_id"] for row in rows)
    assert ids[deleted["message_id"]] == ids[edited["message_id"]] == 2
    assert {row["sender_name"] for row in rows if row["is_self"]} == {"Alex Dorokhov"}


def test_the_importers_read_all_of_it(paths: list[Path], first: Document, second: Document) -> None:
    written = [
        sum(len(chat["messages"]) for chat in first["chats"]["list"]),
        sum(len(chat["messages"]) for chat in second["chats"]["list"]),
        len(paths[2].read_text("utf-8").splitlines()),
    ]
    for path, expected in zip(paths, written, strict=True):
        (export,) = open_export(path)
        items = list(export.items())
        skipped = [item for item in items if isinstance(item, Rejected)]
        taken = [item for item in items if isinstance(item, ParsedMessage)]
        assert len(taken) + len(skipped) == expected
        assert len(skipped) <= 1, skipped  # an unsupported entry has no date
        assert all(message.sent_at.tzinfo is not None for message in taken)


def test_the_importer_sees_what_was_edited_and_what_is_gone(paths: list[Path]) -> None:
    (export,) = open_export(paths[2])
    messages = [item for item in export.items() if isinstance(item, ParsedMessage)]
    (gone,) = [message for message in messages if message.is_deleted]
    (edited,) = [message for message in messages if message.edited_at is not None]
    assert [message.text for message in messages if message.external_id == gone.external_id] == [
        "Don't tell Ruth but I'd charge double for the curved ones",
        "",
    ]
    assert edited.text == "If it's ours, I'll remake it within a week"


def test_the_importer_knows_the_owner_and_the_showcase(paths: list[Path]) -> None:
    (export,) = open_export(paths[0])
    items = list(export.items())
    (owner,) = [item for item in items if isinstance(item, ParsedOwner)]
    assert (owner.external_id, owner.name) == (OWNER.external_id, OWNER.name)
    chat = next(item for item in items if isinstance(item, ParsedChat) and item.title == SHOWCASE)
    messages = [item for item in items if isinstance(item, ParsedMessage) and item.chat_external_id == chat.external_id]
    assert {message.is_self for message in messages} == {True, False}
    assert len(messages) > 200
