"""Bytes of one export file, on disk or inside a zip: read once, counted for progress, hashed on the way.

What the bytes mean is the parsers' business.
"""

from __future__ import annotations

import hashlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import IO, Final

from pkg_pipeline.memory.records import ExportItem
from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS

CHUNK_BYTES: Final = 256 * 1024
UNREADABLE: Final = (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, RuntimeError)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One importer. ``refusal`` says by a file's first bytes why it is not of this format, or None.

    ``read`` yields what is in a file, given the zone of times without an offset; it never raises for the content.
    """

    refusal: Callable[[bytes], str | None]
    read: Callable[[ByteSource, tzinfo], Iterator[ExportItem]]


class DamagedFile(Exception):
    """The file cannot be read any further (disk error, broken zip member); the message says why."""


class ByteSource:
    """One file's bytes. ``name`` is for people, ``written_at`` the file's own time.

    ``bytes_read`` of ``bytes_total`` is the progress of ``chunks``.
    """

    def __init__(
        self,
        name: str,
        *,
        opener: Callable[[], AbstractContextManager[IO[bytes]]],
        bytes_total: int,
        written_at: datetime,
    ) -> None:
        self.name = name
        self.bytes_total = bytes_total
        self.written_at = written_at
        self.bytes_read = 0
        self._opener = opener
        self._sha256: str | None = None

    @property
    def sha256(self) -> str | None:
        """Hex digest of the whole content, once ``chunks`` was read to the end; None before."""
        return self._sha256

    def chunks(self) -> Iterator[bytes]:
        """The content from the start, counted and hashed. Raises ``DamagedFile``."""
        self.bytes_read = 0
        self._sha256 = None
        digest = hashlib.sha256()
        for chunk in self._read():
            self.bytes_read += len(chunk)
            digest.update(chunk)
            yield chunk
        self._sha256 = digest.hexdigest()

    def uncounted_chunks(self) -> Iterator[bytes]:
        """The content from the start once more, leaving progress and digest alone. Raises ``DamagedFile``."""
        return self._read()

    def head(self, size: int) -> bytes:
        """The first ``size`` bytes (fewer where there are no more). Raises ``DamagedFile``."""
        parts: list[bytes] = []
        missing = size
        with closing(self._read()) as chunks:
            for chunk in chunks:
                parts.append(chunk[:missing])
                missing -= len(parts[-1])
                if missing <= 0:
                    break
        return b"".join(parts)

    def _read(self) -> Generator[bytes]:
        # RuntimeError: an encrypted member, a compression that Python cannot undo; surprises: a zip that lies of itself
        try:
            with self._opener() as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk
        except (*UNREADABLE, *UNEXPECTED_ERRORS) as error:
            raise DamagedFile(f"cannot be read after byte {self.bytes_read:,}: {error}") from error
