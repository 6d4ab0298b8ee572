"""The bytes of one export file, on disk or in a zip, with progress and digest."""

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
    """One importer. ``refusal``: why a file with these first bytes is not of this format, or None. ``read`` never
    raises for the content.
    """

    refusal: Callable[[bytes], str | None]
    read: Callable[[ByteSource, tzinfo], Iterator[ExportItem]]


class DamagedFile(Exception):
    """Disk error or broken zip member; the message says why."""


class ByteSource:
    """``written_at``: the file's own time; ``bytes_read`` of ``bytes_total``: progress of ``chunks``."""

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
        """Hex digest after ``chunks`` was read to the end, else None."""
        return self._sha256

    def chunks(self) -> Iterator[bytes]:
        """The content, counted and hashed. Raises ``DamagedFile``."""
        self.bytes_read = 0
        self._sha256 = None
        digest = hashlib.sha256()
        for chunk in self._read():
            self.bytes_read += len(chunk)
            digest.update(chunk)
            yield chunk
        self._sha256 = digest.hexdigest()

    def uncounted_chunks(self) -> Iterator[bytes]:
        """The content once more, without progress and digest. Raises ``DamagedFile``."""
        return self._read()

    def head(self, size: int) -> bytes:
        """At most the first ``size`` bytes. Raises ``DamagedFile``."""
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
