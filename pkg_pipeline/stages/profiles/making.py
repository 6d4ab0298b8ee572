"""One claimed profile: carried over if its input is known, else asked with the ladder of P19 (normal, strict, fewer
summaries).

No transaction is open during a model call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile.gate import check_profile
from pkg_pipeline.memory.profile.records import ProfileContent, ProfileInput
from pkg_pipeline.memory.profile.rules import Week, halved
from pkg_pipeline.memory.records import Quarantined
from pkg_pipeline.prompts import relationship_profile as prompt
from pkg_pipeline.stages.llm.answer_validation import Question, attempt, retry_ladder
from pkg_pipeline.stages.llm.ask import Asking
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.llm.stores import Failure
from pkg_pipeline.stages.ports import LlmTask, Subject
from pkg_pipeline.stages.profiles.input import Prepared, prepare
from pkg_pipeline.stages.profiles.stores import (
    ClaimedProfile,
    PastAttempt,
    ProfilePrompt,
    ProfileRow,
    Words,
)

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
    from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore

TASK: Final[LlmTask] = "relationship_profile"

PROFILE: Final[Question[ProfileInput, ProfileContent]] = Question(
    TASK, prompt, lambda text, source: check_profile(prompt.to_candidate(prompt.parse(text)), source)
)


class Outcome(Enum):
    """Only ``PROFILED`` called a model."""

    PROFILED = "profiled"
    CARRIED_OVER = "carried over"
    UNCHANGED = "unchanged"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    NOTHING = "nothing summarised"


@dataclass(slots=True)
class MadeProfile(Effort):
    """The result for one profile. ``is_given_up``: not retried before something changes."""

    outcome: Outcome = Outcome.DEFERRED
    is_given_up: bool = False

    @property
    def is_pending(self) -> bool:
        return self.outcome is Outcome.DEFERRED or (self.outcome is Outcome.QUARANTINED and not self.is_given_up)


def prompt_of(model: str) -> ProfilePrompt:
    return ProfilePrompt(prompt.VERSION, model, prompt.SCHEMA_VERSION)


@dataclass(frozen=True, slots=True)
class ProfileMaker:
    reads: PostgresProfileReads
    writes: PostgresProfileStore
    asking: Asking
    week: Week
    zone: ZoneInfo
    work: WorkRules
    retry_failed: bool = False

    @property
    def prompt(self) -> ProfilePrompt:
        return prompt_of(self.asking.llm.model)

    def make(self, claimed: ClaimedProfile) -> MadeProfile:
        """The row of one person, or why not; writes release the lease, else the caller does. Raises only
        ``LlmMisconfigured``.
        """
        started, entity, week = time.perf_counter(), claimed.entity, self.week
        prepared = prepare(self.reads, entity, week, profile_id=claimed.profile_id, zone=self.zone)
        if prepared is None:
            return MadeProfile(outcome=Outcome.NOTHING)
        made, input_hash, past = MadeProfile(), prepared.source.input_hash, None
        known = self.reads.words(entity.entity_id, week, input_hash=input_hash, prompt=self.prompt)
        if known is None:
            past = self.reads.attempt(entity.entity_id, week, input_hash=input_hash, prompt=self.prompt)
        if known is not None:
            self._save(claimed, prepared, known, made, Outcome.CARRIED_OVER)
        elif past is not None and past.is_failed and not self.retry_failed:
            made.outcome, made.is_given_up = Outcome.FAILED, True
        elif past is not None and not past.is_due:
            made.reason = "is tried again later"
        elif self.asking.run.is_stopped:
            made.reason = self.asking.run.stop_reason or ""
        else:
            self._word(claimed, prepared, past, made, started)
        made.seconds = time.perf_counter() - started
        return made

    def _word(
        self, claimed: ClaimedProfile, prepared: Prepared, past: PastAttempt | None, made: MadeProfile, started: float
    ) -> None:
        def make() -> None:
            content, dropped = self._asked(prepared.source, made)
            words = Words(
                content=content,
                quarantined=dropped,
                summary_tokens=sum(self.asking.counter.count_many(_printed(content))),
                cost_usd=made.cost_usd,
                seconds=time.perf_counter() - started,
                is_carried_over=False,
            )
            self._save(claimed, prepared, words, made, Outcome.PROFILED)

        def fail(failure: Failure) -> None:
            made.outcome = Outcome.QUARANTINED if failure.counts else Outcome.DEFERRED
            made.is_given_up = self.writes.fail(
                claimed,
                failure,
                week=self.week,
                input_hash=prepared.source.input_hash,
                prompt=self.prompt,
                past=past,
                attempt_limit=self.work.attempt_limit,
            )

        backoff_seconds = self.work.backoff_seconds
        attempt(make, run=self.asking.run, effort=made, past=past, backoff_seconds=backoff_seconds, fail=fail)

    def _asked(self, source: ProfileInput, made: MadeProfile) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
        """P19: normal, strict, fewer summaries. Raises the last error."""
        subject = Subject("profile", source.profile_id)

        def ask(asked: ProfileInput, problem: str | None) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
            return PROFILE.ask(asked, subject=subject, asking=self.asking, tally=made, problem=problem)

        def with_fewer(problem: str | None, last: Exception) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
            fewer = halved(source)
            if fewer is None:
                raise last
            return ask(fewer, problem)

        return retry_ladder(lambda problem: ask(source, problem), smaller=with_fewer)

    def _save(
        self, claimed: ClaimedProfile, prepared: Prepared, words: Words, made: MadeProfile, outcome: Outcome
    ) -> None:
        row = ProfileRow(
            profile_id=claimed.profile_id,
            entity_id=claimed.entity.entity_id,
            week=self.week,
            aggregate=prepared.aggregate,
            words=words,
            input_hash=prepared.source.input_hash,
            prompt=self.prompt,
            language=prepared.language,
            source_tokens=prepared.source_tokens,
            is_dirty=prepared.is_dirty,
            based_on=prepared.based_on,
            items=prepared.items,
        )
        saved = self.writes.save(row, token=claimed.token)
        if saved == "lost":
            made.outcome, made.reason = Outcome.DEFERRED, "another worker had taken it over"
            return
        made.outcome = Outcome.UNCHANGED if saved == "unchanged" else outcome
        made.source_tokens, made.summary_tokens = prepared.source_tokens, words.summary_tokens


def _printed(content: ProfileContent) -> list[str]:
    return [content.summary, content.timeline, *(milestone.title for milestone in content.milestones)]
