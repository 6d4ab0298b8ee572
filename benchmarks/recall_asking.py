"""How the recall benchmarks ask the memory: the only place that knows the interface of ``recall``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pkg_pipeline.wiring import Memory


class RecallMissing(Exception):
    """This version of the memory has no ``recall``."""


def build_chunks(memory: Memory) -> None:
    """Make everything searchable that was imported. Raises RecallMissing."""
    _recall(memory).build_chunks()


def ask(memory: Memory, question: str, max_tokens: int) -> tuple[str, list[str]]:
    """The text of an answer and the keys of the messages in it, best result first. Raises RecallMissing."""
    request = import_module("pkg_pipeline.stages.recall").RecallRequest(query=question, max_tokens=max_tokens)
    answer = _recall(memory).search(request)
    return answer.text, [key for result in answer.results for key in result.message_ids]


def _recall(memory: Memory) -> Any:
    found = getattr(memory, "recall", None)
    if found is None:
        raise RecallMissing
    return found
