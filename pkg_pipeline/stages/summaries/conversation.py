"""The messages of one claimed interaction; long ones are read in pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.memory.summary.splitting import Sized, part_of, split_messages
from pkg_pipeline.stages.ports import TokenCounter
from pkg_pipeline.stages.summaries.stores import Claimed

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.summaries.store import PostgresSummaryStore

LINE_TOKENS = 60
"""Upper estimate of number, speaker, time and JSON around a message."""

CITED_AT_ONCE = 2_000


class Conversation:
    """One interaction under a lease."""

    def __init__(self, claimed: Claimed, store: PostgresSummaryStore, counter: TokenCounter) -> None:
        self._claimed = claimed
        self._store = store
        self._counter = counter
        self._read: list[str] = []

    @property
    def source(self) -> SummaryInput:
        return self._claimed.source

    @property
    def is_empty(self) -> bool:
        return not self._claimed.source.messages and not self._claimed.is_long

    @property
    def read_ids(self) -> tuple[str, ...]:
        """External ids of the messages in ``windows`` so far."""
        return tuple(self._read)

    def hashes(self) -> Iterator[tuple[str, str]]:
        """(external id, content hash) of all messages in order."""
        if self._claimed.is_long:
            return self._store.texts(self._claimed)
        return ((message.external_id, hashing.content_hash(message.text)) for message in self.source.messages)

    def messages_of(self, external_ids: Collection[str]) -> list[SourceMessage]:
        """Those of ``external_ids`` in this interaction, in order."""
        if not self._claimed.is_long:
            wanted = frozenset(external_ids)
            return [message for message in self.source.messages if message.external_id in wanted]
        ids = list(dict.fromkeys(external_ids))
        batches = (ids[at : at + CITED_AT_ONCE] for at in range(0, len(ids), CITED_AT_ONCE))
        found = chain.from_iterable(self._store.messages_of(self._claimed, batch) for batch in batches)
        return sorted(found, key=lambda message: (message.sent_at, len(message.external_id), message.external_id))

    def windows(self, *, most_messages: int, most_tokens: int) -> Iterator[SummaryInput]:
        """The interaction in windows (P18), whole if it fits."""
        claimed, source = self._claimed, self.source
        if not claimed.is_long:
            count = len(source.messages)
            if count <= most_messages and claimed.token_count + count * LINE_TOKENS <= most_tokens:
                self._read = [message.external_id for message in source.messages]
                yield source
                return
        groups = split_messages(self._sized(), most_messages=most_messages, most_tokens=most_tokens)
        ahead = list(islice(groups, 2))
        if len(ahead) == 1 and not claimed.is_long:
            yield source
            return
        for group in chain(ahead, groups):
            yield part_of(source, group)

    def _sized(self) -> Iterator[Sized]:
        pages = self._store.pages(self._claimed) if self._claimed.is_long else iter([list(self.source.messages)])
        for page in pages:
            self._read += [message.external_id for message in page]
            tokens = self._counter.count_many([message.text for message in page])
            yield from zip(page, (size + LINE_TOKENS for size in tokens), strict=True)
