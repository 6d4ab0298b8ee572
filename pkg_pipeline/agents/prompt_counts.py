"""What a prompt of an agent takes beside its messages, and what a model reported of it (L4, T5, B12). Counts alone."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from pkg_pipeline.adapters.langgraph.conversion import parts_of, role_of, text_in
from pkg_pipeline.memory.message.blocks import prompt_text
from pkg_pipeline.memory.window.records import WindowMessage
from pkg_pipeline.memory.window.selection import calibration_of

CountMany = Callable[[Sequence[str]], list[int]]
REPORTS = 20


def window_messages(messages: Sequence[BaseMessage], *, folded: frozenset[str] = frozenset()) -> list[WindowMessage]:
    """The messages for the rules of windows, each by its place; ``folded`` are ids that a summary stands for."""
    found: list[WindowMessage] = []
    for place, message in enumerate(messages):
        parts = parts_of(message)
        role = role_of(message)
        found.append(
            WindowMessage(
                key=str(place),
                role=role,
                text=text_in(message, parts),
                parts=parts,
                is_folded=message.id is not None and str(message.id) in folded,
            )
        )
    return found


def system_tokens(system: BaseMessage | None, tools: Iterable[Any], count_many: CountMany) -> int:
    """Of the system prompt and of what the tools are described by."""
    words = [] if system is None else [prompt_text(text_in(system, parts_of(system)), parts_of(system))]
    words += [json.dumps(one if isinstance(one, dict) else convert_to_openai_tool(one), default=str) for one in tools]
    return sum(count_many(words)) if words else 0


def reported(answer: AIMessage | None) -> tuple[int, int] | None:
    """(input, output) tokens by the model's own count; None where it told nothing."""
    usage = None if answer is None else answer.usage_metadata
    if not usage or not usage.get("input_tokens"):
        return None
    return int(usage["input_tokens"]), int(usage.get("output_tokens") or 0)


class Calibration:
    """How many tokens a model reports for one counted here: the median of the last reports, from 1 to 3 (B12)."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=REPORTS)

    @property
    def factor(self) -> float:
        return calibration_of(median(self._ratios) if self._ratios else None)

    def report(self, *, told: int, counted: int) -> None:
        if counted > 0:
            self._ratios.append(told / counted)

    def start(self, factor: float | None) -> None:
        """What is known from before, until the model has reported here itself."""
        if factor is not None and not self._ratios:
            self._ratios.append(factor)
