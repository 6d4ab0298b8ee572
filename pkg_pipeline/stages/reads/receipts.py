"""Receipts of served contexts: shown, and rebuilt to the byte while all that was served can still be had (B11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.text.cleaning import clean_name
from pkg_pipeline.memory.text.timestamps import iso
from pkg_pipeline.stages.reads.context import ContextRequest, ContextSettings, EntityContext, line_digest
from pkg_pipeline.stages.reads.short_ids import full_or_short
from pkg_pipeline.stages.reads.stores import EntityUnknown

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.reads.receipts import PostgresReceiptReads

MOST_NAMED = 5
"""Lines that a reason names."""


class ReceiptUnknown(Exception):
    """No receipt of this id: it was never kept, or forgotten with what it drew on."""


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    id: UUID
    entity_id: UUID
    request: Mapping[str, Any]
    tiers: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]
    tokens: int
    hypothetical_tokens: int
    served_at: datetime

    @property
    def served(self) -> tuple[tuple[str, str], ...]:
        """(kind, id) of every line, in order."""
        return tuple((item["kind"], item["id"]) for tier in self.tiers for item in tier["items"])


@dataclass(frozen=True, slots=True)
class ListedReceipt:
    """``entity_name``: None once the entity was forgotten."""

    id: UUID
    entity_id: UUID
    entity_name: str | None
    request: Mapping[str, Any]
    tokens: int
    served_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "receipt_id": str(self.id),
            "entity_id": str(self.entity_id),
            "entity_name": None if self.entity_name is None else clean_name(self.entity_name),
            "served_at": iso(self.served_at),
            "request": dict(self.request),
            "tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """``reason``: why the block is not the one that was served; None: it is, to the byte. ``lines``: (kind, id) of all
    that cannot be made again as they were.
    """

    receipt: KeptReceipt
    text: str | None
    reason: str | None
    lines: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "receipt_id": str(self.receipt.id),
            "matches": self.reason is None,
            "differs": self.reason,
            "lines": [{"kind": kind, "id": key} for kind, key in self.lines],
            "text": self.text,
        }


def kept_receipt(store: PostgresReceiptReads, receipt_id: UUID) -> KeptReceipt:
    """Raises ReceiptUnknown."""
    if (found := store.receipt(receipt_id)) is None:
        raise ReceiptUnknown(
            f"there is no receipt {receipt_id}: it was never kept, or was forgotten with what it drew on"
        )
    return found


def receipt_id_of(store: PostgresReceiptReads, asked: str) -> UUID:
    """The id given in full, or by its first digits. Raises ReceiptUnknown."""
    return full_or_short(asked, store.ids_between, what="receipt", unknown=ReceiptUnknown)


def receipt_json(one: KeptReceipt) -> dict[str, Any]:
    return {
        "receipt_id": str(one.id),
        "entity_id": str(one.entity_id),
        "served_at": iso(one.served_at),
        "request": dict(one.request),
        "tokens": one.tokens,
        "hypothetical_tokens": one.hypothetical_tokens,
        "tiers": list(one.tiers),
        "left_out": list(one.left_out),
    }


def rebuild(
    receipt: KeptReceipt,
    *,
    now: datetime,
    settings: ContextSettings,
    program: str,
    context: Callable[..., EntityContext],
) -> Rebuilt:
    """The block by the time, budget, hint and settings of the receipt: of what the memory knew when it was served, else
    of all that it knows. What it says is given only if it is the same; else the reason says which lines differ.
    """
    digest = receipt.request.get("sha256")
    if digest is None:
        return Rebuilt(receipt, None, "it was served before receipts kept a digest: nothing to compare with")
    request = ContextRequest(
        entity_id=receipt.entity_id,
        now=now,
        as_of=datetime.fromisoformat(receipt.request["as_of"]),
        max_tokens=receipt.request["max_tokens"],
        hint=receipt.request["hint"],
    )
    asked = [request]
    if (known := receipt.request.get("known_as_of")) is not None:
        then = replace(request, known_as_of=datetime.fromisoformat(known), served_at=receipt.served_at)
        asked.insert(0, then)
    answers: list[EntityContext] = []
    for one in asked:
        try:
            answers.append(context(one, settings=_settings_of(receipt, settings)))
        except EntityUnknown:
            return Rebuilt(receipt, None, "whom it was about is forgotten, or became part of somebody else")
        if content_hash(answers[-1].block.text) == digest:
            return Rebuilt(receipt, answers[-1].block.text, None)
    return min((_differing(receipt, one, program) for one in answers), key=lambda one: len(one.lines))


def _settings_of(receipt: KeptReceipt, settings: ContextSettings) -> ContextSettings:
    kept = dict(receipt.request["settings"])
    zone = kept.pop("zone", None)
    return replace(settings, **kept, **({} if zone is None else {"zone": ZoneInfo(zone)}))


def _differing(receipt: KeptReceipt, answer: EntityContext, program: str) -> Rebuilt:
    now = {(item.kind, item.id): item.text for tier in answer.block.tiers for item in tier.items}
    lines = tuple(
        (item["kind"], item["id"])
        for tier in receipt.tiers
        for item in tier["items"]
        if (text := now.get((item["kind"], item["id"]))) is None
        or item.get("sha", sha := line_digest(receipt.id, text)) != sha
    )
    return Rebuilt(receipt, None, _difference(receipt, lines, len(now.keys() - {*receipt.served}), program), lines)


def _difference(receipt: KeptReceipt, lines: Sequence[tuple[str, str]], new: int, program: str) -> str:
    made_by = receipt.request.get("program", program)
    by = "" if made_by == program else f" (served by version {made_by}, this is {program})"
    added = f"{new} that the memory did not know then"
    if lines:
        named = ", ".join(f"{kind} {key}" for kind, key in lines[:MOST_NAMED])
        more = f" and {len(lines) - MOST_NAMED} more" if len(lines) > MOST_NAMED else ""
        also = f"; and {added}" if new else ""
        return f"{len(lines)} of {len(receipt.served)} lines served then are gone or changed: {named}{more}{also}{by}"
    if new:
        return f"all lines served then are there, and {added}{by}"
    return f"the same lines, with other places, counts or words around them than then{by}"
