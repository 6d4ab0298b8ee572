"""``/v1/summarization/…`` and ``/metrics`` (P30–P32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from pkg_pipeline.api.metrics import Metrics, ServerCounts
from pkg_pipeline.api.monitoring import models as models
from pkg_pipeline.api.problems import answers
from pkg_pipeline.stages.monitoring.queue_report import QueueState, queue, queue_page
from pkg_pipeline.stages.monitoring.stage import MonitoringParams, statistics
from pkg_pipeline.stages.ports import Clock
from pkg_pipeline.stages.reads.paging import DEFAULT_ROWS, MOST_ROWS

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore

FIRST_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringPorts:
    """Ports of these routes."""

    store: PostgresMonitoringStore
    params: MonitoringParams
    server: ServerCounts | None = None


def _json(body: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


def monitoring_routes(ports: MonitoringPorts, metrics: Metrics, *, clock: Clock) -> APIRouter:
    router = APIRouter(tags=["monitoring"], responses=answers(503))

    @router.get("/v1/summarization/stats", summary="How the memory is doing", response_model=models.Stats)
    def stats() -> Response:
        """Coverage, backlog, time, compression, cost and budget, exact at the moment of asking."""
        return _json(statistics(ports.store, ports.params, now=clock.now()).to_json())

    @router.get(
        "/v1/summarization/queue",
        summary="What waits, what is worked on, what was given up",
        response_model=models.Queue,
    )
    def whole_queue(
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of each list")] = FIRST_ROWS,
    ) -> Response:
        """Counts, and the first rows of each list; a list's `next` goes on at `/v1/summarization/queue/{state}`."""
        return _json(queue(ports.store, ports.params, now=clock.now(), limit=limit))

    @router.get(
        "/v1/summarization/queue/{state}",
        summary="One list of the queue",
        response_model=models.QueueList,
    )
    def one_list(
        state: QueueState,
        limit: Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one page")] = DEFAULT_ROWS,
        cursor: Annotated[str | None, Query(description="`next` of the page before", max_length=2_000)] = None,
    ) -> Response:
        """Waiting interactions oldest first, failed ones in the order in which they were given up."""
        page = queue_page(ports.store, ports.params, state, now=clock.now(), limit=limit, cursor=cursor)
        return _json(page.to_json())

    @router.get("/metrics", summary="The same for Prometheus", response_class=Response)
    def prometheus(accept: Annotated[str, Header()] = "*/*") -> Response:
        """Read when asked for. Counters are totals of the ledger since the memory began."""
        body, content_type = metrics.render(accept)
        return Response(body, headers={"Content-Type": content_type})

    return router
