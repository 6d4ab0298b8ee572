"""The embeddings route keeps OpenAI's protocol: the real SDK cannot tell it by its manners."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import openai
import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic

MODEL = "embedding-3"


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(api_key="right-key", embeddings={MODEL: 64, "wide": 300}) as server:
        yield server


@pytest.fixture
def client(fake: FakeAnthropic) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="right-key", base_url=f"{fake.url}/v1", max_retries=0) as made:
        yield made


def vectors_of(client: openai.OpenAI, texts: Any, **more: Any) -> np.ndarray[Any, Any]:
    found = client.embeddings.create(model=more.pop("model", MODEL), input=texts, **more)
    assert [item.index for item in found.data] == list(range(len(found.data)))
    return np.array([item.embedding for item in found.data])


def test_vectors_have_length_one_and_follow_from_the_words(client: openai.OpenAI) -> None:
    found = vectors_of(client, ["the red boat", "a red boat", "丁零当啷", "the red boat", "?!"])
    assert found.shape == (5, 64)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.array_equal(found[0], found[3])
    assert found[0] @ found[1] > found[0] @ found[2]
    assert np.allclose(vectors_of(client, "the red boat")[0], found[0])


def test_formats_dimensions_and_usage(client: openai.OpenAI) -> None:
    floats = vectors_of(client, ["one"], encoding_format="float")
    assert np.allclose(floats, vectors_of(client, ["one"]), atol=1e-7)  # the SDK asks for base64 where nothing is said
    assert vectors_of(client, ["one"], model="wide").shape == (1, 300)
    assert vectors_of(client, ["one"], dimensions=8).shape == (1, 8)
    usage = client.embeddings.create(model=MODEL, input=["a" * 35, "b" * 35]).usage
    assert usage.prompt_tokens == usage.total_tokens == 20


@pytest.mark.parametrize(
    ("change", "kind", "code"),
    [
        ({"input": []}, openai.BadRequestError, None),
        ({"input": ["a", ""]}, openai.BadRequestError, None),
        ({"input": ["a"] * 2049}, openai.BadRequestError, None),
        ({"input": ["a" * 40_000]}, openai.BadRequestError, None),
        ({"dimensions": 65}, openai.BadRequestError, None),
        ({"encoding_format": "hex"}, openai.BadRequestError, None),
        ({"extra_body": {"nonsense": 1}}, openai.BadRequestError, None),
        ({"model": "other"}, openai.NotFoundError, "model_not_found"),
        ({"extra_headers": {"authorization": "Bearer wrong"}}, openai.AuthenticationError, "invalid_api_key"),
    ],
)
def test_what_the_service_refuses(
    client: openai.OpenAI, change: dict[str, Any], kind: type[openai.APIStatusError], code: str | None
) -> None:
    with pytest.raises(kind) as refused:
        client.embeddings.create(**{"model": MODEL, "input": "a", **change})
    assert refused.value.code == code


def test_manners_and_faults(fake: FakeAnthropic, client: openai.OpenAI) -> None:
    def raw(answer: str) -> list[tuple[int, list[float]]]:
        fake.script.replace([Fault(answer=answer)])
        found = client.embeddings.create(model=MODEL, input=["a", "b", "c"], encoding_format="float").data
        return [(item.index, item.embedding) for item in found]

    plain = raw("good")
    assert raw("shuffled") == [plain[1], plain[0], plain[2]]
    assert raw("one_missing") == plain[:2]
    assert [index for index, _ in raw("one_twice")] == [0, 1, 0]
    assert math.isnan(raw("nan")[0][1][0])
    assert math.isinf(raw("infinite")[0][1][0])
    assert set(raw("zero")[0][1]) == {0.0}
    assert [len(numbers) for _, numbers in raw("shorter")] == [63, 63, 63]
    assert [len(numbers) for _, numbers in raw("one_shorter")] == [63, 64, 64]
    fake.script.replace([Fault(contains="Fähre", status=429, headers={"retry-after": "7"}, error_code="slow")])
    with pytest.raises(openai.RateLimitError) as refused:
        client.embeddings.create(model=MODEL, input=["a", "die Fähre"])
    assert (refused.value.code, refused.value.response.headers["retry-after"]) == ("slow", "7")
    fake.script.replace([Fault(without_usage=True)])
    assert client.embeddings.create(model=MODEL, input="a").usage is None
    assert [entry["status"] for entry in fake.journal][-2:] == [429, 200]
