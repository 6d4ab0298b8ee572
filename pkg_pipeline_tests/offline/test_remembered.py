"""Vectors of lines are made once and kept within bounds; what comes out is what the embedder gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline.line_head import MOST_CHARS
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.offline.remembered import Remembered
from pkg_pipeline.stages.ports import LlmRequest, Vectors
from pkg_pipeline_tests.offline.chats import EMBED, chat

BOUND = 5


class Counting:
    """Vectors of three numbers that tell the text; every text it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        rows = [[float(len(text)), float(sum(map(ord, text))), 1.0] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 3)


@given(st.lists(st.lists(st.text(alphabet="abcä", max_size=3), max_size=9), max_size=6))
def test_vectors_are_those_of_the_embedder_whatever_was_asked_before(calls: list[list[str]]) -> None:
    inner = Counting()
    remembered = Remembered(inner, most=BOUND)
    for texts in calls:
        before = len(inner.asked)
        assert np.array_equal(remembered(texts), Counting()(texts))
        asked = inner.asked[before:]
        assert len(asked) == len(set(asked))
        assert set(asked) <= set(texts)


def test_the_last_texts_are_not_embedded_again_and_older_ones_are_forgotten() -> None:
    inner = Counting()
    remembered = Remembered(inner, most=BOUND)
    remembered(["a", "b", "c", "d", "e"])
    remembered(["a", "f"])
    assert inner.asked == ["a", "b", "c", "d", "e", "f"]
    remembered(["a", "c", "b"])
    assert inner.asked[6:] == ["b"]


def test_longer_texts_than_lines_are_read_by_are_not_kept() -> None:
    inner = Counting()
    remembered = Remembered(inner)
    for _ in range(2):
        remembered(["x" * (MOST_CHARS + 1), "x" * MOST_CHARS])
    assert sorted(map(len, inner.asked)) == [MOST_CHARS, MOST_CHARS + 1, MOST_CHARS + 1]


def test_a_talk_that_is_read_and_summed_up_has_each_line_embedded_once() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Vectors:
        asked.extend(texts)
        return EMBED(texts)

    talk = chat(
        ("Anna", "Could you send me the lease by Friday?"),
        ("Boris", "Sure, I will send it tomorrow. I work at Lindgren Foods now, as an accountant."),
        ("Anna", "Great! My sister Vera lives at 14 Harbour Street."),
        ("Boris", "Then we agreed: the keys go to Vera."),
        me="Anna",
    )
    llm = OfflineLlm(embed=embed)
    for task, payload in (("conversation_reading", reading_of(talk)), ("interaction_summary", talk)):
        llm.complete(LlmRequest(task, "", "", "", {}, 4096, payload))
    lines = [message.text for message in talk.messages]
    assert sorted(text for text in asked if text in lines) == sorted(lines)
    assert len(asked) == len(set(asked))


def reading_of(talk: SummaryInput) -> ReadingInput:
    return ReadingInput((talk,), (), talk.language, talk.timezone, talk.input_hash)
