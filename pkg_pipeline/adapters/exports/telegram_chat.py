"""Key, kind, category and title of a Telegram chat, from its header and first messages."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

from pkg_pipeline.memory.records import ChatCategory, ChatKind, ParsedChat

SOURCE: Final = "telegram"
Entry = tuple[int, Any]
"""Index in ``messages`` and the JSON value."""

LOOKAHEAD: Final = 500
"""Messages of a chat held to infer what its header lacks."""

_USER: tuple[str, ChatKind, ChatCategory | None] = ("user", "direct", None)
_KINDS: dict[str, tuple[str, ChatKind, ChatCategory | None]] = {
    "personal_chat": _USER,
    "saved_messages": _USER,
    "bot_chat": ("user", "direct", "mass"),
    "replies": ("user", "direct", "mass"),
    "verification_codes": ("user", "direct", "mass"),
    "private_group": ("group", "group", None),
    "private_supergroup": ("channel", "group", None),
    "public_supergroup": ("channel", "group", None),
    "private_channel": ("channel", "channel", "mass"),
    "public_channel": ("channel", "channel", "mass"),
}
"""Peer kind, chat kind and category (P34) by type. Making a chat public or private keeps its key."""
CHAT_TYPES: Final = frozenset(_KINDS)
_NAMELESS = {"saved_messages": "Saved Messages", "replies": "Replies", "verification_codes": "Verification Codes"}
_SENDER_PREFIX = {"user": "user", "group": "chat", "channel": "channel"}
_OLD_MASK = {"group": 1 << 32, "channel": 2 << 32}
"""Older exports: integer senders with the kind in the bits above 32."""
_MASK_WIDTH: Final = 1 << 32


class Opening:
    """The first messages of a chat, until ``is_enough``."""

    def __init__(self, header: dict[str, Any], *, owner_known: bool) -> None:
        self.entries: list[Entry] = []
        self.senders: set[str] = set()
        self.has_old_ids = False
        self._type = header.get("type")
        self._peer = f"user{number_of(header.get('id'))}"
        self._owner_known = owner_known

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        raw = entry[1]
        if not isinstance(raw, dict):
            return
        sender = raw.get("from_id", raw.get("actor_id", raw.get("from")))
        if isinstance(sender, int):
            self.has_old_ids = True
            self.senders.add(f"user{sender}")
        elif isinstance(sender, str) and sender:
            self.senders.add(sender)

    @property
    def is_enough(self) -> bool:
        if len(self.entries) >= LOOKAHEAD:
            return True
        if not isinstance(self._type, str) or self._type not in CHAT_TYPES:
            return len(self.senders) > 2  # a group for sure
        if self._type == "personal_chat" and not self._owner_known:
            return self._peer in self.senders and len(self.senders) > 1
        return bool(self.senders)


class DescribedChat:
    """A chat by its header and opening. ``number``: the id as written, ``bare_number`` without mask."""

    def __init__(self, header: dict[str, Any], opening: Opening) -> None:
        name, self.type = header.get("name"), header.get("type")
        self._senders = opening.senders
        self.peer_kind: str
        self.kind: ChatKind
        self.category: ChatCategory | None
        self.peer_kind, self.kind, self.category = self._kinds()
        self.title = name if isinstance(name, str) and name else _NAMELESS.get(str(self.type))
        self.number = number_of(header.get("id"))
        self.bare_number = self._unmasked() if opening.has_old_ids else self.number
        prefix = _SENDER_PREFIX.get(self.peer_kind)
        self.peer = f"{prefix}{self.bare_number}" if prefix and self.bare_number is not None else None
        bare = self._derived_id(opening) if self.bare_number is None else self.bare_number
        self.external_id = f"{self.peer_kind}:{bare}"

    def inferred_owner(self) -> str | None:
        """The exporting account if not named: the id of saved messages, or of two people in a personal chat the other
        one.
        """
        if self.type == "saved_messages":
            return self.peer
        others = self._senders - {self.peer}
        if self.type == "personal_chat" and self.peer in self._senders and len(others) == 1:
            return next((sender for sender in others if sender.startswith("user")), None)
        return None

    def chat(self, *, is_left: bool) -> ParsedChat:
        """``metadata`` has ``telegram_type``, and ``left`` for a chat the owner left."""
        metadata: dict[str, Any] = {"telegram_type": self.type if isinstance(self.type, str) else None}
        if self.number != self.bare_number:
            metadata["telegram_id"] = self.number
        if is_left:
            metadata["left"] = True
        # several others in an edited file: better no peer than a wrong one
        has_peer = self.kind == "direct" and self.type != "saved_messages" and len(self._senders - {self.peer}) <= 1
        return ParsedChat(
            source=SOURCE,
            external_id=self.external_id,
            kind=self.kind,
            title=self.title,
            category=self.category,
            peer_external_id=self.peer if has_peer else None,
            peer_name=self.title if has_peer and self.peer else None,
            metadata=metadata,
            # exports of left chats, channels and unknown types may be partial
            is_whole=not is_left
            and str(self.type) in _KINDS
            and self.kind != "channel"
            and self.bare_number is not None,
        )

    def _kinds(self) -> tuple[str, ChatKind, ChatCategory | None]:
        if isinstance(self.type, str) and self.type in _KINDS:
            return _KINDS[self.type]
        return "chat", "direct" if len(self._senders) <= 2 else "group", None

    def _unmasked(self) -> int | None:
        mask = _OLD_MASK.get(self.peer_kind)
        if self.number is not None and mask and mask <= self.number < mask + _MASK_WIDTH:
            return self.number - mask
        return self.number

    def _derived_id(self, opening: Opening) -> str:
        """For exports without ids: by name, else by the first message, stable over exports."""
        seed = self.title or repr(opening.entries[:1])
        return "derived-" + hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def number_of(value: object) -> int | None:
    """A peer's number, from a number or text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
