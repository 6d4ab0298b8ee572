"""What all prompts share: words, the system and user turns, strict answers, validation errors.

Words are in ``languages/LANGUAGE/PROMPT.toml``; content of others stands fenced in the user turn only (B15).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pkg_pipeline.memory.text.language_data import table

MOST_PLACES = 8
MOST_PROBLEM_CHARS = 500

Words = Mapping[str, Any]
Record = TypeVar("Record")


class AnswerInvalid(ValueError):
    """No JSON of the schema (B9); ``problem`` names the places, without content."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Strict(BaseModel):
    """An answer model: no unknown key, no conversion, no change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def form(cls) -> dict[str, Any]:
        """The JSON schema that a model is asked to follow, without what the rules say in words: no titles, defaults,
        lengths of texts or references (a list may say that it is not empty). ``read`` still checks the limits.
        """
        full = cls.model_json_schema()
        return _lean(full, full.get("$defs", {}))

    @classmethod
    def read(cls, text: str) -> Self:
        """The parsed answer. ``AnswerInvalid`` for anything but exact JSON of the schema; nothing is repaired (B9)."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise AnswerInvalid(_problem_of(error, cls)) from None
        except UnicodeEncodeError:
            raise AnswerInvalid("the answer holds half a character (a lone surrogate)") from None


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """``system``: our words only; ``user``: theirs, fenced."""

    system: str
    user: str


@cache
def words_of(prompt: str, language: str) -> Words:
    return {name: text for name, text in table("prompts", language, prompt).items() if name != "patterns"}


def digest_of(words: Any, model: type[Strict]) -> str:
    """A hash of all words and the schema; constant while ``VERSION`` is."""
    said = [words, model.model_json_schema()]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def insisting(words: Words, model: type[Strict], problem: str | None) -> str:
    """The last words of a second attempt (P19), with the ``problem`` of the first (``AnswerInvalid.problem`` or the
    gate's reason; no content).
    """
    schema = json.dumps(model.form(), ensure_ascii=False, separators=(",", ":"))
    plain = " ".join((problem or "").replace("<", "").replace(">", "").split())[:MOST_PROBLEM_CHARS]
    return words["strict"].format(problem=plain or words["unnamed_problem"], schema=schema)


def candidate(kind: Callable[..., Record], item: Strict) -> Record:
    """An item as the gate's record; citations become ``numbers``."""
    fields = dict(item)
    cited = next(name for name in ("message_ids", "summary_numbers") if name in fields)
    return kind(numbers=tuple(fields.pop(cited)), **fields)


def _lean(schema: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _lean(parts[schema["$ref"].rsplit("/", 1)[-1]], parts)
    if "anyOf" in schema:  # an optional field: left out instead of null
        return _lean(next(option for option in schema["anyOf"] if option.get("type") != "null"), parts)
    if "enum" in schema:
        return {"enum": schema["enum"]}
    lean: dict[str, Any] = {"type": schema["type"]}
    if schema["type"] == "array":
        lean["items"] = _lean(schema["items"], parts)
        lean |= {"minItems": 1} if schema.get("minItems") else {}
    if schema["type"] == "object":
        lean["properties"] = {name: _lean(field, parts) for name, field in schema["properties"].items()}
        lean |= {"required": schema.get("required", []), "additionalProperties": False}
    return lean


def _problem_of(error: ValidationError, model: type[Strict]) -> str:
    """Where and what, without content: even an unknown key could be injected."""
    schema = model.model_json_schema()
    known = {name for part in (schema, *schema.get("$defs", {}).values()) for name in part["properties"]}
    places: list[str] = []
    for entry in error.errors(include_input=False, include_url=False, include_context=False)[:MOST_PLACES]:
        path = ".".join(str(part) if isinstance(part, int) or part in known else "?" for part in entry["loc"])
        kind = "is no valid JSON" if entry["type"] == "json_invalid" else entry["type"].replace("_", " ")
        places.append(f"{path or 'the answer'}: {kind}")
    return "; ".join(places)
