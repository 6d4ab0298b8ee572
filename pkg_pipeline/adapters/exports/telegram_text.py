"""The text of a Telegram entry: markup, polls, lists, media, service messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pkg_pipeline.memory.message.attachments import attachment
from pkg_pipeline.memory.records import Attachment

_MEDIA_WORDS = {
    "sticker": "sticker",
    "video_message": "video message",
    "voice_message": "voice message",
    "animation": "GIF",
    "video_file": "video",
    "audio_file": "audio",
}


class UnreadableText(ValueError):
    """A text that is neither a string nor a list of runs."""


def plain(text: object) -> str:
    """The text of a string, a list of strings and ``{type, text}`` runs, or null. Raises ``UnreadableText``."""
    if isinstance(text, str):
        return text
    if text is None:
        return ""
    if not isinstance(text, list):
        raise UnreadableText(f"text is of type {type(text).__name__}")
    runs: list[str] = []
    for run in text:
        words = run.get("text") if isinstance(run, dict) else run
        if not isinstance(words, str):
            raise UnreadableText(f"a run of the text is of type {type(words).__name__}")
        runs.append(words)
    return "".join(runs)


def links_and_mentions(text: object) -> dict[str, list[str]]:
    """``links`` of the markup, and ``mentions`` as sender ids (``user123``)."""
    found: dict[str, list[str]] = {}
    for run in text if isinstance(text, list) else []:
        if not isinstance(run, dict):
            continue
        if isinstance(href := run.get("href"), str) and href:
            found.setdefault("links", []).append(href)
        if run.get("type") == "mention_name" and isinstance(user := run.get("user_id"), (int, str)):
            found.setdefault("mentions", []).append(f"user{user}")
    return found


def message_text(raw: Mapping[str, Any]) -> str:
    """Text or caption, poll or list, else a word for the media. Raises ``UnreadableText``."""
    words = plain(raw.get("text")) or plain(raw.get("text_entities"))
    if not words and "rich_message" in raw:
        words = "\n".join(_rich_lines(raw["rich_message"]))
    blocks = [words] if words else []
    if isinstance(poll := raw.get("poll"), dict):
        blocks.append(_list_block("[poll]", poll.get("question"), poll.get("answers"), counted="voters"))
    if isinstance(tasks := raw.get("todo_list"), dict):
        blocks.append(_list_block("[to-do list]", tasks.get("title"), tasks.get("answers")))
    return "\n".join(blocks) if blocks else media_text(raw)


def media_text(raw: Mapping[str, Any]) -> str:
    """``[voice message, 12 s]`` and the like; "" without known media."""
    for key, describe in _MEDIA.items():
        if key in raw:
            return f"[{describe(raw)}]"
    return ""


def attachments_of(raw: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The file or photo of an entry. Stickers are words, no files."""
    kind = raw.get("media_type")
    if kind == "sticker" or not {"file", "photo", "media_type"} & raw.keys():
        return ()
    is_photo = "photo" in raw
    path = _text_of(raw, "photo" if is_photo else "file")
    name = _text_of(raw, "file_name") or ("" if path.startswith("(") else path)  # "(File not included. …)"
    told = _text_of(raw, "mime_type") or ("image/jpeg" if is_photo else kind if isinstance(kind, str) else "")
    size = raw.get("photo_file_size" if is_photo else "file_size")
    return (attachment(name, told, size if type(size) is int and size >= 0 else None),)


def service_text(raw: Mapping[str, Any]) -> str:
    """One line for a service entry; unknown actions by name. Raises ``UnreadableText``."""
    if isinstance(information := raw.get("information_text"), str) and information:
        return information
    action = raw.get("action")
    own_words = plain(raw.get("text"))
    if not isinstance(action, str):
        return own_words or media_text(raw)
    if describe := _SERVICES.get(action):
        line = describe(raw)
    elif action == "custom_action":
        line = _text_of(raw, "title") or "custom action"
    else:
        line = _with(action.replace("_", " "), _text_of(raw, "title") or _text_of(raw, "new_title"))
    return f"{line}: {own_words}" if own_words else line


def _rich_lines(node: object) -> list[str]:
    """The lines of a rich message: one per paragraph, blocks nested."""
    if isinstance(node, str):
        return [node] if node else []
    if isinstance(node, list):
        if any(isinstance(item, str) for item in node):  # runs of one line
            return ["".join("".join(_rich_lines(item)) for item in node)]
        return [line for item in node for line in _rich_lines(item)]
    if isinstance(node, dict):
        keys = ("title", "text", "caption", "blocks", "items", "cells", "rows", "children")
        return [line for key in keys if key in node for line in _rich_lines(node[key])]
    return []


def _list_block(label: str, title: object, answers: object, *, counted: str | None = None) -> str:
    lines = [f"{label} {plain(title)}".rstrip()]
    for answer in answers if isinstance(answers, list) else []:
        if isinstance(answer, dict):
            count = answer.get(counted) if counted else None
            lines.append(f"- {plain(answer.get('text'))}" + (f" ({count})" if isinstance(count, (int, str)) else ""))
    return "\n".join(lines)


