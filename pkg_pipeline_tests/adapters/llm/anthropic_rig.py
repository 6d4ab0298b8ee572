"""The real SDK over real HTTP against the local server, with a clock that counts instead of sleeping."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.ports import LlmAttempt, LlmRequest, Subject
from pkg_pipeline_tests.memory.conversations import ENGLISH

KEY = "sk-test-0123456789abcdef"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class LetterCounter:
    """A token for every four letters: enough to see that something was counted."""

    name = "letters/4"

    def count(self, text: str) -> int:
        return (len(text) + 3) // 4

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@dataclass
class Rig:
    fake: FakeAnthropic
    llm: AnthropicLlm
    attempts: list[LlmAttempt] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)


def request_for(source: SummaryInput = ENGLISH, *, max_output_tokens: int = 3000) -> LlmRequest:
    rendered = prompt.render((source,))
    return LlmRequest(
        task="interaction_summary",
        prompt_version=prompt.VERSION,
        system=rendered.system,
        user=rendered.user,
        schema=prompt.schema(),
        max_output_tokens=max_output_tokens,
        payload=source,
        subject=Subject("interaction", source.interaction_id),
    )


@contextmanager
def rig(
    *rules: Fault, timeout_seconds: float = 5.0, draw: Callable[[], float] = lambda: 0.5, key: str = KEY
) -> Iterator[Rig]:
    attempts: list[LlmAttempt] = []
    slept: list[float] = []
    with (
        FakeAnthropic(rules=rules, api_key=KEY) as fake,
        AnthropicLlm(
            api_key=SecretStr(key),
            counter=LetterCounter(),
            base_url=fake.url,
            on_attempt=attempts.append,
            timeout_seconds=timeout_seconds,
            sleep=slept.append,
            draw=draw,
            now=lambda: NOW,
        ) as llm,
    ):
        yield Rig(fake, llm, attempts, slept)
