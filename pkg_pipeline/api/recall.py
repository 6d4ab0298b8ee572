"""``/v1/recall``: questions about all that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Query
from starlette.responses import Response

from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.parameters import KnownAsOf, MaxTokens, as_of_moment, chat_named
from pkg_pipeline.api.problems import answers
from pkg_pipeline.memory.recall.records import ChunkSource
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.stages.reads.entities import entity_id
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline.stages.recall.stage import MOST_QUERY_CHARS, MOST_TOP_K, RecallParts, RecallRequest, recall

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore


class RecallResult(Answer):
    """One piece. `text` occurs in the answer's; `passage` is which of how many parts of a long message it is; `stale`:
    a message behind it was edited and not read again yet; `before`: an older value than the one that leads.
    """

    id: UUID
    source: ChunkSource
    text: str
    score: float
    at: str
    topics: list[str]
    message_ids: list[str]
    chat: str
    speaker: str | None
    interaction_id: UUID | None
    passage: list[int]
    stale: bool
    before: bool


class Recall(Answer):
    """`text` is ready for a model's prompt; `results` are its lines, best first."""

    query: str
    mode: Literal["hybrid", "vector", "keyword"]
    as_of: str
    known_as_of: str | None
    text: str
    tokens: int
    results: list[RecallResult]
    embedding_model: str | None
    warnings: list[str]


def recall_routes(parts: RecallParts, *, entities: PostgresReadStore, clock: Clock) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"])

    @router.get(
        "/recall",
        summary="What the memory holds about a question",
        response_model=Recall,
        responses=answers(404, 409, 503, s404="No such entity, chat or session"),
    )
    def ask(
        query: Annotated[str, Query(min_length=1, max_length=MOST_QUERY_CHARS, description="In any language")],
        entity: Annotated[str | None, Query(max_length=500, description="Id or name")] = None,
        session: Annotated[str | None, Query(max_length=1_000, description="Id or `source:external-id`")] = None,
        chat: Annotated[str | None, Query(max_length=1_000, description="`source:external-id`")] = None,
        topic: Annotated[list[str] | None, Query(description="At least one of these topics")] = None,
        top_k: Annotated[int | None, Query(ge=1, le=MOST_TOP_K, description="At most this many pieces")] = None,
        max_tokens: MaxTokens = None,
        as_of: Annotated[str | None, Query(max_length=40, description="As it was then; by default now")] = None,
        known_as_of: KnownAsOf = None,
    ) -> Response:
        """Messages, summaries, decisions and facts, found by meaning and by words, in `text` within the budget.

        `mode` is `keyword` where no embedder answered; `warnings` say why. No language model is asked.
        """
        if session is not None and chat is not None:
            raise BadRequest("session", "a session is a chat: give one of them")
        now = clock.now()
        answer = recall(
            parts,
            RecallRequest(
                query=query.replace("\0", " "),
                now=now,
                entity_id=None if entity is None else entities.person(entity_id(entities, entity)),
                chat_id=chat_named(session, "session") if session else chat_named(chat, "chat"),
                topics=tuple(one.replace("\0", "") for one in topic or ()),
                top_k=top_k,
                max_tokens=max_tokens,
                as_of=as_of_moment(as_of, parts.settings.zone, now),
                known_as_of=as_of_moment(known_as_of, parts.settings.zone, now, "known_as_of"),
            ),
        )
        return Response(orjson.dumps(answer.to_json()), media_type="application/json")

    return router
