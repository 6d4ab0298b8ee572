"""Export files in memory for tests: bytes in, every item out."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import IO, Any

from pkg_pipeline.adapters.exports.jsonl import read_jsonl
from pkg_pipeline.adapters.exports.reading import ByteSource
from pkg_pipeline.adapters.exports.telegram import read_telegram
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner, Rejected


class Items(list[Any]):
    """What a reader yielded, sorted by kind."""

    @property
    def owners(self) -> list[ParsedOwner]:
        return [item for item in self if isinstance(item, ParsedOwner)]

    @property
    def chats(self) -> list[ParsedChat]:
        return [item for item in self if isinstance(item, ParsedChat)]

    @property
    def messages(self) -> list[ParsedMessage]:
        return [item for item in self if isinstance(item, ParsedMessage)]

    @property
    def rejected(self) -> list[Rejected]:
        return [item for item in self if isinstance(item, Rejected)]


def source_of(content: bytes) -> ByteSource:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        yield io.BytesIO(content)

    written_at = datetime(2024, 5, 1, tzinfo=UTC)
    return ByteSource("test", opener=opened, bytes_total=len(content), written_at=written_at)


def telegram(document: Any, *, zone: tzinfo = UTC) -> Items:
    """``document`` is bytes, or what they should say."""
    content = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False, indent=1).encode()
    return Items(read_telegram(source_of(content), zone=zone))


def jsonl(content: bytes, *, zone: tzinfo = UTC) -> Items:
    return Items(read_jsonl(source_of(content), zone=zone))


def entry(number: int = 1, text: Any = "hello", **fields: Any) -> dict[str, Any]:
    """A message as Telegram Desktop writes it today."""
    return {
        "id": number,
        "type": "message",
        "date": "2024-03-01T10:00:00",
        "date_unixtime": str(1709287200 + number),
        "from": "Anna",
        "from_id": "user5",
        "text": text,
        **fields,
    }


def chat(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"name": "Anna", "type": "personal_chat", "id": 5, **fields, "messages": list(messages)}


def account(*chats: Any, **sections: Any) -> dict[str, Any]:
    return {
        "about": "Here is the data you requested.",
        "personal_information": {"user_id": 1, "first_name": "Me", "last_name": "Myself"},
        "contacts": {"about": "…", "list": [{"user_id": 5, "first_name": "Anna"}]},
        "chats": {"about": "…", "list": list(chats)},
        **sections,
    }
