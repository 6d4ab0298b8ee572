"""Where a conversation may be cut: complete turns, and tool calls that stay with their results (H4, L4, L6). Pure.

A turn begins where the user speaks; a message that only brings results of tools does not begin one. It is complete
when the assistant has answered and none of the turn's tool calls still waits.

Nothing holds a session for ever. A call without a result counts as settled once a later turn of the user has been
answered, or once ``MOST_WAITING`` messages of user and assistant have come after it. A message of the user that nobody
answers is let go when so many newer ones stand unanswered too: there, nobody waits for an answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

MOST_WAITING = 12
"""As many messages as are at hand without touching history (H16)."""

_NEVER = 2**62


class Said(Protocol):
    """What is asked of a message here; ``SessionMessage`` is one. One whose ``kind`` is "service" says nothing."""

    @property
    def role(self) -> str | None: ...
    @property
    def parts(self) -> Sequence[Mapping[str, Any]] | None: ...


def groups(messages: Sequence[Said]) -> list[tuple[int, int]]:
    """Half-open ranges of indices, in order and without a gap, none of which may be cut.

    A message with tool calls goes with all their results and with everything between; any other message is alone, and
    so is a result without its call and a call without results.
    """
    return _calls(messages).joined


def live_turn(messages: Sequence[Said]) -> int:
    """Index of the user's last message, unless it has been answered; ``len(messages)`` when none waits."""
    last = next((at for at in reversed(range(len(messages))) if _is_user(messages[at])), None)
    if last is None or _turns(messages, _calls(messages)).answered_user >= last:
        return len(messages)
    return last


def begins_turn(messages: Sequence[Said], at: int) -> bool:
    """Whether the user begins to speak in message ``at``: one who goes on speaking does not begin."""
    return _is_user(messages[at]) and not (at and _is_user(messages[at - 1]))


def cutoff(messages: Sequence[Said], *, keep_tail: int, is_turn_based: bool | None = None) -> int:
    """How many messages from the front may be folded; 0 for none. ``messages`` are those after the HWM, in order.

    With ``keep_tail`` (of messages, service entries not counted) all before the tail, else up to the last complete
    turn, or all of them where nobody takes turns. ``is_turn_based`` None: they do when a message has the role of user,
    assistant or tool. Never inside a tool call and its results, nor behind a call that still waits for one.
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
    """``ends``: by the index of a message, the exclusive end of what must stay with it; ``joined``: ranges of that.
    ``waiting``: indices of messages with a call that has no result.
    """

    ends: list[int]
    joined: list[tuple[int, int]]
    waiting: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Turns:
    """``ends``: exclusive ends of complete turns. ``answered_user``: the last message of the user with an answer.
    ``given_up``: how many messages lie before those whose answer is still awaited. ``blocked``: the first call that
    waits for its result.
    """

    ends: list[int]
    answered_user: int
    given_up: int
    blocked: int


def _calls(messages: Sequence[Said]) -> _Calls:
    """A result belongs to the latest call of its id. Ids may be used again; then no result of the earlier comes."""
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
    """Calls after which so much was said that no result is awaited any more."""
    said_after = 0
    lost: set[int] = set()
    for at in reversed(range(len(actors))):
        if at in waiting and said_after >= MOST_WAITING:
            lost.add(at)
        said_after += actors[at] in ("user", "assistant")
    return frozenset(lost)


def _actor(message: Said) -> Literal["user", "assistant", "tool", "aside"]:
    """Who acts. A person without a role speaks like a user; results of tools may come under the user's role."""
    if getattr(message, "kind", "message") == "service" or message.role == "system":
        return "aside"
    if message.role in ("assistant", "tool"):
        return message.role
    is_result = bool(message.parts) and all(part.get("type") == "tool_result" for part in message.parts or ())
    return "tool" if is_result else "user"


def _is_user(message: Said) -> bool:
    return message.role == "user" and _actor(message) == "user"


def _uncut(end: int, calls: _Calls, turns: _Turns) -> int:
    """The last place up to ``end`` that is neither behind a call that waits nor inside a group."""
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
