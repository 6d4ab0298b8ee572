"""The real application of ``serve`` over one database, with a route that does nothing beside it, as a process.

    python -m benchmarks.session_server URL HOME

Prints its address once it answers. For the benchmarks of sessions.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate


def main(url: str, home: str) -> None:
    from starlette.responses import Response

    from pkg_pipeline.adapters.clock import SystemClock
    from pkg_pipeline.adapters.postgres.reads.store import PostgresReadStore
    from pkg_pipeline.api.app import create_app
    from pkg_pipeline.api.routes import ApiDependencies
    from pkg_pipeline.api.server import serve as serve_app
    from pkg_pipeline.settings import Settings
    from pkg_pipeline.wiring import Memory
    from pkg_pipeline.wiring.contexts import context_settings
    from pkg_pipeline.wiring.recall import recall_parts, warm_up

    settings = Settings.model_validate({"home": Path(home), "llm": "offline"})
    memory = Memory(settings, url=url, connections=engine.pool(url, size=6), clock=SystemClock())
    reads = engine.pool(url, size=16, readonly=True)
    store = PostgresReadStore(reads, zone=settings.zone)
    questions = recall_parts(settings, reads, memory.counter)
    memory.counter.count("warm")
    warm_up(questions, reads)
    with ExitStack() as closing:
        sessions = closing.enter_context(memory.serving_sessions(reads=reads, recall=questions))
        app = create_app(
            ApiDependencies(
                reads=store,
                counter=memory.counter,
                clock=memory.clock,
                settings=context_settings(settings),
                expected_revision=migrate.head(),
                recall=questions,
                sessions=sessions,
            )
        )
        app.add_api_route("/noop", lambda: Response(b"{}", media_type="application/json"))
        serve_app(app, host="127.0.0.1", port=0, on_ready=lambda at: print(at, flush=True))


class Served:
    """The process, and one connection to it."""

    def __init__(self, url: str) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="pkg-bench-")
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.session_server", url, self._home.name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self._http = http.client.HTTPConnection("127.0.0.1", self.port)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        headers = {} if body is None else {"content-type": "application/json"}
        self._http.request(method, path, body=body, headers=headers)
        answer = self._http.getresponse()
        said = answer.read()
        assert answer.status < 300, said
        return said

    def get(self, path: str) -> bytes:
        return self.ask("GET", path)

    def reconnect(self) -> None:
        """The server closes a connection that nobody used for five seconds."""
        self._http.close()

    def close(self) -> None:
        self._http.close()
        self.process.terminate()
        self.process.wait(20)
        self._home.cleanup()


if __name__ == "__main__":
    arguments: Any = sys.argv[1:]
    main(*arguments)
