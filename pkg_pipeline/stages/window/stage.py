"""The read of a session's window (L4-L6, T1-T3). Failures outside the database become warnings (L10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict
from uuid import UUID, uuid4

from pkg_pipeline.memory.message.blocks import text_of
from pkg_pipeline.memory.message.turns import groups, live_turn
from pkg_pipeline.memory.session.records import Strategy
from pkg_pipeline.memory.text.marks import unmarked
from pkg_pipeline.memory.window.calibration import calibration_of
from pkg_pipeline.memory.window.formats import in_form
from pkg_pipeline.memory.window.model_window import MODEL_WINDOW_TOKENS, window_of
from pkg_pipeline.memory.window.records import (
    Budget,
    Window,
    WindowHistory,
    WindowLeftOut,
    WindowMessage,
    WindowRules,
)
from pkg_pipeline.memory.window.rendering import OPENING, Form, prepared
from pkg_pipeline.memory.window.selection import assemble, budget_of
from pkg_pipeline.stages.ports import TokenCounter
from pkg_pipeline.stages.reads.stores import BadRequest, StoreUnavailable
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.stages.window.records import (
    Recalled,
    RecalledPiece,
    Recaller,
    RecallQuestion,
    WindowQuery,
    WindowResult,
    WindowRows,
    WindowSink,
    bounded,
    served_of,
)

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.sessions.window import PostgresWindowStore

MOST_LIVE_MESSAGES = 2_000
"""Read instead of the history limit if an agent's turn begins before it, or what no fold covers yet (T2)."""

MOST_QUERY_CHARS = 400
"""Only the beginning of a longer text is used as query."""

SPARE_MESSAGES = 10
"""Read beyond the shown ones, so that a tool's result comes with its call."""

RECALLED_PIECES = 5
SHOWN_TOPICS = 20
LIMITS = ("budget", "raw_history_limit", "context_size")
"""Reasons for leaving out a message that could be sent."""

