"""A good answer to the prompt of a reading, by rule: opens what is promised, closes what is told as done."""

from __future__ import annotations

from typing import Any

from pkg_pipeline.fake_llm import talks
from pkg_pipeline.fake_llm.good import CONTACTS, MONEY, clause_of, hears
from pkg_pipeline.fake_llm.talks import Blocks, Record
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.text.normalise import stems

Shown = dict[str, list[Any]]

QUOTE_CHARS = 300
SHARED = 0.5
"""Of the shorter text's word stems: from here on two texts are about the same thing."""


def answer(blocks: Blocks) -> Record:
    people = talks.people(blocks)
    said = [one for one in talks.messages(blocks) if one["text"].strip() and not gives_orders(one["text"])]
    shown: Shown = {line[0]: line for line in blocks.get("ITEMS", [])}
    items: list[Record] = []
    changes: dict[str, Record] = {}
    for message in said:
        if hears("done", message["text"]):
            _close(message, shown, items, changes)
        elif hears("decision", message["text"]):
            _decide(message, shown, items)
        elif hears("action", message["text"]):
            _open(message, people, shown, items, changes)
    facts = [fact for message in said for fact in _facts(message)]
    return {"items": items, "changes": list(changes.values()), "facts": facts}


def _close(message: Record, shown: Shown, items: list[Record], changes: dict[str, Record]) -> None:
    """By the first earlier or new task about the same thing; a file's name counts among the words."""
    words = " ".join([message["text"], *message["files"]])
    evidence = {"state": "done", "quote": message["text"][:QUOTE_CHARS], "messages": [message["n"]]}
    for ref, line in shown.items():
        if ref.startswith("a") and line[1] in ("open", "perhaps_done") and _alike(line[5], words):
            changes[ref] = {"id": ref, **evidence}
            return
    for item in items:
        if item["kind"] == "task" and "end" not in item and _alike(item["text"], words):
            item["end"] = evidence
            return


def _decide(message: Record, shown: Shown, items: list[Record]) -> None:
    clause = clause_of(message["text"], "decision")
    if clause.endswith(("?", "？")):
        return
    earlier = (ref for ref, line in shown.items() if ref.startswith("d") and _alike(line[5], clause))
    replaced = next(earlier, None)
    items.append(
        {
            "kind": "decision",
            "text": clause,
            "owner": "both",
            "importance": "high" if MONEY.search(message["text"]) else "medium",
            **({"replaces": replaced} if replaced else {}),
            "quote": clause,
            "messages": [message["n"]],
        }
    )


def _open(message: Record, people: list[Record], shown: Shown, items: list[Record], changes: dict[str, Record]) -> None:
    """A promise of the speaker, or what the other of two is asked for; one about an earlier task renews it."""
    clause = clause_of(message["text"], "action")
    owner = message
    if hears("asked", clause):
        others = [one for one in people if one["name"] != message["speaker"]]
        if len(others) != 1:
            return
        owner = {"speaker": others[0]["name"], "is_me": others[0]["is_me"]}
    evidence = {"quote": clause, "messages": [message["n"]]}
    for ref, line in shown.items():
        if ref.startswith("a") and line[1] in ("open", "perhaps_done") and _alike(line[5], clause):
            changes.setdefault(ref, {"id": ref, "state": "renewed", **evidence})
            return
    if not any(_alike(item["text"], clause) for item in items):
        who = {"owner": "me"} if owner["is_me"] else {"owner": "them", "who": owner["speaker"]}
        items.append({"kind": "task", "text": clause, **who, "importance": "medium", **evidence})


def _alike(one: str, other: str) -> bool:
    idle = stems(" ".join(word_set("words", "no_topic")))
    first, second = stems(one) - idle, stems(other) - idle
    fewer = min(len(first), len(second))
    return fewer > 0 and len(first & second) >= max(1, SHARED * fewer)


def _facts(message: Record) -> list[Record]:
    return [
        {
            "type": kind,
            "value": "+" + "".join(filter(str.isdigit, match.group())) if kind == "phone" else match.group(),
            "about": message["speaker"],
            "quote": match.group(),
            "messages": [message["n"]],
        }
        for kind, contact in CONTACTS.items()
        for match in contact.finditer(message["text"])
    ]
