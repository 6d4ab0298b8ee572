"""Whole files: owner and chats of every form, and what happens to cut, broken and mutated ones."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner
from pkg_pipeline_tests.adapters.exports.content import account, chat, entry, telegram

ME = "user1"


@pytest.mark.parametrize(
    ("header", "key", "kind", "category", "title", "peer"),
    [
        ({"type": "personal_chat", "id": 5, "name": "Anna"}, "user:5", "direct", None, "Anna", "user5"),
        ({"type": "personal_chat", "id": 5, "name": None}, "user:5", "direct", None, None, "user5"),
        ({"type": "bot_chat", "id": 6, "name": "Bot"}, "user:6", "direct", "mass", "Bot", "user6"),
        ({"type": "saved_messages", "id": 1, "name": None}, "user:1", "direct", None, "Saved Messages", None),
        ({"type": "replies", "id": 8, "name": None}, "user:8", "direct", "mass", "Replies", "user8"),
        ({"type": "verification_codes", "id": 9}, "user:9", "direct", "mass", "Anna", "user9"),
        ({"type": "private_group", "id": 5, "name": "G"}, "group:5", "group", None, "G", None),
        ({"type": "private_supergroup", "id": 5, "name": "S"}, "channel:5", "group", None, "S", None),
        ({"type": "public_supergroup", "id": 5, "name": "S"}, "channel:5", "group", None, "S", None),
        ({"type": "private_channel", "id": 5, "name": "C"}, "channel:5", "channel", "mass", "C", None),
        ({"type": "public_channel", "id": 5, "name": "C"}, "channel:5", "channel", "mass", "C", None),
        ({"type": None, "id": 5, "name": "?"}, "chat:5", "direct", None, "?", None),
        ({"type": "starship", "id": "5", "name": "?"}, "chat:5", "direct", None, "?", None),
    ],
)
def test_the_chat(
    header: dict[str, Any], key: str, kind: str, category: str | None, title: str | None, peer: str | None
) -> None:
    (found,) = telegram(account(chat(entry(), **header))).chats
    assert (found.external_id, found.kind, found.category, found.title) == (key, kind, category, title)
    assert found.peer_external_id == peer
    assert found.metadata["telegram_type"] == header["type"]


def test_old_exports_and_new_ones_give_a_group_the_same_key() -> None:
    """While senders were integers, ids had the kind in bits above 32: 10036995664 is channel 1447061072."""
    old = telegram(chat(entry(from_id=42, date_unixtime=None), type="private_supergroup", id=10036995664))
    new = telegram(chat(entry(from_id="user42"), type="private_supergroup", id=1447061072))
    big = telegram(chat(entry(from_id="user42"), type="private_supergroup", id=10036995664))
    assert [items.chats[0].external_id for items in (old, new, big)] == [
        "channel:1447061072",
        "channel:1447061072",
        "channel:10036995664",
    ]
    assert old.messages[0].sender_external_id == "user42"


def test_a_whole_account_names_its_owner_and_whose_words_are_whose() -> None:
    items = telegram(
        account(
            chat(entry(1), entry(2, from_id=ME)),
            chat(
                entry(1, from_id="user7"),
                entry(2, from_id=ME),
                entry(3, from_id="channel9"),
                type="private_group",
                id=9,
            ),
            left_chats={"about": "…", "list": [chat(entry(1, from_id="user7"), type="public_supergroup", id=10)]},
        )
    )
    assert items[0] == ParsedOwner("telegram", ME, "Me Myself")
    assert [message.is_self for message in items.messages] == [False, True, False, True, None, False]
    assert [found.metadata.get("left") for found in items.chats] == [None, None, True]
    assert [type(item) for item in items[1:4]] == [ParsedChat, ParsedMessage, ParsedMessage]


def test_in_a_single_personal_chat_the_owner_is_the_one_who_is_not_the_other() -> None:
    items = telegram(chat(*[entry(n, from_id="user77") for n in range(1, 40)], entry(40)))
    assert items[0] == ParsedOwner("telegram", "user77")
    assert [message.is_self for message in items.messages] == [True] * 39 + [False]


def test_a_personal_chat_of_three_senders_gives_nobody_away() -> None:
    items = telegram(chat(entry(1, from_id="user7"), entry(2, from_id="user8"), entry(3, from_id="user9"), id=123))
    assert items.owners == []
    assert items.chats[0].peer_external_id is None
    assert [message.is_self for message in items.messages] == [None, None, None]


def test_a_chat_that_only_i_wrote_in_waits_for_no_answer() -> None:
    items = telegram(chat(*[entry(n, from_id="user77") for n in range(1, 1200)]))
    assert (items.owners, len(items.messages), items.messages[-1].is_self) == ([], 1199, None)


def test_saved_messages_carry_their_owner() -> None:
    items = telegram({"type": "saved_messages", "id": 1, "messages": [entry(from_id=1), entry(2, from_id=2)]})
    assert items.owners == [ParsedOwner("telegram", ME)]
    assert [message.is_self for message in items.messages] == [True, False]


def test_keys_in_another_order_make_no_difference() -> None:
    document = account(chat(entry(1), entry(2, from_id=ME)), chat(entry(1), type="private_group", id=8, name="G"))
    content = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    assert [item for item in telegram(content) if not isinstance(item, ParsedOwner)] == list(telegram(document))[1:]


def test_a_chat_without_an_id_is_known_by_its_name_or_else_its_first_message() -> None:
    raws = [{"type": "message", "date_unixtime": "1544006350", "from": "A", "text": "x"}]
    more = [*raws, {"type": "message", "date_unixtime": "1544006351", "from": "B", "text": "y"}]
    assert telegram({"name": "N", "messages": raws}).chats == telegram({"name": "N", "messages": more}).chats
    assert telegram({"messages": raws}).chats == telegram({"messages": more}).chats
    assert telegram({"messages": raws}).chats != telegram({"messages": more[1:]}).chats


def test_real_broken_json_is_mended_on_the_way() -> None:
    content = (
        b'{\n "name": "Anna",\n "type": "personal_chat",\n "id": 5,\n "messages": [\n  {\n   "id": 1,\n'
        b'   "type": "message",\n   "date_unixtime": "1709287200",\n   "from_id": "user5",\n   "text": [\n'
        b'    "a\\x01b C:\\\\x41 ",\n    {\n     "type": "custom_emoji",\n     "text": "\xf0\x9f\x98\xae",\n'
        b'     "document_id": video_files/sticker (2).webm\n    },\n    ""\n   ]\n  }\n ]\n}'
    )
    items = telegram(content)
    assert not items.rejected
    assert items.messages[0].text == "a\x01b C:\\x41 😮"


@pytest.mark.parametrize(
    ("content", "where", "reason"),
    [
        (b"[]", "byte 0", "a Telegram export begins with '{'"),
        (b"", "byte 0", "the file is cut off at byte 0"),
        (b'{"about": "x"}', "", "there is no chat in this export"),
        (b'{"messages": 5}', "messages", "not a list of messages"),
        (b'{"chats": "none"}', "chats", "not a list of chats"),
        (b'{"chats": {"list": ["x"]}}', "chats.list[0]", "not a chat"),
        (b'{"messages": []} {}', "byte 17", "not valid JSON at byte 17: there is more after the end"),
        (b'{"name": "B", "id": 9\n "messages": []}', "byte 23", "not valid JSON at byte 23: ',' or '}' is expected"),
    ],
)
def test_what_is_no_export_is_rejected_with_its_place(content: bytes, where: str, reason: str) -> None:
    rejected = telegram(content).rejected[0]
    assert rejected.where == where
    assert rejected.reason.startswith(reason)


def test_of_a_cut_file_everything_before_the_cut_goes_in() -> None:
    whole = json.dumps(account(chat(*[entry(n, f"text {n}") for n in range(50)])), indent=1).encode()
    cut = whole.index(b'"text 30"')
    items = telegram(whole[:cut])
    assert [message.text for message in items.messages] == [f"text {n}" for n in range(30)]
    (rejected,) = items.rejected
    assert rejected.where == f"byte {cut}"
    assert rejected.reason.startswith(f"the file is cut off at byte {cut}; what stands before it was read")
    assert "chats.list[0].messages" in rejected.reason


def test_every_cut_of_a_file_is_reported() -> None:
    whole = json.dumps(chat(entry(1), entry(2, from_id=ME), entry(3)), indent=1).encode()
    complete = telegram(whole)
    for cut in range(len(whole)):
        items = telegram(whole[:cut])
        assert items.messages == complete.messages[: len(items.messages)]
        assert items.rejected[-1].where == f"byte {cut}"
        assert "cut off" in items.rejected[-1].reason


@pytest.mark.parametrize("seed", range(300))
def test_no_mutation_stops_the_reader_or_loses_a_record_silently(seed: int) -> None:
    chance = random.Random(seed)
    raws: list[Any] = [entry(n, ["a ", {"type": "bold", "text": "b"}], reply_to_message_id=n - 1) for n in range(12)]
    content = bytearray(json.dumps(account(chat(*raws[:6]), chat(*raws[6:], id=6)), indent=1).encode())
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content))
        action = chance.random()
        if action < 0.5:
            content[at] = chance.choice(b'"{}[],:\\x0a9\x00\xff ')
        elif action < 0.8:
            del content[at : at + chance.randint(1, 40)]
        else:
            content[at:at] = chance.choice([b'"', b"\\x01", b"}", b"]", b"\xd0", b"null", b"[[[["])
    items = telegram(bytes(content))
    assert items
    known: set[str] = set()
    for item in items:
        if isinstance(item, ParsedChat):
            known.add(item.external_id)
        if isinstance(item, ParsedMessage):
            assert item.chat_external_id in known
    if len(items.messages) < 12:
        assert items.rejected or b'"messages"' not in content or content.count(b'"text"') < 24
