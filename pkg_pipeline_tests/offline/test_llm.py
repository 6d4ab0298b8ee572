"""The port's promises: valid answers within every limit, the same twice, free, and clear refusals."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.offline import MODEL
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.offline.reading import count_words
from pkg_pipeline.prompts.summary import AnswerTalk
from pkg_pipeline.stages.ports import LlmRejected
from pkg_pipeline_tests.offline.chats import answered, chat, read_items, request

TALK = chat(
    ("Anna", "Hi! Can you send me the draft contract by Friday?"),
    ("Me", "Sure, I'll send it tomorrow morning."),
    ("Anna", "Great. We agreed on 5,000 euros, right?"),
    ("Me", "Yes, that's settled."),
)


def test_same_conversation_gives_the_same_bytes_twice() -> None:
    first, second = (OfflineLlm().complete(request(TALK)).text for _ in range(2))
    assert first == second


def test_the_reply_names_the_model_and_costs_nothing() -> None:
    llm = OfflineLlm()
    reply = llm.complete(request(TALK))
    assert (reply.model, reply.stop_reason) == (MODEL, "end_turn")
    assert not llm.is_paid
    assert llm.price(Usage(10**9, 10**9)) == 0.0
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


class _Characters:
    name = "characters"

    def count(self, text: str) -> int:
        return len(text)

    def count_many(self, texts: list[str]) -> list[int]:
        return [len(t) for t in texts]


def test_usage_is_counted_by_the_given_counter() -> None:
    reply = OfflineLlm(_Characters()).complete(request(TALK))
    assert reply.usage.input_tokens == len("system\nuser")
    assert reply.usage.output_tokens == len(reply.text)


@pytest.mark.parametrize("payload", [None, "text", {"messages": []}, 7])
def test_anything_but_a_summary_input_is_refused(payload: object) -> None:
    with pytest.raises(LlmRejected, match="SummaryInput"):
        OfflineLlm().complete(request(payload))


def test_quotes_are_verbatim_and_numbers_known() -> None:
    answer = read_items(TALK)
    texts = {m.number: m.text for m in TALK.messages}
    assert answer.items
    assert all(any(p.quote in texts[n] for n in p.messages) for p in (*answer.items, *answer.facts))
    assert set(answered(TALK).important) <= set(texts)


def test_the_summary_is_short_and_the_answer_validates() -> None:
    answer = answered(TALK)
    assert isinstance(answer, AnswerTalk)
    assert 1 <= count_words(answer.summary) <= 200
    assert 1 <= len(answer.points) <= 7


OTHER_PROCESS = """
import random
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline_tests.offline.chats import chat, request
WORDS = "report budget meeting price contract invoice schedule delivery design garden window kitchen ticket bridge"
for number in range(8):
    dice = random.Random(number)
    several = [dice.sample(WORDS.split(), k=7) for _ in range(12)]
    said = [(who, " ".join(dice.sample(some, k=7)) + ".") for some in several for who in ("Ann", "Me", "Boris")]
    dice.shuffle(said)
    print(OfflineLlm().complete(request(chat(*said))).text)
"""


def test_every_process_gives_the_same_bytes() -> None:
    """Sentences of the same words tie, and Python orders sets of words anew in every process: no sum hangs on that."""
    found = {
        subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 5)
    }
    assert len(found) == 1
