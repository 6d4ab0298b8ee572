"""Generated accounts: several sources and chats with edits, deletions, contradictions, new names, in files.

Strategies only; what must come of them is said by the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START

PEOPLE = ("ann", "bob", "cem", "dai", "eva")
NAMES = {
    "ann": ("Anna Petrova", "Anna Sokolova"),
    "bob": ("Bob", "Robert Stone"),
    "cem": ("Cem", "Чем"),
    "dai": ("王小明", "Dai"),
    "eva": ("Ева", "Eva"),
}
TEXTS = (
    "ok",
    "Anna, can you send 500 EUR by 12 March?",
    "Маша и Ева договорились на завтра",
    "小明说可以",
    "@bob Robert Stone said yes",
    "Sokolova writes",
    "",
)
CHATS = (("jsonl", "c1", "direct"), ("jsonl", "c2", None), ("mail", "c1", "group"), ("mail", "t1", "thread"))
EXPORTED = tuple(NOW - timedelta(days=days) for days in (3, 2, 2, 1))  # two files of one time


@dataclass(frozen=True)
class File:
    """Some lines in some order, exported at some time."""

    lines: tuple[dict[str, Any], ...]
    exported_at: datetime


@st.composite
def versions(draw: st.DrawFn) -> dict[str, Any]:
    """One line: a message in one of its versions. Equal keys are drawn often, so that versions contradict."""
    source, chat, kind = draw(st.sampled_from(CHATS))
    number = draw(st.integers(1, 9))
    sender = PEOPLE[number % (2 if kind == "direct" else 5)]
    # minutes by number, so that late numbers fill the silences between others: gaps are 4 hours
    minute = (number * 7 % 10) * 150 + draw(st.sampled_from((0, 0, 0, 400)))
    found: dict[str, Any] = {
        "source": source,
        "chat_id": chat,
        "message_id": str(number),
        "sender_id": sender,
        "sender_name": draw(st.sampled_from((*NAMES[sender], None))),
        "sent_at": (START + timedelta(minutes=minute)).isoformat(),
        "text": draw(st.sampled_from(TEXTS)),
    }
    if kind is not None:
        found |= {"chat_kind": kind, "chat_title": draw(st.sampled_from(("Flat", "Flat 2")))}
    if kind == "thread":
        found["role"] = draw(st.sampled_from(("user", "assistant")))
    if draw(st.booleans()):
        found["reply_to"] = str(draw(st.integers(1, 9)))
    if draw(st.integers(0, 3)) == 0:
        found["edited_at"] = (START + timedelta(minutes=minute + draw(st.sampled_from((5, 9))))).isoformat()
    if draw(st.integers(0, 9)) == 0:
        found["deleted"] = True
    if draw(st.integers(0, 5)) == 0:
        found["metadata"] = {"seen": draw(st.integers(0, 2))}
    if sender == "ann" and draw(st.integers(0, 4)) == 0:
        found["is_self"] = True
    return {key: value for key, value in found.items() if value is not None}


@st.composite
def accounts(draw: st.DrawFn) -> list[File]:
    """Files that overlap: each line is in one to three of them, whatever their times."""
    lines = draw(st.lists(versions(), min_size=3, max_size=40))
    files: list[list[dict[str, Any]]] = [[] for _ in EXPORTED]
    for line in lines:
        for number in draw(st.sets(st.integers(0, len(EXPORTED) - 1), min_size=1, max_size=3)):
            files[number].append(line)
    return [File(tuple(content), exported_at) for content, exported_at in zip(files, EXPORTED, strict=True) if content]


@st.composite
def courses(draw: st.DrawFn, files: list[File]) -> list[File | None]:
    """The same lines on another way in: cut smaller, shuffled, repeated; None is a build in between."""
    pieces: list[File | None] = []
    for file in files:
        shuffled = draw(st.permutations(file.lines))
        cut = draw(st.integers(0, len(shuffled)))
        pieces += [
            File(tuple(part), file.exported_at) for part in (shuffled[:cut], shuffled[cut:], shuffled[:1]) if part
        ]
    pieces += [None] * draw(st.integers(0, 4))
    return draw(st.permutations(pieces))
