"""The local server keeps the protocol: the real SDK cannot tell it by its manners."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import jsonschema
import pytest

from pkg_pipeline.fake_llm.answers import MODES, answer_text, conforming
from pkg_pipeline.fake_llm.faults import Fault, ScriptError, parse_rules, read_script
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline_tests.memory.conversations import ENGLISH, EVERY

SCHEMA = anthropic.transform_schema(prompt.schema())
FORMAT: Any = {"format": {"type": "json_schema", "schema": SCHEMA}}


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(api_key="right-key") as server:
        yield server


@pytest.fixture
def client(fake: FakeAnthropic) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="right-key", base_url=fake.url, max_retries=0) as made:
        yield made


def params(text: str = "hello", **more: Any) -> Any:
    return {"model": "claude-haiku-5-5", "max_tokens": 2000, "messages": [{"role": "user", "content": text}], **more}


def post(fake: FakeAnthropic, body: Any, **headers: str) -> httpx2.Response:
    sent = {"authorization": "Bearer right-key", "anthropic-version": "2026-10-21"} | headers
    return httpx2.post(f"{fake.url}/v1/messages", json=body, headers={k: v for k, v in sent.items() if v})


@pytest.mark.parametrize(
    "page",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "rebound.example:80"},
        {"host": ""},
    ],
)
def test_a_page_in_a_browser_neither_reads_the_journal_nor_writes_the_script(
    fake: FakeAnthropic, page: dict[str, str]
) -> None:
    assert post(fake, params("a secret")).status_code == 200
    for method, path in (("GET", "/__journal"), ("POST", "/__script"), ("POST", "/__reset"), ("POST", "/v1/messages")):
        answer = httpx2.request(method, fake.url + path, json=[], headers=page)
        assert (answer.status_code, "secret" in answer.text) == (403, False)
    assert len(fake.journal) == 1
    assert httpx2.get(f"{fake.url}/__journal", headers={"sec-fetch-site": "none"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "headers", "status"),
    [
        ({}, {}, 200),
        ({}, {"authorization": ""}, 401),
        ({}, {"authorization": "Bearer wrong"}, 401),
        ({}, {"authorization": "", "x-api-key": "right-key"}, 401),
        ({}, {"anthropic-version": ""}, 400),
        ({"temperature": 1.0}, {}, 400),
        ({"top_p": 1.0}, {}, 400),
        ({"output_format": {}}, {}, 400),
        ({"nonsense": 1}, {}, 400),
        ({"model": "claude-1"}, {}, 404),
        ({"max_tokens": 0}, {}, 400),
        ({"messages": []}, {}, 400),
        ({"messages": [{"role": "assistant", "content": "{"}]}, {}, 400),
        ({"messages": [{"role": "user", "content": "long " * 200_000}]}, {}, 400),
        ({"output_config": {"format": {"type": "json_schema", "schema": prompt.Answer.model_json_schema()}}}, {}, 400),
        ({"output_config": FORMAT}, {}, 200),
    ],
)
def test_requests_are_judged_as_the_service_does(
    fake: FakeAnthropic, change: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    answer = post(fake, params() | change, **headers)
    assert answer.status_code == status
    assert answer.headers["request-id"]
    if status != 200:
        assert answer.json()["type"] == "error"


def test_the_same_question_has_the_same_answer_and_counted_usage(client: anthropic.Anthropic) -> None:
    text = prompt.render((ENGLISH,)).user
    first, second = (client.messages.create(**params(text, output_config=FORMAT)) for _ in range(2))
    assert first.content == second.content
    assert first.id == second.id
    counted = client.messages.count_tokens(
        model="claude-haiku-5-5", messages=[{"role": "user", "content": text}], output_config=FORMAT
    )
    assert counted.input_tokens == first.usage.input_tokens
    assert first.usage.output_tokens > 50
    assert {model.id for model in client.models.list()} >= {"claude-haiku-5-5"}


NESTED = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Leaf"}, "minItems": 1},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "when": {"type": "string", "format": "date"},
        "fixed": {"const": 7},
        "optional": {"type": "string"},
    },
    "required": ["kind", "list", "maybe", "when", "fixed"],
    "additionalProperties": False,
    "$defs": {"Leaf": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
}


@pytest.mark.parametrize("schema", [NESTED, SCHEMA, {"type": "array", "items": {"type": "boolean"}, "minItems": 1}])
def test_any_schema_gets_a_conforming_value(schema: dict[str, Any]) -> None:
    jsonschema.validate(conforming(schema), schema)
    jsonschema.validate(json.loads(answer_text("good", schema, "no fence here")), schema)


@pytest.mark.parametrize("mode", MODES)
def test_every_way_of_answering_works_on_every_conversation(mode: str) -> None:
    for source in EVERY.values():
        assert isinstance(answer_text(mode, SCHEMA, prompt.render((source,)).user), str)


def test_rules_strike_by_call_text_and_count(fake: FakeAnthropic) -> None:
    fake.script.replace(
        [Fault(call=2, status=529), Fault(contains="marked", status=500, times=1), Fault(path="/v1/models", status=403)]
    )
    texts = ["plain", "plain", "plain", "marked", "marked"]
    assert [post(fake, params(text)).status_code for text in texts] == [200, 529, 200, 500, 200]
    assert [entry["status"] for entry in fake.journal] == [200, 529, 200, 500, 200]
    assert [entry["call"] for entry in fake.journal] == [1, 2, 3, 4, 5]


def test_script_and_journal_are_reached_over_http(fake: FakeAnthropic) -> None:
    rules = [{"contains": "x", "status": 429, "headers": {"retry-after": "2"}}]
    assert httpx2.post(f"{fake.url}/__script", json=rules).json() == {"rules": 1}
    answer = post(fake, params("x"))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
    [entry] = httpx2.get(f"{fake.url}/__journal").json()
    assert entry["body"]["messages"][0]["content"] == "x"
    assert httpx2.post(f"{fake.url}/__script", json=[{"no": 1}]).status_code == 400
    httpx2.post(f"{fake.url}/__reset")
    assert post(fake, params("x")).status_code == 200
    assert len(fake.journal) == 1


def test_a_broken_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="list"):
        parse_rules({"status": 1})
    with pytest.raises(ScriptError, match="rule 2"):
        parse_rules([{"status": 500}, {"stat": 1}])
    broken = tmp_path / "faults.json"
    broken.write_text("[{", encoding="utf-8")
    with pytest.raises(ScriptError, match=r"faults\.json"):
        read_script(broken)


def test_it_stops_while_a_client_waits() -> None:
    with (
        FakeAnthropic(rules=[Fault(delay_seconds=60)]) as fake,
        httpx2.Client(timeout=0.1) as client,
        pytest.raises(httpx2.TimeoutException),
    ):
        client.post(f"{fake.url}/v1/messages", json=params(), headers={"authorization": "Bearer k"})


def test_it_runs_from_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "faults.json"
    script.write_text('[{"path": "/v1/models", "status": 529}]', encoding="utf-8")
    command = [sys.executable, "-m", "pkg_pipeline.fake_llm", "--port", "0", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip().removeprefix("ANTHROPIC_BASE_URL=")
            with urllib.request.urlopen(f"{url}/__journal") as answer:
                assert json.load(answer) == []
            headers = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
            assert httpx2.get(f"{url}/v1/models", headers=headers).status_code == 529
        finally:
            process.terminate()
