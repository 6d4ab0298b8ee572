"""What was forgotten on request and may not come back: salted hashes of people, chats, messages and ranges (B3)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

TombstoneKind = Literal["person", "chat", "message", "range"]
_SEPARATOR = "\x1f"


class Tombstone(NamedTuple):
    """``chat_hash``: of the chat of a message or range, and of a chat itself; ``from_at``, ``to_at``: of a range, both
    included.
    """

    hash: str
    kind: TombstoneKind
    chat_hash: str | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Salted:
    """Makes tombstones. Without ``salt`` nobody can test whether a name is among them."""

    salt: str

    def hash(self, kind: TombstoneKind, *parts: str) -> str:
        """64 hex digits. ``parts``: the source, then the person's or chat's external id, then the message's."""
        said = _SEPARATOR.join((kind, *parts)).encode("utf-8", "surrogatepass")
        return hmac.new(self.salt.encode(), said, hashlib.sha256).hexdigest()

    def person(self, source: str, external_id: str) -> Tombstone:
        return Tombstone(self.hash("person", source, external_id), "person")

    def chat(self, source: str, external_id: str) -> Tombstone:
        key = self.hash("chat", source, external_id)
        return Tombstone(key, "chat", key)

    def message(self, source: str, chat: str, external_id: str) -> Tombstone:
        return Tombstone(self.hash("message", source, chat, external_id), "message", self.hash("chat", source, chat))

    def range(self, source: str, chat: str, from_at: datetime, to_at: datetime) -> Tombstone:
        place = self.hash("range", source, chat, from_at.isoformat(), to_at.isoformat())
        return Tombstone(place, "range", self.hash("chat", source, chat), from_at, to_at)


def digest_of(hashes: Iterable[str]) -> str:
    """sha256 over message hashes, whatever their order."""
    digest = hashlib.sha256()
    for one in sorted(hashes):
        digest.update(one.encode())
    return digest.hexdigest()


@dataclass(slots=True)
class Forgotten:
    """The tombstones of a memory, or those that bear on one chat."""

    salted: Salted
    hashes: frozenset[str] = frozenset()
    ranges: dict[str, list[tuple[datetime, datetime]]] = field(
        default_factory=dict[str, list[tuple[datetime, datetime]]]
    )
    thinned: frozenset[str] = frozenset()
    """Chats, by hash, of which single messages or ranges were forgotten."""

    @classmethod
    def of(cls, salt: str, tombstones: Iterable[Tombstone]) -> Forgotten:
        known = list(tombstones)
        found = cls(
            Salted(salt),
            frozenset(one.hash for one in known if one.kind != "range"),
            thinned=frozenset(one.chat_hash for one in known if one.chat_hash and one.kind in ("message", "range")),
        )
        for one in known:
            if one.kind == "range" and one.chat_hash and one.from_at and one.to_at:
                found.ranges.setdefault(one.chat_hash, []).append((one.from_at, one.to_at))
        return found

    @property
    def is_empty(self) -> bool:
        return not self.hashes and not self.ranges

    def has_person(self, source: str, external_id: str) -> bool:
        return bool(self.hashes) and self.salted.hash("person", source, external_id) in self.hashes

    def has_chat(self, source: str, external_id: str) -> bool:
        return bool(self.hashes) and self.salted.hash("chat", source, external_id) in self.hashes

    def is_thinned(self, source: str, external_id: str) -> bool:
        """Whether single messages or ranges of a chat were forgotten."""
        return bool(self.thinned) and self.salted.hash("chat", source, external_id) in self.thinned

    def has_message(self, source: str, chat: str, external_id: str, sent_at: datetime) -> bool:
        """Of a chat that ``is_thinned``."""
        spans = self.ranges.get(self.salted.hash("chat", source, chat), ()) if self.ranges else ()
        if any(start <= sent_at <= end for start, end in spans):
            return True
        return self.salted.hash("message", source, chat, external_id) in self.hashes
