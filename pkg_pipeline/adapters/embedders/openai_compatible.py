"""``ports.Embedder`` over any OpenAI-compatible endpoint, with the official SDK. The SDK's retries are off: they sleep
up to two minutes and know no overall deadline.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, Self

import numpy as np
from openai import OpenAI, OpenAIError
from pydantic import SecretStr

from pkg_pipeline.adapters.embedders.names import openai_space
from pkg_pipeline.adapters.embedders.openai_answers import Answer, read_answer, tokens_of
from pkg_pipeline.adapters.embedders.openai_errors import CHECK, Refused, classify
from pkg_pipeline.adapters.embedders.texts import cut, requests_of, sound
from pkg_pipeline.adapters.llm.retrying import Transient, retried
from pkg_pipeline.stages.ports import EmbedderMisconfigured, EmbedderRejected, EmbedderUnavailable, Vectors

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent to servers without keys: the SDK requires one."""

MOST_TEXTS = 128
MOST_CHARS = 100_000
"""Per request. The strictest known limit is 300,000 tokens; a character is at most three."""

LONGEST_TEXT_CHARS = 8000
SHORTEST_CUT_CHARS = 1000
"""Models read 512 to 8192 tokens: a text refused alone is halved down to this length."""

TIMEOUT_SECONDS = 20.0
DEADLINE_SECONDS = 90.0
MAX_TRIES = 5
RETRY_AFTER_CAP_SECONDS = 30.0
"""A longer ``retry-after`` is not slept; it is passed on with the error."""

PROBE = "hello"


