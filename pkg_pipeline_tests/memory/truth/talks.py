"""Short talks with their right answers and, below each answer, rewordings that stay right (+) and faults (-).

# ru-01                                    a talk; ``me:``, ``with:``, ``day:`` (ISO) follow
shown a1 action them 2026-01-15 | text | quote | said on
1< words            2> words             said to me, said by me; in a group ``1 Name: words``
3< words {act.pdf}                       with a file
item action self 2026-02-13 [4]: text    then its "quote", and ``field=value`` lines
change a1 done [1,2] "quote"             ``renewed 2026-02-13`` with the new day
fact phone NAME [4] "quote": value
summary: a sentence
  + KIND: other text                     ``@field=value`` for another field
  - KIND: wrong text
wrong KIND item-like line                an item that nobody's words bear out
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
_HEAD = re.compile(
    r"(?:wrong (?P<fault>\w+) )?(?:item )?(?P<kind>action|decision) "
    r"(?P<owner>self|them|both|other)(?:=(?P<name>[^\[]+?))?"
    r" (?P<due>\S+) \[(?P<numbers>[\d,]+)\]: (?P<text>.+)"
)
_CHANGE = re.compile(
    r"(?:wrong (?P<fault>\w+) )?change (?P<ref>\w+) (?P<to>\w+)(?: (?P<due>[\d-]+))?"
    r' \[(?P<numbers>[\d,]+)\] "(?P<quote>.+)"'
)
_FACT = re.compile(r'fact (?P<type>\w+) (?P<about>.+?) \[(?P<numbers>[\d,]+)\] "(?P<quote>.+)": (?P<text>.+)')
_VARIANT = re.compile(r"  (?P<sign>[+-]) (?P<kind>\w+): (?P<body>.+)")
_SAID = re.compile(r"(?P<number>\d+)(?:(?P<side>[<>])| (?P<who>[^:]+):) (?P<text>.+)")
_FIELD = re.compile(r"@(\w+)=")


@dataclass(frozen=True)
class Variant:
    """``fields`` replace those of the part that it belongs to."""

    kind: str
    is_right: bool
    fields: dict[str, str]
    is_generated: bool = False


@dataclass
class Part:
    """One part of an answer; ``what``: item, change, fact or summary. ``fault``: nothing bears it out."""

    what: str
    fields: dict[str, str]
    fault: str | None = None
    variants: list[Variant] = field(default_factory=list[Variant])


@dataclass
class Talk:
    key: str
    language: str
    is_visible: bool
    me: str = ""
    others: list[str] = field(default_factory=list[str])
    day: str = ""
    said: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    shown: list[list[str]] = field(default_factory=list[list[str]])
    parts: list[Part] = field(default_factory=list[Part])


def load(*folders: str) -> list[Talk]:
    """All talks, the visible ones first; or those of other folders."""
    return [
        talk
        for folder in folders or ("visible", "hidden")
        for path in sorted((FOLDER / folder).glob("*.txt"))
        for talk in _read(path, is_visible=folder == "visible")
    ]


def _read(path: Path, *, is_visible: bool) -> Iterator[Talk]:
    talk: Talk | None = None
    for row in path.read_text(encoding="utf-8").splitlines():
        if row.startswith("# "):
            if talk is not None:
                yield talk
            talk = Talk(row[2:], path.stem[:2], is_visible)
        elif row and talk is not None:
            _take(talk, row)
    if talk is not None:
        yield talk


def _take(talk: Talk, row: str) -> None:
    if row.startswith("  "):
        _detail(talk.parts[-1], row)
    elif match := _SAID.fullmatch(row):
        who = match["who"] or (talk.me if match["side"] == ">" else talk.others[0])
        talk.said.append((int(match["number"]), who, match["text"]))
    elif row.startswith("shown "):
        talk.shown.append([cell.strip() for cell in row.removeprefix("shown ").split(" | ")])
    elif row.startswith("summary: "):
        talk.parts.append(Part("summary", {"text": row.removeprefix("summary: ")}))
    elif match := _HEAD.fullmatch(row):
        found = match.groupdict()
        fields = {name: found[name] for name in ("kind", "owner", "due", "numbers", "text")}
        fields["owner_name"] = found["name"] or ("-" if found["owner"] != "them" else talk.others[0])
        talk.parts.append(Part("item", fields, found["fault"]))
    elif match := _CHANGE.fullmatch(row) or _FACT.fullmatch(row):
        fields = {name: value or "-" for name, value in match.groupdict().items() if name != "fault"}
        fault = match.groupdict().get("fault")
        talk.parts.append(Part("fact" if "about" in fields else "change", fields, fault))
    else:
        name, _, value = row.partition(": ")
        if name not in {"me", "with", "day"}:
            raise ValueError(f"{talk.key}: {row}")
        if name == "with":
            talk.others = value.split(", ")
        else:
            setattr(talk, name, value)


def _detail(part: Part, row: str) -> None:
    if match := _VARIANT.fullmatch(row):
        body = match["body"]
        pieces = _FIELD.split(body)
        fields = {"text": body} if len(pieces) == 1 else {k: v.strip() for k, v in zip(pieces[1::2], pieces[2::2])}  # noqa: B905
        part.variants.append(Variant(match["kind"], match["sign"] == "+", fields))
    elif row.startswith('  "'):
        part.fields["quote"] = row.strip()[1:-1]
    else:
        name, _, value = row.strip().partition("=")
        part.fields[name] = value
