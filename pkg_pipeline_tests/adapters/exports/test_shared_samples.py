"""Files that nobody here wrote: every Telegram sample and the JSONL sets, against the counts that came with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkg_pipeline.adapters.exports.detect import open_export
from pkg_pipeline_tests.adapters.exports.content import Items

SHARED = Path(__file__).resolve().parents[3].parent / "shared"
TELEGRAM = SHARED / "samples" / "telegram"
JSONL = SHARED / "eval" / "extraction"

# file: chats, messages, service entries, rejected
COUNTS = {
    "chm_2023-11/result.json": (1, 1, 0, 0),
    "chm_2024-01/result.json": (1, 1, 1, 0),
    "chm_2024-02_create-channel_saved-from/result.json": (1, 1, 1, 0),
    "chm_2024-06_blockquote-collapsed/result.json": (1, 1, 0, 0),
    "chm_2024-08/result.json": (1, 3, 1, 0),
    "chm_2025-12/result.json": (2, 4, 2, 0),  # group: 5 = 3 + 2 service; channel: 1
    "tkonverter_result.json": (1, 25, 61, 1),  # 87 = 25 + 61 + 1 unsupported
    "tkonverter_result_group.json": (1, 23, 21, 1),  # 45 = 23 + 21 + 1 unsupported
    "tcp_saved.json": (1, 20, 1, 0),
    "tcp_bot.json": (1, 2, 0, 0),
    "tcp_private_channel.json": (1, 5, 2, 0),
    "tcp_public_supergroup.json": (1, 1, 3, 0),
    "tcp_users_test.json": (1, 8, 1, 0),
    "tcp_error-unexpected.json": (1, 12, 1, 3),  # 16: an unknown type, an unreadable sender, a text that is an object
    "tcp_error.json": (1, 2, 0, 1),  # no JSON: a comma is missing before the messages
    "chatminer_test_single_export.json": (1, 2, 0, 0),
    "chatminer_test_batch_export.json": (1, 2, 0, 0),
    "tgparser_personal_chat.json": (1, 4, 1, 0),
    "tgparser_supergroup_with_topics.json": (1, 4, 3, 0),
}


def read(path: Path) -> Items:
    (export,) = open_export(path)
    items = Items(export.items())
    assert export.bytes_read == export.bytes_total
    assert export.sha256
    return items


def needed(folder: Path) -> Path:
    if not folder.is_dir():
        pytest.skip(f"THE SAMPLE DATA IS MISSING: there is no {folder}")
    return folder


@pytest.mark.shared
@pytest.mark.parametrize("name", COUNTS)
def test_every_telegram_sample_gives_what_is_in_it(name: str) -> None:
    items = read(needed(TELEGRAM) / name)
    kinds = [message.kind for message in items.messages]
    assert (len(items.chats), kinds.count("message"), kinds.count("service"), len(items.rejected)) == COUNTS[name]


@pytest.mark.shared
def test_no_telegram_sample_is_left_out() -> None:
    folder = needed(TELEGRAM)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.json")} == set(COUNTS)


@pytest.mark.shared
def test_the_samples_name_senders_owners_and_topics() -> None:
    folder = needed(TELEGRAM)
    talk = read(folder / "tkonverter_result.json")
    assert [owner.external_id for owner in talk.owners] == ["user777000"]
    assert {(m.sender_external_id, m.is_self) for m in talk.messages if m.kind == "message"} == {
        ("user777000", True),
        ("user10001", False),
    }
    assert "[sticker 🙂]" in [message.text for message in talk.messages]
    assert all(message.text for message in talk.messages)
    topics = {m.external_id: m.topic for m in read(folder / "tgparser_supergroup_with_topics.json").messages}
    assert topics == {
        "1": None,
        "2": "General",
        "3": "General",
        "4": "Finances",
        "5": "Finances",
        "6": "Finances",
        "7": None,
    }


@pytest.mark.shared
@pytest.mark.parametrize(("name", "lines"), [("ami", 9092), ("intent", 256), ("qmsum", 2608), ("vcsum", 2914)])
def test_every_line_of_the_jsonl_sets_goes_in(name: str, lines: int) -> None:
    items = read(needed(JSONL) / f"{name}.visible.messages.jsonl")
    assert (len(items.messages), items.rejected) == (lines, [])
    assert len(items.chats) == len({message.chat_external_id for message in items.messages})
