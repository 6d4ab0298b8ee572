"""What a reader sees of each kind of Telegram entry."""

from __future__ import annotations

from typing import Any

import pytest

from pkg_pipeline_tests.adapters.exports.content import chat, entry, telegram

VOICE = {"file": "voice/a.ogg", "media_type": "voice_message", "duration_seconds": 12}
STICKER = {"file": "s.webp", "media_type": "sticker", "sticker_emoji": "😀"}
NOT_INCLUDED = "(File not included. Change data exporting settings to download.)"
POLL = {
    "question": "When?",
    "closed": False,
    "answers": [{"text": "Mon", "voters": 2}, {"text": ["T", "ue"], "voters": "1"}],
}

MESSAGES: list[tuple[dict[str, Any], str]] = [
    ({"text": "hi"}, "hi"),
    (
        {"text": ["see ", {"type": "link", "text": "example.org"}, " and ", {"type": "bold", "text": "this"}, ""]},
        "see example.org and this",
    ),
    (
        {"text": "", "text_entities": [{"type": "plain", "text": "only "}, {"type": "code", "text": "entities"}]},
        "only entities",
    ),
    (
        {
            "text": "",
            "rich_message": {
                "blocks": [
                    {"type": "heading", "text": "Plan"},
                    {"type": "paragraph", "text": ["buy ", {"type": "bold", "text": "milk"}]},
                ]
            },
        },
        "Plan\nbuy milk",
    ),
    ({"text": "", "photo": "photos/1.jpg"}, "[photo]"),
    ({"text": "", "photo": NOT_INCLUDED}, "[photo]"),
    ({"text": "look", "photo": "photos/1.jpg"}, "look"),
    ({"text": "", **VOICE}, "[voice message, 12 s]"),
    ({"text": "", **STICKER}, "[sticker 😀]"),
    ({"text": "", "file": "a.mp4", "media_type": "video_message", "duration_seconds": 14}, "[video message, 14 s]"),
    ({"text": "", "file": "a.mp4", "media_type": "animation", "file_name": "funny.mp4"}, "[GIF]"),
    (
        {"text": "", "file": "v.mp4", "media_type": "video_file", "file_name": "v.mp4", "duration_seconds": 95},
        "[video v.mp4, 95 s]",
    ),
    (
        {
            "text": "",
            "file": "a.mp3",
            "media_type": "audio_file",
            "performer": "Artist",
            "title": "Track",
            "duration_seconds": 210,
        },
        "[audio Artist – Track, 210 s]",
    ),
    (
        {"text": "", "file": NOT_INCLUDED, "file_name": "contract.pdf", "mime_type": "application/pdf"},
        "[file contract.pdf]",
    ),
    ({"text": "", "file": "x", "media_type": "hologram"}, "[file]"),
    (
        {"text": "", "contact_information": {"first_name": "Bob", "last_name": "", "phone_number": "+1 555"}},
        "[contact: Bob, +1 555]",
    ),
    (
        {
            "text": "",
            "location_information": {"latitude": 40.7, "longitude": -74.0},
            "live_location_period_seconds": 900,
        },
        "[live location: 40.7, -74.0]",
    ),
    ({"text": "", "location_information": None}, "[location]"),
    (
        {"text": "", "place_name": "Coffee Bar", "address": "Main St 42", "location_information": {"latitude": 1}},
        "[place: Coffee Bar, Main St 42]",
    ),
    ({"text": "", "game_title": "Space Jump"}, "[game: Space Jump]"),
    (
        {"text": "", "invoice_information": {"title": "Premium", "description": "1 month", "amount": 499}},
        "[invoice: Premium 1 month]",
    ),
    ({"text": "", "poll": POLL}, "[poll] When?\n- Mon (2)\n- Tue (1)"),
    ({"text": "Vote!", "poll": POLL}, "Vote!\n[poll] When?\n- Mon (2)\n- Tue (1)"),
    (
        {"text": "", "todo_list": {"title": "Weekend", "answers": [{"text": "Buy milk", "id": 1}]}},
        "[to-do list] Weekend\n- Buy milk",
    ),
    ({"text": "", "giveaway_information": {"quantity": 1}}, "[giveaway]"),
    ({"text": "", "paid_stars_amount": 250}, "[paid media]"),
    ({"text": ""}, ""),
    ({"text": "NUL \x00 and bidi \u202e stay for cleaning"}, "NUL \x00 and bidi \u202e stay for cleaning"),
]


@pytest.mark.parametrize(("fields", "text"), MESSAGES)
def test_message_text(fields: dict[str, Any], text: str) -> None:
    items = telegram(chat(entry(**fields)))
    assert [message.text for message in items.messages] == [text]
    assert items.messages[0].kind == "message"


SERVICES: list[tuple[dict[str, Any], str]] = [
    ({"action": "phone_call", "duration_seconds": 65, "discard_reason": "hangup"}, "phone call, 65 s"),
    ({"action": "phone_call", "discard_reason": "missed"}, "phone call, missed"),
    ({"action": "group_call", "duration": 3600}, "group call, 3600 s"),
    ({"action": "create_group", "title": "Team", "members": ["A"]}, "created the group: Team"),
    ({"action": "invite_members", "members": ["Bob", None]}, "invited: Bob, a deleted account"),
    ({"action": "remove_members", "members": ["Anna"], "actor": "Anna"}, "left the group"),
    ({"action": "remove_members", "members": ["Bob"], "actor": "Anna"}, "removed: Bob"),
    ({"action": "join_group_by_link", "inviter": "Me"}, "joined by an invite link of: Me"),
    ({"action": "pin_message", "message_id": 7}, "pinned a message"),
    ({"action": "topic_created", "title": "Budget"}, "created the topic: Budget"),
    (
        {"action": "todo_append_tasks", "items": [{"text": "Book"}, {"text": "Send"}]},
        "added to the to-do list: Book, Send",
    ),
    ({"action": "custom_action", "title": "Me changed the photo"}, "Me changed the photo"),
    ({"information_text": "Custom service text"}, "Custom service text"),
    ({"action": "send_webview_data", "text": "payload"}, "send webview data: payload"),
    ({"action": "never_seen_before", "title": "Sun", "x": {"y": 1}}, "never seen before: Sun"),
    ({}, ""),
]


@pytest.mark.parametrize(("fields", "text"), SERVICES)
def test_service_text(fields: dict[str, Any], text: str) -> None:
    raw = {"id": 1, "type": "service", "date_unixtime": "1709287200", "actor_id": "user5", "text": "", **fields}
    (message,) = telegram(chat(raw)).messages
    assert (message.kind, message.text, message.sender_external_id) == ("service", text, "user5")
    for key, value in fields.items():
        if key not in ("text", "actor"):
            assert message.metadata[key] == value


def test_media_reactions_and_links_are_metadata() -> None:
    reactions = [{"type": "emoji", "count": 2, "emoji": "🔥", "recent": [{"from": "A", "from_id": "user5"}]}]
    runs = [
        {"type": "text_link", "text": "here", "href": "https://example.org/x"},
        {"type": "mention_name", "text": "Bob", "user_id": 77},
    ]
    (message,) = telegram(chat(entry(text=runs, text_entities=runs, reactions=reactions, **VOICE, width=3))).messages
    assert message.text == "hereBob"
    assert message.metadata == {
        **VOICE,
        "width": 3,
        "reactions": reactions,
        "links": ["https://example.org/x"],
        "mentions": ["user77"],
    }
