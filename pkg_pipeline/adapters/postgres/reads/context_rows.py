"""The JSON of ``reads/context.sql`` as records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.context.records import (
    ContextEntity,
    ContextRows,
    Former,
    HeardMessage,
    KnownFact,
    KnownItem,
    KnownMilestone,
    KnownProfile,
    LeftOut,
    PastSummary,
    Unsummarised,
    WholeTalk,
)
from pkg_pipeline.memory.hashing import message_key, organization_id
from pkg_pipeline.memory.profile.records import Signals, Utterance
from pkg_pipeline.memory.records import ContextChat, Person
from pkg_pipeline.memory.text.lines import in_full

KEPT_KEYS = 16_384
"""Message keys are cached: encoding one costs more than the lookup."""


def context_rows(found: Mapping[str, Any]) -> ContextRows | None:
    """None if the entity does not exist."""
    if found["entity"] is None:
        return None
    chats = {key: ContextChat(*parts) for key, parts in (found["chats"] or {}).items()}
    texts = {int(key): _message(given, chats) for key, given in (found["texts"] or {}).items()}
    profile = _profile(found["profile"], chats)
    doubted = set[UUID]() if profile is None else {_id(key) for key in found["profile"]["doubted"] or ()}
    items = [(given["band"], _item(given, chats)) for given in found["items"] or ()]
    decisions = sorted(
        (item for band, item in items if band != "open"), key=lambda item: (item.first_at, item.id), reverse=True
    )
    return ContextRows(
        entity=_entity(found["entity"], _organization(found)),
        hot=tuple(texts[key] for key in found["hot"] or ()),
        summaries=tuple(_summary(given, chats) for given in found["summaries"] or ()),
        unsummarised=tuple(_unsummarised(given, chats, texts) for given in found["unsummarised"] or ()),
        whole={_id(given["interaction_id"]): _whole(given, chats, texts) for given in found["whole"] or ()},
        facts=tuple(_fact(given, chats) for given in found["facts"] or ()),
        decisions=tuple(decisions),
        open_items=tuple(_doubted(item, doubted, profile) for band, item in items if band == "open"),
        profile=profile,
        left_out=tuple(_withheld(found)),
        signals=_signals(found),
        me=Person(_id(found["me"][0]), found["me"][1], is_self=True) if found["me"] else None,
    )


def _signals(found: Mapping[str, Any]) -> Signals:
    return Signals(
        name=found["entity"]["name"],
        said=[Utterance(one["text"], one["is_self"], datetime.fromisoformat(one["at"])) for one in found["said"] or ()],
        groups=found["groups"] or (),
        facts=[fact["value"] for fact in found["facts"] or ()],
        organizations=(_organization(found), found["my_organization"]),
    )


def _doubted(item: KnownItem, doubted: Collection[UUID], profile: KnownProfile | None) -> KnownItem:
    """Doubts hold until the item is spoken of again, and never against a person's own decision."""
    is_doubted = profile is not None and item.id in doubted and item.at <= profile.as_of and not item.is_decided
    return replace(item, is_doubted=True) if is_doubted else item


def _withheld(found: Mapping[str, Any]) -> Iterable[LeftOut]:
    for key in found["withheld"] or ():
        yield LeftOut("summary", key, "withheld")
    if found["profile"] is not None and found["profile"]["is_withheld"]:
        yield LeftOut("profile", found["profile"]["id"], "withheld")


def lost_row(row: Any) -> LeftOut:
    """A row of ``known.not_kept``."""
    key = row.id if row.source is None else _key(row.source, row.chat, row.id)
    return LeftOut(row.kind, key, row.reason)


def _profile(given: Mapping[str, Any] | None, chats: Mapping[str, ContextChat]) -> KnownProfile | None:
    """Profiles that rest on a deleted message are not served (P29)."""
    if given is None or given["is_withheld"]:
        return None
    keys: dict[int, dict[str, None]] = {}
    for place, chat_id, message_ids in given["sources"] or ():
        source = {"chat_id": chat_id, "message_ids": message_ids or ()}
        keys.setdefault(place, {}).update(dict.fromkeys(_keys(source, chats)))
    return KnownProfile(
        id=_id(given["id"]),
        as_of=datetime.fromisoformat(given["as_of"]),
        relationship_type=given["relationship_type"],
        summary=given["summary"],
        milestones=tuple(
            KnownMilestone(
                id=f"{given['id']}/{place}",
                day=date.fromisoformat(one["day"]),
                title=one["title"],
                importance=one["importance"],
                message_ids=tuple(keys.get(place, ())),
            )
            for place, one in enumerate(given["milestones"], start=1)
        ),
        is_stale=given["is_stale"],
        message_ids=tuple(keys.get(0, ())),
    )


def _organization(found: Mapping[str, Any]) -> str | None:
    """Where they work: as the facts of that moment say, else as a person set it. What only facts of another moment say
    has an id that was made from its name.
    """
    facts = [one for one in found["facts"] or () if one["fact_type"] == "organization" and one["about"] is None]
    if facts:
        return max(facts, key=lambda one: datetime.fromisoformat(one["at"]))["value"]
    given = found["entity"]
    is_read = given["organization_id"] is not None and _id(given["organization_id"]) == organization_id(
        given["organization"]
    )
    return None if is_read else given["organization"]


