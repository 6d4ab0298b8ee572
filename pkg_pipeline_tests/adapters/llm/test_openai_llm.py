"""The chat adapter over the real SDK: the same failures by the same names, and servers of one's own."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
from pkg_pipeline.adapters.llm.openai_llm import OpenAiLlm
from pkg_pipeline.adapters.llm.own_servers import bare_answer
from pkg_pipeline.adapters.llm.prices import PriceRow, price, with_own_price
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.summary import gate
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.ports import (
    LlmAttempt,
    LlmError,
    LlmMisconfigured,
    LlmRefused,
    LlmRejected,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
)
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY, NOW, LetterCounter, request_for
from pkg_pipeline_tests.adapters.llm.test_anthropic_llm import RETRY_AFTER, STATUSES, STOPS
from pkg_pipeline_tests.adapters.llm.test_anthropic_unanswered import LIES
from pkg_pipeline_tests.memory.conversations import EVERY

MODEL = "local-7b"
FREE = with_own_price(MODEL, 0.0, 0.0)
PRICED = with_own_price(MODEL, 1.0, 4.0, 0.1)


@dataclass
class Rig:
    fake: FakeAnthropic
    llm: OpenAiLlm
    attempts: list[LlmAttempt]
    slept: list[float]


@contextmanager
def rig(
    *rules: Fault,
    key: str | None = KEY,
    prices: Sequence[PriceRow] = PRICED,
    timeout_seconds: float = 5.0,
    takes_schema: bool = True,
) -> Iterator[Rig]:
    attempts: list[LlmAttempt] = []
    slept: list[float] = []
    with (
        FakeAnthropic(rules=rules, api_key=None if key is None else KEY, takes_schema=takes_schema) as fake,
        OpenAiLlm(
            api_key=None if key is None else SecretStr(key),
            counter=LetterCounter(),
            model=MODEL,
            base_url=f"{fake.url}/v1",
            on_attempt=attempts.append,
            timeout_seconds=timeout_seconds,
            prices=prices,
            sleep=slept.append,
            draw=lambda: 0.5,
            now=lambda: NOW,
        ) as llm,
    ):
        yield Rig(fake, llm, attempts, slept)


@pytest.mark.parametrize("language", EVERY)
def test_an_answer_comes_back_passes_the_gate_and_is_reported_with_its_cost(language: str) -> None:
    source = EVERY[language]
    with rig() as made:
        reply = made.llm.complete(request_for(source))
    result = gate.check(prompt.to_candidates(prompt.parse(reply.text))[1], source)
    assert (result.quarantine_reason, result.dropped) == (None, ())
    [attempt] = made.attempts
    assert (attempt.outcome, attempt.usage, attempt.status_code) == ("ok", reply.usage, 200)
    assert attempt.request_id == reply.request_id == "req_000001"
    assert attempt.cost_usd == price(MODEL, reply.usage, table=PRICED) > 0
    assert (reply.model, reply.stop_reason, reply.tries) == (MODEL, "stop", 1)


def test_what_goes_over_the_wire() -> None:
    request = request_for()
    with rig() as made:
        made.llm.complete(request)
        [call] = made.fake.journal
    body = call["body"]
    system, user = body["messages"]
    assert (call["path"], body["model"], body["max_tokens"]) == ("/v1/chat/completions", MODEL, 3000)
    assert system["role"] == "system"
    assert system["content"].startswith(request.system)
    assert user == {"role": "user", "content": request.user}
    assert body["response_format"]["json_schema"]["schema"] == prompt.schema()
    assert not {"temperature", "top_p"} & set(body)


@pytest.mark.parametrize(("fault", "expected", "outcome", "tries"), STATUSES)
def test_a_status_means_one_kind_of_failure(fault: Fault, expected: type[LlmError], outcome: str, tries: int) -> None:
    with rig(fault) as made, pytest.raises(LlmError) as caught:
        made.llm.complete(request_for())
    assert type(caught.value) is expected
    assert [attempt.outcome for attempt in made.attempts] == [outcome] * tries
    assert {attempt.status_code for attempt in made.attempts} == {fault.status}
    assert len(made.slept) == tries - 1


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_no_money_is_no_reason_to_try_again(code: str) -> None:
    with rig(Fault(status=429, error_code=code)) as made, pytest.raises(LlmUnavailable, match="spending limit"):
        made.llm.complete(request_for())
    assert len(made.attempts) == 1


def test_a_context_that_is_too_small_is_said_so() -> None:
    fault = Fault(status=400, error_code="context_length_exceeded", message="This model's maximum is 8192 tokens")
    with rig(fault) as made, pytest.raises(LlmTooLong):
        made.llm.complete(request_for())


@pytest.mark.parametrize(("headers", "slept"), RETRY_AFTER)
def test_the_wait_is_what_the_service_asks_or_the_jitter(headers: dict[str, str], slept: float) -> None:
    with rig(Fault(status=429, headers=headers, times=1)) as made:
        assert made.llm.complete(request_for()).tries == 2
    assert made.slept == [pytest.approx(slept)]


TRANSPORT = [
    Fault(drop="before"),
    Fault(drop="half"),
    Fault(cut_body=True),
    Fault(html=True),
    Fault(body={"id": "x"}),
    Fault(body=[]),
    Fault(body={"choices": None, "usage": None}),
    Fault(body={"choices": [{"message": None}]}),
    Fault(body={"error": {"message": "inside a success"}}),
    Fault(delay_seconds=30.0),
]


@pytest.mark.parametrize("fault", TRANSPORT, ids=repr)
def test_a_broken_answer_may_be_charged_and_is_booked_at_the_most_it_can_cost(fault: Fault) -> None:
    request = request_for()
    with rig(fault, timeout_seconds=0.15) as made:
        with pytest.raises(LlmUnanswered):
            made.llm.complete(request)
        [broken] = made.attempts
        made.fake.script.replace([])
        assert prompt.parse(made.llm.complete(request).text)
    assert (broken.outcome, broken.usage) == ("unknown", None)
    assert broken.cost_usd > made.attempts[1].cost_usd > 0


def test_a_server_that_cannot_be_reached_charges_nothing() -> None:
    with rig() as made, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        made.llm._client = made.llm._client.with_options(base_url=f"http://127.0.0.1:{port}/v1")
        with pytest.raises(LlmUnavailable) as caught:
            made.llm.complete(request_for())
    assert not isinstance(caught.value, LlmUnanswered)
    assert [(attempt.outcome, attempt.cost_usd) for attempt in made.attempts] == [("unavailable", 0.0)] * 5


def test_an_answer_cut_at_its_limit_is_asked_for_once_more_with_twice_the_room() -> None:
    with rig(Fault(stop_reason="max_tokens", times=1)) as made:
        made.llm.complete(request_for(max_output_tokens=2000))
        assert [call["body"]["max_tokens"] for call in made.fake.journal] == [2000, 4000]
    assert [attempt.outcome for attempt in made.attempts] == ["truncated", "ok"]
    with rig(Fault(stop_reason="max_tokens")) as made, pytest.raises(LlmTooLong):
        made.llm.complete(request_for())


def test_a_refusal_is_one() -> None:
    with rig(Fault(stop_reason="refusal")) as made, pytest.raises(LlmRefused):
        made.llm.complete(request_for())
    assert [attempt.outcome for attempt in made.attempts] == ["refused"]


@pytest.mark.parametrize(("fault", "expected", "outcome"), STOPS[1:])
def test_an_answer_without_words_is_never_a_reply(fault: Fault, expected: type[LlmError], outcome: str) -> None:
    with rig(fault) as made, pytest.raises(expected):
        made.llm.complete(request_for())
    assert [attempt.outcome for attempt in made.attempts] == [outcome]


@pytest.mark.parametrize(("usage", "_"), LIES)
def test_usage_that_cannot_be_true_is_not_believed(usage: dict[str, object], _: str) -> None:
    with rig(Fault(usage=usage)) as made:
        told = made.llm.complete(request_for()).usage
        assert told.estimated
        assert 0 < made.llm.price(told) < 1


def test_usage_that_is_not_told_is_counted_and_what_the_cache_held_is_cheaper() -> None:
    with rig(Fault(without_usage=True)) as made:
        assert made.llm.complete(request_for()).usage.estimated
    with rig() as made:
        whole = made.llm.complete(request_for()).usage
        made.fake.script.replace(
            [Fault(usage={"input_tokens": 100, "cache_read_input_tokens": whole.input_tokens - 100})]
        )
        cached = made.llm.complete(request_for()).usage
    assert (cached.input_tokens, cached.cache_read_tokens) == (100, whole.input_tokens - 100)
    assert price(MODEL, cached, table=PRICED) < price(MODEL, whole, table=PRICED)


def test_no_key_and_no_word_of_the_conversation_is_in_a_log_or_an_error(caplog: pytest.LogCaptureFixture) -> None:
    planted = "sk-planted-secret-000111222"
    caplog.set_level(logging.DEBUG)
    with rig(key=planted) as made, pytest.raises(LlmMisconfigured, match="OPENAI_API_KEY") as caught:
        made.llm.complete(request_for())
    assert planted not in caplog.text + str(caught.value) + repr(made.attempts)
    request = request_for()
    fault = Fault(status=400, message=f"messages.0: {request.user[-300:]}")
    with rig(fault) as made, pytest.raises(LlmRejected) as rejected:
        made.llm.complete(request)
    assert "boathouse" not in str(rejected.value)


# ── servers of one's own ─────────────────────────────────────────────────────────────────────


def test_a_server_without_keys_and_schemas_is_asked_without_and_remembered() -> None:
    with rig(key=None, prices=FREE, takes_schema=False) as made:
        replies = [made.llm.complete(request_for(source)) for source in EVERY.values()]
        bodies = [call["body"] for call in made.fake.journal]
    assert all(prompt.parse(reply.text) for reply in replies)
    assert ["response_format" in body for body in bodies] == [True, False, False, False]
    assert [attempt.cost_usd for attempt in made.attempts] == [0.0] * 4
    assert {reply.tries for reply in replies} == {1}


def test_so_is_a_server_of_the_other_protocol() -> None:
    calls: list[dict[str, Any]] = []
    with FakeAnthropic(takes_schema=False) as fake:
        prices = with_own_price("claude-haiku-5-5", 0.0, 0.0)
        llm = AnthropicLlm(
            api_key=None, base_url=fake.url, counter=LetterCounter(), prices=prices, sleep=lambda _: None
        )
        with llm:
            assert all(prompt.parse(llm.complete(request_for(source)).text) for source in EVERY.values())
        calls = [call["body"] for call in fake.journal]
    assert ["output_config" in body for body in calls] == [True, False, False, False]
    assert '"properties"' in calls[0]["system"]


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('```\n{"a": 1}```\n', '{"a": 1}'),
        ('<think>\nthey want {"b": 2}\n</think>\n\n{"a": 1}', '{"a": 1}'),
        ('<think>hm</think>```json\n{"a": 1}\n```', '{"a": 1}'),
        ('{"a": "```json"}', '{"a": "```json"}'),
        ("Here it is: ```json\n{}\n```", "Here it is: ```json\n{}\n```"),
        ("<think>never ends", "<think>never ends"),
    ],
)
def test_an_answer_is_taken_out_of_its_fence_and_behind_the_thoughts(said: str, bare: str) -> None:
    assert bare_answer(said) == bare
