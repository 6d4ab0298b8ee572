"""Files, folders and zips: what is found in them, by content, and what is refused in plain words."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pkg_pipeline.adapters.exports.containers import MAX_ZIP_RATIO_FROM_BYTES
from pkg_pipeline.adapters.exports.detect import UnreadableExport, open_export
from pkg_pipeline.memory.records import ParsedMessage, Rejected
from pkg_pipeline.stages.ingest.records import ExportSource
from pkg_pipeline_tests.adapters.exports.content import account, chat, entry

TELEGRAM = json.dumps(account(chat(entry(1), entry(2))), indent=1).encode()
ONE_CHAT = json.dumps(chat(entry(1))).encode()
LINE = b'{"chat_id":"c","message_id":"1","sender_id":"u","sent_at":"2024-03-01T10:00:00Z","text":"hi"}\n'


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (TELEGRAM, "telegram"),
        (ONE_CHAT, "telegram"),
        (b"\xef\xbb\xbf" + ONE_CHAT, "telegram"),
        (b'{"messages": [{"type": "message"', "telegram"),
        (b'{"name": "B", "type": "bot_chat", "id": 1\n "messages"', "telegram"),  # broken: its reader says where
        (b'{"about": "x", "contacts": {"list": [' + b'{"a": 1},' * 20_000 + b'{}]}, "chats": {}}', None),
        (b'{"personal_information": {}, "contacts": {"list": [' + b'{"a": 1},' * 50_000 + b"{}]}}", "telegram"),
        (LINE, "jsonl"),
        (b"\n\nnot json\n{}\n" + LINE, "jsonl"),
        (LINE.replace(b'"text":"hi"', b'"body":"hi"'), "jsonl"),  # told line by line what is missing
        (LINE.replace(b"hi", b"a" * 500_000), "jsonl"),
        (LINE[:60], "jsonl"),
    ],
)
def test_the_format_is_guessed_from_the_content_and_not_the_name(
    tmp_path: Path, content: bytes, known: str | None
) -> None:
    path = write(tmp_path / "holiday.png", content)
    if known is None:
        with pytest.raises(UnreadableExport):
            open_export(path)
    else:
        assert [export.format for export in open_export(path)] == [known]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (
            b"hello",
            "tried jsonl (no line is an object with chat_id, message_id, sender_id, sent_at, text), telegram (no JSON",
        ),
        (b"[1, 2]", "telegram (begins with a list)"),
        (b'{"guild": {}, "channel": {}, "messages": []}', "its keys are another program's"),
        (b"<!DOCTYPE html><html>", "it is a web page: export again and choose JSON"),
        ("привет".encode("utf-16"), "the text is UTF-16"),
        (b"PK\x03\x04 and no more", "the zip is damaged"),
    ],
)
def test_unknown_content_is_refused_with_what_was_tried(tmp_path: Path, content: bytes, reason: str) -> None:
    path = write(tmp_path / "x.json", content)
    with pytest.raises(UnreadableExport) as caught:
        open_export(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_path_that_is_not_there_or_holds_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableExport, match="no such file"):
        open_export(tmp_path / "nowhere")
    with pytest.raises(UnreadableExport, match="there is no file in it"):
        open_export(tmp_path)
    write(tmp_path / "notes.md", b"# notes")
    with pytest.raises(UnreadableExport, match=r"none of its 1 files .*notes\.md"):
        open_export(tmp_path)


def test_options_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", LINE)
    with pytest.raises(ValueError, match="unknown format 'carrier-pigeon': known are jsonl, telegram"):
        open_export(path, format="carrier-pigeon")
    with pytest.raises(ValueError, match="unknown time zone 'Mars/Olympus'"):
        open_export(path, timezone="Mars/Olympus")


def test_a_given_format_is_believed(tmp_path: Path) -> None:
    (export,) = open_export(write(tmp_path / "a.txt", b"hello"), format="jsonl")
    assert [item.where for item in export.items() if isinstance(item, Rejected)] == ["line 1"]


def test_a_given_format_of_a_folder_takes_its_data_files_and_no_pictures(tmp_path: Path) -> None:
    write(tmp_path / "a.png", b"\x89PNG")
    write(tmp_path / "b.json", ONE_CHAT)
    write(tmp_path / "c.log", LINE)
    write(tmp_path / "d.txt", b"hello")
    exports = open_export(tmp_path, format="telegram")
    assert [(Path(export.name).name, export.format) for export in exports] == [
        ("b.json", "telegram"),
        ("d.txt", "telegram"),
    ]


def test_the_zone_is_assumed_for_times_without_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", LINE.replace(b"00Z", b"00"))
    (message,) = [
        item for item in open_export(path, timezone="Asia/Tokyo")[0].items() if isinstance(item, ParsedMessage)
    ]
    assert (message.sent_at, message.time_assumed) == (datetime(2024, 3, 1, 1, tzinfo=UTC), True)


def test_progress_digest_and_time_of_the_file(tmp_path: Path) -> None:
    content = LINE * 10_000
    path = write(tmp_path / "a.jsonl", content)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    export: ExportSource = open_export(path)[0]
    assert (export.bytes_read, export.bytes_total, export.sha256) == (0, len(content), None)
    items = export.items()
    next(items)
    assert 0 < export.bytes_read < len(content)
    assert export.sha256 is None
    assert sum(1 for _ in items) == 10_000
    assert (export.bytes_read, export.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert (export.name, export.exported_at) == (str(path), datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC))
    assert sum(1 for _ in export.items()) == 10_001  # a second reading starts over


def test_the_digest_of_a_broken_file_is_that_of_the_whole_file(tmp_path: Path) -> None:
    content = b'{"messages": [oops' + b" " * 1_000_000
    export = open_export(write(tmp_path / "a.json", content))[0]
    assert [item for item in export.items() if isinstance(item, Rejected)]
    assert export.sha256 == hashlib.sha256(content).hexdigest()


MEMBERS = {
    "Telegram/ChatExport_1/result.json": TELEGRAM,
    "Telegram/ChatExport_1/files/backup.jsonl": LINE,  # somebody's attachment, no conversation of mine
    "Telegram/ChatExport_1/photos/1.jpg": b"\xff\xd8",
    "crm/all.log": LINE,
    "crm/readme.md": b"about",
    "crm/other.json": b"{}",
    ".cache/x.jsonl": LINE,
    "__MACOSX/crm/._all.log": LINE,
}


@pytest.mark.parametrize("as_zip", [False, True])
def test_folders_and_zips_are_searched_at_any_depth_without_media(tmp_path: Path, *, as_zip: bool) -> None:
    if as_zip:
        path = zipped(tmp_path / "all.zip", MEMBERS)
    else:
        path = tmp_path / "all"
        for name, content in MEMBERS.items():
            write(path / name, content)
    exports = open_export(path)
    between = ":" if as_zip else "/"
    assert [(export.name, export.format) for export in exports] == [
        (f"{path}{between}Telegram/ChatExport_1/result.json", "telegram"),
        (f"{path}{between}crm/all.log", "jsonl"),
        (f"{path}{between}crm/other.json", "unknown"),
    ]
    assert [sum(isinstance(item, ParsedMessage) for item in export.items()) for export in exports] == [2, 1, 0]
    assert "no known format" in next(item.reason for item in exports[2].items() if isinstance(item, Rejected))
    assert exports[0].sha256 == hashlib.sha256(TELEGRAM).hexdigest()


def test_a_zip_in_a_folder_is_opened(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", {"result.json": TELEGRAM})
    assert [export.name for export in open_export(tmp_path)] == [f"{tmp_path}/a.zip:result.json"]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("result.json", "w") as member:
        for _ in range(MAX_ZIP_RATIO_FROM_BYTES // (1 << 20) + 1):
            member.write(b" " * (1 << 20))
    with pytest.raises(UnreadableExport, match=r"result\.json: it would unpack to 65 MiB, .* times its packed size"):
        open_export(path)


def test_a_damaged_member_gives_what_stands_before_the_damage(tmp_path: Path) -> None:
    lines = b"".join(LINE.replace(b'"1"', b'"%d"' % n) for n in range(30_000))
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.jsonl", lines)
    content = bytearray(path.read_bytes())
    content[len(lines) - 1_000] ^= 0x01  # the checksum at the member's end no longer fits
    path.write_bytes(content)
    export = open_export(path)[0]
    items = list(export.items())
    assert sum(isinstance(item, ParsedMessage) for item in items) > 25_000
    assert isinstance(items[-1], Rejected)
    assert "Bad CRC-32" in items[-1].reason
    assert export.sha256 is None
