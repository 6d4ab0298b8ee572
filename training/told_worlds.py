"""Worlds written as text (``worlds/README.md``), in the form of the JSON ones."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_SAID = re.compile(r"(?P<who>[^:：]+?)[:：]\s*(?P<text>.*?)(?:\s+## ?(?P<labels>.*))?")
_FILE = re.compile(r"\[(?P<type>[a-z]+)\]\s*(?P<name>\S*)")
_PAUSE = re.compile(r"\(\+(?P<minutes>\d+)\)\s*")
_FACT = re.compile(r"f(?P<ended>-?) (?P<who>.+?) (?P<kind>[a-z]+)=(?P<value>.+)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
OWN_NAME = {"ru": "Я", "en": "Me", "zh": "我"}
KINDS = {"t": "action_item", "d": "decision"}


def worlds_of(path: Path) -> dict[str, Row]:
    """The worlds of one file by name. ``ValueError`` for a line of another form."""
    found: dict[str, _Telling] = {}
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("=== "):
            found[line[4:]] = _Telling(line[4:], path.stem[:2])
        elif line.startswith("@ "):
            list(found.values())[-1].introduce(line[2:])
        elif line.startswith("== "):
            list(found.values())[-1].talk(line[3:])
        elif line.strip() and not line.startswith("#"):
            list(found.values())[-1].say(line)
    return {name: one.row() for name, one in found.items()}


class _Telling:
    """A world while it is read."""

    def __init__(self, name: str, language: str) -> None:
        self.name, self.language = name, language
        self.chats: dict[str, list[Row]] = {}
        self.people: dict[str, Row] = {}
        self.me = self._person(OWN_NAME[language])
        self.labels: dict[str, Row] = {}
        self.facts: list[Row] = []
        self.types: dict[str, str] = {}
        self.said: list[Row] = []
        self.at = datetime.min.replace(tzinfo=UTC)

    def introduce(self, line: str) -> None:
        name, _, kind = line.rpartition(": ")
        if kind not in TYPES:
            raise ValueError(f"{self.name}: @ {line}")
        self.types[self._person(name)] = kind

    def talk(self, head: str) -> None:
        chat, day, clock = head.rsplit(" ", 2)
        at = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
        if chat in self.chats and at < self.at and self.said is self.chats[chat]:
            raise ValueError(f"{self.name}: == {head} is before the talk above it")
        self.at = at
        self.said = self.chats.setdefault(chat, [])

    def say(self, line: str) -> None:
        if pause := _PAUSE.match(line):
            self.at += timedelta(minutes=int(pause["minutes"]))
            line = line[pause.end() :]
        m = _SAID.fullmatch(line)
        if m is None:
            raise ValueError(f"{self.name}: {line}")
        file = _FILE.fullmatch(m["text"])
        key = f"c{list(map(id, self.chats.values())).index(id(self.said))}-{len(self.said)}"
        text = m["text"].replace("\\n", "\n")
        row: Row = {"id": key, "from": self._person(m["who"]), "at": self.at.isoformat(), "text": text}
        if file is not None:
            row |= {"text": "", "attachments": [{"name": file["name"] or None, "type": file["type"]}]}
        self.said.append(row)
        self.at += timedelta(minutes=1)
        for label in filter(None, (part.strip() for part in (m["labels"] or "").split(";"))):
            self._fact(label, row) if label.startswith(("f ", "f- ")) else self._label(label, row)

    def _person(self, name: str) -> str:
        self.people.setdefault(name, {"id": name, "name": name, "is_self": not self.people})
        return name

    def _fact(self, text: str, said: Row) -> None:
        m = _FACT.fullmatch(text)
        if m is None or m["kind"] not in FACTS:
            raise ValueError(f"{self.name}: {said['text']} ## {text}")
        who = re.sub(r"^me\b(?=\||$)", lambda _: self.me, m["who"])
        self.facts.append({"who": who, "type": m["kind"], "value": m["value"], "message": said["id"]})
        self.facts[-1] |= {"is_ended": bool(m["ended"])}

    def _label(self, text: str, said: Row) -> None:
        ref, _, rest = text.partition(" ")
        is_optional, ref = ref.startswith("~"), ref.removeprefix("~")
        if not re.fullmatch(r"[td]\d+\w?", ref):
            raise ValueError(f"{self.name}: {said['text']} ## {text}")
        known = ref in self.labels
        label = self.labels.setdefault(ref, _empty(KINDS[ref[0]], said))
        label["is_optional"] |= is_optional
        rest, _, over = rest.partition("over ")
        if over:
            if over.strip() not in self.labels:
                raise ValueError(f"{self.name}: {said['text']} ## {text}")
            self.labels[over.strip()]["superseded_by"] = ref
        words = rest.split()
        label["lasts"] = next((word for word in words if word in LASTS or _ISO.fullmatch(word)), label["lasts"])
        words = [word for word in words if word not in LASTS and not _ISO.fullmatch(word)]
        days = [day for day in (_day(word, self.at.date()) for word in words) if day is not None]
        state = next((word for word in words if word in ("done", "cancelled", "later")), None)
        owner = " ".join(word for word in words if _day(word, self.at.date()) is None and word not in STATES)
        if owner:
            label["owner"] = self._owner(owner)
        label["proposed_by"] += [said["from"]] if "by" in words else []
        label["agreed_by"] += [said["from"]] if "yes" in words else []
        label["agreed_in"] += [said["id"]] if "yes" in words else []
        day = days[-1].isoformat() if days else None
        if state == "later":
            label["renewed"].append({"messages": [said["id"]], "due_date": day})
        elif state is not None:
            label["closed_by" if state == "done" else "cancelled_by"].append(said["id"])
        else:
            label["due_date"] = day or label["due_date"]
            label["messages"] += [said["id"]] if known else []

    def _owner(self, name: str) -> str:
        if name == "both":
            return name
        if name == "me":
            return self.me
        return self._person(name)

    def row(self) -> Row:
        places = {ref: place for place, ref in enumerate(self.labels)}
        later = {ref: one.pop("superseded_by", None) for ref, one in self.labels.items()}
        return {
            "language": self.language,
            "is_of_tasks": not self.types,
            "types": self.types,
            "facts": self.facts,
            "people": list(self.people.values()),
            "chats": [
                {"id": f"c{n}", "title": name, "kind": "group" if name.startswith("#") else "direct", "messages": said}
                for n, (name, said) in enumerate(self.chats.items())
            ],
            "items": [
                one | ({} if later[ref] is None else {"superseded_by": places[later[ref]]})
                for ref, one in self.labels.items()
            ],
        }


LASTS = frozenset({"stays", "pends"})
STATES = frozenset({"done", "cancelled", "later", "by", "yes"})
TYPES = frozenset(
    [
        "client",
        "vendor",
        "partner",
        "colleague",
        "boss",
        "friend",
        "acquaintance",
        "family",
        "landlord",
        "tenant",
        "doctor",
        "teacher",
        "neighbour",
        "other",
        "unknown",
    ]
)
FACTS = frozenset(
    ["phone", "email", "address", "birthday", "position", "organisation", "family", "preference", "account", "handle"]
)


def _empty(kind: str, said: Row) -> Row:
    return {
        "kind": kind,
        "text": said["text"],
        "owner": "both",
        "due_date": None,
        "messages": [said["id"]],
        "closed_by": [],
        "cancelled_by": [],
        "renewed": [],
        "proposed_by": [],
        "agreed_by": [],
        "agreed_in": [],
        "is_optional": False,
        "lasts": None,
    }


def _day(word: str, today: date) -> date | None:
    if re.fullmatch(r"\+\d+", word):
        return today + timedelta(days=int(word))
    if not re.fullmatch(r"\d\d-\d\d", word):
        return None
    found = date.fromisoformat(f"{today.year}-{word}")
    return found if found >= today - timedelta(days=60) else found.replace(year=today.year + 1)
