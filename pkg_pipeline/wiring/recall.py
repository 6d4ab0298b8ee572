"""Wiring of recall; an embedder loads with the first question in its space."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg_pool import ConnectionPool

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL
from pkg_pipeline.memory.recall.records import Ranked
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import Embedder, TokenCounter
from pkg_pipeline.stages.reads.context import ContextRequest, Relevant
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline.stages.recall.stage import RecallParts, RecallRequest, RecallResult, RecallSettings, find, recall

if TYPE_CHECKING:
    from pkg_pipeline.wiring.process import Process
    from pkg_pipeline.wiring.rewriting import RewritingWork

log = logging.getLogger(__name__)

QUESTION_DEADLINE_SECONDS = 5.0
"""After this a slow remote embedder is given up for keywords."""


class SpaceEmbedders:
    """Space → embedder, each built once; thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._built: dict[str, Embedder | None] = {}
        self._lock = threading.Lock()

    def __call__(self, model: str) -> Embedder | None:
        with self._lock:
            if model not in self._built:
                self._built[model] = self._build(model)
            return self._built[model]

    def _build(self, model: str) -> Embedder | None:
        from pkg_pipeline.wiring.models import embedder_named

        if self._settings.embedder_kind == "none":
            return None
        try:
            return embedder_named(model, self._settings, deadline_seconds=QUESTION_DEADLINE_SECONDS)
        except SettingsError:
            return None  # the space was made under other settings: the answer says so and goes by keywords


def recall_parts(
    settings: Settings,
    connections: ConnectionPool,
    counter: TokenCounter,
    *,
    rewriting: RewritingWork | None = None,
    on_served: Callable[[str], object] = lambda _: None,
) -> RecallParts:
    """Dependencies of recall; the connections may be read-only."""
    from pkg_pipeline.adapters.postgres.recall.store import PostgresRecallStore
    from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

    return RecallParts(
        store=PostgresRecallStore(connections),
        analyzer=SnowballTerms(),
        embedders=SpaceEmbedders(settings),
        counter=counter,
        settings=RecallSettings(zone=ZoneInfo(settings.timezone), top_k=settings.recall_top_k),
        rewrite=None if rewriting is None else rewriting.rewritten,
        on_served=on_served,
    )


def warm_up(parts: RecallParts, connections: ConnectionPool) -> None:
    """Preload the analyzer and the active space's local model; failures are logged, remote embedders not called."""
    from pkg_pipeline.adapters.postgres.recall.spaces import PostgresSpaceStore

    parts.analyzer.terms("Warm слова")
    try:
        space = PostgresSpaceStore(connections).active()
        embedder = None if space is None else parts.embedders(space.model)
        if embedder is not None and embedder.model == OFFLINE_MODEL:
            embedder.embed(["warm"])
    except Exception as error:  # noqa: BLE001 - the server can answer without it (L10)
        log.warning("the embedder could not be loaded (%s): questions go by keywords", type(error).__name__)


def relevant_by(parts: RecallParts, *, max_tokens: int) -> Relevant:
    def relevant(request: ContextRequest) -> tuple[Ranked, ...]:
        assert request.hint is not None, "only a request with a hint asks"
        asked = RecallRequest(
            query=request.hint,
            now=request.now,
            entity_id=request.entity_id,
            as_of=request.as_of,
            known_as_of=request.known_as_of,
            max_tokens=request.max_tokens or max_tokens,
        )
        try:
            return find(parts, asked).ranked
        except BadRequest as error:
            if error.field != "query":
                raise
            raise BadRequest("hint", str(error).replace("query", "hint")) from None

    return relevant


class RecallWork:
    """``memory.recall``: questions about everything stored."""

    def __init__(self, process: Process, *, rewriting: RewritingWork | None) -> None:
        from pkg_pipeline.adapters.postgres.ingest.echoes import PostgresServedLines

        self._clock = process.clock
        self._served = PostgresServedLines(process.connections)
        self._keeps = process.settings.receipts
        self.parts = recall_parts(
            process.settings, process.connections, process.counter, rewriting=rewriting, on_served=self.served
        )
        self.relevant = relevant_by(self.parts, max_tokens=process.settings.context_tokens)

    def served(self, text: str) -> None:
        """Remembers a block that was served, so that it is known when it comes back (B14)."""
        if self._keeps:
            self._served.keep(text)

    def search(
        self,
        query: str,
        *,
        entity_id: UUID | None = None,
        chat_id: UUID | None = None,
        topics: tuple[str, ...] = (),
        top_k: int | None = None,
        max_tokens: int | None = None,
        as_of: datetime | None = None,
        known_as_of: datetime | None = None,
    ) -> RecallResult:
        """The answer to a question. Raises BadRequest, EntityUnknown, ChatUnknown."""
        request = RecallRequest(
            query=query,
            now=self._clock.now(),
            entity_id=entity_id,
            chat_id=chat_id,
            topics=topics,
            top_k=top_k,
            max_tokens=max_tokens,
            as_of=as_of,
            known_as_of=known_as_of,
        )
        return recall(self.parts, request)
