"""A provider of language models is a row of one table: what a program asks of the model follows from the row alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.request import Request, urlopen

import pytest
from pydantic import SecretStr

from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.settings import Settings, SettingsError
from pkg_pipeline.stages.ports import Billing, LlmReply, LlmRequest
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline.wiring import Memory, models, open_memory
from pkg_pipeline.wiring.models import PROVIDERS, OnAttempt, Patience, Provider, provider_of
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, SummaryRig, good_answer

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)


class ChatServer(BaseHTTPRequestHandler):
    """An OpenAI-compatible chat endpoint that gives the answer parked for it."""

    answers: ClassVar[list[str]] = []
    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        message = {"role": "assistant", "content": self.answers[-1]}
        body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 90, "completion_tokens": 20}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args: Any) -> None:
        del args


class ChatLlm:
    """``ports.Llm`` over such an endpoint: a double, without its faults."""

    window_tokens = 32_000
    is_paid = False

    def __init__(self, url: str, model: str) -> None:
        self._url, self.model = url, model

    def price(self, usage: Usage) -> float:
        del usage
        return 0.0

    def complete(self, request: LlmRequest) -> LlmReply:
        messages = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
        ChatServer.answers.append(json.dumps(good_answer(request.payload)))
        body = json.dumps({"model": self.model, "messages": messages}).encode()
        with urlopen(Request(f"{self._url}/chat/completions", body, {"Content-Type": "application/json"})) as reply:
            said = json.load(reply)
        usage = Usage(said["usage"]["prompt_tokens"], said["usage"]["completion_tokens"])
        return LlmReply(said["choices"][0]["message"]["content"], self.model, usage, "stop")


def build(settings: Settings, counter: object, on_attempt: OnAttempt, patience: Patience) -> ChatLlm:
    del counter, on_attempt, patience
    return ChatLlm(str(settings.api_base_url), settings.llm_model)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The provider ``chat`` in the table, and the address of its server."""
    ChatServer.answers, ChatServer.asked = [], []
    row = Provider(
        "chat",
        build,
        is_paid=False,
        missing=lambda settings: None if settings.api_base_url else "API_BASE_URL",
        endpoint=lambda settings: settings.api_base_url,
    )
    monkeypatch.setitem(PROVIDERS, "chat", row)
    server = HTTPServer(("127.0.0.1", 0), ChatServer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def settings_of(rig: SummaryRig, **given: Any) -> Settings:
    settings = Settings(home=rig.folder / "home", database_url=SecretStr(rig.url), now=NOW, timezone="UTC")
    return settings.model_copy(update=given)


def test_a_row_of_the_table_is_all_that_the_program_needs_to_ask_another_model(
    database_url: str, tmp_path: Path, chat: str
) -> None:
    rig = SummaryRig(database_url, tmp_path)
    rig.say("c1")
    rig.load()
    rig.close()
    with open_memory(settings_of(rig, llm="chat", llm_model="local-7b", api_base_url=chat)) as memory:
        assert (memory.provider.name, memory.access.model, memory.access.work.concurrency) == ("chat", "local-7b", 1)
        assert memory.monitoring.params.usd_caps == {}  # what costs nothing has no caps
        reports = memory.summarize(ALL_DAYS, Billing("live", "run-1"), Scope())
        assert sum(report.summarized for report in reports) == 1
        assert _ledger(memory) == [("interaction_summary", "local-7b", "live", "run-1", 90, 20, 0.0)]
    assert [one["model"] for one in ChatServer.asked] == ["local-7b"]


@pytest.mark.parametrize("llm", ["openai", "anthropic"])
@pytest.mark.parametrize("takes_schema", [True, False])
def test_a_server_of_ones_own_summarises_for_nothing(
    database_url: str, tmp_path: Path, llm: str, takes_schema: bool
) -> None:
    rig = SummaryRig(database_url, tmp_path)
    rig.say("c1")
    rig.load()
    rig.close()
    with FakeAnthropic(takes_schema=takes_schema) as fake:
        url = {"openai_base_url": f"{fake.url}/v1", "anthropic_base_url": fake.url}
        model = "claude-haiku-4-5"  # the local server knows Claude's names only; a price is known, and still it is free
        with open_memory(settings_of(rig, llm=llm, llm_model=model, **url)) as memory:
            reports = memory.summarize(ALL_DAYS, Billing("live", "run-1"), Scope())
            assert sum(report.summarized for report in reports) == 1
            told = _ledger(memory)
            assert {(row[1], row[6]) for row in told} == {(model, 0.0)}
            assert _outcomes(memory) == (["ok"] if takes_schema else ["unavailable", "ok"])
            assert memory.summarize(ALL_DAYS, Billing("live", "run-2"), Scope()) is not None
            assert _ledger(memory) == told


def test_a_key_for_openai_alone_sends_nothing_there(tmp_path: Path) -> None:
    assert provider_of(Settings(home=tmp_path, openai_api_key=SecretStr("sk-o"))).name == "offline"
    assert provider_of(Settings(home=tmp_path, anthropic_base_url="http://127.0.0.1:9")).name == "offline"


def test_what_a_provider_lacks_is_said_in_a_line(tmp_path: Path, chat: str) -> None:
    del chat
    settings = Settings(home=tmp_path).model_copy(update={"llm": "chat", "api_base_url": None})
    with pytest.raises(SettingsError, match=r"^PKG_LLM: chat needs API_BASE_URL; set it, or PKG_LLM=offline$"):
        models.language_model(settings, None, lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("key", "name"), [(None, "offline"), (SecretStr("sk-test"), "anthropic")])
def test_auto_takes_what_is_configured(tmp_path: Path, key: SecretStr | None, name: str) -> None:
    assert provider_of(Settings(home=tmp_path, anthropic_api_key=key)).name == name


def test_no_module_asks_for_a_provider_by_name() -> None:
    """Outside of the table, the settings and the adapters themselves: an LLM provider touches no other product file."""
    package, signs = Path(models.__file__).parents[1], ("anthropic_api_key", "AnthropicLlm", "OfflineLlm(")
    named = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(sign in path.read_text(encoding="utf-8") for sign in signs)
    }
    assert named == {
        "settings.py",
        "wiring/models.py",
        "adapters/llm/anthropic_llm.py",
        "adapters/llm/anthropic_batches.py",
        "compare/wiring.py",
    }


def _outcomes(memory: Memory) -> list[str]:
    with memory.connections.connection() as connection:
        return [row[0] for row in connection.execute("SELECT outcome FROM llm_calls ORDER BY created_at").fetchall()]


def _ledger(memory: Memory) -> list[tuple[Any, ...]]:
    with memory.connections.connection() as connection:
        return connection.execute(
            "SELECT task, model, lane, run_id, input_tokens, output_tokens, cost_usd::float8 FROM llm_calls"
        ).fetchall()