NOT_FOLDED = "the last fold failed and is tried again: the summary is an older one, what came since is unfolded"


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Defaults by the names of the settings; ``relevant_share`` is in tokens."""

    context_window: int = 0
    llm_window_tokens: int = MODEL_WINDOW_TOKENS
    output_tokens: int = 16_000
    margin_percent: float = 10
    raw_history_limit: int = 100
    context_size: int = 75
    max_messages_per_thread: int = 200
    full_recent_count: int = 10
    condensed_tool_max: int = 200
    max_summaries_in_context: int = 5
    relevant_share: int = 500


class WindowOptions(TypedDict, total=False):
    model_window: int | None
    system_tokens: int
    strategy: Strategy | None
    form: Form
    model: str | None
    query: str | None


@dataclass(frozen=True, slots=True)
class WindowRequest:
    """One request; ``model_window`` and ``system_tokens`` in tokens, the defaults are the settings' and 0.

    ``strategy``: default the session's; ``model``: name in reported usage; ``query``: what to recall, default the
    user's unanswered words.
    """

    session_id: UUID
    now: datetime
    model_window: int | None = None
    system_tokens: int = 0
    strategy: Strategy | None = None
    form: Form = "anthropic"
    model: str | None = None
    query: str | None = None


@dataclass(frozen=True, slots=True)
class WindowParts:
    """Dependencies. Without ``recall`` nothing is recalled, without ``served`` no receipt is written."""

    store: PostgresWindowStore
    counter: TokenCounter
    settings: WindowSettings
    recall: Recaller | None = None
    served: WindowSink | None = None


def window(parts: WindowParts, request: WindowRequest) -> WindowResult:
    """The next prompt of a session. Raises SessionUnknown, BadRequest, LiveTurnTooLong, StoreUnavailable."""
    _checked(request)
    settings = parts.settings
    rows = _rows(parts, request)
    budget = budget_of(
        window_of(asked=request.model_window, setting=settings.context_window, own=settings.llm_window_tokens),
        margin_percent=settings.margin_percent,
        output_tokens=settings.output_tokens,
        system_tokens=request.system_tokens,
        calibration=calibration_of(rows.calibration),
    )
    if budget.available < 1:
        field_name = "system_tokens" if request.system_tokens else "model_window"
        raise BadRequest(field_name, f"nothing is left of the window for messages: {_said(budget)}")
    strategy = request.strategy or rows.strategy
    recalled, warnings = _recalled(parts, request, rows, strategy)
    history = WindowHistory(
        messages=tuple(prepared(message, request.form) for message in rows.messages),
        summaries=() if strategy == "retrieval" else tuple(unmarked(fold.text) for fold in rows.folds),
        running="" if strategy == "retrieval" else unmarked(rows.running),
        topics=rows.topics,
        recalled=tuple(piece.text for piece in recalled),
    )
    made = assemble(history, budget, _rules(settings, rows, request.form), parts.counter.count_many)
    answer = _answer(parts, request, rows, strategy, made, recalled, warnings)
    if parts.served is not None and answer.receipt_id is not None:
        parts.served.put(served_of(answer, request.model))
    return answer


def _checked(request: WindowRequest) -> None:
    if request.model_window is not None and request.model_window < 1:
        raise BadRequest("model_window", "model_window must be at least 1")
    if request.system_tokens < 0:
        raise BadRequest("system_tokens", "system_tokens must not be negative")


def _rows(parts: WindowParts, request: WindowRequest) -> WindowRows:
    settings = parts.settings
    query = WindowQuery(
        session_id=request.session_id,
        history_limit=max(settings.raw_history_limit, settings.max_messages_per_thread),
        recent_limit=settings.full_recent_count + SPARE_MESSAGES,
        fold_limit=settings.max_summaries_in_context,
        topic_limit=SHOWN_TOPICS,
        model=request.model,
    )
    rows = parts.store.read_window(query)
    if rows is None:
        raise SessionUnknown(f"no session {request.session_id}")
    if _begins_before(rows, query.history_limit):
        rows = parts.store.read_window(replace(query, history_limit=MOST_LIVE_MESSAGES)) or rows
    return replace(rows, messages=_without_spare(rows.messages, settings.full_recent_count))


def _begins_before(rows: WindowRows, history_limit: int) -> bool:
    """Whether more must be read: the live turn of an agent, or unfolded messages that may be shown (T2)."""
    if rows.policy != "sliding" and rows.messages_since_hwm > history_limit:
        return True
    roles = {message.role for message in rows.messages}
    return len(rows.messages) >= history_limit and bool(roles - {None, "system"}) and "user" not in roles


def _without_spare(messages: tuple[WindowMessage, ...], recent_count: int) -> tuple[WindowMessage, ...]:
    """Drops folded messages before the last ``recent_count``, but no tool call of a kept result."""
    for start, end in groups(messages):
        if len(messages) - start <= recent_count or not all(message.is_folded for message in messages[start:end]):
            return messages[start:]
    return ()


def _rules(settings: WindowSettings, rows: WindowRows, form: Form) -> WindowRules:
    """T2, W1: limit of history messages, by the session's policy."""
    given = WindowRules(
        full_recent_count=settings.full_recent_count,
        condensed_tool_max=settings.condensed_tool_max,
        most_messages=settings.raw_history_limit,
        opening=OPENING if form == "anthropic" else "",
    )
    if rows.policy == "sliding":
        return replace(given, most_messages=settings.context_size, limit_reason="context_size")
    if rows.policy == "thread_size":
        return replace(given, most_messages=max(settings.max_messages_per_thread, settings.raw_history_limit))
    return given


# ── recall ───────────────────────────────────────────────────────────────────────────────────


def _recalled(
    parts: WindowParts, request: WindowRequest, rows: WindowRows, strategy: Strategy
) -> tuple[tuple[RecalledPiece, ...], tuple[str, ...]]:
    """T1: chunks that match the live question from the folded part not in the window; and warnings."""
    warnings = (*_stale(rows, strategy), *((NOT_FOLDED,) if rows.has_failed else ()))
    query = (request.query or _live_words(rows.messages)).strip()[:MOST_QUERY_CHARS]
    if strategy == "rolling" or rows.hwm_message_id == 0 or parts.recall is None or not query:
        return (), warnings
    try:
        folded = (
            rows.hwm_message_id,
            rows.message_count - rows.messages_since_hwm,
            rows.folded_tokens,
            rows.dirty_folds,
        )
        found = parts.recall(RecallQuestion(request.session_id, query, request.now, folded))
    except StoreUnavailable:
        found = Recalled((), ("recall failed: the database did not answer",))
    except Exception as error:  # noqa: BLE001 - a window without it is better than none (L10); its words may be the text's
        found = Recalled((), (f"recall failed ({type(error).__name__})",))
    shown = {message.key for message in rows.messages}
    told = set[UUID]() if strategy == "retrieval" else {fold.id for fold in rows.folds}
    fresh = [
        piece
        for piece in found.pieces
        if piece.subject_id not in told and not (piece.message_ids and shown.issuperset(piece.message_ids))
    ]
    return _within(fresh, parts.settings.relevant_share, parts.counter), (*warnings, *found.warnings)


