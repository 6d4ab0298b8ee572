"""Exports that were cut, whose bits flipped, or that somebody wrote to break the reader.

Every entry is known by its place in the file, so that it is known which of them a fault did not touch: these must come
out, once, in their chat. One try in a hundred goes through the database and is counted there again.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from faults.ground import Ground
from faults.kinds import Outcome, fault
from pkg_pipeline.adapters.exports import telegram_marks
from pkg_pipeline.adapters.exports.detect import Export, UnreadableExport, open_export
from pkg_pipeline.memory.records import ParsedMessage, Rejected
from pkg_pipeline_tests.stages.ingest.import_rig import Rig

SHORT, FULL = 300, 10_000
THROUGH_DATABASE: Final = 100
SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "samples" / "telegram"
HOW = (
    "bits flipped, bytes cut off, taken out and put in, hostile values (`--5`, 100,000 brackets, 5,000 digits, NaN,"
    " lone surrogates, wrong types) at any key"
)
ENDS = "each entry that the fault did not touch is in once, in its chat; the rest is counted with its place"
HOSTILE = (
    '"--5"', '"-"', "9" * 5_000, json.dumps("9" * 5_000), "NaN", "-Infinity", "1e400", "true", "null", "[[]]", "{}",
    "[" * 100_000 + "]" * 100_000, '{"a":' * 3_000 + "1" + "}" * 3_000, '"\\ud800"', '"\\u0000"', '""', "-1", "0.5",
    '"1970-01-01T00:00:00"', '"9999-12-31T23:59:59"', '{"id": 1, "type": "message"}', '["x", {"text": ["y"]}]',
    json.dumps("x" * 100_000),
)  # fmt: skip
Key = tuple[str, str]
"""Chat and message."""
Stretch = tuple[int, int]
"""Of the bytes of a file: first, and the one behind the last."""


@dataclass(slots=True)
class Original:
    """A file that is whole: where its entries stand and what they are, and what stands around all of a chat."""

    name: str
    content: bytes
    entries: list[tuple[Stretch, Key]] = field(default_factory=list[tuple[Stretch, Key]])
    heads: list[tuple[Stretch, str]] = field(default_factory=list[tuple[Stretch, str]])

    def untouched(self, spoilt: Iterable[Stretch]) -> set[Key]:
        """The entries that no spoilt stretch meets, in chats whose heads none meets."""
        stretches = list(spoilt)

        def is_met(span: Stretch) -> bool:
            return any(start < span[1] and end > span[0] for start, end in stretches)

        lost = {chat for span, chat in self.heads if is_met(span)}
        return {key for span, key in self.entries if key[0] not in lost and not is_met(span)}


Damaged = tuple[bytes, list[Stretch]]
"""A file and the stretches of the original that are not as they were."""


def _entry(chat: int, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "message",
        "date": "2026-01-05T10:00:00",
        "date_unixtime": str(1_767_600_000 + 60 * number),
        "from": "Anna \u00fc",
        "from_id": f"user{5 if number % 2 else 1}",
        "reply_to_message_id": number - 1,
        "text": ["said ", {"type": "bold", "text": f"{chat}-{number}"}, ' in "quotes" {and} [more] \\'],
        "text_entities": [{"type": "plain", "text": f"said {chat}-{number}"}],
    }


def _account() -> bytes:
    def chat(number: int, kind: str) -> dict[str, Any]:
        return {
            "name": f"Chat {number}",
            "type": kind,
            "id": number,
            "messages": [_entry(number, n) for n in range(1, 13)],
        }

    document = {
        "about": "Here is the data.",
        "personal_information": {"user_id": 1, "first_name": "Me", "last_name": ""},
        "contacts": {"about": "…", "list": [{"user_id": 5, "first_name": "Anna"}]},
        "chats": {"about": "…", "list": [chat(5, "personal_chat"), chat(6, "private_supergroup"), chat(7, "bot_chat")]},
        "left_chats": {"about": "…", "list": [chat(8, "public_supergroup")]},
    }
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def _read(exports: Iterable[Export]) -> Iterator[ParsedMessage | Rejected]:
    for export in exports:
        for item in export.items():
            if isinstance(item, (ParsedMessage, Rejected)):
                yield item


def _telegram(name: str, content: bytes, folder: Path) -> Original | None:
    """None for a file whose entries cannot be told apart in its text."""
    original = Original(name, content)
    path = folder / "original.json"
    path.write_bytes(content)
    read = list(_read(open_export(path)))
    text, decode = content.decode("latin-1"), json.JSONDecoder(strict=False).raw_decode
    marks = [found for found in telegram_marks.MARKS.finditer(text) if found["entry"] or found["chat"]]
    if sum(bool(found["entry"]) for found in marks) != len(read):
        return None
    place, head = 0, (0, 0)
    for found in marks:
        if found["chat"]:
            head = found.span()
            continue
        item = read[place]
        place += 1
        if isinstance(item, ParsedMessage):
            stretch = found.start(), decode(text, found.start())[1]
            original.heads.append((head, item.chat_external_id))
            original.entries.append((stretch, (item.chat_external_id, item.external_id)))
    return original


def _lines() -> Original:
    """Messages of two chats; a line and the ends of line around it are one entry."""
    made, original = b"", Original("own.jsonl", b"")
    for number in range(1, 41):
        fields = {
            "chat_id": f"c{number % 2}", "message_id": str(number), "sender_id": "anna", "sender_name": "Anna \u00fc",
            "sent_at": f"2026-01-05T10:{number:02}:00Z", "text": f'said {number} in "quotes" \\', "source": "jsonl",
            "metadata": {"a": [1, {"b": None}]}, "is_self": False, "reply_to": "1", "edited_at": None,
        }  # fmt: skip
        line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
        place = max(len(made) - 1, 0), len(made) + len(line)
        original.entries.append((place, (f"c{number % 2}", str(number))))
        made += line
    original.content = made
    return original


def flipped(content: bytes, chance: random.Random) -> Damaged:
    spoilt, found = bytearray(content), list[tuple[int, int]]()
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(content))
        spoilt[at] ^= 1 << chance.randrange(8)
        found.append((at, at + 1))
    return bytes(spoilt), found


def cut(content: bytes, chance: random.Random) -> Damaged:
    at = chance.randrange(len(content))
    return content[:at], [(at, len(content))]


def taken_out(content: bytes, chance: random.Random) -> Damaged:
    at, size = chance.randrange(len(content)), chance.randint(1, 60)
    return content[:at] + content[at + size :], [(at - 1, at + size + 1)]


def put_in(content: bytes, chance: random.Random) -> Damaged:
    at = chance.randrange(1, len(content))
    more = chance.choice((b'"', b"}", b"]", b"{", b"[", b",", b"\\", b"\x00", b"\xff\xfe", b"null", b"[[[[", b"}}}}]]"))
    return content[:at] + more + content[at:], [(at - 1, at + 1)]


_VALUE = re.compile(r'("[a-z_]+": ?)("(?:[^"\\]|\\.)*"|-?\d+|true|false|null)')


def hostile(content: bytes, chance: random.Random) -> Damaged:
    """Another value at a key, or the key twice, or not at all."""
    text = content.decode("latin-1")
    places = list(_VALUE.finditer(text))
    found = chance.choice(places)
    key, value = found.groups()
    other = chance.choice(HOSTILE)
    new = chance.choice((key + other, key + other, f"{key}{value}, {key}{other}", '"other": 1'))
    return (text[: found.start()] + new + text[found.end() :]).encode("latin-1"), [found.span()]


def overwritten(content: bytes, chance: random.Random) -> Damaged:
    at = chance.randrange(len(content))
    end = min(at + chance.randint(1, 200), len(content))
    return content[:at] + chance.randbytes(end - at) + content[end:], [(at, end)]


Way = Callable[[bytes, random.Random], Damaged]
WAYS: Final[tuple[Way, ...]] = (flipped, cut, taken_out, put_in, overwritten, hostile)
IN_PLACE: Final[tuple[Way, ...]] = (flipped, cut, overwritten)
"""What a disk or a broken download does: where bytes move, the directory of a zip is wrong for all its files."""


def _judge(outcome: Outcome, original: Original, damaged: Damaged, found: Counter[Key], *, at: str) -> None:
    """Count what should have come out and did not, and what came out twice."""
    expected = original.untouched(damaged[1])
    lost = sum(1 for key in expected if not found[key])
    outcome.lost += lost
    if lost:
        outcome.wrong.append(f"{at}: {lost} of {len(expected)} entries that were not touched are missing")


def _try(outcome: Outcome, original: Original, damaged: Damaged, path: Path, rig: Rig | None, *, at: str) -> None:
    path.write_bytes(damaged[0])
    outcome.tries += 1
    try:
        exports = open_export(path)
        if rig is None:
            read = [one for one in _read(exports) if isinstance(one, ParsedMessage)]
            found = Counter((one.chat_external_id, one.external_id) for one in read)
            words = Counter((one.chat_external_id, one.external_id, one.text) for one in read)
            once = original.untouched(damaged[1])
            doubled = sum(1 for key, count in words.items() if count > 1 and key[:2] in once)
            outcome.doubled += doubled
            if doubled:
                outcome.wrong.append(f"{at}: {doubled} entries came out twice")
        else:
            found = _stored(outcome, rig, exports, at=at)
    except UnreadableExport:  # one clear line; whatever the fault left of the file's beginning is no export
        found = Counter(original.untouched(damaged[1]) if _is_unknown(original, damaged) else ())
    except Exception as error:  # noqa: BLE001  # any other is what this looks for
        outcome.wrong.append(f"{at}: {type(error).__name__}")
        return
    _judge(outcome, original, damaged, found, at=at)


def _is_unknown(original: Original, damaged: Damaged) -> bool:
    """Whether the fault met the first bytes, moved the first entry far away or left none: then no format is told."""
    is_far = len(damaged[0]) > len(original.content) + 10_000
    return is_far or any(start < 4 for start, _ in damaged[1]) or not original.untouched(damaged[1])


def _stored(outcome: Outcome, rig: Rig, exports: list[Export], *, at: str) -> Counter[Key]:
    rig.empty()
    new = 0
    for export in exports:
        report = rig.take_export(export)
        new += report.counts.new
    rig.build()
    rows = rig.rows("SELECT c.external_id, m.external_id FROM messages m JOIN chats c ON c.id = m.chat_id")
    if len(rows) != new:
        outcome.wrong.append(f"{at}: {new} messages reported, {len(rows)} stored")
    running = rig.value("SELECT count(*) FROM import_batches WHERE status = 'running'")
    if running:
        outcome.wrong.append(f"{at}: {running} imports are still under way")
    return Counter((str(row[0]), str(row[1])) for row in rows)


def _attack(
    outcome: Outcome, originals: list[Original], ground: Ground, tries: int, ending: str, ways: tuple[Way, ...] = WAYS
) -> Outcome:
    path = ground.folder / f"damaged{ending}"
    with ground.database() as url:
        rig = Rig(url)
        try:
            for number in range(tries):
                chance = random.Random(number)
                original = originals[number // len(ways) % len(originals)]
                way = ways[number % len(ways)]
                stored = (
                    rig if number % THROUGH_DATABASE == THROUGH_DATABASE // 2 + number // THROUGH_DATABASE % 5 else None
                )
                at = f"{original.name}, {way.__name__}, try {number}"
                _try(outcome, original, way(original.content, chance), path, stored, at=at)
        finally:
            rig.close()
    return outcome


@fault("damaged Telegram export", how=HOW, short=SHORT, full=FULL)
def damaged_telegram(ground: Ground, tries: int) -> Outcome:
    files = {"own account": _account()}
    files |= {str(path.relative_to(SAMPLES)): path.read_bytes() for path in sorted(SAMPLES.rglob("*.json"))}
    found = [_telegram(name, content, ground.folder) for name, content in files.items()]
    originals = [original for original in found if original is not None and original.entries]
    return _attack(Outcome(ends=ENDS), originals, ground, tries, ".json")


@fault("damaged JSONL", how=HOW, short=SHORT, full=FULL)
def damaged_jsonl(ground: Ground, tries: int) -> Outcome:
    return _attack(Outcome(ends=ENDS), [_lines()], ground, tries, ".jsonl")


@fault(
    "damaged zip",
    how="bits flipped, bytes overwritten and cut off in zips of three exports, packed and unpacked",
    short=SHORT,
    full=FULL,
)
def damaged_zip(ground: Ground, tries: int) -> Outcome:
    ends = "what stands in files that the fault did not touch is in; a zip without its directory is one clear line"
    originals = [_zipped(packed, ground.folder) for packed in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    return _attack(Outcome(ends=ends), originals, ground, tries, ".zip", IN_PLACE)


def _zipped(packed: int, folder: Path) -> Original:
    """Every message of a file is touched with its file, and all with the directory at the end."""
    path = folder / "original.zip"
    lines, account = _lines().content, _account()
    parts = {
        "a.jsonl": lines,
        "b/result.json": account,
        "c.jsonl": lines.replace(b'"c0"', b'"d0"').replace(b'"c1"', b'"d1"'),
    }
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 5, 0, 0, 0)), content, packed)
        starts = [*(info.header_offset for info in archive.infolist())]
        end = archive.start_dir
    original = Original(f"zip, {'packed' if packed else 'stored'}", path.read_bytes())
    for export, start, stop in zip(open_export(path), starts, [*starts[1:], end], strict=True):
        read = [item for item in export.items() if isinstance(item, ParsedMessage)]
        original.entries += [((start, stop), (item.chat_external_id, item.external_id)) for item in read]
        # without the directory at the end no member is found
        directory = end, len(original.content)
        original.heads += [(directory, chat) for chat in {item.chat_external_id for item in read}]
    return original
