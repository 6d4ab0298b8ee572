"""The three corpora of the recall questions as lines of the generic format, one reader for each form of file.

Russian comes from this repository (the demo's conversations and the labelled chats), Chinese and English from public
sample files that lie beside the checkout and are never part of it. Ids are places in the files, so they stay the same
at every import. The questions are in ``questions/``, how they are asked and judged is in ``recall_languages``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pkg_pipeline.demo.account import OWNER, TIMEZONE, load_chats
from pkg_pipeline.demo.timing import said
from pkg_pipeline.memory.hashing import message_key

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT.parent / "shared" / "samples"
LABELLED_RU = ROOT / "pkg_pipeline_tests" / "fixtures" / "labelled" / "ru.json"
DEMO_NOW = datetime(2025, 12, 15, 12, tzinfo=UTC)
FILMS_START = date(2024, 1, 1)
LANGUAGES = ("ru", "zh", "en")

ZH_FILE = "generic/kdconv_film_dev.json"
EN_IRC = ("irc/2006-06-01.train-a.raw.txt", "irc/2008-04-27.train-a.raw.txt")
EN_WHATSAPP = ("whatsapp/locket_team.txt", "whatsapp/locket_sarah.txt")
EN_SELF = "Jeffrey Williams"

_IRC = re.compile(r"\[(?P<clock>\d\d:\d\d)\] <(?P<nick>[^>]+)> (?P<text>.*)")
_WHATSAPP = re.compile(r"(?P<head>\d+/\d+/\d\d, \d+:\d\d [AP]M) - (?P<rest>.*)")
_KINDS = {"private_group": "group", "private_supergroup": "group", "public_channel": "channel"}

Row = dict[str, Any]
"""One line of the generic JSONL format."""


class CorpusMissing(FileNotFoundError):
    """A sample file is not where it should lie."""


def corpus(language: str, samples: Path = SAMPLES) -> list[Row]:
    """All messages of one language's corpus in the order of its files. Raises CorpusMissing, names the file."""
    if language == "ru":
        return [*demo_rows(), *labelled_rows(LABELLED_RU)]
    names = (ZH_FILE,) if language == "zh" else (*EN_IRC, *EN_WHATSAPP)
    for name in names:
        if not (samples / name).is_file():
            raise CorpusMissing(name)
    if language == "zh":
        return list(dialogue_rows(json.loads((samples / ZH_FILE).read_text(encoding="utf-8")), start=FILMS_START))
    rows: list[Row] = []
    for name in EN_IRC:
        day = date.fromisoformat(Path(name).name[:10])
        rows += irc_rows((samples / name).read_text(encoding="utf-8").split("\n"), day=day)
    for name in EN_WHATSAPP:
        chat = Path(name).stem.removeprefix("locket_")
        rows += whatsapp_rows((samples / name).read_text(encoding="utf-8").split("\n"), chat=chat, own=EN_SELF)
    return rows


