"""The read of one entity's context: rows → block → answer and receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.context.assembly import assemble, language_of
from pkg_pipeline.memory.context.card import card_of
from pkg_pipeline.memory.context.records import Block, BlockItem, BlockRules, Card, ContextRows, LeftOut
from pkg_pipeline.memory.context.short_text import full_tokens, short_block
from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.recall.records import Ranked
from pkg_pipeline.memory.records import Tier
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.ports import TokenCounter
from pkg_pipeline.stages.reads.brief import Brief, MakeBrief, brief_of
from pkg_pipeline.stages.reads.stores import BadRequest, ContextQuery, EntityUnknown, Receipt, ReceiptSink, require_past

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore

LARGEST_CHARS_PER_TOKEN = 12
"""Limit of what is read of a message; prose has about four characters per token."""

FEWEST_TEXT_CHARS = 400
MOST_TEXT_CHARS = 16_000
RECOUNTED_CHARS = 18_000
MOST_RECOUNTS = 4

KEPT_SETTINGS = ("hot_days", "hot_messages", "warm_days", "warm_summaries", "shares")
"""Of ``ContextSettings``, in receipts."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """Defaults: time zone, tier edges and limits (P1, P2), shares (P6)."""

    zone: ZoneInfo
    max_tokens: int
    hot_days: float
    hot_messages: int
    warm_days: float
    warm_summaries: int
    shares: Mapping[Tier, int]


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """``as_of`` (P9) and ``max_tokens`` default to now and the setting; ``hint``: the task in words, for its own tier
    (P5). ``known_as_of``: by what the memory knew then, by default by all that it knows (B11).
    """

    entity_id: UUID
    now: datetime
    as_of: datetime | None = None
    max_tokens: int | None = None
    hint: str | None = None
    known_as_of: datetime | None = None
    served_at: datetime | None = None
    """As in ``ContextQuery``."""


class Asked(TypedDict, total=False):
    """Of a ContextRequest what may be left out."""

    as_of: datetime | None
    max_tokens: int | None
    hint: str | None
    known_as_of: datetime | None


Relevant = Callable[["ContextRequest"], tuple[Ranked, ...]]
"""Recall of a hint within the entity, best first."""


@dataclass(frozen=True, slots=True)
class EntityContext:
    """The answer (P8). ``receipt_id`` None: receipts are off."""

    receipt_id: UUID | None
    entity_id: UUID
    entity_name: str
    entity_type: str
    as_of: datetime
    max_tokens: int
    hypothetical_tokens: int
    block: Block
    card: Card | None
    brief: Brief | None = None
    known_as_of: datetime | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "receipt_id": None if self.receipt_id is None else str(self.receipt_id),
            "entity": {"id": str(self.entity_id), "name": clean_name(self.entity_name), "type": self.entity_type},
            "card": None if self.card is None else _card_json(self.card),
            "as_of": iso(self.as_of),
            "known_as_of": None if self.known_as_of is None else iso(self.known_as_of),
            "text": self.block.text,
            "tokens": self.block.tokens,
            "max_tokens": self.max_tokens,
            "hypothetical_tokens": self.hypothetical_tokens,
            "tiers": [
                {"tier": tier.tier, "tokens": tier.tokens, "items": [_item_json(item) for item in tier.items]}
                for tier in self.block.tiers
            ],
            "left_out": [_left_out_json(entry) for entry in self.block.left_out],
            "brief": None if self.brief is None else self.brief.text,
            "brief_parts": None if self.brief is None else self.brief.to_json(),
        }


def entity_context(
    store: PostgresReadStore,
    counter: TokenCounter,
    request: ContextRequest,
    *,
    settings: ContextSettings,
    receipts: ReceiptSink | None = None,
    relevant: Relevant | None = None,
    brief: MakeBrief | None = None,
) -> EntityContext:
    """The context of one entity. Raises EntityUnknown; BadRequest for a budget below one token or a future time.

    ``relevant`` is called if the request has a hint. ``brief``: makes one of the block, if it is asked for (P7).
    """
    max_tokens = settings.max_tokens if request.max_tokens is None else request.max_tokens
    if max_tokens < 1:
        raise BadRequest("max_tokens", "max_tokens must be at least 1")
    require_past(request.now, as_of=request.as_of, known_as_of=request.known_as_of)
    rules = _rules(request, settings, max_tokens)
    rows = store.read_context(
        ContextQuery(
            entity_id=request.entity_id,
            as_of=rules.as_of,
            today=rules.today,
            hot_from=rules.hot_from,
            warm_from=rules.warm_from,
            hot_limit=rules.hot_limit,
            summary_limit=rules.summary_limit,
            max_tokens=max_tokens,
            text_chars=min(max(LARGEST_CHARS_PER_TOKEN * max_tokens, FEWEST_TEXT_CHARS), MOST_TEXT_CHARS),
            is_past=rules.as_of < (request.known_as_of or request.now),
            known_as_of=request.known_as_of,
            served_at=request.served_at,
        )
    )
    if rows is None:
        raise EntityUnknown(str(request.entity_id))
    if request.hint is not None and relevant is not None:
        rows = replace(rows, relevant=relevant(replace(request, entity_id=rows.entity.id)))
    rows = replace(rows, card=card_of(rows, rules))
    full = full_tokens(rows, rules, counter.count_many)
    rules = replace(rules, max_tokens=min(max_tokens, full) if full else max_tokens)  # never longer (B21)
    block = within_budget(rows, rules, counter)
    told = None if brief is None else _to_tell(rows, rules, block, max_tokens, counter)
    answer = EntityContext(
        receipt_id=None if receipts is None else uuid4(),
        entity_id=rows.entity.id,
        entity_name=rows.entity.name,
        entity_type=rows.entity.type,
        as_of=rules.as_of,
        known_as_of=request.known_as_of,
        max_tokens=max_tokens,
        hypothetical_tokens=full,
        card=rows.card,
        block=block,
        brief=None if brief is None or told is None else brief_of(rows, told, rules, language_of(rows), brief),
    )
    if receipts is not None:
        receipts.put(receipt_of(answer, request, settings, counter.name))
    return answer


def within_budget(rows: ContextRows, rules: BlockRules, counter: TokenCounter) -> Block:
    """The block, counted once more as a whole (P6) and made smaller if it exceeds the budget."""
    allowed = rules.max_tokens
    for _ in range(MOST_RECOUNTS):
        within = replace(rules, max_tokens=allowed)
        block = short_block(rows, within, counter.count_many) or assemble(rows, within, counter.count_many)
        counted = count_block(block.text, counter)
        if counted <= rules.max_tokens:
            return block if counted == block.tokens else replace(block, tokens=counted)
        allowed = max(allowed - (counted - rules.max_tokens), 0)
    return assemble(rows, replace(rules, max_tokens=0), counter.count_many)


def _to_tell(rows: ContextRows, rules: BlockRules, block: Block, max_tokens: int, counter: TokenCounter) -> Block:
    """The block that a brief is made of: with facts and open tasks also where the words that say them left no room."""
    return (
        block if rules.max_tokens == max_tokens else within_budget(rows, replace(rules, max_tokens=max_tokens), counter)
    )


def count_block(text: str, counter: TokenCounter) -> int:
    """Tokens of a finished block, counted in parts of whole lines: counters may be inexact for long texts."""
    stretches: list[str] = []
    start = 0
    while len(text) - start > RECOUNTED_CHARS:
        end = text.rfind("\n", start, start + RECOUNTED_CHARS) + 1
        end = end or text.find("\n", start) + 1 or len(text)
        stretches.append(text[start:end])
        start = end
    return sum(counter.count_many([*stretches, text[start:]]))


def _rules(request: ContextRequest, settings: ContextSettings, max_tokens: int) -> BlockRules:
    as_of = request.now if request.as_of is None else request.as_of
    return BlockRules(
        as_of=as_of,
        zone=settings.zone,
        max_tokens=max_tokens,
        shares=settings.shares,
        hot_days=settings.hot_days,
        hot_limit=settings.hot_messages,
        summary_limit=settings.warm_summaries,
        hot_from=as_of - timedelta(days=settings.hot_days),
        warm_from=as_of - timedelta(days=settings.warm_days),
        hint=request.hint or "",
    )


def receipt_of(answer: EntityContext, request: ContextRequest, settings: ContextSettings, counter_name: str) -> Receipt:
    """The receipt (B11): enough to make the block again, and to see that it is the same."""
    assert answer.receipt_id is not None
    return Receipt(
        id=answer.receipt_id,
        entity_id=answer.entity_id,
        request={
            "as_of": iso(answer.as_of),
            "asked_as_of": None if request.as_of is None else iso(request.as_of),
            "known_as_of": iso(request.now if request.known_as_of is None else request.known_as_of),
            "max_tokens": answer.max_tokens,
            "hint": request.hint,
            "counter": counter_name,
            "program": program_version(),
            "settings": {"zone": settings.zone.key, **{name: getattr(settings, name) for name in KEPT_SETTINGS}},
            "sha256": content_hash(answer.block.text),
            **({} if answer.brief is None else {"brief": _brief_receipt(answer.brief)}),
        },
        tiers=[
            {
                "tier": tier.tier,
                "tokens": tier.tokens,
                "items": [
                    {
                        "kind": item.kind,
                        "id": item.id,
                        "marks": list(item.marks),
                        "sha": line_digest(answer.receipt_id, item.text),
                    }
                    for item in tier.items
                ],
            }
            for tier in answer.block.tiers
        ],
        left_out=[_left_out_json(entry) for entry in answer.block.left_out],
        tokens=answer.block.tokens,
        hypothetical_tokens=answer.hypothetical_tokens,
        text=answer.block.text if answer.brief is None else answer.block.text + answer.brief.text,
    )


@cache
def program_version() -> str:
    """What tells a block in these words."""
    from importlib.metadata import version  # half of the time that a list of names takes

    return version("pkg-pipeline")


def line_digest(receipt_id: UUID, text: str) -> str:
    """Tells whether a line is the same, and no two receipts tell whether theirs are."""
    return content_hash(f"{receipt_id} {text}")[:12]


def _brief_receipt(brief: Brief) -> dict[str, Any]:
    return {"model": brief.model, "prompt": brief.prompt_version, "sha256": content_hash(brief.text)}


def _card_json(card: Card) -> dict[str, Any]:
    return {
        "relationship": card.relationship,
        "frequency": card.frequency,
        "organization": card.organization,
        "languages": list(card.languages),
        "facts": [
            {"type": fact.fact_type, "value": fact.value, "id": str(fact.id), "stale": fact.is_stale}
            for fact in card.facts
        ],
        "messages": card.messages,
        "first_contact": None if card.first_contact is None else iso(card.first_contact),
        "last_contact": None if card.last_contact is None else iso(card.last_contact),
    }


def _item_json(item: BlockItem) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "id": item.id,
        "text": item.text,
        "at": iso(item.at),
        "message_ids": list(item.message_ids),
        "marks": list(item.marks),
    }


def _left_out_json(entry: LeftOut) -> dict[str, Any]:
    given: dict[str, Any] = {"kind": entry.kind, "id": entry.id, "reason": entry.reason}
    return given if entry.count == 1 else {**given, "count": entry.count}
