"""What the summaries stage reads of messages beyond what a claim brings, as a Protocol the stage owns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from pkg_pipeline.memory.records import SourceMessage, SummaryContent

if TYPE_CHECKING:
    from pkg_pipeline.stages.summaries.stores import Claimed


class SourceStore(Protocol):
    """The live messages of one interaction, in the order of its input hash; archived ones with their texts."""

    def pages(self, claimed: Claimed) -> Iterator[list[SourceMessage]]:
        """All messages, some thousands at a time; nothing stays open between two pages."""
        ...

    def texts(self, claimed: Claimed) -> Iterator[tuple[str, str]]:
        """(external id, content hash) of all messages."""
        ...

    def messages_of(self, claimed: Claimed, external_ids: Sequence[str]) -> list[SourceMessage]:
        """Those of ``external_ids`` that are live in this interaction."""
        ...


@dataclass(frozen=True, slots=True)
class TooSmall:
    """A summary that rests on what is said no more, of a conversation too small to be summarised again (P11, P29).

    ``texts`` are today's texts of what its items rest on.
    """

    summary_id: UUID
    interaction_id: UUID
    content: SummaryContent
    texts: Mapping[str, str]
