"""How the content of one interaction comes about: an update where few messages are new, else anew, whole or in windows.

Every way ends alike: what was known before and still stands is in the content, or is named as lost (P28). Publication
and failures are ``summarize``, single questions ``summary_call``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.increments import NOT_PASSED, Plan, Versions, plan, update_input
from pkg_pipeline.memory.summary.merging import Part, in_groups, merge_input, merge_windows, united_points, whole_texts
from pkg_pipeline.memory.summary.reconciliation import carry_over, cited, sealed
from pkg_pipeline.memory.summary.splitting import halves
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline.prompts import interaction_summary_update as update_prompt
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.stages.llm.answer_validation import NotPublishable, climb
from pkg_pipeline.stages.llm.ask import WORST_TOKENIZER
from pkg_pipeline.stages.ports import LlmRefused, LlmRejected, LlmTooLong
from pkg_pipeline.stages.summaries.call import (
    ANSWER_LIMIT_TOKENS,
    Attempt,
    Content,
    ask,
    ask_merge,
    ask_update,
)
from pkg_pipeline.stages.summaries.conversation import Conversation

PROMPT_ROOM_TOKENS = 4_000
"""Kept free in a window for instructions and schema."""

FEW_WINDOWS = 3
"""So many windows' summaries are put side by side; more are told as one by a question of their own (P18)."""


class Moved(Exception):
    """There is nothing to ask about: the interactions hop is behind."""


@dataclass(frozen=True, slots=True)
class Making:
    """What may be published. ``reason`` says why it was made this way; ``message_ids`` are all it covers."""

    content: SummaryContent
    dropped: tuple[Quarantined, ...]
    message_ids: tuple[str, ...]
    prompt_version: str
    reason: str


def make(attempt: Attempt) -> Making:
    """Raises ``Moved``, ``OutOfBudget``, or whatever the last rung of the ladder raised."""
    claimed, deps = attempt.claimed, attempt.deps
    talk = Conversation(claimed, deps.store, deps.counter)
    if talk.is_empty:
        raise Moved("its messages are gone; its chat has to be looked at again")
    versions = Versions(CURRENT_VERSIONS, deps.llm.model, prompt.SCHEMA_VERSION)
    planned = plan(claimed.known, talk.hashes(), most_new=deps.update_messages, versions=versions)
    if planned.method == "update":
        made = _updated(attempt, talk, planned)
        if made is not None:
            return made
        planned = Plan("whole", NOT_PASSED)
    return _anew(attempt, talk, planned)


def _updated(attempt: Attempt, talk: Conversation, planned: Plan) -> Making | None:
    """None where no answer passed or the update does not fit: then it is made anew."""
    claimed = attempt.claimed
    assert claimed.known is not None, "an update is planned only where there is something to update"
    before = carry_over(claimed.adopted, claimed.known.content, _texts(talk, claimed.known.content, *claimed.adopted))
    shown = talk.messages_of(planned.shown_ids)
    update = update_input(talk.source, before.content, shown, frozenset(planned.new_ids))
    if len(update.new_numbers) < len(planned.new_ids):
        raise Moved("a new message is gone again; its chat has to be looked at again")
    try:
        content, dropped = ask_update(attempt, update)
    except LlmTooLong:
        return None
    except NotPublishable as failure:
        try:
            content, dropped = ask_update(attempt, update, problem=failure.problem)
        except (NotPublishable, LlmTooLong):
            return None
    attempt.made.method, attempt.made.windows = "update", 1
    attempt.made.carried, attempt.made.lost = before.carried, len(before.lost)
    return Making(
        content=sealed(content, _texts(talk, content)),
        dropped=(*dropped, *before.lost),
        message_ids=(*claimed.known.message_ids, *planned.new_ids),
        prompt_version=update_prompt.VERSION,
        reason=planned.reason,
    )


def _anew(attempt: Attempt, talk: Conversation, planned: Plan) -> Making:
    claimed, made = attempt.claimed, attempt.made
    content, dropped = _read(attempt, talk)
    known = (*((claimed.known.content,) if claimed.known is not None else ()), *claimed.adopted)
    texts = _texts(talk, content, *known)
    kept = carry_over(known, content, texts)
    made.method = "windows" if made.windows > 1 else "whole"
    made.carried, made.lost = kept.carried, len(kept.lost)
    return Making(
        content=sealed(whole_texts(kept.content, texts), texts),
        dropped=(*dropped, *kept.lost),
        message_ids=talk.read_ids,
        prompt_version=prompt.VERSION,
        reason=planned.reason if claimed.known is not None else "",
    )


def _texts(talk: Conversation, *contents: SummaryContent) -> Mapping[str, str]:
    """Today's texts of all that something in ``contents`` rests on."""
    ids = cited(*contents)
    return {message.external_id: message.text for message in talk.messages_of(ids)} if ids else {}


def _read(attempt: Attempt, talk: Conversation) -> Content:
    """All windows, each up its rungs, then as one (P18)."""
    deps = attempt.deps
    most_tokens = int(deps.llm.window_tokens / WORST_TOKENIZER) - ANSWER_LIMIT_TOKENS - PROMPT_ROOM_TOKENS
    parts: list[Part] = []
    dropped: list[Quarantined] = []
    for window in talk.windows(most_messages=deps.window_messages, most_tokens=max(1_000, most_tokens)):
        content, out = _rungs(attempt, window)
        parts.append(Part(content, window.started_at, window.ended_at))
        dropped += out
    if not parts:
        raise Moved("its messages are gone; its chat has to be looked at again")
    content = merge_windows([part.content for part in parts], talk.source)
    if len(parts) > FEW_WINDOWS:
        content, out = _told(attempt, talk.source, parts, content)
        dropped += out
    return content, tuple(dropped)


def _told(attempt: Attempt, source: SummaryInput, parts: Sequence[Part], merged: SummaryContent) -> Content:
    """The text of many windows told as one, in steps where they are very many; by rule where no answer passes."""
    try:
        while len(parts) > 1:
            parts = [_tell(attempt, source, group) for group in in_groups(parts)]
    except (NotPublishable, LlmTooLong, LlmRejected, LlmRefused) as error:
        why = error.problem if isinstance(error, NotPublishable) else type(error).__name__
        return merged, (Quarantined("merge", f"the windows were put together by rule: {why}"),)
    told = parts[0].content
    points, _ = united_points(merged.key_points, told.key_points)
    return replace(merged, summary=told.summary, key_points=points, tone=told.tone), ()


def _tell(attempt: Attempt, source: SummaryInput, group: Sequence[Part]) -> Part:
    if len(group) == 1:
        return group[0]
    content, _ = ask_merge(attempt, merge_input(source, group))
    return Part(content, group[0].started_at, group[-1].ended_at)


def _rungs(attempt: Attempt, part: SummaryInput) -> Content:
    """P19: as usual, stricter, in halves. Raises what the last rung raised."""
    attempt.made.windows += 1

    def in_halves(problem: str | None, last: Exception) -> Content:
        smaller = halves(part)
        if len(smaller) < 2:
            raise last
        attempt.made.windows += len(smaller) - 1
        found = [ask(attempt, half, problem=problem) for half in smaller]
        content = merge_windows([content for content, _ in found], part)
        return content, tuple(entry for _, dropped in found for entry in dropped)

    return climb(lambda problem: ask(attempt, part, problem=problem), smaller=in_halves)
