"""The embeddings route of the local server (OpenAI's protocol): texts that share words have near vectors."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.protocol import Record, Refused, tokens_of

EMBEDDINGS_PATH = "/v1/embeddings"
DIMENSIONS: Mapping[str, int] = {"embedding-3": 256, "text-embedding-3-small": 1536}
"""The default models."""

MOST_INPUTS = 2048
LONGEST_INPUT_TOKENS = 8192
KNOWN = frozenset({"input", "model", "encoding_format", "dimensions", "user"})
CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_WORD = re.compile(r"\w+")


def check_bearer(headers: Mapping[str, str], *, api_key: str | None) -> None:
    """Checks the Bearer key. ``Refused``."""
    authorization = headers.get("authorization", "")
    if not authorization.startswith("Bearer ") or (api_key is not None and authorization != f"Bearer {api_key}"):
        raise Refused(401, "Incorrect API key provided.")


def embedding_error(status: int, message: str, *, code: str | None = None) -> Record:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code or CODES.get(status)}}


def embedding_answer(body: Any, fault: Fault, *, models: Mapping[str, int]) -> Record:
    """The response to one request, bent by the fault. ``Refused``."""
    texts, dimensions = _checked(body, models)
    manner = MANNERS.get(fault.answer or "good", _good)
    rows = manner([(index, vector(text, dimensions)) for index, text in enumerate(texts)])
    as_base64 = body.get("encoding_format") == "base64" and fault.answer != "floats"
    tokens = sum(map(tokens_of, texts))
    answer: Record = {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _base64(numbers) if as_base64 else numbers}
            for index, numbers in rows
        ],
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    if fault.answer == "no_index":
        for item in answer["data"]:
            del item["index"]
    if fault.without_usage:
        del answer["usage"]
    return answer


def vector(text: str, dimensions: int) -> list[float]:
    """Unit vector: the sum of its words' directions, or of the whole text's without words."""
    words = _WORD.findall(text.casefold()) or [text]
    sums = [math.fsum(column) for column in zip(*(_direction(word, dimensions) for word in words), strict=True)]
    length = math.hypot(*sums) or 1.0
    return [number / length for number in sums]


@lru_cache(4096)
def _direction(word: str, dimensions: int) -> tuple[float, ...]:
    noise = hashlib.shake_256(word.encode("utf-8", "replace")).digest(dimensions)
    return tuple(byte - 127.5 for byte in noise)


def _checked(body: Any, models: Mapping[str, int]) -> tuple[list[str], int]:
    if not isinstance(body, dict):
        raise Refused(400, "We could not parse the JSON body of your request.")
    if unknown := sorted(set(body) - KNOWN):
        raise Refused(400, f"Unrecognized request argument supplied: {unknown[0]}")
    if body.get("model") not in models:
        raise Refused(404, f"The model `{body.get('model')}` does not exist or you do not have access to it.")
    if body.get("encoding_format", "float") not in {"float", "base64"}:
        raise Refused(400, "'encoding_format' must be float or base64")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_INPUTS:
        raise Refused(400, f"'input' must be a string or 1 to {MOST_INPUTS} of them")
    if not all(isinstance(text, str) and text for text in texts):
        raise Refused(400, "'$.input' is invalid. Only strings that are not empty are taken here.")
    if any(tokens_of(text) > LONGEST_INPUT_TOKENS for text in texts):
        raise Refused(400, f"This model's maximum context length is {LONGEST_INPUT_TOKENS} tokens")
    dimensions = body.get("dimensions") or models[body["model"]]
    if not isinstance(dimensions, int) or not 1 <= dimensions <= models[body["model"]]:
        raise Refused(400, "'dimensions' is larger than the model's")
    return texts, dimensions


def _base64(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


Rows = list[tuple[int, list[float]]]


def _good(rows: Rows) -> Rows:
    return rows


def _with_first(rows: Rows, change: Callable[[list[float]], list[float]]) -> Rows:
    return [(rows[0][0], change(rows[0][1])), *rows[1:]]


MANNERS: Mapping[str, Callable[[Rows], Rows]] = {
    "good": _good,
    "floats": _good,
    "no_index": _good,
    "shuffled": lambda rows: rows[1::2][::-1] + rows[::2],
    "one_missing": lambda rows: rows[:-1],
    "one_twice": lambda rows: [*rows[:-1], rows[0]],
    "nan": lambda rows: _with_first(rows, lambda numbers: [math.nan, *numbers[1:]]),
    "infinite": lambda rows: _with_first(rows, lambda numbers: [math.inf, *numbers[1:]]),
    "zero": lambda rows: _with_first(rows, lambda numbers: [0.0] * len(numbers)),
    "shorter": lambda rows: [(index, numbers[:-1]) for index, numbers in rows],
    "one_shorter": lambda rows: _with_first(rows, lambda numbers: numbers[:-1]),
}
"""Modes of answering for scripts; ``floats`` ignores a request for base64."""
