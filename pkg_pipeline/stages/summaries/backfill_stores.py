"""Records of backfills."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pkg_pipeline.stages.summaries.stores import Waiting

BackfillState = Literal["requested", "running", "done", "cancelled"]


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """A selection (P31, B5): interactions that ended this many days ago, oldest first, at most ``limit``.

    By default those never summarised or dirty, with ``stale`` those summarised by another prompt, model or schema, with
    ``failed`` only given-up ones. Days are of the interaction's start, both included. ``batch``: in message batches or
    not, None: if it takes many calls.
    """

    older_than_days: float
    limit: int
    first_day: date | None = None
    last_day: date | None = None
    stale: bool = False
    failed: bool = False
    batch: bool | None = None

    def to_json(self) -> dict[str, Any]:
        told = {} if self.batch is None else {"batch": self.batch}
        return told | {
            "older_than_days": self.older_than_days,
            "from": self.first_day.isoformat() if self.first_day else None,
            "to": self.last_day.isoformat() if self.last_day else None,
            "limit": self.limit,
            "stale": self.stale,
            "failed": self.failed,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> BackfillRequest:
        return cls(
            older_than_days=float(given["older_than_days"]),
            limit=int(given["limit"]),
            first_day=date.fromisoformat(given["from"]) if given["from"] else None,
            last_day=date.fromisoformat(given["to"]) if given["to"] else None,
            stale=bool(given["stale"]),
            failed=bool(given["failed"]),
            batch=given.get("batch"),
        )


@dataclass(frozen=True, slots=True)
class Forecast:
    """``tokens`` in and out; ``usd`` by current prices, ``batched`` by those of message batches; ``usd_at_once``:
    without them; ``usd_per_day``: cap of the backfill lane.
    """

    interactions: int = 0
    messages: int = 0
    days: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    usd_per_day: float = 0.0
    batched: bool = False
    usd_at_once: float = 0.0

    @property
    def lasts_days(self) -> int | None:
        """Budget days needed; None if the cap allows nothing."""
        if self.usd <= 0:
            return min(1, self.interactions)
        return math.ceil(self.usd / self.usd_per_day) if self.usd_per_day > 0 else None

    def to_json(self) -> dict[str, Any]:
        at_once = round(self.usd_at_once, 4)
        return {**asdict(self), "usd": round(self.usd, 4), "usd_at_once": at_once, "lasts_days": self.lasts_days}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Forecast:
        return cls(**{name: value for name, value in given.items() if name != "lasts_days"})


@dataclass(frozen=True, slots=True)
class Progress:
    """Interactions by state. ``dropped``: gone or continued since; ``in_batches``: of those ``left``, asked about in
    message batches.
    """

    summarized: int
    failed: int
    dropped: int
    left: int
    in_batches: int


@dataclass(frozen=True, slots=True)
class Actual:
    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Backfill:
    """Request, forecast and actual; ``resume_at``: database clock."""

    id: UUID
    state: BackfillState
    request: BackfillRequest
    forecast: Forecast
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None
    resume_at: datetime | None
    waits_for: str | None
    progress: Progress
    actual: Actual

    @property
    def is_open(self) -> bool:
        return self.state in ("requested", "running")

    def to_json(self) -> dict[str, Any]:
        done = self.progress
        return {
            "id": str(self.id),
            "state": self.state,
            "request": self.request.to_json(),
            "requested_by": self.requested_by,
            "requested_at": self.requested_at.isoformat(),
            "finished_at": self.finished_at.isoformat() if self.finished_at else None,
            "forecast": self.forecast.to_json(),
            "actual": {
                "interactions": done.summarized,
                "calls": self.actual.calls,
                "tokens": self.actual.tokens,
                "usd": round(self.actual.usd, 4),
            },
            "left": done.left,
            "in_batches": done.in_batches,
            "failed": done.failed,
            "dropped": done.dropped,
            "waits_for": self.waits_for,
            "resume_at": self.resume_at.isoformat() if self.resume_at else None,
        }


@dataclass(frozen=True, slots=True)
class Chosen:
    """A matching interaction; ``prompts`` it needs alone (P18); ``joins``: it may be asked about with others."""

    id: UUID
    day: date
    messages: int
    message_tokens: int
    prompts: int
    joins: bool = False


def waiting_of(chosen: Sequence[Chosen]) -> Waiting:
    return Waiting(
        interactions=len(chosen),
        prompts=sum(one.prompts for one in chosen if not one.joins),
        messages=sum(one.messages for one in chosen),
        message_tokens=sum(one.message_tokens for one in chosen),
        joined=sum(one.joins for one in chosen),
        joined_tokens=sum(one.message_tokens for one in chosen if one.joins),
    )
