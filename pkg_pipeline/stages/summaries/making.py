"""Content of one summary: an update, or anew (whole, in windows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

from pkg_pipeline.memory.gate.records import GateResult
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.memory.summary.increments import NOT_PASSED, Plan, UpdateInput, Versions, plan, update_input
from pkg_pipeline.memory.summary.merging import (
    MergeInput,
    Part,
    in_groups,
    merge_input,
    merge_parts,
    still_important,
    united_points,
    whole_texts,
)
from pkg_pipeline.memory.summary.splitting import halves
from pkg_pipeline.memory.summary.update_gate import check_update
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.prompts import summary_merge as merge_prompt
from pkg_pipeline.prompts import summary_update as update_prompt
from pkg_pipeline.prompts.answers import RenderedPrompt
from pkg_pipeline.prompts.versions import CURRENT_VERSIONS
from pkg_pipeline.stages.llm.answer_validation import NotPublishable, Question, retry_ladder
from pkg_pipeline.stages.llm.ask import Asking, InBatch, worst_tokenizer
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.ports import LlmRefused, LlmRejected, LlmTask, LlmTooLong, Subject
from pkg_pipeline.stages.summaries.conversation import Conversation
from pkg_pipeline.stages.summaries.stores import Claimed, SummaryMethod

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore


TASK: Final[LlmTask] = "interaction_summary"
"""Pays for all questions of summaries."""


class _OneTalk:
    """The prompt of summaries for a single talk."""

    VERSION, MAX_OUTPUT_TOKENS, schema = prompt.VERSION, prompt.MAX_OUTPUT_TOKENS, prompt.schema

    @staticmethod
    def render(source: SummaryInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
        return prompt.render((source,), strict=strict, problem=problem)


def _check(text: str, source: SummaryInput) -> GateResult:
    told = prompt.to_candidates(prompt.parse(text)).get(1)
    return GateResult(None, (), "talks: the talk is not answered") if told is None else check(told, source)


SUMMARY: Final[Question[SummaryInput, SummaryContent]] = Question(TASK, _OneTalk(), _check)
UPDATE: Final[Question[UpdateInput, SummaryContent]] = Question(
    "interaction_summary_update",
    update_prompt,
    lambda text, update: check_update(update_prompt.to_candidate(update_prompt.parse(text)), update),
)
"""Updates the content with a few new messages (P27)."""

MERGE: Final[Question[MergeInput, SummaryContent]] = Question(
    "interaction_summary_merge",
    merge_prompt,
    lambda text, merge: check(merge_prompt.to_candidate(merge_prompt.parse(text)), merge.source),
)
"""Merges the text of consecutive windows (P18)."""

PROMPT_ROOM_TOKENS = 4_000
"""Reserved for instructions and schema."""

FEW_WINDOWS = 3
"""Up to this many window summaries are joined without a merge question (P18)."""

Asked = TypeVar("Asked")
Content = tuple[SummaryContent, tuple[Quarantined, ...]]


class Outcome(Enum):
    PUBLISHED = "published"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    LOST = "lost"
    UNTOUCHED = "untouched"
    IN_BATCH = "in batch"


@dataclass(slots=True)
class Made(Effort):
    outcome: Outcome = Outcome.DEFERRED
    method: SummaryMethod = "whole"
    windows: int = 0


@dataclass(frozen=True, slots=True)
class MakingRules:
    """P14, P18, P27: limits of a prompt, of an update, and of the short talks in one question to a paid model."""

    window_messages: int
    update_messages: int = 10
    talks_together: int = 1


class Moved(Exception):
    """The messages changed since the interactions hop."""


@dataclass(frozen=True, slots=True)
class Making:
    """Publishable content; ``reason``: why it was made this way, ``message_ids``: all covered."""

    content: SummaryContent
    dropped: tuple[Quarantined, ...]
    message_ids: tuple[str, ...]
    prompt_version: str
    reason: str


class SummaryMaker:
    def __init__(
        self, claimed: Claimed, store: PostgresSummaryStore, asking: Asking, rules: MakingRules, made: Made
    ) -> None:
        self._claimed, self._asking, self._rules, self._made = claimed, asking, rules, made
        self._talk = Conversation(claimed, store, asking.counter)
        self._subject = Subject("interaction", claimed.source.interaction_id)

    def make(self) -> Making:
        """Raises ``Moved``, ``OutOfBudget``, ``InBatch``, or the last error of the ladder."""
        if self._talk.is_empty:
            raise Moved("its messages are gone; its chat has to be looked at again")
        versions = Versions(CURRENT_VERSIONS, self._asking.llm.model, prompt.SCHEMA_VERSION)
        most_new = self._rules.update_messages
        planned = plan(self._claimed.known, self._talk.hashes(), most_new=most_new, versions=versions)
        if planned.method == "update":
            made = self._updated(planned)
            if made is not None:
                return made
            planned = Plan("whole", NOT_PASSED)
        return self._anew(planned)

    def _updated(self, planned: Plan) -> Making | None:
        """None if no answer was valid or the update does not fit."""
        claimed, talk, made = self._claimed, self._talk, self._made
        assert claimed.known is not None, "an update is planned only where there is something to update"
        shown = talk.messages_of(planned.shown_ids)
        update = update_input(talk.source, claimed.known.content, shown, frozenset(planned.new_ids))
        if len(update.new_numbers) < len(planned.new_ids):
            raise Moved("a new message is gone again; its chat has to be looked at again")
        try:
            content, dropped = self._ask(UPDATE, update)
        except LlmTooLong:
            return None
        except NotPublishable as failure:
            try:
                content, dropped = self._ask(UPDATE, update, failure.told)
            except (NotPublishable, LlmTooLong):
                return None
        made.method, made.windows = "update", 1
        return Making(
            content=content,
            dropped=dropped,
            message_ids=(*claimed.known.message_ids, *planned.new_ids),
            prompt_version=update_prompt.VERSION,
            reason=planned.reason,
        )

    def told(self, content: SummaryContent, dropped: tuple[Quarantined, ...]) -> Making:
        """Of what a question about several talks gave this one."""
        self._made.windows, self._made.method = 1, "whole"
        ids = tuple(message.external_id for message in self._talk.source.messages)
        texts = self._texts(content)
        important = still_important((), content.important_messages, texts)
        told = whole_texts(replace(content, important_messages=important), texts)
        return Making(content=told, dropped=dropped, message_ids=ids, prompt_version=prompt.VERSION, reason="")

    def _anew(self, planned: Plan) -> Making:
        claimed, made = self._claimed, self._made
        content, dropped = self._read()
        known = () if claimed.known is None else (claimed.known.content,)
        texts = self._texts(content, *known)
        important = still_important(known, content.important_messages, texts)
        made.method = "windows" if made.windows > 1 else "whole"
        return Making(
            content=whole_texts(replace(content, important_messages=important), texts),
            dropped=dropped,
            message_ids=self._talk.read_ids,
            prompt_version=prompt.VERSION,
            reason=planned.reason if claimed.known is not None else "",
        )

    def _texts(self, *contents: SummaryContent) -> Mapping[str, str]:
        """Current texts of the important messages of ``contents``."""
        ids = list(dict.fromkeys(one.message_id for content in contents for one in content.important_messages))
        return {message.external_id: message.text for message in self._talk.messages_of(ids)} if ids else {}

    def _read(self) -> Content:
        """All windows, each with the ladder, then merged (P18)."""
        window, most_messages = self._asking.llm.window_tokens, self._rules.window_messages
        window = int(window / worst_tokenizer(self._asking.calibration))
        most_tokens = window - prompt.MAX_OUTPUT_TOKENS - PROMPT_ROOM_TOKENS
        parts: list[Part] = []
        dropped: list[Quarantined] = []
        waits: InBatch | None = None
        for part in self._talk.windows(most_messages=most_messages, most_tokens=max(1_000, most_tokens)):
            try:
                content, out = self._rungs(part)
            except InBatch as gathered:
                waits = gathered  # so that the others of its windows go with it
                continue
            parts.append(Part(content, part.started_at, part.ended_at))
            dropped += out
        if waits is not None:
            raise waits
        if not parts:
            raise Moved("its messages are gone; its chat has to be looked at again")
        content = merge_parts([part.content for part in parts], self._talk.source)
        if len(parts) > FEW_WINDOWS:
            content, out = self._told(parts, content)
            dropped += out
        return content, tuple(dropped)

    def _told(self, parts: Sequence[Part], merged: SummaryContent) -> Content:
        """Merged text of many windows, in steps if very many; joined by rule if no answer is valid."""
        try:
            while len(parts) > 1:
                parts = [self._tell(group) for group in in_groups(parts)]
        except (NotPublishable, LlmTooLong, LlmRejected, LlmRefused) as error:
            why = error.problem if isinstance(error, NotPublishable) else type(error).__name__
            return merged, (Quarantined("merge", f"the windows were put together by rule: {why}"),)
        told = parts[0].content
        points, _ = united_points(merged.key_points, told.key_points)
        return replace(merged, summary=told.summary, key_points=points, tone=told.tone), ()

    def _tell(self, group: Sequence[Part]) -> Part:
        if len(group) == 1:
            return group[0]
        content, _ = self._ask(MERGE, merge_input(self._talk.source, group))
        return Part(content, group[0].started_at, group[-1].ended_at)

    def _rungs(self, part: SummaryInput) -> Content:
        """P19: normal, strict, in halves. Raises the last error."""
        self._made.windows += 1

        def in_halves(problem: str | None, last: Exception) -> Content:
            smaller = halves(part)
            if len(smaller) < 2:
                raise last
            self._made.windows += len(smaller) - 1
            found = [self._ask(SUMMARY, half, problem) for half in smaller]
            content = merge_parts([content for content, _ in found], part)
            return content, tuple(entry for _, dropped in found for entry in dropped)

        return retry_ladder(lambda problem: self._ask(SUMMARY, part, problem), smaller=in_halves)

    def _ask(self, question: Question[Asked, SummaryContent], source: Asked, problem: str | None = None) -> Content:
        """``problem``: what was wrong with the last answer."""
        return question.ask(source, subject=self._subject, asking=self._asking, tally=self._made, problem=problem)
