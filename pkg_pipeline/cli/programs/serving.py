"""``pkg-pipeline serve``: the API. Its reads use read-only connections."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from functools import partial
from typing import Annotated

import typer

from pkg_pipeline.adapters.http.guard import own_hosts
from pkg_pipeline.adapters.interruption import BY_SIGNAL, INTERRUPTION
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.background_sink import BackgroundSink
from pkg_pipeline.adapters.postgres.ingest.echoes import PostgresServedLines
from pkg_pipeline.adapters.postgres.items.listing import PostgresItemReads
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.monitoring.store import PostgresMonitoringStore
from pkg_pipeline.adapters.postgres.reads.receipts import BackgroundReceiptSink, PostgresReceiptSink
from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads
from pkg_pipeline.api.app import CannotServe, check_address, create_app
from pkg_pipeline.api.app import serve as serve_app
from pkg_pipeline.api.facts import FactPorts
from pkg_pipeline.api.items import ItemPorts
from pkg_pipeline.api.metrics import ServerCounts
from pkg_pipeline.api.monitoring.routes import MonitoringPorts
from pkg_pipeline.api.routes import ApiDependencies
from pkg_pipeline.cli.programs.callers import Callers, callers_of, curl_line, has_tokens
from pkg_pipeline.cli.terminal import CommandFailed, notes, settings_in_force
from pkg_pipeline.wiring import open_memory
from pkg_pipeline.wiring.chats import set_category
from pkg_pipeline.wiring.contexts import context_settings
from pkg_pipeline.wiring.facts import FactReview
from pkg_pipeline.wiring.people import PeopleWork
from pkg_pipeline.wiring.process import space
from pkg_pipeline.wiring.recall import recall_parts, relevant_by, warm_up
from pkg_pipeline.wiring.summaries import ReachableBackfills

READ_CONNECTIONS = 16
"""Answers that are read at the same time; further threads of the server wait."""


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; loopback unless tokens are set.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 takes a free one.")] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Ask nobody for a token; loopback only.")] = False,
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
    with open_memory(settings, stays=True) as memory, ExitStack() as closing:
        reads = engine.pool(memory.url, size=READ_CONNECTIONS, readonly=True)
        receipts = BackgroundReceiptSink(PostgresReceiptSink(memory.connections)) if settings.receipts else None
        store = PostgresReadStore(reads, zone=settings.zone)
        review = FactReview(memory, reads)
        served = BackgroundSink(PostgresServedLines(memory.connections), name="served-lines")
        questions = recall_parts(
            settings,
            reads,
            memory.counter,
            rewriting=memory.rewriting,
            on_served=served.put if settings.receipts else lambda _: None,
        )
        memory.monitoring.recount()  # counts what changed while nothing ran, so that no read has to
        try:
            memory.counter.count("warm")  # loads the vocabulary before the first answer
            warm_up(questions, reads)
            sessions = closing.enter_context(memory.serving_sessions(reads=reads, recall=questions))
            serve_app(
                create_app(
                    ApiDependencies(
                        reads=store,
                        counter=memory.counter,
                        clock=memory.clock,
                        settings=context_settings(settings),
                        expected_revision=migrate.head(),
                        receipts=receipts,
                        recall=questions,
                        relevant=relevant_by(questions, max_tokens=settings.context_tokens),
                        brief=memory.briefs.brief,
                        tokens=callers.tokens,
                        is_own_host=own_hosts(bound, settings.api_hosts.split(",")),
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
                            ),
                        ),
                    )
                ),
                host=bound,
                port=settings.api_port if port is None else port,
                on_ready=lambda address: _say_address(address, callers),
            )
        except KeyboardInterrupt:
            pass  # the server has finished its answers and raises the signal again
        except CannotServe as error:
            raise CommandFailed(str(error)) from error
        finally:
            if receipts is not None:
                receipts.close()
            served.close()
            reads.close()
    if INTERRUPTION.number not in (None, signal.SIGINT):  # Ctrl-C is the normal end; another signal is reported
        raise typer.Exit(BY_SIGNAL + INTERRUPTION.number)


def _say_address(address: str, callers: Callers) -> None:
    said = [f"API at {address}, its description at {address}/docs"]
    if callers.own_secret is not None:
        said.append(f"  {curl_line(address, callers.own_secret)}")
    notes().print("\n".join(said), markup=False)
