"""``POST /v1/summarization/backfill`` (P31): records a request or forecasts it; the pipeline's sensor does the work.
Reading routes under this path are in ``monitoring/routes.py``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from pkg_pipeline.api.parameters import Day
from pkg_pipeline.api.problems import answers, problem
from pkg_pipeline.api.security import json_only
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.stages.summaries.backfill import MOST_INTERACTIONS, Asked, BackfillWrong
from pkg_pipeline.stages.summaries.backfill_stores import BackfillRequest, Forecast


class BackfillDesk(Protocol):
    """Takes requests. Raises StoreUnavailable, LlmMisconfigured."""

    def request(self, **given: Any) -> BackfillRequest:
        """Without an age or limit the settings' are used. Raises BackfillWrong."""
        ...

    def foretell(self, request: BackfillRequest) -> Forecast: ...

    def ask(self, request: BackfillRequest, *, requested_by: str) -> Asked: ...


class BackfillBody(BaseModel):
    """What to summarise: the same names as the command's options. Left out: the settings' age and limit."""

    model_config = ConfigDict(extra="forbid")
    older_than_days: float | None = Field(default=None, description="Ended at least so many days ago")
    first_day: Day | None = Field(default=None, alias="from", description="First day, by start of interaction")
    last_day: Day | None = Field(default=None, alias="to", description="Last day, included")
    limit: int | None = Field(default=None, description=f"Interactions at most, up to {MOST_INTERACTIONS:,}")
    stale: bool = Field(default=False, description="Summaries by another prompt, model or schema, again")
    failed: bool = Field(default=False, description="Only what was given up")
    batch: bool | None = Field(
        default=None,
        description="In message batches: half the price, within a day. By default if it takes many calls",
    )
    dry_run: bool = Field(default=False, description="Only tell what it would take; write nothing")


class BackfillForecast(BaseModel):
    """Tokens in and out together; `lasts_days` is null where the daily cap lets nothing through. `batched`:
    `usd` is the price in message batches.
    """

    interactions: int
    messages: int
    days: int
    calls: int
    tokens: int
    usd: float
    usd_per_day: float
    lasts_days: int | None
    batched: bool
    usd_at_once: float


class BackfillAnswer(BaseModel):
    """`id` is null for a dry run and where nothing fits. The same request again answers with the open backfill."""

    id: UUID | None
    state: Literal["requested", "running", "done", "cancelled"] | None
    dry_run: bool
    is_new: bool
    requested_at: datetime | None
    resume_at: datetime | None = None
    left: int
    request: dict[str, Any]
    forecast: BackfillForecast


def summarization_routes(desk: BackfillDesk) -> APIRouter:
    router = APIRouter(
        prefix="/v1/summarization",
        dependencies=[Depends(json_only)],
        tags=["monitoring"],
        responses=answers(
            415,
            422,
            503,
            s422="The request makes no sense; `errors` says where",
            s503="The database does not answer, or the model is not set up",
        ),
    )

    @router.post(
        "/backfill",
        summary="Summarise older conversations, or stale ones again",
        status_code=202,
        response_model=BackfillAnswer,
        responses={200: {"model": BackfillAnswer, "description": "A dry run, or nothing fits: nothing was written"}},
    )
    def backfill(body: BackfillBody) -> Response:
        """Chooses the interactions, oldest first, and answers with the forecast. The pipeline's sensor does the work in
        the backfill lane, within its daily cap, below what is live. `GET /v1/summarization/queue` shows how far it is.
        """
        try:
            request = desk.request(**body.model_dump(exclude={"dry_run"}))
            asked = Asked(desk.foretell(request)) if body.dry_run else desk.ask(request, requested_by="API")
        except BackfillWrong as wrong:
            errors = [{"in": "body", "field": wrong.field, "message": str(wrong)}]
            return problem(422, str(wrong), kind="invalid-request", errors=errors)
        except LlmMisconfigured as wrong:
            return problem(503, str(wrong), kind="model-misconfigured")
        status = 200 if asked.backfill is None else 202
        answer = _answer(request, asked, dry_run=body.dry_run)
        return Response(orjson.dumps(answer), status_code=status, media_type="application/json")

    return router


def _answer(request: BackfillRequest, asked: Asked, *, dry_run: bool) -> dict[str, Any]:
    known = asked.backfill
    return {
        "id": None if known is None else str(known.id),
        "state": None if known is None else known.state,
        "dry_run": dry_run,
        "is_new": asked.is_new,
        "requested_at": None if known is None else known.requested_at,
        "resume_at": None if known is None else known.resume_at,
        "left": 0 if known is None else known.progress.left,
        "request": request.to_json(),
        "forecast": asked.forecast.to_json(),
    }
