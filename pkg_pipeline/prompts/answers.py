"""What the prompts' answer models have in common: their strictness, and how a broken answer is spoken of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

MOST_PLACES = 8
MOST_PROBLEM_CHARS = 500

Model = TypeVar("Model", bound="Strict")


class Strict(BaseModel):
    """An answer model: no unknown key, no conversion, no change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AnswerInvalid(ValueError):
    """An answer that is no JSON of the schema (B9). ``problem`` names the broken places and none of its words."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """``system`` holds our words only; ``user`` holds theirs, fenced."""

    system: str
    user: str


def read_answer(text: str, model: type[Model], *parts: type[Strict]) -> Model:
    """The words of an answer as ``model``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema.

    ``parts`` are the models inside it. Nothing is repaired: what cannot be read is a failure, never "nothing" (B9).
    """
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise AnswerInvalid(_problem_of(error, (model, *parts))) from None
    except UnicodeEncodeError:
        raise AnswerInvalid("the answer holds half a character (a lone surrogate)") from None


def plain_problem(problem: str | None) -> str:
    """One short line: a problem is ours to word, and nothing that an answer said may ride on it."""
    return " ".join((problem or "").replace("<", "").replace(">", "").split())[:MOST_PROBLEM_CHARS]


def _problem_of(error: ValidationError, models: tuple[type[Strict], ...]) -> str:
    """Where and what, without the answer's own words: an unknown key could be an injected sentence."""
    known = {name for model in models for name in model.model_fields}
    places: list[str] = []
    for entry in error.errors(include_input=False, include_url=False, include_context=False)[:MOST_PLACES]:
        path = ".".join(str(part) if isinstance(part, int) or part in known else "?" for part in entry["loc"])
        kind = "is no valid JSON" if entry["type"] == "json_invalid" else entry["type"].replace("_", " ")
        places.append(f"{path or 'the answer'}: {kind}")
    return "; ".join(places)
