"""Whether a model server of one's own can do the work: it answers, keeps to a schema, and reads a whole prompt."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import LlmError, LlmRequest, TokenCounter
from pkg_pipeline.wiring.models import Patience, language_model

PROMPT_TOKENS = 12_000
"""Of the long probe: as long as the prompts of long conversations."""
FILLER = "This line says nothing that matters here. "
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ModelProbe:
    """``problem``: why the server cannot be used, or None. ``prompt_tokens``: of the prompt it was asked with."""

    prompt_tokens: int
    seconds: float | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def probe(settings: Settings, counter: TokenCounter, *, is_long: bool = False) -> ModelProbe:
    """Asks the configured server for a word that the prompt begins with."""
    word = secrets.token_hex(4)
    lines = PROMPT_TOKENS // counter.count(FILLER) if is_long else 1
    asked = f"The code word is {word}. {FILLER * lines}What is the code word?"
    request = LlmRequest("question_rewrite", "probe/1", "You answer in JSON.", asked, SCHEMA, 200, payload=None)
    tokens = counter.count(asked)
    llm = language_model(settings, counter, lambda _: None, Patience(settings.llm_timeout_seconds, max_tries=1))
    try:
        reply = llm.complete(request)
    except LlmError as error:
        return ModelProbe(tokens, problem=str(error))
    finally:
        close = getattr(llm, "close", None)
        if close is not None:
            close()
    return ModelProbe(tokens, round(reply.duration_seconds, 2), _problem(reply.text, word, tokens))


def _problem(text: str, word: str, tokens: int) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("word"), str):
        return "it does not answer in the JSON that it is asked for"
    if word not in found["word"]:
        return f"it did not read a prompt of {tokens:,} tokens from its beginning; give the model a larger context"
    return None
