"""Labelled people for who somebody is to me: of the accounts, of the worlds' dialogs, of ``people/``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, get_args
from zlib import crc32
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile import relationship
from pkg_pipeline.memory.profile.records import RelationshipType, Signals, Utterance
from pkg_pipeline.memory.profile.relationship import MOST_CHARS, MOST_MESSAGES, Hearing
from pkg_pipeline.memory.profile.relationship_vectors import BEGINNING, Floats, pooled
from training import accounts, worlds
from training.told_worlds import Row, worlds_of
from training.vectors import embed

FOLDER = Path(__file__).with_name("people")
MEMBERS = FOLDER / "members.toml"
TYPED_CHATS = worlds.FOLDER / "types.toml"
ZONE = ZoneInfo("UTC")
"""Accounts are told in local time."""
FIRST_WEEKS = timedelta(days=28)
GROUP_SHARE = 1.5
"""How much all who speak in a group count together, beside one person of a dialog."""
EARLY_SHARE = 0.5
"""How much a person after the first weeks counts beside one at the end."""
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Labelled:
    """A person of a world, at its end or ``is_early``; ``vector`` of all that is said; ``is_asked``: in figures."""

    name: str
    world: str
    language: str
    type: RelationshipType
    heard: Hearing
    vector: Floats
    is_early: bool
    is_asked: bool
    is_met_in_groups: bool
    share: float

    @property
    def is_for_judging(self) -> bool:
        """No words were developed on half of the accounts."""
        return bool(crc32(f"{self.world}.txt".encode()) % 2)


@cache
def people() -> tuple[Labelled, ...]:
    """Of every account, in the order of names, then those that are only fitted to."""
    rows = {path: worlds_of(path) for path in sorted(accounts.FOLDER.glob("*.txt"))}
    told = [(world, row) for path in rows for world, row in rows[path].items()]
    asked = [one for world, row in told for one in of_account(world, row)]
    met = [one for world, row in told for one in _of_groups(world, row)]
    dialogs = [one for path in sorted(FOLDER.glob("??.txt")) for one in _of_short(path)]
    groups = [one for path in sorted(FOLDER.glob("??_groups.txt")) for one in _of_short_group(path)]
    return (*asked, *met, *_of_worlds(), *dialogs, *groups)


def _labelled(
    world: str, kind: str, signals: Signals, *, is_early: bool = False, is_asked: bool = False, share: float = 1.0
) -> Labelled:
    if kind not in get_args(RelationshipType):
        raise ValueError(f"{world}: {signals.name}: {kind}")
    heard = relationship.hearing(signals, ZONE)
    vector = pooled(signals, embed)
    share *= EARLY_SHARE if is_early else 1.0
    met = signals.is_met_in_groups
    return Labelled(signals.name, world, world[:2], kind, heard, vector, is_early, is_asked, met, share)  # type: ignore[arg-type]


def of_account(world: str, row: Row) -> Iterator[Labelled]:
    """Everybody with a type who speaks in a dialog, at the end and after the first weeks."""
    for name, kind in row["types"].items():
        whole = signals_of(row, name)
        if not whole.said:
            continue
        first = min(one.at for one in whole.said)
        early = tuple(one for one in whole.said if one.at <= first + FIRST_WEEKS)
        yield _labelled(world, kind, whole, is_asked=True)
        if len(early) < len(whole.said):
            yield _labelled(world, kind, Signals(name, early, whole.groups), is_early=True, is_asked=True)


def _of_groups(world: str, row: Row) -> Iterator[Labelled]:
    """Everybody labelled in a group, as if we met only there."""
    others = tomllib.loads(MEMBERS.read_text("utf-8")).get(world, {})
    kinds = {**row["types"], **others}
    for chat in row["chats"]:
        said = [one for one in chat["messages"] if len(one["text"].strip()) > 0]
        names = {one["from"] for one in said} & kinds.keys()
        for name in sorted(names) if chat["kind"] == "group" else ():
            heard = tuple(
                Utterance(one["text"][:MOST_CHARS], one["from"] != name, datetime.fromisoformat(one["at"]))
                for one in said[-MOST_MESSAGES:]
            )
            signals = Signals(name, heard, (chat["title"].lstrip("#"),), is_met_in_groups=True)
            yield _labelled(world, kinds[name], signals, is_asked=True, share=GROUP_SHARE / len(names))


def signals_of(row: Row, name: str) -> Signals:
    """What the memory would know of a person: the dialogs, the groups in common, their facts."""
    me = next(one["id"] for one in row["people"] if one["is_self"])
    groups = [
        chat["title"].lstrip("#")
        for chat in row["chats"]
        if chat["kind"] == "group" and name in {one["from"] for one in chat["messages"]}
    ]
    known = {(one["who"], one["type"]): one["value"] for one in row["facts"] if not one["is_ended"]}
    facts = [known[name, kind] for kind in ("position", "organisation") if (name, kind) in known]
    organizations = (known.get((name, "organisation")), known.get((me, "organisation")))
    return Signals(name, _said(row, name, me), tuple(groups), tuple(facts), organizations)


def _said(row: dict[str, Any], title: str, me: str) -> tuple[Utterance, ...]:
    """As much as is heard of the dialogs of this title."""
    said = [
        Utterance(one["text"][:MOST_CHARS], one["from"] == me, datetime.fromisoformat(one["at"]))
        for chat in row["chats"]
        if chat["kind"] == "direct" and chat["title"] == title
        for one in chat["messages"]
    ]
    said.sort(key=lambda one: one.at)
    return (*said[:-MOST_MESSAGES][:BEGINNING], *said[-MOST_MESSAGES:])


def _of_worlds() -> Iterator[Labelled]:
    rows: dict[str, Any] = {path.stem: json.loads(path.read_text("utf-8")) for path in worlds.FOLDER.glob("*.json")}
    for path in sorted(worlds.FOLDER.glob("*.txt")):
        rows |= worlds_of(path)
    for world, chats in tomllib.loads(TYPED_CHATS.read_text("utf-8")).items():
        me = next(one["id"] for one in rows[world]["people"] if one["is_self"])
        for title, kind in chats.items():
            yield _labelled(world, kind, Signals(title, _said(rows[world], title, me)))


def _begun(when: str) -> datetime:
    weekday, clock = when.split()
    hour, minute = map(int, clock.split(":"))
    return MONDAY + timedelta(days=WEEKDAYS.index(weekday), hours=hour, minutes=minute)


def _of_short(path: Path) -> Iterator[Labelled]:
    """The dialogs of one file; each is a world of its own."""
    blocks = path.read_text("utf-8").split("@ ")[1:]
    for number, block in enumerate(blocks):
        head, *lines = block.strip().splitlines()
        kind, name, when = (part.strip() for part in head.split(" | "))
        begun = _begun(when)
        said = tuple(
            Utterance(line.removeprefix("> "), line.startswith("> "), begun + timedelta(minutes=place))
            for place, line in enumerate(lines)
        )
        yield _labelled(f"{path.stem}_{number}", kind, Signals(name, said))


def _of_short_group(path: Path) -> Iterator[Labelled]:
    """The groups of one file: each of those who speak in it is met only there."""
    for number, block in enumerate(path.read_text("utf-8").split("@ ")[1:]):
        head, *lines = block.strip().splitlines()
        kinds, title, when = (part.strip() for part in head.split(" | "))
        usual, *rest = kinds.split(", ")
        other = dict(reversed(one.split(" ", 1)) for one in rest)
        told = [("", line[2:]) if line.startswith("> ") else tuple(line.split(": ", 1)) for line in lines]
        begun = _begun(when)
        names = sorted({who for who, _ in told if who})
        if missing := other.keys() - set(names):
            raise ValueError(f"{path.name}: {title}: {missing}")
        for name in names:
            said = tuple(
                Utterance(text, who != name, begun + timedelta(minutes=place)) for place, (who, text) in enumerate(told)
            )
            signals = Signals(name, said, (title,), is_met_in_groups=True)
            kind = other.get(name, usual)
            yield _labelled(f"{path.stem}_{number}", kind, signals, share=GROUP_SHARE / len(names))
