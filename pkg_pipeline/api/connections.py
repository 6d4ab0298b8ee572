"""Limits on connections: head and body in time, answers taken in time, number. The server's own waits for ever."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from pkg_pipeline.api.problems import MEDIA_TYPE, document

MOST_CONNECTIONS = 1_024


def most_connections() -> int:
    """Half of the file descriptors; the rest is for the database and files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MOST_CONNECTIONS, soft // 2) if soft > 0 else MOST_CONNECTIONS


class BoundedConnection(HttpToolsProtocol):
    """One connection. The numbers hold per request; tests set smaller ones."""

    head_seconds = 10.0
    most_head_bytes = 64 * 1024
    body_seconds = 10.0
    """Without any arriving byte; received bytes extend it at ``body_bytes_per_second``."""
    body_bytes_per_second = 8 * 1024
    refused_body_seconds = 5.0
    """For the rest of a body that was refused, so that its sender sees the answer."""
    answer_seconds = 60.0
    """For a client to take what is buffered for it."""
    most_connections: int | None = None

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._is_in_head = True
        self._is_in_body = False
        self._head_bytes = 0
        self._due: float | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._unsent: asyncio.TimerHandle | None = None
        self.waiting_since = self.loop.time()

    # ── the connection ────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """When full, replaces the connection that has waited longest; refused if all are being served."""
        most = most_connections() if self.most_connections is None else self.most_connections
        is_room = len(self.connections) < most or self._makes_room()
        super().connection_made(transport)
        if not is_room:
            self._refuse(503, "too many connections; try again in a moment")
            return
        self._expect(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._due = None
        for timer in (self._alarm, self._unsent):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def _makes_room(self) -> bool:
        waiting = [one for one in self.connections if isinstance(one, BoundedConnection) and not one.is_at_work]
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: one.waiting_since)
        longest.transport.abort()
        self.connections.discard(longest)
        return True

    @property
    def is_at_work(self) -> bool:
        """Whether a whole request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self._is_in_body

    # ── what comes in ─────────────────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._due is None:
                self._expect(self.head_seconds)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > self.most_head_bytes and not self.transport.is_closing():
            self._refuse(431, "the head of the request is too long")

    def on_message_begin(self) -> None:
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head, self._is_in_body = False, True
        self._head_bytes = 0
        self._expect(self.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if self._due is not None and not self.cycle.response_complete:
            bought = self._due + len(body) / self.body_bytes_per_second
            self._due = min(bought, self.loop.time() + self.body_seconds)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_body, self._is_in_head = False, True
        self._due = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.waiting_since = self.loop.time()
        if self._is_in_body:
            self._expect(self.refused_body_seconds)
        super().on_response_complete()

    def _expect(self, seconds: float) -> None:
        """Sets the timeout of what is awaited now."""
        self._due = self.loop.time() + seconds
        if self._alarm is not None and self._alarm.when() > self._due:
            self._alarm.cancel()
            self._alarm = None
        if self._alarm is None:
            self._alarm = self.loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._alarm = None
        if self._due is None or self.transport.is_closing():
            return
        now = self.loop.time()
        if self.flow.read_paused:  # we are the side that does not read
            self._due = now + self.body_seconds
        if self._due > now:
            self._alarm = self.loop.call_at(self._due, self._look)
        elif self._is_in_body and self.cycle.response_started:
            self.transport.abort()
        else:
            self._refuse(408, "the request did not come in time")

    # ── what goes out ─────────────────────────────────────────────────────────────────────────

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unsent = self.loop.call_later(self.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unsent is not None:
            self._unsent.cancel()
            self._unsent = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        if self._unsent is None:
            self._unsent = self.loop.call_later(self.answer_seconds, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        del msg
        self._refuse(400, "this is no HTTP request that can be read")

    def _refuse(self, status: int, detail: str) -> None:
        """Answers before the application has seen a request, and closes."""
        self._due = None
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started or not self._is_in_body:
                self.transport.abort()  # an answer is being sent: another would be read as part of it
                return
        body = orjson.dumps(document(status, detail))
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()
