"""The local HTTP server: routes, scripted faults, the journal. Loopback only.

Beside the protocol: ``GET /__journal`` (every call), ``POST /__script`` (new rules), ``POST /__reset``.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pkg_pipeline.fake_llm.batches import BATCH_PATH, Batches
from pkg_pipeline.fake_llm.chat import CHAT_PATH, chat_answer
from pkg_pipeline.fake_llm.embeddings import (
    DIMENSIONS,
    EMBEDDINGS_PATH,
    check_bearer,
    embedding_answer,
    embedding_error,
)
from pkg_pipeline.fake_llm.faults import Fault, Script, ScriptError, parse_rules
from pkg_pipeline.fake_llm.protocol import (
    LONGEST_PROMPT_TOKENS,
    MODELS,
    Record,
    Refused,
    check_headers,
    check_request,
    error_body,
    message,
    prompt_tokens,
    text_of,
    told,
)

HOST = "127.0.0.1"
LOOPBACK_NAMES = (HOST, "localhost")
MESSAGES_PATH = "/v1/messages"
OPENAI_PATHS = (EMBEDDINGS_PATH, CHAT_PATH)
COUNT_PATH = "/v1/messages/count_tokens"
MODELS_PATH = "/v1/models"
HTML_PAGE = b"<html><body><h1>Welcome to the gateway</h1></body></html>"


class FakeAnthropic:
    """A server that speaks the Anthropic protocol. Context manager.

    ``api_key`` None accepts any. ``polls``: per batch before it has ended. ``embeddings``: models of the OpenAI
    embeddings route with their dimensions. ``takes_schema`` False refuses a JSON schema as a parameter;
    of a chat's prompt only the last ``reads_tokens`` are read.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        rules: Sequence[Fault] = (),
        api_key: str | None = None,
        polls: int = 1,
        embeddings: Mapping[str, int] = DIMENSIONS,
        takes_schema: bool = True,
        reads_tokens: int | None = None,
    ) -> None:
        self.script = Script(rules)
        self.api_key = api_key
        self.embeddings = dict(embeddings)
        self.takes_schema, self.reads_tokens = takes_schema, reads_tokens
        self.batches = Batches(self.script, polls=polls)
        self.stopping = threading.Event()
        self._journal: list[Record] = []
        self._lock = threading.Lock()
        self._server = _Server((HOST, port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def journal(self) -> list[Record]:
        """Every call so far: number, method, path, status, usage and body."""
        with self._lock:
            return list(self._journal)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends the server and every connection; waits for its threads."""
        self.stopping.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.close_connections()
        self._server.server_close()

    def join(self) -> None:
        self._thread.join()

    def reset(self) -> None:
        self.script.replace(())
        with self._lock:
            self._journal.clear()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def enter_call(self, method: str, path: str, body: Any) -> Record:
        with self._lock:
            entry: Record = {"call": len(self._journal) + 1, "method": method, "path": path, "body": body}
            self._journal.append(entry)
            return entry


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    allow_reuse_address = True
    fake: FakeAnthropic

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Ends threads that wait on kept-alive connections."""
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignored: clients disconnect on purpose in tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes; Nagle's algorithm would cost 40 ms a call
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """Nothing: prompts hold conversations; the journal has the calls."""

    def _serve(self, method: str) -> None:
        if self._is_of_a_page():  # the journal holds what was said
            self.close_connection = True
            self._send(403, {"error": "pages may not send requests here"}, Fault())
            return
        fake = self.server.fake
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = urlsplit(self.path).path
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        if path.startswith("/__"):
            self._control(path, body)
            return
        entry = fake.enter_call(method, path, body)
        fault = fake.script.match(call=entry["call"], path=path, text=_told(raw, body))
        self._request_id = f"req_{entry['call']:06d}"
        if fault.delay_seconds:
            fake.stopping.wait(fault.delay_seconds)
        try:
            status, answer = self._answer(method, path, body, fault)
        except Refused as refusal:
            status, answer = refusal.status, self._error(path, refusal.status, str(refusal), Fault())
        entry["status"] = status
        entry["usage"] = answer.get("usage") if isinstance(answer, dict) else None
        self._send(status, told(answer, fault) if path == MESSAGES_PATH else answer, fault)

    def _is_of_a_page(self) -> bool:
        """Whether a browser page sends this (DNS rebinding)."""
        host = (self.headers.get("host") or "").rpartition(":")[0]
        site = self.headers.get("sec-fetch-site", "none")
        return host not in LOOPBACK_NAMES or "origin" in self.headers or site != "none"

    def _answer(self, method: str, path: str, body: Any, fault: Fault) -> tuple[int, Any]:
        fake = self.server.fake
        headers = {name.lower(): value for name, value in self.headers.items()}
        check = check_bearer if path in OPENAI_PATHS else check_headers
        check(headers, api_key=self.server.fake.api_key)
        if fault.status is not None and fault.batch_result is None:
            return fault.status, self._error(path, fault.status, fault.message or "scripted failure", fault)
        if fault.html:
            return 200, HTML_PAGE
        if fault.body is not None:
            return 200, fault.body
        if path == EMBEDDINGS_PATH and method == "POST":
            return 200, embedding_answer(body, fault, models=self.server.fake.embeddings)
        if path == CHAT_PATH and method == "POST":
            return 200, chat_answer(body, fault, takes_schema=fake.takes_schema, reads_tokens=fake.reads_tokens)
        if path.startswith(BATCH_PATH):
            return 200, self._batch(method, path, body)
        if path == MESSAGES_PATH and method == "POST":
            if not self.server.fake.takes_schema and "output_config" in (body or {}):
                raise Refused(400, "output_config: Extra inputs are not permitted")
            check_request(body)
            return 200, message(body, fault)
        if path == COUNT_PATH and method == "POST":
            check_request(body, counting=True)
            return 200, {"input_tokens": prompt_tokens(body)}
        if path == MODELS_PATH and method == "GET":
            return 200, _models()
        raise Refused(404, "no such path")

    def _error(self, path: str, status: int, words: str, fault: Fault) -> Record:
        if path in OPENAI_PATHS:
            return embedding_error(status, words, code=fault.error_code)
        return error_body(
            status, words, request_id=self._request_id, error_type=fault.error_type, code=fault.error_code
        )

    def _batch(self, method: str, path: str, body: Any) -> Any:
        fake = self.server.fake
        rest = [part for part in path.removeprefix(BATCH_PATH).split("/") if part]
        match method, rest:
            case "POST", []:
                return fake.batches.create(body)
            case "GET", []:
                query = parse_qs(urlsplit(self.path).query)
                limit, after = int(query.get("limit", ["20"])[0]), query.get("after_id", [None])[0]
                return fake.batches.listed(base_url=fake.url, limit=limit, after_id=after)
            case "GET", [batch_id]:
                return fake.batches.get(batch_id, base_url=fake.url)
            case "GET", [batch_id, "results"]:
                return fake.batches.results(batch_id).encode()
            case "POST", [batch_id, "cancel"]:
                return fake.batches.cancel(batch_id, base_url=fake.url)
            case "DELETE", [batch_id]:
                return fake.batches.delete(batch_id)
            case _:
                raise Refused(404, "no such path")

    def _control(self, path: str, body: Any) -> None:
        fake, status, answer = self.server.fake, 200, {}
        if path == "/__journal":
            answer = fake.journal
        elif path == "/__reset":
            fake.reset()
        elif path == "/__script":
            try:
                fake.script.replace(parse_rules(body))
                answer = {"rules": len(body)}
            except (ScriptError, TypeError) as error:
                status, answer = 400, {"error": str(error)}
        else:
            status = 404
        self._send(status, answer, Fault())

    def _send(self, status: int, answer: Any, fault: Fault) -> None:
        if fault.drop == "before":
            self._hang_up()
            return
        is_page, is_lines = answer is HTML_PAGE, isinstance(answer, bytes)
        payload = answer if isinstance(answer, bytes) else json.dumps(answer, ensure_ascii=False).encode()
        if fault.cut_body:
            payload = payload[: len(payload) // 2]
        self.send_response(status)
        kind = "text/html" if is_page else "application/x-jsonl" if is_lines else "application/json"
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        for name in ("request-id", "x-request-id"):
            self.send_header(name, getattr(self, "_request_id", "req_control"))
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if fault.drop == "half":
            self.wfile.write(payload[: len(payload) // 2])
            self.wfile.flush()
            self._hang_up()
            return
        self.wfile.write(payload)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _told(raw: bytes, body: Any) -> str:
    """The text that rules search: the raw body and its unescaped words."""
    told = text_of(body) if isinstance(body, dict) and isinstance(body.get("messages"), list) else ""
    if isinstance(body, dict) and "input" in body:
        told = "\n".join(map(str, body["input"])) if isinstance(body["input"], list) else str(body["input"])
    return f"{raw.decode('utf-8', 'replace')}\n{told}"


def _models() -> Record:
    data = [
        {
            "id": model,
            "type": "model",
            "display_name": model,
            "created_at": "2026-10-07T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": LONGEST_PROMPT_TOKENS,
        }
        for model in MODELS
    ]
    return {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}
