"""Answers written by hand from the prompts of readings, served over HTTP to whoever asks about those talks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg_pipeline.fake_llm.faults import Fault, Script

Record = dict[str, Any]
FOLDER = Path(__file__).parent
NEW_ID = re.compile(r"n\d+")


@dataclass(frozen=True, slots=True)
class Person:
    """One file of the desk.

    ``chats``: of the labels. ``readings``: each with the first and last words and the number of the messages that were
    asked about, and the answer; earlier items are named there by their text. ``floors``: what must hold of the result.
    """

    name: str
    chats: tuple[str, ...]
    readings: tuple[Record, ...]
    floors: dict[str, float]


def person(name: str) -> Person:
    kept = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return Person(name, tuple(kept["chats"]), tuple(kept["readings"]), kept["floors"])


PEOPLE = sorted(file.stem for file in FOLDER.glob("*.json"))


class Desk(Script):
    """Rules of the local server: each question about talks is met by the answer written for these talks.

    ``unanswered``: first words of questions that nobody has answered; those are refused.
    """

    def __init__(self, readings: tuple[Record, ...]) -> None:
        super().__init__()
        self._readings = readings
        self.unanswered: list[str] = []
        self.served = 0

    def match(self, *, call: int, path: str, text: str) -> Fault:
        if not path.endswith("/v1/messages"):
            return Fault()
        rows = [row for line in text.splitlines() if line.startswith("[") and isinstance(row := _parsed(line), list)]
        said = [str(row[2]) for row in rows if isinstance(row[0], int)]
        shown = {str(row[5]): str(row[0]) for row in rows if isinstance(row[0], str) and len(row) == 6}
        for reading in self._readings:
            if said and (reading["from"], reading["to"], reading["count"]) == (said[0], said[-1], len(said)):
                self.served += 1
                return Fault(body=_message(with_refs(reading["answer"], shown)))
        self.unanswered.append(said[0] if said else "")
        return Fault(status=400, message="nobody has answered this")


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


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
