"""``/v1/why``: from a served line back to its words, reader, gate, run and cost (B11)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.problems import answers
from pkg_pipeline.stages.reads.why import why

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads

LINE = "5e1f0c57-6a0e-5d0c-9b1a-7b1f2c3d4e5f"
NO_LINE = "No such line, or a message that it rests on was deleted"


class SaidLine(Answer):
    """A message that a line rests on. Its id is `source:chat/message`, each part percent-encoded."""

    id: str
    sender: str | None
    at: datetime
    text: str
    has_quote: bool


class Dropped(Answer):
    part: str = Field(description="Place in the answer")
    reason: str


class Gate(Answer):
    passed: bool = Field(description="What did not pass is never served")
    dropped_beside: list[Dropped] = Field(description="What the gate took out of the same answer")


class PaidCall(Answer):
    id: UUID
    run_id: str | None
    outcome: str
    cost_usd: float
    at: datetime


class LineReading(Answer):
    """Who read the conversation. `cost_usd`: its part of what the call cost; none without `calls`."""

    model: str
    prompt_version: str
    schema_version: int
    read_at: datetime
    cost_usd: float
    gate: Gate
    calls: list[PaidCall]


class Why(Answer):
    id: UUID
    kind: Literal["action_item", "decision", "fact"]
    text: str
    decided_by: Literal["memory", "person"]
    probability: float = Field(ge=0, le=1)
    quote: str
    messages: list[SaidLine]
    reading: LineReading | None = Field(description="None of what a person added, or while it is read anew")


def why_routes(reads: PostgresWhyReads) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"], responses=answers(503))

    @router.get(
        "/why/{line}",
        summary="Where a served line comes from",
        response_model=Why,
        responses=answers(404, s404=NO_LINE),
    )
    def where_from(
        line: Annotated[
            UUID,
            Path(description="Id of an item, decision or fact, or of a piece that recall shows", examples=[LINE]),
        ],
    ) -> Response:
        """Quote, messages, model and prompt, gate, and the paid calls with their runs."""
        return Response(orjson.dumps(why(reads, line)), media_type="application/json")

    return router
