"""Statements of entities, interactions and summaries, paged by key, compiled to ``compiled.json`` by ``make docs``."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by, array_agg

from pkg_pipeline.adapters.postgres.schema import conversations, summaries
from pkg_pipeline.adapters.postgres.schema.parts import pick

p = sa.bindparam

chats = conversations.CHATS.alias("c")
days = conversations.ENTITY_DAYS
entities = conversations.ENTITIES.alias("e")
identities = conversations.ENTITY_IDENTITIES
interactions = conversations.INTERACTIONS.alias("i")
members = conversations.CHAT_MEMBERS.alias("m")
messages = conversations.MESSAGES.alias("m")
parts = conversations.INTERACTION_PARTICIPANTS
live = summaries.LIVE_SUMMARIES.alias("s")
made = summaries.INTERACTION_SUMMARIES.alias("s")

IS_HIDDEN = made.c.dirty_reason.is_not_distinct_from("deleted")
NOTHING = sa.literal_column("'{}'::text[]")
KEY = [chats.c.source == p("source"), chats.c.external_id == p("external_id")]


def of_key(table: Any) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.source == p("source"), table.c.external_id == p("external_id"))


def accounts_of(entity: Any) -> Any:
    """Of a person, for comparisons (B20)."""
    return sa.func.any(sa.func.accounts_of(entity, type_=sa.ARRAY(sa.Uuid)))


def _is_called(name: Any) -> sa.ColumnElement[bool]:
    """By the name that is shown, one of the accounts' or one that a person added."""
    other = conversations.ENTITIES.alias("a")
    alias = conversations.ENTITY_ALIASES
    own = sa.select(other.c.merged_into).where(sa.func.lower(other.c.own_name) == name)
    first = sa.select(other.c.id).where(sa.func.lower(other.c.own_name) == name)
    added = sa.select(alias.c.entity_id).where(sa.func.lower(alias.c.name) == name)
    return sa.or_(sa.func.lower(entities.c.name) == name, entities.c.id.in_(sa.union_all(own, first, added)))


def listed(entity: Any) -> Any:
    """A ``ListedEntity`` with its identities and the extent of the relationship."""
    own = (
        sa.select(identities.c.source, identities.c.external_id)
        .where(identities.c.entity_id == accounts_of(entity.c.id))
        .correlate(entity)
        .limit(sa.literal_column("50"))
        .subquery("own")
    )
    key = own.c.source + ":" + own.c.external_id
    keys = sa.select(array_agg(aggregate_order_by(key, own.c.source, own.c.external_id))).scalar_subquery()
    total = sa.select(days.c.messages_total).where(days.c.entity_id == entity.c.id).order_by(days.c.day.desc())
    mine = parts.c.entity_id == entity.c.id
    one = sa.literal_column("1")
    return sa.select(
        *pick(entity, "id name type is_self"),
        sa.func.coalesce(keys, NOTHING).label("identities"),
        sa.func.coalesce(total.limit(one).scalar_subquery(), 0).label("messages"),
        sa.select(parts.c.started_at).where(mine).order_by(parts.c.started_at).limit(one).label("first_contact"),
        sa.select(parts.c.ended_at).where(mine).order_by(parts.c.ended_at.desc()).limit(one).label("last_contact"),
    )


def _page_of_entities() -> sa.ClauseElement:
    """Entities whose name contains the query: a scan of the name index, the smallest table."""
    name, entity = sa.func.lower(conversations.ENTITIES.c.name), conversations.ENTITIES
    after = sa.func.lower(p("after_name"))
    # mostly nobody has another name
    known = sa.func.array_to_string(sa.func.names_of(entity.c.id), sa.literal_column("E'\\n'"))
    other = conversations.ENTITIES.alias("o")
    named_otherwise = sa.union_all(
        sa.select(sa.func.coalesce(other.c.merged_into, other.c.id)).where(other.c.own_name.is_not(None)),
        sa.select(conversations.ENTITY_ALIASES.c.entity_id),
    )
    has_other_name = sa.and_(
        entity.c.id.in_(named_otherwise), sa.func.strpos(sa.func.lower(known), sa.func.lower(p("query"))) > 0
    )
    chosen = (
        sa.select(*pick(entity, "id name type is_self"))
        .where(name >= after, sa.tuple_(name, entity.c.id) > sa.tuple_(after, p("after_id")))
        .where(entity.c.merged_into.is_(None))
        .where(sa.or_(p("query") == "", sa.func.strpos(name, sa.func.lower(p("query"))) > 0, has_other_name))
        .order_by(name, entity.c.id)
        .limit(p("limit"))
        .subquery("e")
    )
    return listed(chosen).order_by(sa.func.lower(chosen.c.name), chosen.c.id)


