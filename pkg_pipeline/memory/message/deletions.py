"""Messages deleted at their source: an older export has them and a newer one lacks them.

A pure function of all exports of the chat, whatever their order of import (B10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

Verdict = Literal["open", "accepted", "kept"]
"""A person's decision on missing messages."""

FEW: Final = 20
FEW_SHARE: Final = 0.05
MOST_SHARE: Final = 0.5
"""Without confirmation an export may delete ``FEW`` messages or ``FEW_SHARE`` of its span, whichever is more, at most
``MOST_SHARE``.
"""


@dataclass(frozen=True, slots=True)
class KnownExport:
    """One chat in one export. ``evidence_at``: the latest moment in the whole file.

    ``first``, ``last``: numbers of its first and last message; ``missing``: known messages between them that it lacks;
    ``known``: how many are known there. ``is_whole``: it shows every message of its span. ``owner``: whose export it
    is.
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
        """Whether the export has the message, as far as known."""
        return self.first <= number <= self.last and number not in self.missing


@dataclass(frozen=True, slots=True)
class Held:
    """An export that would delete too many: how many, of how many in its span."""

    export: UUID
    missing: int
    known: int


@dataclass(slots=True)
class Deletions:
    """Numbers of deleted messages, and what waits for confirmation."""

    gone: set[int] = field(default_factory=set[int])
    held: list[Held] = field(default_factory=list[Held])


def allowance(known: int) -> float:
    """How many of ``known`` messages an export may delete without confirmation."""
    return min(max(FEW, FEW_SHARE * known), MOST_SHARE * known)


def find_deletions(exports: Sequence[KnownExport]) -> Deletions:
    """What is deleted after all exports of one chat, applied by ``evidence_at``.

    An export that has a message restores it; one that lacks a message of an older or equally old export deletes it.
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
    """Whether another export of the same account has it; a message no such export has does not count as missing."""
    return any(
        export.has(number) and (export.owner is None or lacking.owner is None or export.owner == lacking.owner)
        for export in exports
        if export is not lacking
    )
