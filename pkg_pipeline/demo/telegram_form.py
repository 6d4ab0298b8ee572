"""Telegram Desktop's JSON of a chat (``result.json``): key order, entities, media, service entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from pkg_pipeline.demo.screenplay import Chat, Speaker
from pkg_pipeline.demo.timing import Said

NOT_INCLUDED = "(File not included. Change data exporting settings to download.)"
NAMELESS_KINDS = frozenset({"saved_messages", "verification_codes"})

_ENTITIES: tuple[tuple[str, str], ...] = (
    ("bold", r"\*\*(?P<bold>[^*]+)\*\*"),
    ("email", r"(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    ("link", r"(?P<link>https?://[^\s,)]+)"),
    ("mention", r"(?<!\w)(?P<mention>@[A-Za-z]\w{3,})"),
    ("hashtag", r"(?<!\w)(?P<hashtag>#[^\W\d]\w+)"),
    ("bot_command", r"^(?P<bot_command>/[a-z]+)$"),
    ("phone", r"(?P<phone>\+\d[\d -]{8,}\d)"),
)
_ENTITY = re.compile("|".join(pattern for _, pattern in _ENTITIES))
_MIME = {"pdf": "application/pdf", "dwg": "image/vnd.dwg", "xlsx": "application/vnd.ms-excel"}

IdOf = Callable[[str], int]
"""Label → message id in the same chat."""


def entities(text: str) -> list[dict[str, str]]:
    """``text_entities``: a list of objects, plain runs included; empty for an empty text."""
    found: list[dict[str, str]] = []
    end = 0
    for match in _ENTITY.finditer(text):
        if match.start() > end:
            found.append({"type": "plain", "text": text[end : match.start()]})
        kind = match.lastgroup or "plain"
        found.append({"type": kind, "text": match[kind]})
        end = match.end()
    if end < len(text):
        found.append({"type": "plain", "text": text[end:]})
    return found


def mixed_text(parts: list[dict[str, str]]) -> str | list[str | dict[str, str]]:
    """``text``: a string, or a list of strings and objects that begins and ends with a string."""
    if all(part["type"] == "plain" for part in parts):
        return "".join(part["text"] for part in parts)
    mixed: list[str | dict[str, str]] = [part["text"] if part["type"] == "plain" else part for part in parts]
    if not isinstance(mixed[0], str):
        mixed.insert(0, "")
    if not isinstance(mixed[-1], str):
        mixed.append("")
    return mixed


def chat_object(chat: Chat, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """One entry of ``chats.list``; ``name`` is absent for some kinds, null for a deleted account."""
    name = {} if chat.kind in NAMELESS_KINDS else {"name": chat.title}
    return {**name, "type": chat.kind, "id": int(chat.external_id), "messages": messages}


def message_object(chat: Chat, one: Said, *, number: int, id_of: IdOf, exported_at: datetime) -> dict[str, Any]:
    """One message as exported at ``exported_at``."""
    line, speaker = one.line, chat.cast[one.line.who]
    if line.action == "unsupported":
        return {"id": number, "type": "unsupported"}
    head: dict[str, Any] = {"id": number, "type": "message" if line.action is None else "service"}
    head |= _time("date", one.sent_at)
    if line.action is not None:
        return head | _actor(speaker) | _service(line.action, line.fields, id_of) | {"text": "", "text_entities": []}
    if one.edited_at is not None and one.edited_at <= exported_at:
        head |= _time("edited", one.edited_at)
    head |= {"from": speaker.name, "from_id": speaker.external_id}
    target = line.reply_to or line.topic
    if target is not None:
        head["reply_to_message_id"] = id_of(target)
    for flag in line.flags:
        head |= _media(flag, chat)
    parts = entities(one.text_at(exported_at))
    head |= {"text": mixed_text(parts), "text_entities": parts}
    reactions = [_reaction(flag, chat, one.sent_at) for flag in line.flags if flag.startswith("react ")]
    return head | ({"reactions": reactions} if reactions else {})


def _time(key: str, moment: datetime) -> dict[str, str]:
    return {key: moment.strftime("%Y-%m-%dT%H:%M:%S"), f"{key}_unixtime": str(int(moment.timestamp()))}


def _actor(speaker: Speaker) -> dict[str, Any]:
    return {"actor": speaker.name, "actor_id": speaker.external_id}


def _service(action: str, fields: Mapping[str, str], id_of: IdOf) -> dict[str, Any]:
    result: dict[str, Any] = {"action": action}
    for key, value in fields.items():
        if value.startswith("^"):
            result[key] = id_of(value[1:])
        elif key == "members":
            result[key] = value.split("|")
        else:
            result[key] = int(value) if value.isdigit() else value
    return result


def _media(flag: str, chat: Chat) -> dict[str, Any]:
    word, _, rest = flag.partition(" ")
    match word:
        case "photo":
            return {"photo": NOT_INCLUDED, "photo_file_size": 184_320, "width": 1280, "height": 960}
        case "voice":
            return _file({"media_type": "voice_message", "mime_type": "audio/ogg"}, seconds=int(rest))
        case "video":
            return _file({"media_type": "video_file", "mime_type": "video/mp4"}, seconds=int(rest))
        case "file":
            name, size = rest.rsplit(" ", 1)
            mime = _MIME.get(name.rsplit(".", 1)[-1], "application/octet-stream")
            about = {"file_name": name, "file_size": int(size.removesuffix("k")) * 1024, "mime_type": mime}
            return {"file": NOT_INCLUDED} | about
        case "sticker":
            return {"file": NOT_INCLUDED, "file_size": 22_016, "media_type": "sticker", "sticker_emoji": rest}
        case "contact":
            *names, phone = rest.split("|")
            first, last = (*names, "")[:2]
            return {"contact_information": {"first_name": first, "last_name": last, "phone_number": phone}}
        case "place":
            place, address = rest.split("|")
            return {"place_name": place, "address": address, "location_information": None}
        case "fwd":
            saved = {"saved_from": rest} if chat.kind == "saved_messages" else {}
            return {"forwarded_from": rest} | saved
        case "poll":
            return {"poll": _poll(rest.split("|"))}
        case "react" | "late" | "gone":
            return {}
        case _:
            raise ValueError(f"{chat.title}: unknown mark {flag!r}")


def _file(about: dict[str, Any], *, seconds: int) -> dict[str, Any]:
    return {"file": NOT_INCLUDED, "file_size": 4_100 * seconds, **about, "duration_seconds": seconds}


def _poll(parts: list[str]) -> dict[str, Any]:
    question, *options = parts
    answers: list[dict[str, Any]] = []
    for option in options:
        text, _, votes = option.rpartition("=")
        answers.append({"text": text, "voters": int(votes.rstrip("*")), "chosen": votes.endswith("*")})
    total = sum(answer["voters"] for answer in answers)
    return {"question": question, "closed": False, "total_voters": total, "answers": answers}


def _reaction(flag: str, chat: Chat, sent_at: datetime) -> dict[str, Any]:
    _, emoji, *tags = flag.split()
    people: Iterable[Speaker] = [chat.cast[tag] for tag in tags]
    shown = sent_at.strftime("%Y-%m-%dT%H:%M:%S")
    recent = [{"from": who.name, "from_id": who.external_id, "date": shown} for who in people]
    return {"type": "emoji", "count": len(recent), "emoji": emoji, "recent": recent}
