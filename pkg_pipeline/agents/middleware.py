"""Middleware that fits every prompt of a LangChain agent into its model's window (L4, L5, L10); the thread is
unchanged.

Below the budget a call passes unchanged, unless messages were pruned: then the summary is put first. Above it the
window rules choose; a live turn that does not fit raises ``LiveTurnTooLong``.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from pkg_pipeline.adapters.langgraph.conversion import parts_of, role_of, shortened, text_in
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.agents.thread_memory import NOTHING, Remembered, ThreadMemory, by_place, running_thread
from pkg_pipeline.memory.message.blocks import prompt_text
from pkg_pipeline.memory.window.calibration import calibration_of
from pkg_pipeline.memory.window.model_window import window_of
from pkg_pipeline.memory.window.records import (
    Budget,
    LiveTurnTooLong,
    Shown,
    ShownTier,
    Window,
    WindowHistory,
    WindowMessage,
    WindowRules,
)
from pkg_pipeline.memory.window.rendering import OPENING
from pkg_pipeline.memory.window.selection import assemble, budget_of
from pkg_pipeline.session_settings import SessionSettings

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

__all__ = ["LiveTurnTooLong", "MemoryMiddleware"]

log = logging.getLogger(__name__)

CountMany = Callable[[Sequence[str]], list[int]]
REPORTS = 20
"""Last reports of a model used for calibration."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """One call as sent. ``system``: tokens beside its messages; ``full``: of all given messages."""

    request: ModelRequest[Any]
    thread_id: str | None
    model: str | None
    window: Window
    ids: tuple[str, ...]
    known: Remembered
    full: int


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """``create_agent(…, middleware=[MemoryMiddleware(memory)])``.

    ``memory`` None: prompts are trimmed without a summary. ``model_window`` is in tokens, by default
    ``MEMORY_CONTEXT_WINDOW`` or that of the model's profile.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        *,
        model_window: int | None = None,
        output_tokens: int | None = None,
        settings: SessionSettings | None = None,
    ) -> None:
        super().__init__()
        if settings is None:
            settings = SessionSettings() if memory is None else memory.settings
        self._settings = settings
        self._asked = model_window
        self._output_tokens = settings.output_tokens if output_tokens is None else output_tokens
        self._thread_memory = ThreadMemory(memory)
        self._counter = TiktokenCounter() if memory is None else memory.counter
        self._calibrations: dict[str | None, Calibration] = {}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        prompt = self._fitted(request, running_thread())
        response = handler(prompt.request)
        self._record(prompt, response)
        return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        prompt = await asyncio.to_thread(self._fitted, request, running_thread())
        response = await handler(prompt.request)
        await asyncio.to_thread(self._record, prompt, response)
        return response

    # ── before the call ──────────────────────────────────────────────────────────────────────

    def _fitted(self, request: ModelRequest[Any], thread_id: str | None) -> _Prompt:
        """Raises LiveTurnTooLong."""
        count = self._counter.count_many
        model = _model_name(request.model)
        system = system_tokens(request.system_message, request.tools, count)
        messages = window_messages(request.messages)
        tokens = count([prompt_text(one.text, one.parts) for one in messages])
        ids = tuple(str(message.id or place) for place, message in enumerate(request.messages))
        calibration = self._calibrations.setdefault(model, Calibration())
        known = self._thread_memory.remembered(thread_id, ids, model=model)
        calibration.start(known.calibration)
        budget = self._budget(request, system, calibration.factor)
        if sum(tokens) <= budget.available and known.is_whole:
            whole = _untouched(ids, sum(tokens), budget)
            return _Prompt(request, thread_id, model, whole, ids, NOTHING, sum(tokens))
        window = assemble(
            WindowHistory(
                messages=tuple(window_messages(request.messages, folded=known.folded)),
                summaries=known.summaries,
                running=known.running,
                topics=known.topics,
                is_whole=known.is_whole,
            ),
            budget,
            self._rules(request),
            count,
        )
        request = request.override(messages=_as_langchain(window.messages, request.messages))  # type: ignore[arg-type]
        return _Prompt(request, thread_id, model, by_place(window, ids), ids, known, sum(tokens))

    def _budget(self, request: ModelRequest[Any], system: int, calibration: float) -> Budget:
        return budget_of(
            window_of(asked=self._asked, setting=self._settings.context_window, own=_own_window(request.model)),
            margin_percent=self._settings.margin_percent,
            output_tokens=self._output_tokens,
            system_tokens=system,
            calibration=calibration,
        )

    def _rules(self, request: ModelRequest[Any]) -> WindowRules:
        """No limit on the number of history messages: the thread has its own."""
        return WindowRules(
            full_recent_count=self._settings.full_recent_count,
            condensed_tool_max=self._settings.condensed_tool_max,
            most_messages=max(len(request.messages), 1),
            opening=OPENING if "anthropic" in type(request.model).__module__ else "",
        )

    # ── after the call ───────────────────────────────────────────────────────────────────────

    def _record(self, prompt: _Prompt, response: ModelResponse[Any]) -> None:
        """T3, T5, B12. Without reported tokens own counts are recorded, without model name: they calibrate nothing."""
        given: Sequence[BaseMessage] = [response] if isinstance(response, AIMessage) else response.result
        answer = next((one for one in reversed(given) if isinstance(one, AIMessage)), None)
        counted = prompt.window.tokens + prompt.window.budget.system
        told, model = reported(answer), prompt.model
        if told is None:
            said = [prompt_text(one.text, one.parts) for one in window_messages(given)]
            told, model = (counted, sum(self._counter.count_many(said)) if said else 0), None
        else:
            self._calibrations.setdefault(model, Calibration()).report(told=told[0], counted=counted)
        memory = self._thread_memory
        memory.served(prompt.thread_id, prompt.window, prompt.known, full=prompt.full, model=model)
        memory.told(prompt.thread_id, input_tokens=told[0], output_tokens=told[1], model=model)


