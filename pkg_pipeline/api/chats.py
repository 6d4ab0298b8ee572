"""``/v1/chats``: which chats there are, and which of them count (P34)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from pkg_pipeline.api.models import Answer
from pkg_pipeline.api.parameters import chat_named
from pkg_pipeline.api.problems import answers, problem
from pkg_pipeline.api.sessions.input import session_named
from pkg_pipeline.memory.records import ChatCategory, ChatKind
from pkg_pipeline.stages.reads.chats import chat_json, list_chats
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

SetCategory = Callable[[UUID, ChatCategory | None], bool]


class Chat(Answer):
    id: UUID
    chat: str = Field(description="`source:external-id`")
    kind: ChatKind
    title: str | None
    category: ChatCategory | None = Field(
        description="`mass` is neither summarised nor searched; `null`: not said, which makes a channel `mass`"
    )
    category_source: Literal["rule", "export", "user"] = Field(description="Who says so")


class ChatList(Answer):
    items: list[Chat]
    next: str | None


class ChatChanges(BaseModel):
    """What a person says of a chat; neither exports nor rules change it back."""

    model_config = ConfigDict(extra="forbid")
    category: ChatCategory | None = Field(description="`null` makes it an ordinary chat")


def _json(body: Any) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def chat_routes(reads: PostgresReadStore, set_category: SetCategory) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["memory"], responses=answers(503))

    @router.get("/chats", summary="Chats and their categories", response_model=ChatList)
    def chats(
        category: ChatCategory | None = None,
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")] = DEFAULT_ROWS,
        cursor: Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)] = None,
    ) -> Response:
        """By source and id."""
        return _json(list_chats(reads, category, limit=limit, cursor=cursor).to_json())

    @router.patch("/chats/{chat}", summary="Say whether a chat counts", response_model=Chat, responses=answers(404))
    def change(chat: str, changes: ChatChanges) -> Response:
        """The next run follows it."""
        identity = chat_named(session_named(chat), "chat")
        assert identity is not None
        if not set_category(identity, changes.category):
            return problem(404, f"there is no chat {chat}")
        found = reads.listed_chat(identity)
        return problem(404, f"there is no chat {chat}") if found is None else _json(chat_json(found))

    return router
