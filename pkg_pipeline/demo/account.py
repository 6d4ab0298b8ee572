"""The bundled Telegram account of ``pkg-pipeline demo``: its exports, relative to the demo's clock.

The invented conversations are in ``conversations/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pkg_pipeline.demo.screenplay import Chat, Speaker, read
from pkg_pipeline.demo.telegram_form import chat_object, message_object
from pkg_pipeline.demo.timing import Said, said

SHOWCASE = "Марина Лебедева"
"""The person whose context the demo shows."""

OWNER = Speaker("user204815163", "Alex Dorokhov", is_self=True)
TIMEZONE = "Asia/Nicosia"
"""The owner's zone; ``date`` in the exports is wall time here."""

FIRST_EXPORT_AGE = timedelta(days=9)
SECOND_EXPORT_REACH = timedelta(days=45)
TEAM_SOURCE = "teamchat"

_FIRST_ACCOUNT_ID = 48_213
_MIGRATED_OFFSET = -1_000_000_000
_OWN_COUNTER_KINDS = frozenset({"private_supergroup", "public_supergroup", "private_channel", "public_channel"})
_ABOUT = "Here is the data you requested. Remember: Telegram is ad free, it doesn't use your data for ad targeting."
_ABOUT_CHATS = "This page lists all chats from this export."
_ABOUT_LEFT = "This page lists all supergroups and channels from this export that you've left or where you were banned."
_ABOUT_CONTACTS = "If you allow access, contacts are continuously synced with Telegram."


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A chat with its lines, times and message ids."""

    chat: Chat
    lines: tuple[tuple[int, Said], ...]

    def id_of(self, label: str, *, before: int) -> int:
        if label == "last":
            return max(number for number, _ in self.lines if number < before)
        return next(number for number, one in self.lines if one.line.label == label)


def load_chats() -> list[Chat]:
    """Every bundled conversation by file name, times still relative."""
    folder = files("pkg_pipeline.demo") / "conversations"
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".txt")), key=lambda entry: entry.name)
    return [chat for script in scripts for chat in read(script.read_text("utf-8"), owner=OWNER, name=script.name)]


def write_exports(folder: Path, now: datetime) -> list[Path]:
    """Write the demo's three exports below ``folder``; returns their paths in order of creation.

    1. the whole Telegram Desktop account, nine days old, without some late messages and with one broken escape;
    2. one made at ``now`` of the last 45 days: overlaps, with late messages and edits;
    3. a generic JSONL file of a team chat with an edited and a deleted message.

    Same ``now``, same bytes. ``ValueError``: no time zone.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    zone = ZoneInfo(TIMEZONE)
    chats = load_chats()
    timed = [(chat, said(chat, now=now, zone=zone)) for chat in chats]
    telegram = _numbered([(chat, lines) for chat, lines in timed if chat.kind != "team"])
    team = [(chat, lines) for chat, lines in timed if chat.kind == "team"]
    first_made = (now - FIRST_EXPORT_AGE).astimezone(zone)
    second_made = now.astimezone(zone)
    first = _export(telegram, made=first_made, since=None, with_late=False)
    second = _export(telegram, made=second_made, since=second_made - SECOND_EXPORT_REACH, with_late=True)
    return [
        _write_telegram(folder, first_made, first),
        _write_telegram(folder, second_made, second),
        _write_team(folder / "teamchat.jsonl", team),
    ]


def _numbered(timed: Sequence[tuple[Chat, list[Said]]]) -> list[_Numbered]:
    """Telegram's ids: one counter per account, and one per supergroup and channel."""
    shared = sorted(
        (one.sent_at, chat.external_id) for chat, lines in timed if chat.kind not in _OWN_COUNTER_KINDS for one in lines
    )
    place = {key: _FIRST_ACCOUNT_ID + 3 * index for index, key in enumerate(shared)}
    result: list[_Numbered] = []
    for chat, lines in timed:
        if chat.kind in _OWN_COUNTER_KINDS:
            numbers = _own_numbers(lines)
        else:
            numbers = [place[one.sent_at, chat.external_id] for one in lines]
        result.append(_Numbered(chat, tuple(zip(numbers, lines, strict=True))))
    return result


