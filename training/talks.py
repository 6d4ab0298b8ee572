"""Labelled talks as text: ``== NAME DATE TIME``, then ``Speaker: words  ## labels``; a line each minute.

A label is an id (``t1``: a task, ``d1``: a decision; ``~`` before it: may be found or not) and words: the owner
(``me``, ``them``, ``both``, ``other``), the due date (``+2`` days, a weekday, ``MM-DD``), ``done``, ``cancelled`` or
``maybe`` on the line that ends it, ``by`` where the speaker proposed, ``yes`` where the speaker agreed. Labels of one
id stand on every line that says it; the last date holds. ``[word] name`` is a message with a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from pkg_pipeline.memory.message.importance import score_many
from pkg_pipeline.memory.records import Attachment, Language, Person, SourceMessage, SummaryInput

TALKS = Path(__file__).parent / "talks"
LANGUAGES: tuple[Language, ...] = ("ru", "en", "zh")
OWN_NAMES = {"Я", "Me", "我"}
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SAID = re.compile(r"(?P<who>[^:：]+?)[:：]\s*(?P<text>.*?)(?:\s+## ?(?P<labels>.*))?")
_FILE = re.compile(r"\[(?P<type>\w+)\]\s*(?P<name>\S*)")


@dataclass
class Label:
    """What a person takes from a talk. ``numbers``: messages that say it; ``ended``: how and where it ended in it."""

    kind: str
    numbers: set[int] = field(default_factory=set[int])
    owner: str | None = None
    due: date | None = None
    is_optional: bool = False
    ended: str | None = None
    ended_at: int | None = None
    proposed: str | None = None
    agreed: set[str] = field(default_factory=set[str])
    agreed_in: set[int] = field(default_factory=set[int])
    """Messages that only agree to it."""
    lasts: str | None = None
    """As of ``worlds.Label``."""

    @property
    def stated(self) -> set[int]:
        """Messages that say what it is."""
        return self.numbers - self.agreed_in or self.numbers


@dataclass(frozen=True)
class Talk:
    name: str
    language: Language
    source: SummaryInput
    labels: tuple[Label, ...]
    group: str = ""
    kinds: frozenset[str] = frozenset({"task", "decision"})
    """What is labelled throughout."""
    ends: frozenset[int] = frozenset()
    """Messages that tell of a task done."""


def load(language: Language, folder: Path = TALKS) -> list[Talk]:
    """The talks of one language in their order. ``ValueError`` for a line of another form."""
    lines = (folder / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    talks: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("== "):
            talks.append((line[3:], []))
        elif line.strip() and not line.startswith("#"):
            talks[-1][1].append(line)
    return [_talk(head, said, language) for head, said in talks]


def _talk(head: str, said: list[str], language: Language) -> Talk:
    name, day, clock = head.rsplit(" ", 2)
    begun = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
    labels: dict[str, Label] = {}
    found: list[tuple[str, str]] = []
    for number, line in enumerate(said, 1):
        m = _SAID.fullmatch(line)
        if m is None:
            raise ValueError(f"{name}: {line}")
        found.append((m["who"], m["text"]))
        for label in filter(None, (part.strip() for part in (m["labels"] or "").split(";"))):
            _read_label(label, labels, number, m["who"], begun.date())
    names = dict.fromkeys(who for who, _ in found)
    people = {who: Person(uuid5(NAMESPACE_URL, f"{name}/{who}"), who, who in OWN_NAMES) for who in names}
    scores = score_many([text for _, text in found])
    messages = tuple(
        SourceMessage(
            number=number,
            external_id=f"m{number}",
            sender=people[who],
            sent_at=begun + timedelta(minutes=number - 1),
            text=f"[file {file['name']}]" if (file := _FILE.fullmatch(text)) else text,
            importance_score=score.value,
            importance_reason=score.reason,
            attachments=(Attachment(file["name"] or None, file["type"]),) if file else (),
        )
        for number, ((who, text), score) in enumerate(zip(found, scores, strict=True), 1)
    )
    source = SummaryInput(
        interaction_id=uuid5(NAMESPACE_URL, f"{language}/{name}"),
        chat_key=f"jsonl:{name}",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=tuple(people.values()),
        messages=messages,
        language=language,
        timezone="UTC",
        input_hash=name,
    )
    ends = frozenset(one.ended_at for one in labels.values() if one.ended == "done" and one.ended_at is not None)
    return Talk(name, language, source, tuple(labels.values()), ends=ends)


def _read_label(text: str, labels: dict[str, Label], number: int, who: str, day: date) -> None:
    ref, *words = text.split()
    label = labels.setdefault(ref.lstrip("~"), Label("task" if ref.lstrip("~")[0] == "t" else "decision"))
    label.is_optional |= ref.startswith("~")
    for word in words:
        if word in {"me", "them", "both", "other"}:
            label.owner = word
        elif word in {"done", "cancelled", "maybe"}:
            label.ended, label.ended_at = word, number
        elif word == "by":
            label.proposed = who
        elif word == "yes":
            label.agreed.add(who)
            label.agreed_in.add(number)
        else:
            label.due = _day(word, day)
    if label.ended_at != number:
        label.numbers.add(number)


def _day(word: str, today: date) -> date:
    if word.startswith("+"):
        return today + timedelta(days=int(word))
    if word in WEEKDAYS:
        return today + timedelta(days=(WEEKDAYS.index(word) - today.weekday() - 1) % 7 + 1)
    found = date.fromisoformat(f"{today.year}-{word}")
    return found if found >= today - timedelta(days=60) else found.replace(year=today.year + 1)
