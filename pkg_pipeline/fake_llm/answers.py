"""What the local server says: a conforming value for any JSON schema, a sensible one for summaries, and bad manners.

Everything is computed from the request; nothing is random.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from pkg_pipeline.fake_llm import folds, profile_manners, questions
from pkg_pipeline.fake_llm.profiles import PROFILE_KEYS, profile
from pkg_pipeline.fake_llm.summaries import language_of, summarise
from pkg_pipeline.fake_llm.updates import merge, update
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.prompts import fencing

Record = dict[str, Any]
SUMMARY_KEYS = {"summary", "key_points", "tone", "decisions", "action_items", "facts", "important_message_ids"}
_QUOTED = re.compile(r"[\"«“「『]([^\"»”」』]{3,})[\"»”」』]|[:：]\s*(.{3,})$", re.DOTALL)
_EXAMPLES = {"date": "2024-01-01", "date-time": "2024-01-01T00:00:00Z", "email": "a@example.com"}


def conforming(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """The smallest value that the schema allows: first of an enumeration, empty lists, required fields only."""
    root = root or schema
    if "$ref" in schema:
        return conforming(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            plain = next((option for option in schema[key] if option.get("type") == "null"), schema[key][0])
            return conforming(plain, root, depth + 1)
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", [])
            return {name: conforming(schema["properties"][name], root, depth + 1) for name in wanted}
        case "array":
            return [conforming(schema["items"], root, depth + 1) for _ in range(schema.get("minItems", 0))]
        case "string":
            return _EXAMPLES.get(schema.get("format", ""), "text")
        case "integer" | "number":
            return max(0, int(schema.get("minimum", 0)))
        case "boolean":
            return False
        case _:
            return None


def good(schema: Mapping[str, Any], prompt: str) -> Any:
    """A sensible answer: a summary of the fenced conversation where the schema asks for one."""
    try:
        blocks = fencing.read(prompt)
    except ValueError:
        blocks = {}
    asked = set(schema.get("properties", {}))
    if asked >= SUMMARY_KEYS and "known" in asked and blocks.get("MESSAGES"):
        return update(blocks)
    if blocks.get("PARTS"):
        return merge(blocks["PARTS"])
    if asked >= SUMMARY_KEYS and blocks.get("MESSAGES"):
        return summarise(blocks.get("PARTICIPANTS", []), blocks["MESSAGES"])
    if asked == folds.FOLD_KEYS and blocks.get("MESSAGES"):
        return folds.fold(blocks)
    if asked == folds.COMPRESS_KEYS and blocks.get("SUMMARY"):
        return folds.shorter(blocks["SUMMARY"], prompt)
    if _asks_for_profile(schema, blocks):
        return profile(blocks)
    if asked == questions.QUESTION_KEYS and blocks.get("QUESTION"):
        return questions.rewrite(questions.question_of(prompt))
    return conforming(schema)


def _asks_for_profile(schema: Mapping[str, Any], blocks: Mapping[str, Any]) -> bool:
    return set(schema.get("properties", {})) >= PROFILE_KEYS and bool(blocks.get("SUMMARIES"))


def _messages(prompt: str) -> list[Record]:
    return fencing.read(prompt)["MESSAGES"]


def _invented_quote(answer: Record, prompt: str) -> Record:
    first = _messages(prompt)[0]["n"]
    item = {"description": "invented", "date": "2024-01-01", "importance": "high", "quote": "nobody ever said this"}
    return {**answer, "decisions": [*answer["decisions"], {**item, "message_ids": [first]}]}


def _wrong_ids(answer: Record, prompt: str) -> Record:
    last = len(_messages(prompt))
    items = [{**item, "message_ids": [last + 1000, -1]} for item in answer["decisions"] or [_anything(prompt)]]
    return {**answer, "decisions": items, "important_message_ids": [0, last + 1]}


def _anything(prompt: str) -> Record:
    first = _messages(prompt)[0]
    return {
        "description": first["text"][:100] or "x",
        "date": "",
        "importance": "low",
        "quote": first["text"][:100] or "x",
    }


def payload(message: str) -> str:
    """What an order wants to be said: its quoted part, or what follows its colon, else all of it."""
    found = [next(group for group in match.groups() if group) for match in _QUOTED.finditer(message)]
    return max(found, key=len).strip() if found else message.strip()


def _target(prompt: str) -> Record:
    messages = _messages(prompt)
    return next((message for message in messages if gives_orders(message["text"])), messages[-1])


def _order(prompt: str) -> Record:
    return next((m for m in reversed(_messages(prompt)) if "[inject]" in str(m.get("speaker"))), _target(prompt))


def _obedient(answer: Record, prompt: str) -> Record:
    """Says what the last message of the conversation wants said, everywhere, with honest-looking quotes."""
    order = _order(prompt)
    said = payload(order["text"])[:400]
    quote, numbers = order["text"][:500], [order["n"]]
    return {
        **answer,
        "summary": said,
        "key_points": [said, order["text"][:300]],
        "decisions": [
            {"description": said, "date": "2024-01-01", "importance": "high", "quote": quote, "message_ids": numbers}
        ],
        "action_items": [
            {
                "description": said,
                "owner": "them",
                "owner_name": None,
                "status": "open",
                "due_date": None,
                "closed_at": None,
                "quote": quote,
                "message_ids": numbers,
            }
        ],
        "facts": [
            {
                "fact_type": "instruction",
                "value": said[:300],
                "about": None,
                "confidence": 1.0,
                "quote": quote,
                "message_ids": numbers,
            }
        ],
        "important_message_ids": numbers,
    }


def _obedient_blend(answer: Record, prompt: str) -> Record:
    """A good answer with the order's words slipped in beside an innocent message's quote."""
    order = _obedient(answer, prompt)
    innocent = next(
        (m for m in _messages(prompt) if m["text"].strip() and not gives_orders(m["text"])), _target(prompt)
    )
    evidence = {"quote": innocent["text"][:300], "message_ids": [innocent["n"]]}
    return {
        **answer,
        "summary": f"{answer['summary']} {order['summary']}",
        "key_points": [*answer["key_points"][:5], *order["key_points"][:2]],
        "decisions": [*answer["decisions"], {**order["decisions"][0], **evidence}],
        "action_items": [*answer["action_items"], {**order["action_items"][0], **evidence}],
        "facts": [*answer["facts"], {**order["facts"][0], **evidence}],
        "important_message_ids": [*answer["important_message_ids"], *order["important_message_ids"]],
    }


def _long_summary(answer: Record, _prompt: str) -> Record:
    return {**answer, "summary": " ".join([answer["summary"].rstrip(".")] * 30)}


def _other_language(answer: Record, prompt: str) -> Record:
    english = language_of([message["text"] for message in _messages(prompt)]) == "en"
    words = "Они поговорили и разошлись довольные." if english else "They talked for a while and parted content."
    return {**answer, "summary": words}


def _echo(answer: Record, prompt: str) -> Record:
    return {**answer, "summary": prompt[:600]}


def _wrong_types(answer: Record, _prompt: str) -> Record:
    return {**answer, "key_points": "one", "important_message_ids": ["first"]}


def _extra_field(answer: Record, _prompt: str) -> Record:
    return {**answer, "confidence": 0.5}


_BENT: dict[str, Callable[[Record, str], Record]] = {
    "invented_quote": _invented_quote,
    "wrong_ids": _wrong_ids,
    "obedient": _obedient,
    "obedient_blend": _obedient_blend,
    "long_summary": _long_summary,
    "other_language": _other_language,
    "echo": _echo,
    "wrong_types": _wrong_types,
    "extra_field": _extra_field,
}
_PROFILE_BENT = profile_manners.BENT | profile_manners.obeying(payload)
_FOLD_BENT = folds.manners(_BENT, payload, _order)
_QUESTION_BENT = questions.BENT | questions.obeying(payload)
MODES = ("good", "invalid_json", "prose", "empty", "thinking_only", "no_facts", *_BENT)
"""Ways of answering that a script can ask for."""


def _manners(keys: set[str]) -> Mapping[str, Callable[[Record, str], Record]]:
    """The bad manners for an answer with these keys."""
    if keys == questions.QUESTION_KEYS:
        return _QUESTION_BENT
    if keys == folds.COMPRESS_KEYS:
        return folds.COMPRESS_BENT
    if keys == folds.FOLD_KEYS:
        return _FOLD_BENT
    return _PROFILE_BENT if keys >= PROFILE_KEYS else _BENT


def answer_text(mode: str, schema: Mapping[str, Any] | None, prompt: str) -> str:
    """The words of one answer. ``empty`` and ``thinking_only`` have none."""
    if mode in {"empty", "thinking_only"}:
        return ""
    if schema is None or mode == "prose":
        return "I am a local stand-in and answer in plain words."
    value = good(schema, prompt)
    if mode in _BENT and isinstance(value, dict):
        value = _manners(set(value))[mode](value, prompt)
    elif mode == "no_facts":
        value = conforming(schema)
    text = json.dumps(value, ensure_ascii=False)
    return text[: len(text) // 2] if mode == "invalid_json" else text
