"""``pkg-pipeline serve``: the API, in one process or several. Its reads use read-only connections."""

from __future__ import annotations

import signal
import sys
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from fastapi import FastAPI

from pkg_pipeline import wiring
from pkg_pipeline.adapters.http.guard import own_hosts
from pkg_pipeline.adapters.interruption import BY_SIGNAL, INTERRUPTION
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres import memories as catalogue
from pkg_pipeline.adapters.postgres.background_sink import BackgroundSink
from pkg_pipeline.adapters.postgres.ingest.echoes import PostgresServedLines
from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore
from pkg_pipeline.adapters.postgres.reading import POOL_WAIT_SECONDS
from pkg_pipeline.adapters.postgres.reads.receipts import BackgroundReceiptSink, PostgresReceiptSink
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads
from pkg_pipeline.adapters.postgres.shared_connections import SharedConnections
from pkg_pipeline.api.app import create_app
from pkg_pipeline.api.by_memory import ByMemory, OpenMemories
from pkg_pipeline.api.facts import FactPorts
from pkg_pipeline.api.items import ItemPorts
from pkg_pipeline.api.metrics import ServerCounts
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline.api.security import ApiToken
from pkg_pipeline.api.server import CannotServe, check_address, serve_in_processes
from pkg_pipeline.api.server import serve as serve_app
from pkg_pipeline.cli.programs.callers import Callers, NamedCallers, callers_of, curl_line, has_tokens
from pkg_pipeline.cli.terminal import CommandFailed, notes, settings_in_force
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import memories, open_memory
from pkg_pipeline.wiring.chats import set_category
from pkg_pipeline.wiring.contexts import context_settings
from pkg_pipeline.wiring.facts import FactReview
from pkg_pipeline.wiring.memory import APPEND_CONNECTIONS, Memory
from pkg_pipeline.wiring.opening import POOL_CONNECTIONS
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline.wiring.process import space
from pkg_pipeline.wiring.recall import recall_parts, relevant_by, warm_up
from pkg_pipeline.wiring.summaries import ReachableBackfills

READ_CONNECTIONS = 16
"""Answers that are read at the same time; further threads of the server wait."""

