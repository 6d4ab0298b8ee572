"""Where a conversation may be cut: complete turns, tool calls with their results (H4, L4, L6).

A turn begins with a user message that is not only tool results; it is complete when the assistant has answered and no
tool call is pending. Calls count as settled after a later answered turn or ``MOST_WAITING`` messages, unanswered user
messages after as many newer ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

MOST_WAITING = 12
"""As many messages as are read without history (H16)."""

_NEVER = 2**62


class Said(Protocol):
    """A message as needed here, such as ``SessionMessage``; ``kind`` "service" is ignored."""

    @property
    def role(self) -> str | None: ...
    @property
    def parts(self) -> Sequence[Mapping[str, Any]] | None: ...


def groups(messages: Sequence[Said]) -> list[tuple[int, int]]:
    """Half-open index ranges, in order and contiguous, that must not be cut.

    A message with tool calls is grouped with all their results and everything between; others are single.
    """
    return _calls(messages).joined


def live_turn(messages: Sequence[Said]) -> int:
    """Index of the user's last message if unanswered, else ``len(messages)``."""
    last = next((at for at in reversed(range(len(messages))) if _is_user(messages[at])), None)
    if last is None or _turns(messages, _calls(messages)).answered_user >= last:
        return len(messages)
    return last


def begins_turn(messages: Sequence[Said], at: int) -> bool:
    """Whether the user begins a turn with message ``at``, rather than continuing one."""
    return _is_user(messages[at]) and not (at and _is_user(messages[at - 1]))


def cutoff(messages: Sequence[Said], *, keep_tail: int, is_turn_based: bool | None = None) -> int:
    """How many messages from the front may be folded; 0 for none. ``messages`` are those after the HWM, in order.

    With ``keep_tail`` (messages without service entries) all before the tail, else up to the last complete turn, or all
    where there are no turns. ``is_turn_based`` None: decided by the roles present. Never cuts within a tool call and
    its results, nor after a pending call.
    """
    calls = _calls(messages)
    turns = _turns(messages, calls)
    if keep_tail > 0:
        return _uncut(_before_tail(messages, keep_tail), calls, turns)
    if is_turn_based is None:
        is_turn_based = any(message.role in ("user", "assistant", "tool") for message in messages)
    if not is_turn_based:
        return _uncut(len(messages), calls, turns)
    complete = next((end for end in reversed(turns.ends) if _uncut(end, calls, turns) == end), 0)
    return max(complete, _uncut(turns.given_up, calls, turns))


@dataclass(frozen=True, slots=True)
class _Calls:
    """``ends``: message index → exclusive end of its group; ``joined``: ranges; ``waiting``: pending calls."""

    ends: list[int]
    joined: list[tuple[int, int]]
    waiting: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Turns:
    """``ends``: exclusive ends of complete turns. ``answered_user``: last answered user message. ``given_up``: messages
    before those still awaiting an answer. ``blocked``: first pending call.
    """

    ends: list[int]
    answered_user: int
    given_up: int
    blocked: int


def _calls(messages: Sequence[Said]) -> _Calls:
    """A result belongs to the latest call of its id; ids may be reused."""
    ends = [at + 1 for at in range(len(messages))]
    callers: dict[str, int] = {}
    open_calls: dict[str, int] = {}
    for at, message in enumerate(messages):
        for part in message.parts or ():
            if part.get("type") == "tool_use":
                key = str(part.get("id"))
                callers[key] = open_calls[key] = at
            elif part.get("type") == "tool_result":
                key = str(part.get("tool_use_id"))
                open_calls.pop(key, None)
                if key in callers:
                    ends[callers[key]] = at + 1
    return _Calls(ends, _joined(ends), frozenset(open_calls.values()))


def _joined(ends: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(ends):
        end, at = ends[start], start
        while at < end:
            end = max(end, ends[at])
            at += 1
        found.append((start, end))
        start = end
    return found


def _turns(messages: Sequence[Said], calls: _Calls) -> _Turns:
    actors = [_actor(message) for message in messages]
    lost = _lost(actors, calls.waiting)
    ends: list[int] = []
    unanswered: list[int] = []
    last_user = answered_user = -1
    settled_at = 0  # the calls of this turn have their results before this index
    for at, actor in enumerate(actors):
        if actor == "user":
            last_user, settled_at = at, 0
            unanswered.append(at)
        settled_at = max(settled_at, _NEVER if at in calls.waiting and at not in lost else calls.ends[at])
        if actor == "assistant" and settled_at <= at + 1:
            ends.append(at + 1)
            answered_user = last_user
            unanswered.clear()
    return _Turns(
        ends=ends,
        answered_user=answered_user,
        given_up=unanswered[-MOST_WAITING] if len(unanswered) > MOST_WAITING else 0,
        blocked=min((at for at in calls.waiting if at not in lost and at > answered_user), default=len(messages)),
    )


def _lost(actors: Sequence[str], waiting: frozenset[int]) -> frozenset[int]:
    """Calls followed by so many messages that no result is expected."""
    said_after = 0
    lost: set[int] = set()
    for at in reversed(range(len(actors))):
        if at in waiting and said_after >= MOST_WAITING:
            lost.add(at)
        said_after += actors[at] in ("user", "assistant")
    return frozenset(lost)


def _actor(message: Said) -> Literal["user", "assistant", "tool", "aside"]:
    """Who acts. No role counts as user; tool results may come under the user's role."""
    if getattr(message, "kind", "message") == "service" or message.role == "system":
        return "aside"
    if message.role in ("assistant", "tool"):
        return message.role
    is_result = bool(message.parts) and all(part.get("type") == "tool_result" for part in message.parts or ())
    return "tool" if is_result else "user"


def _is_user(message: Said) -> bool:
    return message.role == "user" and _actor(message) == "user"


def _uncut(end: int, calls: _Calls, turns: _Turns) -> int:
    """The last place up to ``end`` that is neither after a pending call nor inside a group."""
    end = min(end, turns.blocked)
    start, stop = calls.joined[bisect_left(calls.joined, (end, 0)) - 1] if end else (0, 0)
    return start if end < stop else end


def _before_tail(messages: Sequence[Said], keep_tail: int) -> int:
    left = keep_tail
    for at in reversed(range(len(messages))):
        left -= getattr(messages[at], "kind", "message") != "service"
        if not left:
            return at
    return 0