def _entity_of_key() -> sa.ClauseElement:
    """The entity of an identity, else the other one in a direct chat."""
    own = sa.select(identities.c.entity_id, sa.literal_column("1").label("rank")).where(of_key(identities))
    other = (
        sa.select(members.c.entity_id, sa.literal_column("2"))
        .join_from(chats, members, members.c.chat_id == chats.c.id)
        .join(entities, entities.c.id == members.c.entity_id)
        .where(*KEY, chats.c.kind == "direct")
        .order_by(entities.c.is_self, members.c.entity_id)
        .limit(sa.literal_column("1"))
    )
    found = sa.union_all(own, other).subquery("found")
    return sa.select(found.c.entity_id).order_by(found.c.rank).limit(sa.literal_column("1"))


LISTED_CHAT = "id source external_id kind title category category_source"


def _chats_of_key() -> sa.ClauseElement:
    """The chat itself, else direct chats with the person of that identity."""
    known = conversations.CHATS.alias("k")
    person = (
        sa.select(chats.c.source, chats.c.external_id)
        .join_from(identities, members, members.c.entity_id == identities.c.entity_id)
        .join(chats, sa.and_(chats.c.id == members.c.chat_id, chats.c.kind == "direct"))
        .join(entities, sa.and_(entities.c.id == identities.c.entity_id, sa.not_(entities.c.is_self)))
        .where(of_key(identities), ~sa.exists().where(of_key(known)))
    )
    found = sa.union(sa.select(chats.c.source, chats.c.external_id).where(*KEY), person)
    return found.order_by("source", "external_id").limit(sa.literal_column("20"))


def _before(at: Any, key: Any) -> list[sa.ColumnElement[bool]]:
    """Keyset condition of the next page."""
    return [at <= p("after_at"), sa.tuple_(at, key) < sa.tuple_(p("after_at"), p("after_id"))]


def _timeline() -> sa.ClauseElement:
    """Interactions of an entity, newest start first, each with its served summary."""
    took = (
        sa.select(*pick(parts, "interaction_id started_at ended_at message_count"))
        .where(parts.c.entity_id == p("entity"), *_before(parts.c.started_at, parts.c.interaction_id))
        .order_by(parts.c.started_at.desc(), parts.c.interaction_id.desc())
        .limit(p("limit"))
        .subquery("p")
    )
    return (
        sa.select(
            *pick(took, "interaction_id started_at ended_at message_count=messages"),
            *pick(chats, "source external_id=chat_external_id kind=chat_kind title=chat_title"),
            *pick(interactions, "status language"),
            *pick(live, "id=summary_id status=summary_status summary"),
            live.c.dirty_reason.is_not_distinct_from("deleted").label("is_withheld"),
        )
        .join_from(took, interactions, interactions.c.id == took.c.interaction_id)
        .join(chats, chats.c.id == interactions.c.chat_id)
        .outerjoin(live, live.c.interaction_id == took.c.interaction_id)
        .order_by(took.c.started_at.desc(), took.c.interaction_id.desc())
    )


def _interactions_of_entity() -> sa.ClauseElement:
    """Candidates of a page of summaries, newest start first."""
    at, key = parts.c.started_at, parts.c.interaction_id
    mine = [parts.c.entity_id == p("entity"), at >= p("from_at"), *_before(at, key)]
    return sa.select(key.label("id"), at).where(*mine).order_by(at.desc(), key.desc()).limit(p("scan"))


def _interactions(*where: sa.ColumnElement[bool], first: tuple[Any, ...] = ()) -> sa.ClauseElement:
    """The same over interactions that meet ``where``, in the order of ``first``."""
    at, key = interactions.c.started_at, interactions.c.id
    found = sa.select(key, at).where(*where, at >= p("from_at"), *_before(at, key))
    return found.order_by(*first, at.desc(), key.desc()).limit(p("scan"))


