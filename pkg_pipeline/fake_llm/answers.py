"""Answers of the local server: a conforming value for any JSON schema, good ones for ours, and faulty ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pkg_pipeline.fake_llm import good, reading, summaries
from pkg_pipeline.fake_llm.manners import MANNERS, Kind
from pkg_pipeline.prompts import fencing

PROFILE_KEYS = {"relationship_type", "summary", "timeline", "milestones"}
WORDS_KEYS = {"summary", "points", "tone"}
READING_KEYS = {"items", "changes", "facts"}
BRIEF_KEYS = {"state", "current", "open", "facts"}
FOLD_KEYS = {"summary", "facts", "decisions", "open_questions", "topics"}
MODES = ("good", "invalid_json", "prose", "empty", "thinking_only", "no_facts", *MANNERS["fold"])
"""Modes of answering for scripts."""

_EXAMPLES = {"date": "2024-01-01", "date-time": "2024-01-01T00:00:00Z", "email": "a@example.com"}


def conforming(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """The smallest valid value: first of an enumeration, empty lists, required fields only."""
    root = root or schema
    if "$ref" in schema:
        return conforming(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            plain = next((option for option in schema[key] if option.get("type") == "null"), schema[key][0])
            return conforming(plain, root)
    match schema.get("type"):
        case "object":
            return {name: conforming(schema["properties"][name], root) for name in schema.get("required", [])}
        case "array":
            return [conforming(schema["items"], root) for _ in range(schema.get("minItems", 0))]
        case "string":
            return _EXAMPLES.get(schema.get("format", ""), "text")
        case "integer" | "number":
            return max(0, int(schema.get("minimum", 0)))
        case "boolean":
            return False
        case _:
            return None


def _good(schema: Mapping[str, Any], prompt: str) -> Any:
    try:
        blocks = fencing.read(prompt)
    except ValueError:
        blocks = {}
    asked, held = set(schema.get("properties", {})), {name for name, lines in blocks.items() if lines}
    if asked == {"word"}:
        found = re.search(r"code word is (\w+)", prompt)
        return {"word": found.group(1) if found else "unknown"}
    if asked == {"talks"} and "TALKS" in held:
        return summaries.of_talks(blocks)
    if asked >= WORDS_KEYS and held & {"SUMMARY", "PARTS"}:
        return summaries.of_parts(blocks) if "PARTS" in held else summaries.updated(blocks)
    if asked == READING_KEYS and "TALKS" in held:
        return reading.answer(blocks)
    if asked == FOLD_KEYS and "TALKS" in held:
        return good.fold(blocks)
    if asked == {"summary"} and "SUMMARY" in held:
        return good.shorter(blocks, prompt)
    if asked >= PROFILE_KEYS and "SUMMARIES" in held:
        return good.profile(blocks)
    if asked == BRIEF_KEYS and "BRIEF" in held:
        return good.brief(blocks)
    return good.rewrite(blocks) if asked == {"queries"} and "QUESTION" in held else conforming(schema)


def _kind(keys: set[str]) -> Kind:
    if keys in (READING_KEYS, {"talks"}):
        return "reading" if keys == READING_KEYS else "talks"
    if "queries" in keys or keys >= PROFILE_KEYS:
        return "question" if "queries" in keys else "profile"
    if keys in (FOLD_KEYS, BRIEF_KEYS):
        return "fold" if keys == FOLD_KEYS else "brief"
    return "text"


def answer_text(mode: str, schema: Mapping[str, Any] | None, prompt: str) -> str:
    """The text of one answer; ``empty`` and ``thinking_only`` have none."""
    if mode in {"empty", "thinking_only"}:
        return ""
    if schema is None or mode == "prose":
        return "I am a local stand-in and answer in plain words."
    value = conforming(schema) if mode == "no_facts" else _good(schema, prompt)
    if mode in MANNERS["fold"] and isinstance(value, dict):
        value = MANNERS[_kind(set(value))][mode](value, prompt)
    text = json.dumps(value, ensure_ascii=False)
    return text[: len(text) // 2] if mode == "invalid_json" else text