def _entity(given: Mapping[str, Any], organization: str | None) -> ContextEntity:
    return ContextEntity(
        id=_id(given["id"]),
        name=given["name"],
        type=given["type"],
        is_self=given["is_self"],
        organization=organization,
        sources=tuple(given["sources"] or ()),
        language=next(iter(given["languages"] or ()), None),
        messages=int(given["messages"]),
        hypothetical_tokens=in_full(messages=int(given["messages"]), text_tokens=int(given["tokens"])),
        first_contact=_moment(given["first_contact"]),
        last_contact=_moment(given["last_contact"]),
        contact_days=tuple(date.fromisoformat(day) for day in given["days"] or ()),
        languages=tuple(given["languages"] or ()),
        is_mass=given["is_mass"],
    )


def _message(given: Mapping[str, Any], chats: Mapping[str, ContextChat]) -> HeardMessage:
    chat = chats[given["chat_id"]]
    return HeardMessage(
        id=_key(chat.source, chat.external_id, given["external_id"]),
        chat=chat,
        speaker=given["speaker"],
        is_self=given["is_self"],
        sent_at=datetime.fromisoformat(given["sent_at"]),
        text=given["text"],
        is_cut=given["is_cut"],
    )


def _summary(given: Mapping[str, Any], chats: Mapping[str, ContextChat]) -> PastSummary:
    return PastSummary(
        id=_id(given["id"]),
        interaction_id=_id(given["interaction_id"]),
        chat=chats[given["chat_id"]],
        started_at=datetime.fromisoformat(given["started_at"]),
        ended_at=datetime.fromisoformat(given["ended_at"]),
        text=given["summary"],
        is_stale=given["is_stale"],
        message_ids=_keys(given, chats),
    )


def _unsummarised(
    given: Mapping[str, Any], chats: Mapping[str, ContextChat], texts: Mapping[int, HeardMessage]
) -> Unsummarised:
    return Unsummarised(
        interaction_id=_id(given["interaction_id"]),
        chat=chats[given["chat_id"]],
        started_at=datetime.fromisoformat(given["started_at"]),
        ended_at=datetime.fromisoformat(given["ended_at"]),
        messages=tuple(texts[key] for key in given["messages"] or ()),
    )


def _whole(given: Mapping[str, Any], chats: Mapping[str, ContextChat], texts: Mapping[int, HeardMessage]) -> WholeTalk:
    return WholeTalk(
        interaction_id=_id(given["interaction_id"]),
        chat=chats[given["chat_id"]],
        started_at=datetime.fromisoformat(given["started_at"]),
        ended_at=datetime.fromisoformat(given["ended_at"]),
        messages=tuple(texts[key] for key in given["messages"] or ()),
    )


def _fact(given: Mapping[str, Any], chats: Mapping[str, ContextChat]) -> KnownFact:
    return KnownFact(
        id=_id(given["id"]),
        fact_type=given["fact_type"],
        value=given["value"],
        at=datetime.fromisoformat(given["at"]),
        message_ids=_keys(given, chats),
        about=given["about"],
        is_stale=given["is_stale"],
        is_decided=given["is_decided"],
    )


def _item(given: Mapping[str, Any], chats: Mapping[str, ContextChat]) -> KnownItem:
    said = {"chat_id": given["said_in"], "message_ids": given["said_by"] or ()}
    former = given["former"]
    return KnownItem(
        id=_id(given["id"]),
        kind=given["kind"],
        status=given["status"] or "open",
        interaction_id=_id(given["interaction_id"]),
        first_at=datetime.fromisoformat(given["first_at"]),
        at=datetime.fromisoformat(given["at"]),
        text=given["text"],
        quote=given["quote"] or "",
        message_ids=tuple(dict.fromkeys((*_keys(given, chats), *_keys(said, chats)))),
        importance=given["importance"],
        owner=given["owner"],
        owner_name=given["owner_name"],
        due_date=_day(given["due_date"]),
        former=None if former is None else Former(former, datetime.fromisoformat(given["former_at"])),
        is_withheld=given["is_withheld"],
        is_stale=given["is_stale"],
        is_decided=given["decided_by"] == "person",
        found_with=1.0 if given["found_with"] is None else given["found_with"],
    )


def _keys(given: Mapping[str, Any], chats: Mapping[str, ContextChat]) -> tuple[str, ...]:
    """Message keys of external ids; none where the interaction is gone."""
    chat = chats.get(given["chat_id"] or "")
    return () if chat is None else message_keys(chat.source, chat.external_id, given["message_ids"])


def message_keys(source: str, chat_external_id: str, external_ids: Iterable[str]) -> tuple[str, ...]:
    """The public keys of messages of one chat."""
    return tuple(_key(source, chat_external_id, external_id) for external_id in external_ids)


_key = lru_cache(maxsize=KEPT_KEYS)(message_key)
_id = lru_cache(maxsize=KEPT_KEYS)(UUID)


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _day(value: str | None) -> date | None:
    return None if value is None else date.fromisoformat(value)
