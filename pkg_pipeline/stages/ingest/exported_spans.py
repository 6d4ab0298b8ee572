"""What one file shows of its chats: which entries, and up to which moment. See ``memory.message.deletions``."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import numpy as np

from pkg_pipeline.memory.records import ParsedMessage
from pkg_pipeline.stages.ingest.records import ChatExport

NUMBER: Final = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
"""Ids that are numbers growing with time; the store looks for the same form."""


@dataclass(slots=True)
class SeenNumbers:
    """The entries of a chat, 8 bytes each. ``has_unnumbered``: one of them could have been any message."""

    numbers: array[int] = field(default_factory=lambda: array("q"))
    refused: set[int] = field(default_factory=set[int])
    has_unnumbered: bool = False

    def add(self, external_id: str | None, *, is_taken: bool) -> None:
        if external_id is None or NUMBER.fullmatch(external_id) is None:
            self.has_unnumbered = True
        else:
            self.numbers.append(int(external_id))
            if not is_taken:
                self.refuse(external_id)

    def refuse(self, external_id: str) -> None:
        """An entry that was added did not go in after all."""
        if NUMBER.fullmatch(external_id):
            self.refused.add(int(external_id))

    def shown(self, chat_id: UUID, evidence_at: datetime, owner: str | None, *, is_whole: bool) -> ChatExport:
        numbers = np.unique(np.frombuffer(self.numbers, dtype=np.int64))
        return ChatExport(chat_id, evidence_at, owner, is_whole, numbers, len(numbers) - len(self.refused))


@dataclass(slots=True)
class Evidence:
    """``at``: the latest moment that the file tells of, sending or editing. No export is older than that."""

    at: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def see(self, message: ParsedMessage) -> None:
        self.at = max(self.at, message.sent_at, message.edited_at or message.sent_at)
