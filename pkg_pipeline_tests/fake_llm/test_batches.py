"""The whole life of a batch, through the real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from pkg_pipeline.adapters.llm.anthropic_llm import request_params
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline_tests.adapters.llm.anthropic_rig import request_for
from pkg_pipeline_tests.memory.conversations import EVERY


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(polls=1) as server:
        yield server


@pytest.fixture
def client(fake: FakeAnthropic) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="k", base_url=fake.url, max_retries=0) as made:
        yield made


def requests(count: int = 3) -> Any:
    sources = list(EVERY.values())
    return [
        {
            "custom_id": f"nonce-{index}",
            "params": request_params(
                request_for(sources[index % len(sources)]), model="claude-haiku-5-5", max_tokens=3000
            ),
        }
        for index in range(count)
    ]


def test_a_batch_is_made_polled_read_out_of_order_and_deleted(client: anthropic.Anthropic) -> None:
    made = client.messages.batches.create(requests=requests(6))
    assert made.processing_status == "in_progress"
    assert (made.request_counts.processing, made.results_url) == (6, None)
    with pytest.raises(anthropic.AnthropicError):
        list(client.messages.batches.results(made.id))
    ended = client.messages.batches.retrieve(made.id)
    assert ended.processing_status == "ended"
    assert ended.request_counts.succeeded == 6
    results = list(client.messages.batches.results(made.id))
    assert {result.custom_id for result in results} == {f"nonce-{index}" for index in range(6)}
    assert [result.custom_id for result in results] != [f"nonce-{index}" for index in range(6)]
    for result in results:
        assert result.result.type == "succeeded"
        block = result.result.message.content[0]
        assert block.type == "text"
        assert prompt.parse(block.text)
        assert result.result.message.usage.service_tier == "batch"
    assert [batch.id for batch in client.messages.batches.list()] == [made.id]
    assert client.messages.batches.delete(made.id).id == made.id
    assert list(client.messages.batches.list()) == []


def test_requests_of_a_batch_fail_each_on_its_own(fake: FakeAnthropic, client: anthropic.Anthropic) -> None:
    fake.script.replace(
        [
            Fault(contains="nonce-0\n", batch_result="errored", status=529),
            Fault(contains="nonce-1\n", batch_result="expired"),
            Fault(contains="nonce-2\n", answer="invalid_json"),
        ]
    )
    sent = requests(5)
    sent[3]["params"]["temperature"] = 1.0
    made = client.messages.batches.create(requests=sent)
    client.messages.batches.retrieve(made.id)
    counts = client.messages.batches.retrieve(made.id).request_counts
    assert (counts.errored, counts.expired, counts.succeeded, counts.processing) == (2, 1, 2, 0)
    kinds = {result.custom_id: result.result for result in client.messages.batches.results(made.id)}
    assert kinds["nonce-3"].type == "errored"
    assert kinds["nonce-3"].error.error.type == "invalid_request_error"


def test_a_canceled_batch_ends_canceled(client: anthropic.Anthropic) -> None:
    made = client.messages.batches.create(requests=requests(2))
    assert client.messages.batches.cancel(made.id).processing_status == "canceling"
    assert client.messages.batches.retrieve(made.id).request_counts.canceled == 2


@pytest.mark.parametrize("names", [["a", "a"], ["with space"], ["x" * 65], []])
def test_a_broken_envelope_is_refused_whole(client: anthropic.Anthropic, names: list[str]) -> None:
    sent = [{**requests(1)[0], "custom_id": name} for name in names]
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.create(requests=sent)


def test_cut_results_are_an_error_and_can_be_read_again(fake: FakeAnthropic, client: anthropic.Anthropic) -> None:
    made = client.messages.batches.create(requests=requests(3))
    client.messages.batches.retrieve(made.id)
    client.messages.batches.retrieve(made.id)
    path = f"/v1/messages/batches/{made.id}/results"
    fake.script.replace([Fault(path=path, cut_body=True, times=1)])
    with pytest.raises(json.JSONDecodeError):
        list(client.messages.batches.results(made.id))
    assert len(list(client.messages.batches.results(made.id))) == 3


def test_the_list_is_paged(client: anthropic.Anthropic) -> None:
    made = [client.messages.batches.create(requests=requests(1)).id for _ in range(5)]
    assert [batch.id for batch in client.messages.batches.list(limit=2)] == list(reversed(made))