def _untouched(ids: Sequence[str], tokens: int, budget: Budget) -> Window:
    return Window(messages=(), tiers=(ShownTier("recent", tokens, tuple(ids)),), tokens=tokens, budget=budget)


def _as_langchain(shown: Sequence[Shown], given: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Unchanged messages are the given objects."""
    found: list[BaseMessage] = []
    for one in shown:
        if one.key is None:
            found.append(HumanMessage(content=one.text))
        else:
            original = given[int(one.key)]
            found.append(shortened(original, one) if one.is_changed else original)
    return found


def _model_name(model: Any) -> str | None:
    for name in ("model_name", "model"):
        if isinstance(value := getattr(model, name, None), str) and value:
            return value
    return None


def _own_window(model: Any) -> int | None:
    profile: Any = getattr(model, "profile", None)
    most = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return int(most) if isinstance(most, int) and most > 0 else None


# ── counts ───────────────────────────────────────────────────────────────────────────────────


def window_messages(messages: Sequence[BaseMessage], *, folded: frozenset[str] = frozenset()) -> list[WindowMessage]:
    """Window messages with their index as key; ``folded`` are ids covered by a summary."""
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
    """Of the system prompt and the tools' descriptions."""
    words = [] if system is None else [prompt_text(text_in(system, parts_of(system)), parts_of(system))]
    words += [json.dumps(one if isinstance(one, dict) else convert_to_openai_tool(one), default=str) for one in tools]
    return sum(count_many(words)) if words else 0


def reported(answer: AIMessage | None) -> tuple[int, int] | None:
    """(input, output) tokens the model reported, or None."""
    usage = None if answer is None else answer.usage_metadata
    if not usage or not usage.get("input_tokens"):
        return None
    return int(usage["input_tokens"]), int(usage.get("output_tokens") or 0)


class Calibration:
    """Reported tokens per counted token: median of the last reports, 1 to 3 (B12)."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=REPORTS)

    @property
    def factor(self) -> float:
        return calibration_of(median(self._ratios) if self._ratios else None)

    def report(self, *, told: int, counted: int) -> None:
        if counted > 0:
            self._ratios.append(told / counted)

    def start(self, factor: float | None) -> None:
        if factor is not None and not self._ratios:
            self._ratios.append(factor)
