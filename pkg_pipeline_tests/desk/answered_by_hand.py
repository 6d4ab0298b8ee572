"""Answers written by hand from the prompts alone, served over HTTP to whoever asks about those talks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg_pipeline.fake_llm.faults import Fault, Script
from pkg_pipeline.prompts import fencing

Record = dict[str, Any]
Rows = list[list[Any]]
FOLDER = Path(__file__).parent
NEW_ID = re.compile(r"n\d+")


@dataclass(frozen=True, slots=True)
class Person:
    """One file of the desk.

    ``chats``: of the labels. ``readings``, ``summaries``: each with the first and last words and the number of the
    messages that were asked about, and the answer; earlier items are named there by their text. ``profile``: its
    milestones cite by day, its doubts name items by their text. ``floors``: what must hold of the result.
    """

    name: str
    chats: tuple[str, ...]
    readings: tuple[Record, ...]
    summaries: tuple[Record, ...]
    profile: Record
    floors: dict[str, float]


def person(name: str) -> Person:
    kept = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    readings, summaries = tuple(kept["readings"]), tuple(kept["summaries"])
    return Person(name, tuple(kept["chats"]), readings, summaries, kept["profile"], kept["floors"])


PEOPLE = sorted(file.stem for file in FOLDER.glob("*.json"))


class Desk(Script):
    """Rules of the local server: each question is met by the answer written for these talks or this person.

    ``unanswered``: first words of questions about items that nobody has answered; those are refused. Other questions
    without an answer go to the local model. ``served``: answers given, by task.
    """

    def __init__(self, who: Person) -> None:
        super().__init__()
        self._who = who
        self.unanswered: list[str] = []
        self.served: Counter[str] = Counter()

    def match(self, *, call: int, path: str, text: str) -> Fault:
        if not path.endswith("/v1/messages"):
            return Fault()
        body, _, said = text.partition("\n")
        asked = json.loads(body)["output_config"]["format"]["schema"]["properties"]
        rows = [row for block in fencing.read(said).values() for row in block]
        if "timeline" in asked:
            return self._serve("profile", _profile(self._who.profile, rows))
        if "talks" in asked:
            return self._serve("summary", _summaries(self._who.summaries, rows))
        return self._reading([row for row in rows if isinstance(row, list)])

    def _serve(self, task: str, answer: Record | None) -> Fault:
        if answer is None:
            return Fault()
        self.served[task] += len(answer.get("talks", [0]))
        return Fault(body=_message(answer))

    def _reading(self, rows: Rows) -> Fault:
        said = _said(rows)
        shown = {str(row[5]): str(row[0]) for row in rows if isinstance(row[0], str) and len(row) == 6}
        for reading in self._who.readings:
            if _is_about(reading, said):
                return self._serve("reading", with_refs(reading["answer"], shown))
        self.unanswered.append(said[0] if said else "")
        return Fault(status=400, message="nobody has answered this")


def _said(rows: Rows) -> list[str]:
    return [str(row[2]) for row in rows if isinstance(row[0], int)]


def _is_about(written: Record, said: Sequence[str]) -> bool:
    return bool(said) and (written["from"], written["to"], written["count"]) == (said[0], said[-1], len(said))


def _summaries(written: Sequence[Record], rows: Sequence[Any]) -> Record | None:
    """The answers about those of these talks that were written, by the talks' numbers; the others are asked alone."""
    talks: dict[int, Rows] = {}
    for row in rows:
        if isinstance(row, dict):
            if "talk" in row:
                talks[row["talk"]] = []
        elif talks:
            talks[max(talks)].append(row)
    answers = [
        {"talk": number, **one["answer"], "important": [told[0][0] - 1 + at for at in one["answer"]["important"]]}
        for number, told in talks.items()
        for one in written
        if _is_about(one, _said(told))
    ]
    return {"talks": answers} if answers else None


def _profile(written: Record, rows: Sequence[Any]) -> Record:
    """The answer with numbers of this question's summaries for days, and ids of its items for their texts."""
    lists = [row for row in rows if isinstance(row, list)]
    numbers = {str(row[1]): row[0] for row in lists if isinstance(row[0], int)}
    items = {str(row[4]): row[0] for row in lists if isinstance(row[0], str) and len(row) == 5}
    milestones = [{**one, "summary_numbers": [numbers[one["date"]]]} for one in written["milestones"]]
    doubts = [{"id": items[one["item"]], "why": one["why"]} for one in written["doubts"] if one["item"] in items]
    return {**written, "milestones": milestones, "doubts": doubts}


def with_refs(answer: Record, shown: dict[str, str]) -> Record:
    """``answer`` with the ids of the items ``shown`` in this question in place of their texts; of an item that is not
    shown nothing is said.
    """
    items = [dict(item) for item in answer["items"]]
    for item in items:
        replaced = item.get("replaces")
        if replaced is not None and not NEW_ID.fullmatch(replaced):
            item["replaces"] = shown.get(replaced)
    changes = [{**one, "id": shown[one["id"]]} for one in answer["changes"] if one["id"] in shown]
    return {**answer, "items": items, "changes": changes}


def _message(answer: Record) -> Record:
    text = json.dumps(answer, ensure_ascii=False)
    return {
        "id": "msg_desk", "type": "message", "role": "assistant", "model": "claude-haiku-5-5",
        "stop_reason": "end_turn", "stop_sequence": None, "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 1, "output_tokens": len(text)},
    }  # fmt: skip