@dataclass(slots=True)
class _Call:
    """State of one ``embed``: groups of positions to request, the next one last."""

    asked: list[str]
    shortened: set[int]
    groups: list[list[int]] = field(default_factory=list[list[int]])
    found: dict[int, Vectors] = field(default_factory=dict[int, Vectors])
    refused: list[int] = field(default_factory=list[int])

    def make_smaller(self, group: list[int]) -> None:
        """Halve a refused group or cut a refused text."""
        if len(group) > 1:
            self.groups += [group[len(group) // 2 :], group[: len(group) // 2]]
            return
        (position,) = group
        text = self.asked[position]
        if len(text) > SHORTEST_CUT_CHARS:
            self.asked[position] = text[: len(text) // 2]
            self.shortened.add(position)
            self.groups.append(group)
        else:
            self.refused.append(position)

    def take(self, group: list[int], answer: Answer) -> None:
        """Unusable vectors are requested once more alone, as one text can spoil its batch."""
        unusable = [group[row] for row in answer.unusable]
        self.found |= {position: answer.vectors[row] for row, position in enumerate(group) if position not in unusable}
        self.groups += [[position] for position in reversed(unusable)]


class OpenAiEmbedder:
    """One model at one endpoint. Thread-safe. Close it, or use it as a context manager.

    ``on_usage`` gets tokens (None if not reported) and seconds of every answered request. ``cut_texts``: texts read in
    part. ``deadline_seconds`` bounds one ``embed`` with all retries. ``sleep``, ``draw`` (uniform in [0, 1)),
    ``monotonic`` and ``now`` are there for tests.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: SecretStr | None = None,
        on_usage: Callable[[int | None, float], None] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        deadline_seconds: float = DEADLINE_SECONDS,
        max_tries: int = MAX_TRIES,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._name = model
        self._on_usage = on_usage
        self._timeout_seconds, self._deadline_seconds, self._max_tries = timeout_seconds, deadline_seconds, max_tries
        self._sleep, self._draw, self._monotonic, self._now = sleep, draw, monotonic, now
        self._dimensions: int | None = None
        self._format: Literal["base64", "float"] = "base64"  # a quarter of the bytes; not every server knows it
        self._counts = threading.Lock()
        self.cut_texts = 0
        logging.getLogger("openai").setLevel(logging.WARNING)  # below, the SDK writes whole requests
        key = api_key.get_secret_value().strip() if api_key else ""
        self._client = OpenAI(
            api_key=key or NO_KEY, base_url=base_url or OPENAI_URL, timeout=timeout_seconds, max_retries=0
        )

    @property
    def model(self) -> str:
        return openai_space(self._name)

    @property
    def dimensions(self) -> int | None:
        return self._dimensions

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As in ``ports.Embedder``; blank texts are not sent."""
        deadline = self._monotonic() + self._deadline_seconds
        fitted = [cut(sound(text), LONGEST_TEXT_CHARS) for text in texts]
        call = _Call(
            [text for text, _ in fitted], shortened={row for row, (_, was_cut) in enumerate(fitted) if was_cut}
        )
        wanted = [position for position, text in enumerate(call.asked) if text.strip()]
        call.groups += list(requests_of(wanted, call.asked, most_texts=MOST_TEXTS, most_chars=MOST_CHARS))[::-1]
        while call.groups:
            group = call.groups.pop()
            try:
                answer = self._answer([call.asked[position] for position in group], deadline)
            except Refused:
                if self._dimensions is None:
                    self._probe(deadline)
                    call.groups.append(group)
                else:
                    call.make_smaller(group)
            else:
                call.take(group, answer)
        with self._counts:
            self.cut_texts += len(call.shortened)
        return self._together(call, deadline)

    def _together(self, call: _Call, deadline: float) -> Vectors:
        count = len(call.asked)
        if count and self._dimensions is None:
            self._probe(deadline)  # only empty texts so far; their zeros need a size
        vectors = np.zeros((count, self._dimensions or 0), dtype=np.float32)
        for position, vector in call.found.items():
            vectors[position] = vector
        if call.refused:
            raise EmbedderRejected(
                f"the service gave no usable vector for {len(call.refused)} of {count} texts",
                positions=sorted(call.refused),
                vectors=vectors,
            )
        return vectors

    def _probe(self, deadline: float) -> None:
        """One harmless request tells whether a refusal is due to the setup; also finds the response format."""
        why = ""
        for encoding in ("base64", "float"):
            self._format = encoding
            try:
                self._answer([PROBE], deadline)
            except Refused as refusal:
                why = str(refusal)
            else:
                return
        raise EmbedderMisconfigured(f"the service refuses whatever it is asked: {why}; {CHECK}")

    def _answer(self, texts: Sequence[str], deadline: float) -> Answer:
        """Vectors of one request, retried until the deadline. Raises ``Refused`` or an ``EmbedderError``."""

        def one_try() -> Answer:
            remaining = deadline - self._monotonic()
            if remaining <= 0:
                raise Transient(f"no vectors within {self._deadline_seconds:g} seconds", may_retry=False)
            return self._try(texts, timeout_seconds=min(self._timeout_seconds, remaining))

        try:
            answer, _ = retried(
                one_try,
                tries=self._max_tries,
                sleep=self._sleep,
                draw=self._draw,
                longest_wait_seconds=RETRY_AFTER_CAP_SECONDS,
                seconds_left=lambda: deadline - self._monotonic(),
            )
        except Transient as failure:
            raise EmbedderUnavailable(
                f"{failure} (try {failure.tries} of {self._max_tries})",
                retry_after_seconds=failure.retry_after_seconds,
            ) from None
        self._dimensions = answer.vectors.shape[1]
        return answer

    def _try(self, texts: Sequence[str], *, timeout_seconds: float) -> Answer:
        started = self._monotonic()
        try:
            response = self._client.embeddings.create(
                input=list(texts), model=self._name, encoding_format=self._format, timeout=timeout_seconds
            )
        except (OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise classify(error, now=self._now()) from None
        if self._on_usage is not None:
            self._on_usage(tokens_of(response), self._monotonic() - started)
        return read_answer(response, count=len(texts), dimensions=self._dimensions)
