"""Statements of sessions' states, lists and messages, compiled to ``compiled.json`` by ``make docs``."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from pkg_pipeline.adapters.postgres.schema import conversations, sessions
from pkg_pipeline.adapters.postgres.schema.parts import pick

p = sa.bindparam

chats = conversations.CHATS.alias("c")
entities = conversations.ENTITIES.alias("e")
folds = sessions.STANDING_FOLDS.alias("f")
texts = conversations.MESSAGE_TEXTS.alias("m")

SESSION = sa.cast(p("id"), sa.Uuid)
LAST_ID = sa.literal_column("9223372036854775807")
ALL = " ".join(sessions.CONVERSATION_SESSIONS.c.keys())
STATE = " ".join(sessions.SESSION_STATES.c.keys())
LATEST = sa.text("last_message_at DESC NULLS LAST, id")


def listed(session: Any) -> list[Any]:
    """A session in a list."""
    number = sa.select(sa.func.count()).select_from(folds).where(folds.c.session_id == session.c.id).correlate(session)
    return [
        *pick(session, STATE),
        *pick(session, "next_due_at running_token_count attempts retry_at last_error"),
        *pick(chats, "source=chat_source external_id=chat_external_id title=chat_title"),
        number.scalar_subquery().label("folds"),
    ]


def said(is_folded: Any) -> list[Any]:
    return [
        *pick(texts, "id=message_id external_id sent_at content=text role kind parts sender_entity_id is_outgoing"),
        *pick(texts, "content_hash token_count=message_tokens importance_score importance_reason"),
        sa.func.coalesce(entities.c.name, "").label("sender_name"),
        sa.func.coalesce(entities.c.is_self, sa.false()).label("is_self"),
        is_folded.label("is_folded"),
    ]


def _page(*where: Any) -> sa.ClauseElement:
    """By last message, newest first; sessions without messages last."""
    every = sessions.CONVERSATION_SESSIONS
    chosen = sa.select(*pick(every, ALL)).where(*where).order_by(LATEST).limit(p("limit")).subquery("s")
    order = [chosen.c.last_message_at.desc().nulls_last(), chosen.c.id]
    return sa.select(*listed(chosen)).join_from(chosen, chats, chats.c.id == chosen.c.id).order_by(*order)


def _newest(*where: Any) -> Any:
    """The newest live messages of a chat. Comparing pairs makes the planner use the index of the chat's order."""
    live = conversations.LIVE_MESSAGES
    place = sa.tuple_(live.c.chat_id, live.c.id)
    found = sa.select(live.c.id, live.c.chat_id).where(place > sa.tuple_(SESSION, sa.literal_column("0")))
    found = found.where(*(one(place) for one in where))
    return found.order_by(live.c.chat_id.desc(), live.c.id.desc()).limit(p("limit"))


def _recent() -> sa.ClauseElement:
    """H16: a session with its last messages, one row each; a session without messages has one row."""
    session = sessions.CONVERSATION_SESSIONS.alias("s")
    last = _newest(lambda place: place <= sa.tuple_(SESSION, LAST_ID)).lateral("last")
    return (
        sa.select(*listed(session), *said(sa.func.coalesce(texts.c.id <= session.c.hwm_message_id, sa.false())))
        .join_from(session, chats, chats.c.id == session.c.id)
        .outerjoin(last, sa.true())
        .outerjoin(texts, texts.c.id == last.c.id)
        .outerjoin(entities, entities.c.id == texts.c.sender_entity_id)
        .where(session.c.id == p("id"))
        .order_by(texts.c.id)
    )


def _messages() -> sa.ClauseElement:
    before = sa.cast(p("before"), sa.BigInteger)
    page = _newest(lambda place: place < sa.tuple_(SESSION, before)).subquery("p")
    session = sessions.CONVERSATION_SESSIONS.alias("s")
    return (
        sa.select(*said(sa.func.coalesce(texts.c.id <= session.c.hwm_message_id, sa.false())))
        .join_from(page, texts, texts.c.id == page.c.id)
        .outerjoin(session, session.c.id == page.c.chat_id)
        .outerjoin(entities, entities.c.id == texts.c.sender_entity_id)
        .order_by(texts.c.id.desc())
    )


def _fold_messages() -> sa.ClauseElement:
    """T6: the messages of a fold, also deleted and archived ones."""
    fold = sessions.SESSION_SUMMARIES.alias("f")
    covers = sa.and_(texts.c.chat_id == fold.c.session_id, texts.c.id == sa.func.any(fold.c.message_ids))
    return (
        sa.select(*said(sa.true()), texts.c.is_archived, texts.c.deleted_at.is_not(None).label("is_deleted"))
        .join_from(fold, texts, covers)
        .outerjoin(entities, entities.c.id == texts.c.sender_entity_id)
        .where(fold.c.id == p("fold"), fold.c.session_id == p("id"))
        .order_by(texts.c.id)
    )


_every = sessions.CONVERSATION_SESSIONS
_fold = sessions.SESSION_SUMMARIES

STATEMENTS: dict[str, sa.ClauseElement] = {
    "chat": sa.select(*pick(chats, "id source external_id kind")).where(chats.c.id == p("chat")),
    "state": sa.select(*pick(sessions.SESSION_STATES, STATE)).where(sessions.SESSION_STATES.c.id == p("id")),
    "page_dated": _page(
        _every.c.last_message_at <= p("at"), sa.or_(_every.c.last_message_at < p("at"), _every.c.id > p("id"))
    ),
    "page_undated": _page(_every.c.last_message_at.is_(None), _every.c.id > p("id")),
    "recent": _recent(),
    "messages": _messages(),
    "fold_is_there": sa.select(_fold.c.id).where(_fold.c.id == p("fold"), _fold.c.session_id == p("id")),
    "fold_messages": _fold_messages(),
}