def _own_numbers(lines: Sequence[Said]) -> list[int]:
    """1, 2, 3 …; negative for messages from before a supergroup's upgrade."""
    moved = next((index for index, one in enumerate(lines) if one.line.action == "migrate_from_group"), 0)
    carried = [_MIGRATED_OFFSET + index for index in range(1, moved + 1)]
    return carried + list(range(1, len(lines) - moved + 1))


def _export(
    chats: Iterable[_Numbered], *, made: datetime, since: datetime | None, with_late: bool
) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    for numbered in chats:
        messages = [
            message_object(
                numbered.chat,
                one,
                number=number,
                id_of=lambda label, it=numbered, before=number: it.id_of(label, before=before),
                exported_at=made,
            )
            for number, one in numbered.lines
            if one.sent_at < made
            and (since is None or one.sent_at >= since)
            and (with_late or not one.line.has("late"))
        ]
        if messages:
            listed.append(chat_object(numbered.chat, messages))
    return listed


def _write_telegram(folder: Path, made: datetime, chats: list[dict[str, Any]]) -> Path:
    document = {
        "about": _ABOUT,
        "personal_information": {
            "user_id": int(OWNER.external_id.removeprefix("user")),
            "first_name": "Alex",
            "last_name": "Dorokhov",
            "phone_number": "+357 00 204815",
            "username": "@polden_alex",
            "bio": "буквы, свет, медь · letters, light, copper",
        },
        "contacts": {"about": _ABOUT_CONTACTS, "list": _contacts()},
        "chats": {"about": _ABOUT_CHATS, "list": chats},
        "left_chats": {"about": _ABOUT_LEFT, "list": []},
    }
    path = folder / f"DataExport_{made:%Y-%m-%d}" / "result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, ensure_ascii=False, indent=1)
    # Telegram Desktop writes control characters as \x01, which is not JSON
    path.write_text(text.replace("\\u0001", "\\x01"), encoding="utf-8", newline="\n")
    return path


def _contacts() -> list[dict[str, Any]]:
    return [
        {
            "user_id": int(chat.external_id),
            "first_name": (chat.title or "").split(" ")[0],
            "last_name": " ".join((chat.title or "").split(" ")[1:]),
            "phone_number": chat.phone,
        }
        for chat in load_chats()
        if chat.phone is not None
    ]


def _write_team(path: Path, team: Sequence[tuple[Chat, list[Said]]]) -> Path:
    """A log: messages, edits, deletions."""
    rows: list[tuple[datetime, dict[str, Any]]] = []
    for chat, lines in team:
        for number, one in enumerate(lines, start=1):
            row = _team_row(chat, one, number=number)
            rows.append((one.sent_at, row))
            if one.edited_at is not None:
                rows.append((one.edited_at, row | {"text": one.edited_text, "edited_at": one.edited_at.isoformat()}))
            if one.line.has("gone"):
                rows.append((one.sent_at + timedelta(hours=1), row | {"text": "", "deleted": True}))
    rows.sort(key=lambda row: row[0])
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for _, row in rows), encoding="utf-8", newline="\n"
    )
    return path


def _team_row(chat: Chat, one: Said, *, number: int) -> dict[str, Any]:
    speaker = chat.cast[one.line.who]
    return {
        "source": TEAM_SOURCE,
        "chat_id": chat.external_id,
        "chat_title": chat.title,
        "chat_kind": "group",
        "chat_category": chat.category,
        "message_id": f"m{number:04}",
        "sender_id": speaker.external_id,
        "sender_name": speaker.name,
        "is_self": speaker.is_self,
        "sent_at": one.sent_at.isoformat(),
        "text": one.text,
    }
