"""A database with the first two hops over it, fed with lines of the generic format. No expectations are here."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pkg_pipeline.adapters.exports.jsonl import read_jsonl
from pkg_pipeline.adapters.exports.reading import ByteSource
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.ingest.store import PostgresIngestStore
from pkg_pipeline.adapters.postgres.interactions.store import PostgresInteractionStore
from pkg_pipeline.memory.records import ExportItem
from pkg_pipeline.stages.ingest.records import ExportSource, ImportReport
from pkg_pipeline.stages.ingest.stage import import_export
from pkg_pipeline.stages.interactions.stage import InteractionsReport, build_interactions
from pkg_pipeline.stages.interactions.tally import InteractionParams

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
START = datetime(2026, 1, 10, 9, 0, tzinfo=UTC)
GAP_SECONDS = 4 * 3600.0
PARAMS = InteractionParams(
    gap_seconds=GAP_SECONDS, due_after_seconds=7 * 86_400, minimum_messages=3, mass_senders=50, timezone="Europe/Berlin"
)
Line = Mapping[str, Any]


class FixedClock:
    def now(self) -> datetime:
        return NOW


class LetterCounter:
    """Counts four letters as a token: enough to see that counts arrive where they belong."""

    name = "letters"

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


class LinesExport:
    """An ``ExportSource`` over lines in memory, read by the reader of JSONL files."""

    format = "jsonl"

    def __init__(self, content: bytes, *, exported_at: datetime, name: str = "lines.jsonl") -> None:
        self.name = name
        self.exported_at = exported_at
        self._source = ByteSource(
            name, opener=lambda: io.BytesIO(content), bytes_total=len(content), written_at=exported_at
        )

    @property
    def bytes_read(self) -> int:
        return self._source.bytes_read

    @property
    def bytes_total(self) -> int:
        return self._source.bytes_total

    @property
    def sha256(self) -> str | None:
        return self._source.sha256

    def items(self) -> Iterator[ExportItem]:
        return read_jsonl(self._source, zone=UTC)


class ItemsExport(LinesExport):
    """An ``ExportSource`` over records, for what no line can say."""

    def __init__(self, items: Iterable[ExportItem], *, exported_at: datetime = NOW, name: str = "items") -> None:
        super().__init__(b"", exported_at=exported_at, name=name)
        self._items = list(items)

    def items(self) -> Iterator[ExportItem]:
        return iter(self._items)


class Rig:
    """Import and build on one database, and look at what came of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.pool = engine.pool(url, size=4)
        self.store = PostgresIngestStore(self.pool)
        self.interactions = PostgresInteractionStore(self.pool)
        self.params = PARAMS
        self.counter = LetterCounter()
        self._numbers = itertools.count(1)

    def close(self) -> None:
        self.pool.close()

    def empty(self) -> None:
        """Every table of the memory, for the next example of a property."""
        with self.pool.connection() as connection:
            names = connection.execute(
                "SELECT string_agg(format('%I', tablename), ', ') FROM pg_tables"
                " WHERE schemaname = 'pkg' AND tablename <> 'alembic_version'"
            ).fetchone()
            assert names is not None
            connection.execute(f"TRUNCATE {names[0]}")  # type: ignore[arg-type]

    def take(
        self,
        lines: Iterable[Line | str],
        *,
        exported_at: datetime = NOW,
        selves: frozenset[tuple[str, str]] = frozenset(),
        store: PostgresIngestStore | None = None,
    ) -> ImportReport:
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        return self.take_export(
            LinesExport(text.encode("utf-8", "surrogatepass"), exported_at=exported_at), selves=selves, store=store
        )

    def take_export(
        self,
        export: ExportSource,
        *,
        selves: frozenset[tuple[str, str]] = frozenset(),
        store: PostgresIngestStore | None = None,
    ) -> ImportReport:
        report = ImportReport()
        import_export(
            export,
            store=store or self.store,
            counter=self.counter,
            selves=selves,
            report=report,
            batch_id=uuid4(),
        )
        return report

    def build(self) -> InteractionsReport:
        return build_interactions(self.interactions, clock=FixedClock(), params=self.params)

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self.connection() as connection:
            return connection.execute(sql, parameters).fetchall()  # type: ignore[arg-type]

    def value(self, sql: str, *parameters: Any) -> Any:
        found = self.rows(sql, *parameters)
        assert len(found) == 1, found
        return found[0][0]

    @contextmanager
    def connection(self) -> Iterator[engine.Connection]:
        with self.pool.connection() as connection:
            yield connection


def line(chat: str, number: int | str, *, minute: float = 0, sender: str = "ann", **more: Any) -> dict[str, Any]:
    """One message of the generic format, ``minute`` after START. ``text`` is made up where it is not given."""
    return {
        "chat_id": chat,
        "message_id": str(number),
        "sender_id": sender,
        "sender_name": sender.title(),
        "sent_at": (START + timedelta(minutes=minute)).isoformat(),
        "text": f"{sender} says {number}",
        **more,
    }
