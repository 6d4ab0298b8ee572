"""Builds the HTTP application from its ports. Adapters are chosen in ``wiring``."""

from __future__ import annotations

from fastapi import Depends, FastAPI

from pkg_pipeline.adapters.http.guard import HttpGuard
from pkg_pipeline.adapters.versions import program_version
from pkg_pipeline.api import documentation, pages, problems
from pkg_pipeline.api.bodies import BodyLimits
from pkg_pipeline.api.chats import chat_routes
from pkg_pipeline.api.facts import fact_routes
from pkg_pipeline.api.forgetting import forgetting_routes
from pkg_pipeline.api.items import item_routes
from pkg_pipeline.api.metrics import Latencies, Metrics
from pkg_pipeline.api.monitoring.routes import monitoring_routes
from pkg_pipeline.api.parameters import known_parameters
from pkg_pipeline.api.people import people_routes
from pkg_pipeline.api.recall import recall_routes
from pkg_pipeline.api.routes import ApiDependencies, health_routes, reading_routes
from pkg_pipeline.api.security import Admission, refused_by_guard
from pkg_pipeline.api.sessions.input import EncodedKeys
from pkg_pipeline.api.sessions.routes import session_routes
from pkg_pipeline.api.summarization import summarization_routes
from pkg_pipeline.api.why import why_routes

DESCRIPTION = """Tiered memory of a person's conversations: contexts within a token budget, timelines, summaries.

Lists are `{items, next}`; `next` is the `cursor` of the page behind. Errors are RFC 9457 problem documents."""


def create_app(deps: ApiDependencies) -> FastAPI:
    """The application; it neither opens nor closes its ports."""
    app = FastAPI(
        title="pkg_pipeline",
        version=program_version(),
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's own page loads scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
        dependencies=[Depends(known_parameters)],
    )
    problems.install(app)
    if deps.people is not None:
        app.include_router(people_routes(deps.people, entities=deps.reads))
    app.include_router(reading_routes(deps))
    app.include_router(health_routes(deps))
    if deps.backfills is not None:
        app.include_router(summarization_routes(deps.backfills))
    if deps.recall is not None:
        app.include_router(recall_routes(deps.recall, entities=deps.reads, clock=deps.clock))
    if deps.items is not None:
        app.include_router(item_routes(deps.items, entities=deps.reads, clock=deps.clock))
    if deps.facts is not None:
        app.include_router(fact_routes(deps.facts, entities=deps.reads))
    if deps.why is not None:
        app.include_router(why_routes(deps.why))
    if deps.set_category is not None:
        app.include_router(chat_routes(deps.reads, deps.set_category))
    if deps.forgetting is not None:
        app.include_router(forgetting_routes(deps.forgetting, entities=deps.reads))
    if deps.sessions is not None:
        app.include_router(session_routes(deps.sessions))
    pages.install(app)
    # a layer added later is further out: guard, answer times, failures, token, body length
    app.add_middleware(EncodedKeys)
    app.add_middleware(BodyLimits)
    app.add_middleware(Admission, tokens=deps.tokens, memory=deps.memory)
    app.add_middleware(problems.Failures)
    if deps.monitoring is not None:
        ports = deps.monitoring
        metrics = Metrics(
            ports.store,
            ports.params,
            clock=deps.clock,
            server=ports.server,
            disk=deps.disk,
            memory=deps.memory,
        )
        app.include_router(monitoring_routes(deps.monitoring, metrics, clock=deps.clock))
        app.add_middleware(Latencies, metrics=metrics)
    app.add_middleware(HttpGuard, is_own_host=deps.is_own_host, answer=refused_by_guard)
    documentation.install(app)
    return app
