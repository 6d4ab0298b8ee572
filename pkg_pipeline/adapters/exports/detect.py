"""Finds export files at a path and detects their format by content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import tzinfo
from pathlib import Path
from typing import Final

from pkg_pipeline.adapters.exports.containers import UnreadableExport, UnreadablePart, files_in
from pkg_pipeline.adapters.exports.formats import formats
from pkg_pipeline.adapters.exports.reading import ByteSource, DamagedFile, ExportFormat
from pkg_pipeline.memory.records import ExportItem, Rejected
from pkg_pipeline.memory.text.cleaning import UNEXPECTED_ERRORS, unexpected_error
from pkg_pipeline.memory.text.timestamps import zone_named

__all__ = ["Export", "UnreadableExport", "open_export"]

_HEAD_BYTES: Final = 128 * 1024
_DATA_SUFFIXES: Final = frozenset((".json", ".jsonl", ".ndjson", ".zip", ".txt", ".mbox"))


class Export:
    """A file with the reader of its format; implements ``ExportSource``.

    ``name``: the path, plus the member of a zip; ``exported_at``: when the file was written; ``bytes_read`` of
    ``bytes_total``: progress of ``items``.
    """

    def __init__(
        self, content: ByteSource, *, format_name: str, reader: Callable[[ByteSource], Iterator[ExportItem]]
    ) -> None:
        self.name = content.name
        self.format = format_name
        self.exported_at = content.written_at
        self._content = content
        self._reader = reader

    @property
    def bytes_total(self) -> int:
        """Unpacked size."""
        return self._content.bytes_total

    @property
    def bytes_read(self) -> int:
        return self._content.bytes_read

    @property
    def sha256(self) -> str | None:
        """Hex digest; None until ``items`` is exhausted, or if the file could not be read."""
        return self._content.sha256

    def items(self) -> Iterator[ExportItem]:
        """Chats, each before its messages; each call reads anew. Never raises for the content."""
        try:
            yield from self._reader(self._content)
        except UNEXPECTED_ERRORS as error:  # outside of entries: the rest of the file is unread
            yield Rejected(f"byte {self._content.bytes_read}", unexpected_error(error), is_damage=True)
        if self._content.sha256 is None:  # the reader stopped early; the digest is of the whole file
            with suppress(DamagedFile):
                for _ in self._content.chunks():
                    pass


def open_export(path: Path | str, *, format: str | None = None, timezone: str = "UTC") -> list[Export]:  # noqa: A002
    """The exports at ``path``: a file, a folder (recursive) or a zip.

    ``format``, a name of ``formats``, skips detection; in a folder or zip only that format is read. ``timezone``: IANA
    name for times without offset. Unknown files of a folder or zip give one ``Rejected``. Raises ``UnreadableExport``
    if nothing can be read, ``ValueError`` for an unknown format or zone.
    """
    zone = zone_named(timezone)
    known_formats = formats()
    if format is not None and format not in known_formats:
        raise ValueError(f"unknown format {format!r}: known are {', '.join(sorted(known_formats))}")
    found, unknown = list[Export](), list[tuple[ByteSource, str]]()
    files, is_container = files_in(Path(path))
    for source in files:
        if isinstance(source, UnreadablePart):
            unknown.append((source, source.reason))
            continue
        try:
            believed = format is not None and (not is_container or _is_data(source.name))
            known = format if believed and format else _format_of(source, known_formats)
        except (UnreadableExport, DamagedFile) as error:
            unknown.append((source, str(error)))
        except UNEXPECTED_ERRORS as error:
            unknown.append((source, unexpected_error(error)))
        else:
            if format is not None and known != format:
                continue
            found.append(Export(source, format_name=known, reader=_in_zone(known_formats[known], zone)))
    if not found:
        raise UnreadableExport(_nothing_found(Path(path), unknown, is_container=is_container))
    wanted = [
        (source, reason) for source, reason in unknown if isinstance(source, UnreadablePart) or _is_data(source.name)
    ]
    return found + [Export(source, format_name="unknown", reader=_rejecting(reason)) for source, reason in wanted]


def _nothing_found(path: Path, unknown: list[tuple[ByteSource, str]], *, is_container: bool) -> str:
    if not unknown:
        return f"{path}: there is no file in it"
    if not is_container:
        return f"{path}: {unknown[0][1]}"
    first = next((pair for pair in unknown if _is_data(pair[0].name)), unknown[0])
    return f"{path}: none of its {len(unknown)} files is an export that can be read; {first[0].name}: {first[1]}"


def _is_data(name: str) -> bool:
    return Path(name).suffix.lower() in _DATA_SUFFIXES


def _in_zone(known: ExportFormat, zone: tzinfo) -> Callable[[ByteSource], Iterator[ExportItem]]:
    return lambda source: known.read(source, zone)


def _rejecting(reason: str) -> Callable[[ByteSource], Iterator[ExportItem]]:
    return lambda _: iter((Rejected("", reason, is_damage=True),))


def _format_of(source: ByteSource, known: Mapping[str, ExportFormat]) -> str:
    """Raises ``UnreadableExport`` saying what was tried, or ``DamagedFile``."""
    head = source.head(_HEAD_BYTES)
    if not head.strip():
        raise UnreadableExport("the file is empty")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableExport("the text is UTF-16: save it as UTF-8 and import that")
    tried: list[str] = []
    for name, one in known.items():
        if (refusal := one.refusal(head)) is None:
            return name
        tried.append(f"{name} ({refusal})")
    raise UnreadableExport(f"the content is of no known format; tried {', '.join(tried)}{_hint(head)}")


def _hint(head: bytes) -> str:
    start = head[:2048].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "; it is a web page: export again and choose JSON as the format"
    return ""
