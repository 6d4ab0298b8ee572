"""One claimed profile: carried over where its input is known, else up the ladder of P19 and saved or recorded.

The rungs are as usual, stricter, with fewer summaries. Who is claimed, and in what order, is ``profiles``; what goes in
is ``profile_input``. No transaction is open while a model answers, and no count comes from it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile.gate import check_profile
from pkg_pipeline.memory.profile.records import ProfileContent, ProfileInput
from pkg_pipeline.memory.profile.rules import Week, halved
from pkg_pipeline.memory.records import Quarantined
from pkg_pipeline.prompts import relationship_profile as prompt
from pkg_pipeline.stages.llm.answer_validation import NOTHING_PASSED, ask_and_judge, climb, failure_of, request_of
from pkg_pipeline.stages.llm.reports import Effort
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.ports import Llm, LlmMisconfigured, TokenCounter
from pkg_pipeline.stages.profiles.input import Prepared, prepare
from pkg_pipeline.stages.profiles.stores import (
    ClaimedProfile,
    PastAttempt,
    ProfilePrompt,
    ProfileReads,
    ProfileRow,
    ProfileWrites,
    Words,
)
from pkg_pipeline.stages.summaries.stores import Failure, LedgerStore, Subject

TASK = "relationship_profile"


class Outcome(Enum):
    """What became of one person in one week. Only ``PROFILED`` took words from a model."""

    PROFILED = "profiled"
    CARRIED_OVER = "carried over"
    UNCHANGED = "unchanged"
    DEFERRED = "deferred"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    NOTHING = "nothing summarised"


@dataclass(slots=True)
class MadeProfile(Effort):
    """What became of one profile, and what it took. ``is_given_up``: not tried again before something changes."""

    outcome: Outcome = Outcome.DEFERRED
    is_given_up: bool = False

    @property
    def is_pending(self) -> bool:
        return self.outcome is Outcome.DEFERRED or (self.outcome is Outcome.QUARANTINED and not self.is_given_up)


@dataclass(frozen=True, slots=True)
class MakingDeps:
    """The ports and parameters of one run over profiles."""

    reads: ProfileReads
    writes: ProfileWrites
    ledger: LedgerStore
    llm: Llm
    counter: TokenCounter
    run: Run
    zone: ZoneInfo
    attempt_limit: int
    backoff_seconds: float
    retry_failed: bool = False

    @property
    def prompt(self) -> ProfilePrompt:
        return prompt_of(self.llm.model)


@dataclass(slots=True)
class _Attempt:
    claimed: ClaimedProfile
    week: Week
    prepared: Prepared
    past: PastAttempt | None
    deps: MakingDeps
    made: MadeProfile = field(default_factory=MadeProfile)


def prompt_of(model: str) -> ProfilePrompt:
    """What words are made with when ``model`` is asked today."""
    return ProfilePrompt(prompt.VERSION, model, prompt.SCHEMA_VERSION)


def make_one(claimed: ClaimedProfile, week: Week, *, deps: MakingDeps) -> MadeProfile:
    """The row of one person in one week, or why there is none. Raises ``LlmMisconfigured`` only.

    Whatever the outcome, saved rows and recorded attempts have given the lease back; the caller releases the rest.
    """
    started = time.perf_counter()
    entity = claimed.entity
    prepared = prepare(deps.reads, entity, week, profile_id=claimed.profile_id, zone=deps.zone)
    if prepared is None:
        return MadeProfile(outcome=Outcome.NOTHING)
    input_hash = prepared.source.input_hash
    known = deps.reads.words(entity.entity_id, week, input_hash=input_hash, prompt=deps.prompt)
    past = None
    if known is None:
        past = deps.reads.attempt(entity.entity_id, week, input_hash=input_hash, prompt=deps.prompt)
    attempt = _Attempt(claimed, week, prepared, past, deps)
    made = attempt.made
    if known is not None:
        _save(attempt, known, Outcome.CARRIED_OVER)
    elif past is not None and past.is_failed and not deps.retry_failed:
        made.outcome, made.is_given_up = Outcome.FAILED, True
    elif past is not None and not past.is_due:
        made.reason = "is tried again later"
    elif deps.run.is_stopped:
        made.reason = deps.run.stop_reason or ""
    else:
        _word(attempt, started)
    made.seconds = time.perf_counter() - started
    return made


def _word(attempt: _Attempt, started: float) -> None:
    """Asks for the words and saves them, or records why there are none."""
    deps, made = attempt.deps, attempt.made
    try:
        content, dropped = _climb(attempt)
    except NOTHING_PASSED as error:
        past = attempt.past
        failure = failure_of(
            error,
            run=deps.run,
            attempts=past.attempts if past else 0,
            deferrals=past.deferrals if past else 0,
            backoff_seconds=deps.backoff_seconds,
            tally=made,
        )
        _give_back(attempt, failure)
        if isinstance(error, LlmMisconfigured):
            raise
    else:
        words = Words(
            content=content,
            quarantined=dropped,
            summary_tokens=sum(deps.counter.count_many(_printed(content))),
            cost_usd=made.cost_usd,
            seconds=time.perf_counter() - started,
            is_carried_over=False,
        )
        _save(attempt, words, Outcome.PROFILED)


def _climb(attempt: _Attempt) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
    """P19: as usual, stricter, with fewer summaries. Raises what the last rung raised."""
    source = attempt.prepared.source

    def with_fewer(problem: str | None, last: Exception) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
        fewer = halved(source)
        if fewer is None:
            raise last
        return _ask(attempt, fewer, problem=problem)

    return climb(lambda problem: _ask(attempt, source, problem=problem), smaller=with_fewer)


def _ask(
    attempt: _Attempt, source: ProfileInput, *, problem: str | None = None
) -> tuple[ProfileContent, tuple[Quarantined, ...]]:
    deps = attempt.deps
    subject = Subject("profile", source.profile_id)
    rendered = prompt.render(source, strict=problem is not None, problem=problem)
    request = request_of(prompt, rendered, task=TASK, payload=source, subject=subject)
    return ask_and_judge(
        request,
        lambda text: check_profile(prompt.to_candidate(prompt.parse(text)), source),
        subject=subject,
        ledger=deps.ledger,
        llm=deps.llm,
        counter=deps.counter,
        run=deps.run,
        tally=attempt.made,
    )


def _save(attempt: _Attempt, words: Words, outcome: Outcome) -> None:
    """The row. Words that stand there already and counts that did not change are no news."""
    claimed, prepared, made = attempt.claimed, attempt.prepared, attempt.made
    row = ProfileRow(
        profile_id=claimed.profile_id,
        entity_id=claimed.entity.entity_id,
        week=attempt.week,
        aggregate=prepared.aggregate,
        words=words,
        input_hash=prepared.source.input_hash,
        prompt=attempt.deps.prompt,
        language=prepared.language,
        source_tokens=prepared.source_tokens,
        is_dirty=prepared.is_dirty,
        based_on=prepared.based_on,
        items=prepared.items,
    )
    saved = attempt.deps.writes.save(row, token=claimed.token)
    if saved == "lost":
        made.outcome, made.reason = Outcome.DEFERRED, "another worker had taken it over"
        return
    made.outcome = Outcome.UNCHANGED if saved == "unchanged" else outcome
    made.source_tokens, made.summary_tokens = prepared.source_tokens, words.summary_tokens


def _give_back(attempt: _Attempt, failure: Failure) -> None:
    made = attempt.made
    made.outcome = Outcome.QUARANTINED if failure.counts else Outcome.DEFERRED
    made.reason = failure.error
    made.is_given_up = attempt.deps.writes.fail(
        attempt.claimed,
        failure,
        week=attempt.week,
        input_hash=attempt.prepared.source.input_hash,
        prompt=attempt.deps.prompt,
        past=attempt.past,
        attempt_limit=attempt.deps.attempt_limit,
    )


def _printed(content: ProfileContent) -> list[str]:
    return [content.summary, content.timeline, *(milestone.title for milestone in content.milestones)]
