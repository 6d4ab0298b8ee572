"""Sensible answers to updates and merges, made by rule from the fenced blocks. Same input, same words."""

from __future__ import annotations

import re
from typing import Any

from pkg_pipeline.fake_llm.summaries import language_of, summarise
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.text.normalise import sentences

Record = dict[str, Any]

_DONE = re.compile(
    r"\b(?:sent|done|paid|finished|signed|booked)\b|готово|отправил|оплатил|сделал|выслал|подписал|已经|发了|完成了|搞定",
    re.IGNORECASE,
)
QUOTE_CHARS = 300


def update(blocks: dict[str, list[Record]]) -> Record:
    """Every known item kept, or closed where its owner says in a new message that something is done; what is new."""
    messages = blocks["MESSAGES"]
    new = [message for message in messages if message.get("new")]
    people = blocks.get("PARTICIPANTS", [])
    fresh = summarise(people, new or messages)
    known = blocks["SUMMARY"][0]
    glue = "" if language_of([message["text"] for message in messages]) == "zh" else " "
    told = [*sentences(known["summary"])[:2], *sentences(fresh["summary"])[:1]]
    return {**fresh, "summary": glue.join(told), "tone": known["tone"], "known": _known(blocks, new, people)}


def _known(blocks: dict[str, list[Record]], new: list[Record], people: list[Record]) -> list[Record]:
    done = [message for message in new if _DONE.search(message["text"]) and not gives_orders(message["text"])]
    answers: list[Record] = []
    for item in blocks.get("KNOWN", []):
        answers.append({"id": item["id"], "state": "kept"})
        if item["kind"] != "action_item" or item["status"] != "open":
            continue
        owner = next((person["name"] for person in people if person["is_me"]), None)
        owner = owner if item["owner"] == "self" else item["owner_name"]
        said = next((message for message in done if owner in (None, message["speaker"])), None)
        if said is not None:
            answers[-1] |= {
                "state": "closed",
                "closed_at": said["time"].split(" ")[1],
                "quote": said["text"][:QUOTE_CHARS],
                "message_ids": [said["n"]],
            }
            done.remove(said)
    return answers


def merge(parts: list[Record]) -> Record:
    """The first sentence of the first part, the middle one's and the last one's, and a point of each."""
    chosen = [parts[0], parts[len(parts) // 2], parts[-1]]
    texts = list(dict.fromkeys(sentences(part["summary"])[0] for part in chosen))
    glue = "" if language_of(texts) == "zh" else " "
    points = list(dict.fromkeys(part["key_points"][0] for part in parts if part["key_points"]))
    return {"summary": glue.join(texts), "key_points": points[:7] or ["-"], "tone": "neutral"}