def _text_of(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _with(words: str, detail: str) -> str:
    return f"{words}: {detail}" if detail else words


def _seconds(raw: Mapping[str, Any], key: str = "duration_seconds") -> str:
    value = raw.get(key)
    return f", {value} s" if isinstance(value, int) and not isinstance(value, bool) else ""


def _names(raw: Mapping[str, Any], key: str = "members") -> str:
    names = raw.get(key)
    known = (
        [name if isinstance(name, str) else "a deleted account" for name in names] if isinstance(names, list) else []
    )
    return ", ".join(known)


def _file(raw: Mapping[str, Any]) -> str:
    kind = raw.get("media_type")
    if kind == "sticker":
        return f"sticker {_text_of(raw, 'sticker_emoji')}".rstrip()
    if kind == "audio_file":
        track = " – ".join(part for part in (_text_of(raw, "performer"), _text_of(raw, "title")) if part)
        name = track or _text_of(raw, "file_name")
    elif kind in ("video_message", "voice_message", "animation"):
        name = ""
    else:
        name = _text_of(raw, "file_name")
    word = _MEDIA_WORDS.get(kind, "file") if isinstance(kind, str) else "file"
    return f"{word} {name}".rstrip() + _seconds(raw)


def _contact(raw: Mapping[str, Any]) -> str:
    contact = raw["contact_information"]
    if not isinstance(contact, dict):
        return "contact"
    name = f"{_text_of(contact, 'first_name')} {_text_of(contact, 'last_name')}".strip()
    return _with("contact", ", ".join(part for part in (name, _text_of(contact, "phone_number")) if part))


def _place(raw: Mapping[str, Any]) -> str:
    return _with("place", ", ".join(part for part in (_text_of(raw, "place_name"), _text_of(raw, "address")) if part))


def _location(raw: Mapping[str, Any]) -> str:
    point = raw["location_information"]
    word = "live location" if "live_location_period_seconds" in raw else "location"
    if not isinstance(point, dict):
        return word
    return _with(word, ", ".join(str(point[axis]) for axis in ("latitude", "longitude") if axis in point))


def _invoice(raw: Mapping[str, Any]) -> str:
    invoice = raw["invoice_information"]
    title = f"{_text_of(invoice, 'title')} {_text_of(invoice, 'description')}" if isinstance(invoice, dict) else ""
    return _with("invoice", title.strip())


def _call(word: str, key: str = "duration_seconds") -> Callable[[Mapping[str, Any]], str]:
    def describe(raw: Mapping[str, Any]) -> str:
        reason = _text_of(raw, "discard_reason")
        return word + _seconds(raw, key) + (f", {reason}" if reason in ("missed", "busy") else "")

    return describe


def _left_or_removed(raw: Mapping[str, Any]) -> str:
    names = _names(raw)
    return "left the group" if names and names == _text_of(raw, "actor") else _with("removed", names)


def _tasks(raw: Mapping[str, Any]) -> str:
    items = raw.get("items")
    titles = [plain(item.get("text")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return _with("added to the to-do list", ", ".join(titles))


def _fixed(words: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda _: words


def _titled(words: str, key: str = "title") -> Callable[[Mapping[str, Any]], str]:
    return lambda raw: _with(words, _text_of(raw, key))


def _people(words: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda raw: _with(words, _names(raw))


# the first matching key names the media: a venue has a location too
_MEDIA: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "file": _file,
    "photo": _fixed("photo"),
    "contact_information": _contact,
    "place_name": _place,
    "location_information": _location,
    "game_title": _titled("game", "game_title"),
    "invoice_information": _invoice,
    "giveaway_information": _fixed("giveaway"),
    "giveaway_results": _fixed("giveaway results"),
    "paid_stars_amount": _fixed("paid media"),
    "media_type": _file,
}

_SERVICES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "phone_call": _call("phone call"),
    "conference_call": _call("conference call"),
    "group_call": _call("group call", "duration"),
    "group_call_scheduled": _fixed("scheduled a group call"),
    "invite_to_group_call": _people("invited to the group call"),
    "create_group": _titled("created the group"),
    "create_channel": _titled("created the channel"),
    "edit_group_title": _titled("renamed the group"),
    "edit_group_photo": _fixed("changed the group photo"),
    "delete_group_photo": _fixed("removed the group photo"),
    "invite_members": _people("invited"),
    "remove_members": _left_or_removed,
    "join_group_by_link": _titled("joined by an invite link of", "inviter"),
    "join_group_by_request": _fixed("joined by request"),
    "joined_telegram": _fixed("joined Telegram"),
    "migrate_to_supergroup": _fixed("the group became a supergroup"),
    "migrate_from_group": _titled("this supergroup was the group", "title"),
    "pin_message": _fixed("pinned a message"),
    "clear_history": _fixed("cleared the history"),
    "topic_created": _titled("created the topic"),
    "topic_edit": _titled("changed the topic", "new_title"),
    "take_screenshot": _fixed("took a screenshot"),
    "todo_append_tasks": _tasks,
    "todo_completions": _fixed("changed what is done on the to-do list"),
}
