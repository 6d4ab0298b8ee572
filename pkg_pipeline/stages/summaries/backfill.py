"""Backfills (P31, B5): exactly which interactions, at what price, and when that is done. The work is the summaries'.

A request chooses its interactions once. From then on they are rows: whoever works on them, in whatever order and
however often it is stopped, the backfill is done when none of them needs anything more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from uuid import UUID

from pkg_pipeline.stages.summaries.backfill_stores import (
    Backfill,
    BackfillRequest,
    BackfillStore,
    Chosen,
    Forecast,
    Price,
    waiting_of,
)
from pkg_pipeline.stages.summaries.stores import Eligibility, Scope

MOST_INTERACTIONS = 1_000_000
"""More than a person's whole history; a larger limit is a slip."""


class BackfillWrong(ValueError):
    """The request makes no sense; ``field`` is the part that does not, in the words of the API."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class BackfillUnknown(LookupError):
    """No backfill of that id."""


@dataclass(frozen=True, slots=True)
class BackfillDeps:
    """``eligibility`` is that of a backfill now; ``price`` tells tokens and USD; the cap is the lane's, a day."""

    store: BackfillStore
    eligibility: Eligibility
    price: Price
    usd_per_day: float
    window_messages: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a request: the backfill, whether it is a new one; or only a forecast, where nothing fits it."""

    forecast: Forecast
    backfill: Backfill | None = None
    is_new: bool = False


def check(request: BackfillRequest) -> BackfillRequest:
    """The request itself. Raises ``BackfillWrong``."""
    if not 0 <= request.older_than_days <= 36_500:
        raise BackfillWrong("older_than_days", "the age is 0 to 36,500 days")
    if not 1 <= request.limit <= MOST_INTERACTIONS:
        raise BackfillWrong("limit", f"the limit is 1 to {MOST_INTERACTIONS:,} interactions")
    if request.first_day and request.last_day and request.last_day < request.first_day:
        raise BackfillWrong("to", f"{request.last_day} is before {request.first_day}")
    return request


def foretell(request: BackfillRequest, *, deps: BackfillDeps) -> Forecast:
    """What it would take; nothing is written. Raises ``BackfillWrong``."""
    return _forecast(_chosen(request, deps), deps)


def ask(request: BackfillRequest, *, requested_by: str, deps: BackfillDeps) -> Asked:
    """Write the request down with what it chose. The same request again is the open one, even where a look at it shows
    that it is done: who repeats a command that was killed asks for nothing new. Raises ``BackfillWrong``.
    """
    check(request)
    if (found := deps.store.same(request)) is not None:
        settle(found, deps=deps)
        known = told(found, deps=deps)
        return Asked(known.forecast, known)
    chosen = _chosen(request, deps)
    forecast = _forecast(chosen, deps)
    if not chosen:
        return Asked(forecast)
    age_seconds = max(request.older_than_days * 86_400, deps.eligibility.gap_seconds)
    identity, is_new = deps.store.create(
        request,
        forecast,
        chosen,
        ended_before=deps.eligibility.now - timedelta(seconds=age_seconds),
        requested_by=requested_by,
    )
    known = told(identity, deps=deps)
    return Asked(known.forecast, known, is_new)


def scope_of(backfill_id: UUID, *, deps: BackfillDeps) -> Scope:
    """What a run on its account takes. Raises ``BackfillUnknown``."""
    request, _ = _known(backfill_id, deps)
    return Scope(retry_failed=request.failed, redo_stale=request.stale, backfill_id=backfill_id)


def settle(backfill_id: UUID, *, deps: BackfillDeps, days: tuple[date, date] | None = None) -> int:
    """Tick off what needs nothing more; returns how many are left. Raises ``BackfillUnknown``."""
    eligibility = _eligibility(backfill_id, deps)
    return deps.store.settle(backfill_id, eligibility=eligibility, days=days)


def ready_days(backfill_id: UUID, *, deps: BackfillDeps) -> Sequence[date]:
    """Days that can be worked on now, also those that somebody else has worked off since ``settle`` was called last;
    none of a backfill that has ended.
    """
    _, state = _known(backfill_id, deps)
    if state not in ("requested", "running"):
        return []
    return deps.store.ready_days(backfill_id, eligibility=_eligibility(backfill_id, deps))


def told(backfill_id: UUID, *, deps: BackfillDeps) -> Backfill:
    """What is known of it. Raises ``BackfillUnknown``."""
    found = deps.store.listed(limit=1, only=backfill_id)
    if not found:
        raise BackfillUnknown(f"there is no backfill {backfill_id}")
    return found[0]


def _known(backfill_id: UUID, deps: BackfillDeps) -> tuple[BackfillRequest, str]:
    found = deps.store.request_of(backfill_id)
    if found is None:
        raise BackfillUnknown(f"there is no backfill {backfill_id}")
    return found


def _eligibility(backfill_id: UUID, deps: BackfillDeps) -> Eligibility:
    """Their age was looked at when they were chosen: now they only have to be complete."""
    return replace(deps.eligibility, due_after_seconds=0.0, scope=scope_of(backfill_id, deps=deps))


def _chosen(request: BackfillRequest, deps: BackfillDeps) -> Sequence[Chosen]:
    check(request)
    scope = Scope(retry_failed=request.failed, redo_stale=request.stale)
    eligibility = replace(deps.eligibility, due_after_seconds=request.older_than_days * 86_400, scope=scope)
    return deps.store.choose(request, eligibility=eligibility, window_messages=deps.window_messages)


def _forecast(chosen: Sequence[Chosen], deps: BackfillDeps) -> Forecast:
    waiting = waiting_of(chosen)
    tokens, usd = deps.price(waiting)
    return Forecast(
        interactions=waiting.interactions,
        messages=waiting.messages,
        days=len({one.day for one in chosen}),
        calls=waiting.prompts,
        tokens=tokens,
        usd=usd,
        usd_per_day=deps.usd_per_day,
    )