def _stale(rows: WindowRows, strategy: Strategy) -> tuple[str, ...]:
    if strategy == "retrieval":
        return ()
    if rows.is_withheld:
        return ("the running summary rests on a deleted message and is not served until it is made anew",)
    if any(fold.is_stale for fold in rows.folds):
        return ("a message that the summary stands for was edited since",)
    return ()


def _live_words(messages: Sequence[WindowMessage]) -> str:
    live_at = live_turn(messages)
    asked = messages[live_at:] if live_at < len(messages) else messages[::-1]
    return next((words for message in asked if (words := _words(message))), "")


def _words(message: WindowMessage) -> str:
    if message.role == "tool":
        return ""
    return (message.text or text_of(message.parts or ())).strip()


def _within(pieces: Sequence[RecalledPiece], most_tokens: int, counter: TokenCounter) -> tuple[RecalledPiece, ...]:
    chosen: dict[str, RecalledPiece] = {}
    counts = counter.count_many([piece.text for piece in pieces])
    for piece, tokens in zip(pieces, counts, strict=True):
        if len(chosen) == RECALLED_PIECES:
            break
        if tokens <= most_tokens and piece.text not in chosen:
            chosen[piece.text] = piece
            most_tokens -= tokens
    return tuple(chosen.values())


# ── the answer ───────────────────────────────────────────────────────────────────────────────


def _answer(
    parts: WindowParts,
    request: WindowRequest,
    rows: WindowRows,
    strategy: Strategy,
    made: Window,
    recalled: Sequence[RecalledPiece],
    warnings: tuple[str, ...],
) -> WindowResult:
    summaries = rows.folds if rows.running else rows.folds[len(rows.folds) - made.summaries :]
    left_out = (*made.left_out, *_unread(rows, strategy))
    lost = _hole(rows, left_out)
    return WindowResult(
        receipt_id=None if parts.served is None else uuid4(),
        session=rows.chat_key,
        session_id=request.session_id,
        strategy=strategy,
        form=request.form,
        window=made,
        messages=in_form(made.messages, request.form),
        hypothetical_tokens=rows.token_count,
        left_out=bounded(left_out),
        topics=rows.topics[: made.topics],
        summaries=tuple(fold.id for fold in summaries) if made.has_summary else (),
        recalled=tuple(piece.id for piece in recalled[: made.recalled]),
        unsummarised=lost,
        warnings=(*warnings, *_said_hole(lost)),
    )


def _said_hole(lost: int) -> tuple[str, ...]:
    return (f"messages left out that no summary stands for yet: {lost}",) if lost else ()


def _hole(rows: WindowRows, left_out: Sequence[WindowLeftOut]) -> int:
    """How many messages are missing that no summary stands for (T2)."""
    unfolded = {None, *(message.key for message in rows.messages if not message.is_folded)}
    lost = [one for one in left_out if one.kind == "message" and one.reason in LIMITS and one.id in unfolded]
    return sum(one.count for one in lost)


def _unread(rows: WindowRows, strategy: Strategy) -> list[WindowLeftOut]:
    """What was not read: messages beyond the limit, a withheld summary."""
    found: list[WindowLeftOut] = []
    unfolded = sum(not message.is_folded for message in rows.messages)
    if rows.messages_since_hwm > unfolded:
        found.append(WindowLeftOut("message", None, "raw_history_limit", rows.messages_since_hwm - unfolded))
    if rows.is_withheld and strategy != "retrieval":
        found.append(WindowLeftOut("summary", None, "withheld"))
    return found


def _said(budget: Budget) -> str:
    return (
        f"{budget.window:,} less {budget.margin:,} margin, {budget.output:,} answer and {budget.system:,} system prompt"
    )