def _summaries() -> sa.ClauseElement:
    """Summaries of these interactions, in any status, withheld where each covers a deleted message (P29)."""
    given = sa.func.unnest(sa.cast(p("interactions"), sa.ARRAY(sa.Uuid)))
    wanted = given.table_valued("id", with_ordinality="place", name="wanted").render_derived()
    is_covered = sa.exists(
        sa.select(sa.literal_column("1"))
        .where(messages.c.chat_id == interactions.c.chat_id, messages.c.deleted_at.is_not(None))
        .where(messages.c.external_id == sa.func.any(made.c.message_ids))
        .correlate(interactions, made)
    )
    return (
        sa.select(
            *pick(made, "id interaction_id status revision_count=revision summary tone model_version"),
            *pick(made, "key_points important_messages"),
            *pick(chats, "source external_id=chat_external_id"),
            *pick(interactions, "started_at ended_at"),
            sa.or_(IS_HIDDEN, is_covered).label("is_withheld"),
            sa.cast(made.c.cost_usd, sa.Double).label("cost_usd"),
        )
        .join_from(wanted, interactions, interactions.c.id == wanted.c.id)
        .join(chats, chats.c.id == interactions.c.chat_id)
        .join(made, sa.and_(made.c.interaction_id == wanted.c.id, made.c.status == sa.func.any(p("statuses"))))
        .order_by(wanted.c.place, made.c.revision_count.desc(), made.c.generated_at.desc(), made.c.id)
    )


def _chat_of_interactions() -> Any:
    return interactions.c.chat_id == sa.select(chats.c.id).where(*KEY).scalar_subquery()


STATEMENTS: dict[str, sa.ClauseElement] = {
    # the person, by any account
    "entity": listed(entities).where(entities.c.id == sa.func.person_of(p("entity"), type_=sa.Uuid)),
    "person": sa.select(sa.func.person_of(p("entity"), type_=sa.Uuid)),
    # exact name, case-insensitive
    "entities_named": listed(entities)
    .where(entities.c.merged_into.is_(None), _is_called(sa.func.lower(p("name"))))
    .order_by(entities.c.id)
    .limit(p("limit")),
    "entities_page": _page_of_entities(),
    "is_empty": sa.select(
        (~sa.exists(sa.select(sa.literal_column("1")).select_from(conversations.CHATS))).label("is_empty")
    ),
    "entity_of_key": _entity_of_key(),
    "chats_of_key": _chats_of_key(),
    "listed_chat": sa.select(*pick(chats, LISTED_CHAT)).where(chats.c.id == p("id")),
    "chats_page": sa.select(*pick(chats, LISTED_CHAT))
    .where(
        sa.tuple_(chats.c.source, chats.c.id) > sa.tuple_(p("after_source"), p("after_id")),
        sa.or_(sa.cast(p("category"), sa.Text).is_(None), chats.c.category == p("category")),
    )
    .order_by(chats.c.source, chats.c.id)
    .limit(p("limit")),
    "chat_of_id": sa.select(chats.c.source, chats.c.external_id).where(chats.c.id == p("id")),
    # for suggestions
    "entity_names": sa.select(entities.c.id, entities.c.name)
    .where(entities.c.merged_into.is_(None))
    .order_by(sa.func.lower(entities.c.name))
    .limit(p("limit")),
    "timeline": _timeline(),
    "interactions_of_entity": _interactions_of_entity(),
    "interactions_of_chat": _interactions(_chat_of_interactions()),
    # the candidates of one chat
    "interactions_of_these": sa.select(interactions.c.id)
    .join(chats, chats.c.id == interactions.c.chat_id)
    .where(interactions.c.id == sa.func.any(p("ids")), *KEY),
    # local days are ordered as starts, so the index over days serves the order
    "interactions_of_all": _interactions(
        interactions.c.day <= p("after_day"),
        interactions.c.day >= p("from_day"),
        first=(interactions.c.day.desc(),),
    ),
    "summaries": _summaries(),
    "revision": sa.select(sa.literal_column("version_num")).select_from(sa.text("alembic_version")),
}
