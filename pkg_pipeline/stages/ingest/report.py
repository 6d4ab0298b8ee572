"""What an import did, as it is counted while it runs and printed at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pkg_pipeline.memory.records import Rejected
from pkg_pipeline.stages.ingest.stores import HeldDeletions, IngestCounts

REPORTED_REJECTIONS = 1_000
"""More are counted but not listed."""


@dataclass(slots=True)
class ImportReport:
    """What one import did. ``rejected`` lists (file, where, reason); ``rejected_count`` counts all of them."""

    files: int = 0
    chats: set[UUID] = field(default_factory=set[UUID])
    entities: set[UUID] = field(default_factory=set[UUID])
    counts: IngestCounts = field(default_factory=IngestCounts)
    replaced_characters: int = 0
    rejected: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    rejected_count: int = 0
    warnings: list[str] = field(default_factory=list[str])
    damaged: list[str] = field(default_factory=list[str])
    """Files that are broken or cut off: nobody knows how much of them is missing. What could be read went in."""

    held: list[HeldDeletions] = field(default_factory=list[HeldDeletions])
    """What exports lack in such numbers that somebody has to say whether it is deleted; it stays until then."""

    def reject(self, file: str, rejected: Rejected) -> None:
        self.rejected_count += 1
        if rejected.is_damage and file not in self.damaged:
            self.damaged.append(file)
        if len(self.rejected) < REPORTED_REJECTIONS:
            self.rejected.append((file, rejected.where, rejected.reason))

    def to_json(self) -> dict[str, Any]:
        """The shape of INTERFACES.md."""
        return {
            "files": self.files,
            "chats": len(self.chats),
            "entities": len(self.entities),
            "messages_new": self.counts.new,
            "messages_updated": self.counts.updated,
            "messages_unchanged": self.counts.unchanged,
            "messages_deleted": self.counts.deleted,
            "rejected": [{"file": file, "where": where, "reason": reason} for file, where, reason in self.rejected],
            "rejected_count": self.rejected_count,
            "replaced_characters": self.replaced_characters,
            "warnings": self.warnings,
            "damaged": self.damaged,
            "held_deletions": [
                {"chat": f"{one.source}:{one.external_id}", "missing": one.missing, "known": one.known}
                for one in self.held
            ],
        }
