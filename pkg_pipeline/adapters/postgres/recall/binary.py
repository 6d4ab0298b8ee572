"""What rows of chunks and of vectors share in PostgreSQL's binary COPY format."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from uuid import UUID

BEGIN = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
END = struct.pack(">h", -1)
_UUID_TYPE = 2950
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=4096)
def uuid_array(ids: tuple[UUID, ...]) -> bytes:
    """With its length."""
    if not ids:
        return struct.pack(">iiii", 12, 0, 0, _UUID_TYPE)
    head = struct.pack(">iiiiii", 20 + 20 * len(ids), 1, 0, _UUID_TYPE, len(ids), 1)
    return head + b"".join(b"\0\0\0\x10" + one.bytes for one in ids)
