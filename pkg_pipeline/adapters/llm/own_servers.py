"""Servers of one's own: what they may ignore or put around an answer. Pure."""

from __future__ import annotations

import json
import re

from pkg_pipeline.adapters.llm.retrying import Transient
from pkg_pipeline.stages.ports import LlmRequest

NO_KEY = "none"
"""Sent to servers without keys: the SDKs require one."""

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_SCHEMA_WORDS = re.compile(
    r"output_config|response_format|json_schema|grammar|thinking|extra (?:inputs|fields)", re.IGNORECASE
)


def with_schema(request: LlmRequest) -> str:
    """The system turn with the schema: a server may ignore the parameter."""
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return f"{request.system}\n\nAnswer with one JSON object of this schema and nothing else:\n{schema}"


def bare_answer(text: str) -> str:
    """The answer without a model's thoughts before it and a code fence around it."""
    text = _THOUGHT.sub("", text)
    fenced = _FENCED.match(text)
    return fenced.group(1) if fenced else text


def refuses_schema(status: int, words: str) -> bool:
    """Whether a server refused a request because of its schema, so that it can be asked without."""
    return status in {400, 422, 501} and _SCHEMA_WORDS.search(words) is not None


class WithoutSchema(Transient):
    """After it a server is asked once more, without a schema; that is no try of its own."""

    def __init__(self) -> None:
        super().__init__("the server takes no JSON schema")
