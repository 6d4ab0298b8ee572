"""The embedder over an endpoint: the real SDK and real HTTP against the local server and its bad manners."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from pkg_pipeline.adapters.embedders.openai_compatible import OpenAiEmbedder
from pkg_pipeline.fake_llm.embeddings import vector
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.stages.ports import EmbedderError, EmbedderMisconfigured, EmbedderRejected, EmbedderUnavailable

KEY = "sk-test-0123456789abcdef"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MODEL = "embedding-3"
WORDS = ["red boat", "зелёный чай", "红色的船", "blaue Tür", "red tea"]


@dataclass
class Rig:
    fake: FakeAnthropic
    embedder: OpenAiEmbedder
    usages: list[tuple[int | None, float]] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    @property
    def sent(self) -> list[list[str]]:
        return [entry["body"]["input"] for entry in self.fake.journal]


@contextmanager
def rig(
    *rules: Fault, key: str = KEY, model: str = MODEL, clock: Sequence[float] = (), **options: Any
) -> Iterator[Rig]:
    made: list[Rig] = []
    ticks = iter(clock)
    if clock:
        options["monotonic"] = lambda: next(ticks)
    with (
        FakeAnthropic(rules=rules, api_key=KEY, embeddings={MODEL: 64}) as fake,
        OpenAiEmbedder(
            model=model,
            base_url=f"{fake.url}/v1",
            api_key=SecretStr(key),
            on_usage=lambda tokens, seconds: made[0].usages.append((tokens, seconds)),
            sleep=lambda seconds: made[0].slept.append(seconds),
            draw=lambda: 0.5,
            now=lambda: NOW,
            **options,
        ) as embedder,
    ):
        made.append(Rig(fake, embedder))
        yield made[0]


def expected(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    return np.array([vector(text, 64) if text.strip() else [0.0] * 64 for text in texts], dtype=np.float32)


def embed_twice(embedder: OpenAiEmbedder) -> None:
    embedder.embed(WORDS)
    embedder.embed(WORDS)


@pytest.mark.parametrize("manner", ["good", "floats", "shuffled", "no_index"])
def test_vectors_in_the_order_of_the_texts(manner: str) -> None:
    with rig(Fault(answer=manner)) as it:
        assert (it.embedder.model, it.embedder.dimensions) == ("openai:embedding-3", None)
        found = it.embedder.embed(WORDS)
        assert (found.dtype, found.shape, it.embedder.dimensions) == (np.float32, (5, 64), 64)
        assert np.allclose(found, expected(WORDS), atol=1e-6)
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
        assert [tokens for tokens, _ in it.usages] == [it.fake.journal[0]["usage"]["total_tokens"]]


def test_empty_texts_are_not_sent_and_have_the_vector_zero() -> None:
    texts = ["", "red boat", " \n", "\0", "tea"]
    with rig() as it:
        assert it.embedder.embed([]).shape == (0, 0)
        assert np.allclose(it.embedder.embed(texts), expected(["", "red boat", "", "", "tea"]), atol=1e-6)
        assert it.sent == [["red boat", "tea"]]
        assert it.embedder.embed([""]).shape == (1, 64)
    with rig() as it:  # the size of nothing is asked for, too
        assert it.embedder.embed(["", " "]).shape == (2, 64)


def test_strange_texts_are_sent_as_utf8_can_carry_them() -> None:
    with rig() as it:
        it.embedder.embed(["a\ud800b", "\ud83d\ude00", "a\0b"])
        assert it.sent == [["a\ufffdb", "😀", "a b"]]


def test_requests_are_bounded_in_texts_and_characters() -> None:
    texts = [f"word{number}" for number in range(300)]
    with rig() as it:
        assert np.allclose(it.embedder.embed(texts), expected(texts), atol=1e-6)
        assert [len(sent) for sent in it.sent] == [128, 128, 44]
        it.fake.reset()
        it.embedder.embed(["x" * 7900] * 20 + ["y " * 50_000])
        assert [len(sent) for sent in it.sent] == [12, 9]
        assert len(it.sent[1][-1]) == 8000
        assert it.embedder.cut_texts == 1


@pytest.mark.parametrize(
    ("rule", "slept"),
    [
        (Fault(times=1, status=429, headers={"retry-after": "7"}), [7.0]),
        (Fault(times=1, status=429, headers={"retry-after-ms": "1500"}), [1.5]),
        (Fault(times=2, status=500), [0.25, 0.5]),
        (Fault(times=1, status=503, html=True), [0.25]),
        (Fault(times=1, html=True), [0.25]),
        (Fault(times=1, cut_body=True), [0.25]),
        (Fault(times=1, body={"object": "list"}), [0.25]),
        (Fault(times=1, body=[1, 2]), [0.25]),
        (Fault(times=1, drop="before"), [0.25]),
        (Fault(times=1, drop="half"), [0.25]),
        (Fault(times=4, status=529), [0.25, 0.5, 1.0, 2.0]),
    ],
)
def test_what_passes_is_tried_again(rule: Fault, slept: list[float]) -> None:
    with rig(rule) as it:
        assert np.allclose(it.embedder.embed(WORDS), expected(WORDS), atol=1e-6)
        assert it.slept == slept


@pytest.mark.parametrize(
    ("rule", "calls", "asked"),
    [
        (Fault(status=429, headers={"retry-after": "3600"}), 1, 3600.0),
        (Fault(status=429, headers={"retry-after": "Sat, 21 Nov 2026 13:00:00 GMT"}), 1, 3600.0),
        (Fault(status=429, error_code="insufficient_quota"), 1, None),
        (Fault(status=429, headers={"retry-after": "2"}), 5, 2.0),
        (Fault(status=500, headers={"x-should-retry": "false"}), 1, None),
        (Fault(status=500), 5, None),
        (Fault(html=True), 5, None),
        (Fault(drop="before"), 5, None),
    ],
)
def test_what_does_not_pass_puts_the_work_off(rule: Fault, calls: int, asked: float | None) -> None:
    with rig(rule) as it, pytest.raises(EmbedderUnavailable) as failed:
        it.embedder.embed(WORDS)
    assert len(it.fake.journal) == calls
    assert failed.value.retry_after_seconds == asked


def test_a_hanging_service_is_left_after_the_timeout_and_the_deadline() -> None:
    with rig(Fault(delay_seconds=30), timeout_seconds=0.1, max_tries=2) as it:
        with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
            it.embedder.embed(["tea"])
        assert len(it.slept) == 1
    with rig(Fault(delay_seconds=30), deadline_seconds=0.2) as it:
        with pytest.raises(EmbedderUnavailable):
            it.embedder.embed(["tea"])
        assert len(it.fake.journal) == 1


def test_the_deadline_holds_over_all_requests_of_a_call() -> None:
    texts = ["x" * 7900] * 24  # two requests; the clock is read at the start and three times a request
    with rig(clock=[0, 0, 0, 50, 91], deadline_seconds=90) as it:
        with pytest.raises(EmbedderUnavailable, match="within 90 seconds"):
            it.embedder.embed(texts)
        assert len(it.fake.journal) == 1


@pytest.mark.parametrize(
    ("rules", "options", "words"),
    [
        ([Fault(status=401)], {}, "HTTP 401"),
        ([], {"key": "sk-wrong-key"}, r"HTTP 401 \(invalid_api_key\)"),
        ([Fault(status=403)], {}, "HTTP 403"),
        ([], {"model": "no-such"}, r"HTTP 404 \(model_not_found\)"),
        ([Fault(status=400)], {}, "refuses whatever it is asked: HTTP 400"),
        ([Fault(answer="one_shorter")], {}, "63 and 64 dimensions"),
        ([Fault(call=2, answer="shorter")], {}, "63 and 64 dimensions"),
        ([Fault(answer="zero", contains="hello"), Fault(status=422)], {}, "refuses whatever it is asked"),
    ],
)
def test_a_wrong_setup_stops_at_once(rules: list[Fault], options: dict[str, str], words: str) -> None:
    with rig(*rules, **options) as it, pytest.raises(EmbedderMisconfigured, match=words):
        embed_twice(it.embedder)
    assert len(it.fake.journal) <= 3
    assert it.slept == []


def test_a_server_without_base64_is_asked_for_floats_from_then_on() -> None:
    with rig(Fault(contains='"base64"', status=400)) as it:
        assert np.allclose(it.embedder.embed(WORDS), expected(WORDS), atol=1e-6)
        it.embedder.embed(WORDS)
        formats = [entry["body"]["encoding_format"] for entry in it.fake.journal]
        assert formats == ["base64", "base64", "float", "float", "float"]


@pytest.mark.parametrize(
    "rule",
    [
        Fault(contains="poison", status=400),
        Fault(contains="poison", status=413),
        Fault(contains="poison", answer="one_missing"),
    ],
)
def test_one_bad_text_stops_nobody_else(rule: Fault) -> None:
    texts = [f"word{number}" for number in range(100)]
    texts[37] = "poison"
    with rig(rule) as it:
        with pytest.raises(EmbedderRejected, match="1 of 100 texts") as refused:
            it.embedder.embed(texts)
        assert refused.value.positions == (37,)
        wanted = expected(texts)
        wanted[37] = 0
        assert np.allclose(refused.value.vectors, wanted, atol=1e-6)
        assert len(it.fake.journal) <= 16


def test_answers_that_do_not_fit_are_asked_for_in_smaller_requests() -> None:
    with rig(Fault(contains=WORDS[0], answer="one_twice")) as it:
        it.embedder.embed(["tea"])
        assert np.allclose(it.embedder.embed(WORDS), expected(WORDS), atol=1e-6)
        assert [len(sent) for sent in it.sent] == [1, 5, 2, 1, 1, 3]


@pytest.mark.parametrize("manner", ["nan", "infinite", "zero"])
def test_an_unusable_vector_is_asked_for_once_more_alone(manner: str) -> None:
    with rig(Fault(call=1, answer=manner)) as it:
        assert np.allclose(it.embedder.embed(WORDS), expected(WORDS), atol=1e-6)
        assert it.sent == [WORDS, WORDS[:1]]
    with rig(Fault(contains=WORDS[0], answer=manner)) as it:
        it.embedder.embed(["tea"])
        with pytest.raises(EmbedderRejected) as refused:
            it.embedder.embed(WORDS)
        assert refused.value.positions == (0,)
        assert np.allclose(refused.value.vectors[1:], expected(WORDS[1:]), atol=1e-6)


def test_a_text_too_long_for_the_model_is_cut_until_it_fits() -> None:
    with rig(Fault(contains="a" * 2500, status=400)) as it:
        found = it.embedder.embed(["tea", "a" * 9000, "boat"])
        assert np.allclose(found, expected(["tea", "a" * 2000, "boat"]), atol=1e-6)
        assert it.embedder.cut_texts == 1


def test_an_answer_without_usage_is_told_as_such() -> None:
    with rig(Fault(without_usage=True)) as it:
        it.embedder.embed(WORDS)
        assert [tokens for tokens, _ in it.usages] == [None]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_neither_key_nor_text_is_in_errors_or_logs(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = Fault(status=status, message=f"{KEY} secretive words", error_code=f"{KEY} secretive")
    with rig(echo) as it, pytest.raises(EmbedderError) as failed:
        it.embedder.embed(["secretive words"])
    assert "secretive" not in f"{failed.value} {failed.value!r} {caplog.text} {it.embedder!r}"
    assert KEY not in f"{failed.value} {failed.value!r} {caplog.text} {it.embedder!r}"
