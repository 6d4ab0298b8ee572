"""Which messages of a chat are gone at their source: an older export has them and a newer one lacks them.

A pure function of all exports of the chat that were ever imported, so that their order makes no difference (B10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

Verdict = Literal["open", "accepted", "kept"]
"""What a person said of what an export lacks: nothing; that it is deleted; that it stays."""

FEW: Final = 20
FEW_SHARE: Final = 0.05
MOST_SHARE: Final = 0.5
"""An export may unasked take out ``FEW`` messages of a chat or ``FEW_SHARE`` of those in its span, whichever is more,
but never more than ``MOST_SHARE``: a chat of four that lost three was rather exported in another way."""


@dataclass(frozen=True, slots=True)
class KnownExport:
    """One chat in one export. ``evidence_at`` is the latest moment that the whole file tells of.

    ``first`` and ``last`` are the numbers of its first and last message, ``missing`` the messages in between that are
    known from elsewhere, ``known`` how many are known there in all. ``is_whole``: it shows every message of its span.
    ``owner`` is whose export it is, where that is known.
    """

    id: UUID
    evidence_at: datetime
    first: int
    last: int
    owner: str | None
    is_whole: bool
    verdict: Verdict
    known: int
    missing: frozenset[int] = frozenset()

    def has(self, number: int) -> bool:
        """Whether the message is in it, as far as anybody can tell of one that is known from some export."""
        return self.first <= number <= self.last and number not in self.missing


@dataclass(frozen=True, slots=True)
class Held:
    """An export that would take out too many: how many, of how many in its span."""

    export: UUID
    missing: int
    known: int


@dataclass(slots=True)
class Deletions:
    """The numbers of messages that are gone, and what waits for a person's word."""

    gone: set[int] = field(default_factory=set[int])
    held: list[Held] = field(default_factory=list[Held])


def allowance(known: int) -> float:
    """How many of ``known`` messages in its span an export may take out without being asked for."""
    return min(max(FEW, FEW_SHARE * known), MOST_SHARE * known)


def find_deletions(exports: Sequence[KnownExport]) -> Deletions:
    """What is gone after all these exports of one chat.

    They are gone through by what they tell of, oldest first. One that has a message which an older one took out brings
    it back; one that lacks a message which an older one, or one of the same moment, has, takes it out: between two
    exports that know of the same latest moment nothing was said, so that what differs was deleted.
    """
    found = Deletions()
    ordered = sorted(exports, key=lambda export: (export.evidence_at, export.id.int))
    at = 0
    while at < len(ordered):
        same = [export for export in ordered[at:] if export.evidence_at == ordered[at].evidence_at]
        before = ordered[: at + len(same)]
        whole = [export for export in same if export.is_whole]
        for export in whole:
            found.gone -= {number for number in found.gone if export.has(number)}
        for export in whole:
            lost = {n for n in export.missing - found.gone if _is_known_from(n, before, export)}
            if not lost or export.verdict == "kept":
                continue
            if export.verdict == "open" and len(lost) > allowance(export.known):
                found.held.append(Held(export.id, len(lost), export.known))
            else:
                found.gone |= lost
        at += len(same)
    return found


def _is_known_from(number: int, exports: Sequence[KnownExport], lacking: KnownExport) -> bool:
    """Another export of the same account has it: what an account never saw is not missing in its export."""
    return any(
        export.has(number) and (export.owner is None or lacking.owner is None or export.owner == lacking.owner)
        for export in exports
        if export is not lacking
    )
