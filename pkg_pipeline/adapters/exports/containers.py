"""The files behind a path: a file, a folder or a zip, without media. Zips are checked for bombs and never unpacked to
disk.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Final

from pkg_pipeline.adapters.exports.reading import ByteSource
from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS

MAX_ZIP_MEMBERS: Final = 200_000
MAX_ZIP_RATIO: Final = 250
"""Chat text compresses 5 to 20 times, repeated lines about 100 times; a bomb 1,000 times."""
MAX_ZIP_RATIO_FROM_BYTES: Final = 64 * 1024 * 1024
MAX_ZIP_BYTES: Final = 64 * 1024**3

_NO_TIME: Final = datetime(1980, 1, 1, tzinfo=UTC)
_ZIP_MARK: Final = b"PK\x03\x04"
_TELEGRAM_FILE: Final = "result.json"
_TELEGRAM_MEDIA: Final = frozenset(
    (
        "photos",
        "files",
        "video_files",
        "voice_messages",
        "round_video_messages",
        "stickers",
        "images",
        "css",
        "js",
        "chats",
        "contacts",
        "stories",
        "profile_pictures",
        "lists",
        "music",
        "profile_music",
    )
)
"""Folders beside a ``result.json`` with media and pages."""


class UnreadableExport(ValueError):
    """Nothing can be imported; the message is one sentence for the user."""


class UnreadablePart(ByteSource):
    """One file of a folder or zip that cannot be opened, and why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, opener=partial(nullcontext, BytesIO()), bytes_total=0, written_at=_NO_TIME)
        self.reason = reason


def files_in(path: Path) -> tuple[list[ByteSource], bool]:
    """Files by name, and whether ``path`` is a folder or zip; unreadable files as ``UnreadablePart``. Raises
    ``UnreadableExport``.
    """
    try:
        if path.is_dir():
            return _in_folder(path), True
        if not path.exists():
            raise UnreadableExport(f"{path}: there is no such file or folder")
        if not path.is_file():
            raise UnreadableExport(f"{path}: neither a file nor a folder")
        with path.open("rb") as stream:
            is_zip = stream.read(len(_ZIP_MARK)) == _ZIP_MARK
        return (_in_zip(path), True) if is_zip else ([_on_disk(path, path)], False)
    except OSError as error:
        raise UnreadableExport(f"{path}: cannot be read: {error.strerror or error}") from error


def _on_disk(path: Path, shown: Path) -> ByteSource:
    status = path.stat()
    written_at = datetime.fromtimestamp(status.st_mtime, UTC)
    return ByteSource(str(shown), opener=partial(path.open, "rb"), bytes_total=status.st_size, written_at=written_at)


def _in_folder(folder: Path) -> list[ByteSource]:
    found: list[ByteSource] = []
    for place, folders, names in os.walk(folder):
        inside = [name for name in folders if not _is_hidden(name)]
        folders[:] = sorted(name for name in inside if not (_TELEGRAM_FILE in names and name in _TELEGRAM_MEDIA))
        for name in sorted(names):
            path = Path(place) / name
            if _is_hidden(name) or not path.is_file():
                continue
            try:
                with path.open("rb") as stream:
                    is_zip = stream.read(len(_ZIP_MARK)) == _ZIP_MARK
                found.extend(_in_zip(path) if is_zip else [_on_disk(path, path)])
            except (UnreadableExport, OSError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                found.append(UnreadablePart(str(path), f"cannot be read: {reason}"))
    return found


def _in_zip(path: Path) -> list[ByteSource]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, *UNEXPECTED_ERRORS) as error:
        raise UnreadableExport(f"{path}: the zip is damaged: {error}") from error
    if len(members) > MAX_ZIP_MEMBERS:
        raise UnreadableExport(f"{path}: the zip has {len(members):,} files, more than {MAX_ZIP_MEMBERS:,}")
    wanted = sorted(_without_media(members), key=lambda info: info.filename)
    if sum(info.file_size for info in wanted) > MAX_ZIP_BYTES:
        raise UnreadableExport(f"{path}: the zip would unpack to more than {MAX_ZIP_BYTES // 1024**3} GiB")
    return [_member(path, info) for info in wanted]


def _member(path: Path, info: zipfile.ZipInfo) -> ByteSource:
    name = f"{path}:{info.filename}"
    if (refusal := _refusal_of(info)) is not None:
        return UnreadablePart(name, refusal)
    return ByteSource(
        name, opener=partial(_opened, path, info), bytes_total=info.file_size, written_at=_written_at(info)
    )


def _without_media(members: Iterable[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    named = [(PurePosixPath(info.filename), info) for info in members]
    exports = {path.parent for path, _ in named if path.name == _TELEGRAM_FILE}
    kept: list[zipfile.ZipInfo] = []
    for path, info in named:
        is_media = any(
            parent.parent in exports and parent.name in _TELEGRAM_MEDIA and parent != parent.parent
            for parent in path.parents
        )
        if not is_media and not any(_is_hidden(part) for part in path.parts):
            kept.append(info)
    return kept


def _refusal_of(info: zipfile.ZipInfo) -> str | None:
    """Why a member is not unpacked, or None."""
    if info.flag_bits & 1:
        return "it is protected by a password: unpack it first"
    packed = max(info.compress_size, 1)
    if info.file_size > MAX_ZIP_RATIO_FROM_BYTES and info.file_size / packed > MAX_ZIP_RATIO:
        return (
            f"it would unpack to {info.file_size // 1024**2:,} MiB, {info.file_size // packed:,} times its packed"
            " size: that is no conversation; unpack it yourself if you trust it"
        )
    return None


@contextmanager
def _opened(path: Path, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """By position: names may repeat."""
    with zipfile.ZipFile(path) as archive, archive.open(info) as stream:
        yield stream


def _written_at(info: zipfile.ZipInfo) -> datetime:
    """Zip times have no zone; read as UTC, the same on every machine."""
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:  # some packers leave month and day zero
        return _NO_TIME


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"