LEAST_CONNECTIONS = 4
"""Of each kind in one of several processes, however many share."""


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; loopback unless tokens are set.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one.")] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Ask nobody for a token; loopback only.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that answer on the one address.")
    ] = None,
) -> None:
    """Serve the API until Ctrl-C. Without PKG_API_TOKENS it makes a token of this machine's own and prints it."""
    settings = settings_in_force()
    bound = host or settings.api_host
    INTERRUPTION.is_bounded = False  # answers under way are finished, within the server's own timeouts
    try:
        check_address(bound, has_tokens=not no_token and has_tokens(settings))
        callers = Callers((), None) if no_token else callers_of(settings)
    except CannotServe as error:
        raise CommandFailed(str(error)) from error
    processes = workers or settings.api_workers
    place = {"host": bound, "port": settings.api_port if port is None else port}
    on_ready = partial(_say_address, callers)
    opened = Opened(host=bound, tokens=callers.tokens, processes=processes, named=callers.named)
    with open_memory(settings, stays=True) as memory:
        memory.monitoring.recount()  # counts what changed while nothing ran, so that no read has to
        try:
            if processes == 1:
                with application(memory, opened) as app:
                    serve_app(app, **place, on_ready=on_ready)
            else:
                serve_in_processes(
                    partial(_own_application, settings, opened), workers=processes, **place, on_ready=on_ready
                )
        except KeyboardInterrupt:
            pass  # the server has finished its answers and raises the signal again
        except CannotServe as error:
            raise CommandFailed(str(error)) from error
    if INTERRUPTION.number not in (None, signal.SIGINT):  # Ctrl-C is the normal end; another signal is reported
        raise typer.Exit(BY_SIGNAL + INTERRUPTION.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How the address is served: asked under ``host``, by whom, in how many ``processes``. ``named``: callers of other
    memories than the settings'.
    """

    host: str
    tokens: tuple[ApiToken, ...]
    processes: int
    named: NamedCallers | None = None

    def share(self, connections: int) -> int:
        """Of each process: a server keeps about as many however many its processes are."""
        return max(connections // self.processes, min(LEAST_CONNECTIONS, connections))


@contextmanager
def _own_application(settings: Settings, opened: Opened, shared: Path) -> Iterator[FastAPI]:
    """In one of several processes. Only a database that may come back makes it worth trying again."""
    try:
        with (
            open_memory(settings, connections=opened.share(POOL_CONNECTIONS), migrates=False) as memory,
            application(memory, opened, shared=shared) as app,
        ):
            yield app
    except engine.DatabaseUnavailable as error:
        sys.exit(f"error: {error}")


@contextmanager
def application(memory: Memory, opened: Opened, *, shared: Path | None = None) -> Iterator[FastAPI]:
    """The API over a memory, warm, and over those with names that callers ask for. ``shared``: as in
    ``ServerCounts``.
    """
    with ExitStack() as closing:
        app = closing.enter_context(over_one(memory, opened, shared=shared))
        if opened.named is not None:
            beside = closing.enter_context(named_memories(memory, opened, opened.named, shared=shared))
            app.add_middleware(ByMemory, memory_of=opened.named.memory_of, memories=beside)
        yield app


@contextmanager
def named_memories(
    own: Memory, opened: Opened, callers: NamedCallers, *, shared: Path | None = None
) -> Iterator[OpenMemories]:
    """Those beside ``own``, each opened when its callers ask, over connections that they share."""
    url = wiring.database_url(memories.own(own.settings), start=False)
    each = opened.share(READ_CONNECTIONS)
    connections = SharedConnections(each, share=max(each // 2, 1))

    def identify(name: str) -> Hashable | None:
        database = catalogue.database_of(url, name)
        with own.connections.connection(timeout=POOL_WAIT_SECONDS) as connection:
            found = catalogue.identity(connection, database)
        return None if found is None else (found, callers.of(name))

    @contextmanager
    def opening(name: str) -> Iterator[FastAPI]:
        settings = memories.settings_of(own.settings, name)
        told = replace(opened, tokens=callers.of(name), named=None)
        with (
            open_memory(settings, pool=connections.pool) as memory,
            over_one(memory, told, shared=shared, name=name) as app,
        ):
            yield app

    found = OpenMemories(opening, identify, on_sweep=connections.sweep)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def over_one(
    memory: Memory, opened: Opened, *, shared: Path | None = None, name: str | None = None
) -> Iterator[FastAPI]:
    """The API over one memory, warm; what is served until the end is recorded. ``name``: where it is one of several."""
    settings = memory.settings
    with ExitStack() as closing:
        reads = memory.pool(memory.url, size=opened.share(READ_CONNECTIONS), readonly=True)
        closing.callback(reads.close)
        served = BackgroundSink(PostgresServedLines(memory.connections), name="served-lines")
        closing.callback(served.close)
        receipts = BackgroundReceiptSink(PostgresReceiptSink(memory.connections)) if settings.receipts else None
        if receipts is not None:
            closing.callback(receipts.close)
        review = FactReview(memory, reads)
        questions = recall_parts(
            settings,
            reads,
            memory.counter,
            rewriting=memory.rewriting,
            on_served=served.put if settings.receipts else lambda _: None,
        )
        memory.counter.count("warm")  # loads the vocabulary before the first answer
        warm_up(questions, reads)
        sessions = closing.enter_context(
            memory.serving_sessions(reads=reads, recall=questions, connections=opened.share(APPEND_CONNECTIONS))
        )
        yield create_app(
            ApiDependencies(
                reads=PostgresReadStore(reads, zone=settings.zone),
                counter=memory.counter,
                clock=memory.clock,
                settings=context_settings(settings),
                expected_revision=migrate.head(),
                receipts=receipts,
                recall=questions,
                relevant=relevant_by(questions, max_tokens=settings.context_tokens),
                brief=memory.briefs.brief,
                tokens=opened.tokens,
                memory=name,
                is_own_host=own_hosts(opened.host, settings.api_hosts.split(",")),
                backfills=ReachableBackfills(memory.backfills),
                items=ItemPorts(reads=PostgresItemReads(reads, zone=settings.zone), decide=memory.decide_item),
                facts=FactPorts(reads=review.reads, decide=review.decide, add=review.add),
                people=PeopleWork(memory),
                why=PostgresWhyReads(reads),
                forgetting=memory.forgetting,
                set_category=partial(set_category, memory),
                sessions=sessions,
                disk=lambda: space(settings),
                monitoring=MonitoringPorts(
                    store=PostgresMonitoringStore(reads, zone=settings.zone),
                    params=memory.monitoring.params,
                    server=ServerCounts(
                        receipts_lost=lambda: (0 if receipts is None else receipts.lost) + memory.windows.lost,
                        window_holes=lambda: memory.windows.holes.messages,
                        shared=shared,
                    ),
                ),
            )
        )


def _say_address(callers: Callers, address: str) -> None:
    said = [f"API at {address}, its description at {address}/docs"]
    if callers.own_secret is not None:
        said.append(f"  {curl_line(address, callers.own_secret)}")
    notes().print("\n".join(said), markup=False)