def write_jsonl(rows: Iterable[Row], path: Path) -> None:
    """The rows as the importer reads them."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def key_of(row: Row) -> str:
    """The name that the message of a row has after its import."""
    return message_key(row["source"], row["chat_id"], row["message_id"])


def fingerprint(texts: Iterable[str]) -> str:
    """Twelve hex digits over texts in their order: says whether ids still mean the messages they were written for."""
    return sha256("\n".join(" ".join(text.split()) for text in texts).encode()).hexdigest()[:12]


def dialogue_rows(dialogues: list[Row], *, start: date) -> Iterator[Row]:
    """Dialogues without times or speakers (``messages`` of ``message``): one each evening from ``start`` in one chat.

    Two people take turns, a minute apart; ids are ``dialogue-turn``, from 000 and 01.
    """
    for number, dialogue in enumerate(dialogues):
        begun = datetime.combine(start + timedelta(days=number), time(20), tzinfo=UTC)
        for turn, message in enumerate(dialogue["messages"], start=1):
            own = turn % 2 == 1
            yield {
                "source": "films",
                "chat_id": "friend",
                "chat_kind": "direct",
                "message_id": f"{number:03}-{turn:02}",
                "sender_id": "me" if own else "friend",
                "sender_name": "我" if own else "影迷",
                "is_self": own,
                "sent_at": (begun + timedelta(minutes=turn - 1)).isoformat(),
                "text": message["message"],
            }


def irc_rows(lines: list[str], *, day: date) -> Iterator[Row]:
    """One day of a channel (``[HH:MM] <nick> text``) without joins, parts and topics. The id is the line's number.

    The log has no seconds: the lines of a minute share it evenly, in their order. Times are taken as UTC.
    """
    found = [(number, match) for number, line in enumerate(lines, start=1) if (match := _IRC.fullmatch(line))]
    crowd = Counter(match["clock"] for _, match in found)
    placed: Counter[str] = Counter()
    for number, match in found:
        clock = match["clock"]
        minute = datetime.combine(day, time.fromisoformat(clock), tzinfo=UTC)
        moment = minute + timedelta(seconds=60 * placed[clock] / crowd[clock])
        placed[clock] += 1
        yield {
            "source": "irc",
            "chat_id": f"ubuntu-{day}",
            "chat_title": f"#ubuntu {day}",
            "chat_kind": "group",
            "message_id": str(number),
            "sender_id": match["nick"],
            "sender_name": match["nick"],
            "sent_at": moment.isoformat(),
            "text": match["text"],
        }


def whatsapp_rows(lines: list[str], *, chat: str, own: str) -> Iterator[Row]:
    """An English chat export (``M/D/YY, H:MM PM - Name: text``); the id is the number of the message's first line.

    Lines without a head continue the message above; heads without a name are notices and left out. Times are taken
    as UTC; several messages of one minute keep their order by a second each.
    """
    rows: list[Row] = []
    notice = False
    for number, line in enumerate(lines, start=1):
        match = _WHATSAPP.fullmatch(line)
        name, colon, text = match["rest"].partition(": ") if match else ("", "", "")
        if match is None:
            if line and rows and not notice:
                rows[-1]["text"] += "\n" + line
            continue
        notice = not colon
        if notice:
            continue
        moment = datetime.strptime(match["head"], "%m/%d/%y, %I:%M %p").replace(tzinfo=UTC)
        if rows and moment <= (last := datetime.fromisoformat(rows[-1]["sent_at"])) < moment + timedelta(minutes=1):
            moment = last + timedelta(seconds=1)
        rows.append(
            {
                "source": "whatsapp",
                "chat_id": chat,
                "chat_title": chat,
                "message_id": str(number),
                "sender_id": name,
                "sender_name": name,
                "is_self": name == own,
                "sent_at": moment.isoformat(),
                "text": text,
            }
        )
    return iter(rows)


def demo_rows(now: datetime = DEMO_NOW) -> Iterator[Row]:
    """The demo's Russian chats with dates reckoned from ``now``, each message as it reads in the end.

    Messages without words are left out; the id is the line's number in its chat.
    """
    zone = ZoneInfo(TIMEZONE)
    for chat in load_chats():
        if chat.language != "ru":
            continue
        for number, one in enumerate(said(chat, now=now, zone=zone), start=1):
            text = one.edited_text or one.text
            if one.line.action is not None or not text:
                continue
            speaker = chat.cast[one.line.who]
            yield {
                "source": "account",
                "chat_id": chat.external_id,
                "chat_title": chat.title,
                "chat_kind": _KINDS.get(chat.kind, "direct"),
                "message_id": str(number),
                "sender_id": speaker.external_id,
                "sender_name": speaker.name,
                "is_self": speaker.external_id == OWNER.external_id,
                "sent_at": one.sent_at.isoformat(),
                "text": text,
            }


def labelled_rows(path: Path) -> Iterator[Row]:
    """The labelled chats of the tests' fixtures; one chat each, ids as they are numbered there."""
    for talk in json.loads(path.read_text(encoding="utf-8")):
        own = {person["name"]: person["is_self"] for person in talk["participants"]}
        for message in talk["messages"]:
            yield {
                "source": "labelled",
                "chat_id": talk["id"],
                "chat_title": ", ".join(name for name, is_self in own.items() if not is_self),
                "message_id": str(message["number"]),
                "sender_id": f"{talk['id']}:{message['sender']}",
                "sender_name": message["sender"],
                "is_self": own[message["sender"]],
                "sent_at": message["sent_at"],
                "text": message["text"],
            }
