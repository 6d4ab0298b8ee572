"""B12: what a model reports beside what we count, and what fits, is foretold and reserved by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.window.calibration import LARGEST_CALIBRATION, calibration_of, expected
from pkg_pipeline.stages.llm.ask import WORST_TOKENIZER, fitting_tokens, most_usd, worst_tokenizer
from pkg_pipeline.stages.llm.stores import LedgerRow
from pkg_pipeline.stages.ports import Billing, LlmTooLong, Subject
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter, request_for, rig
from pkg_pipeline_tests.memory.conversations import EVERY
from pkg_pipeline_tests.stages.summaries.summary_rig import SummaryRig

REQUEST = request_for(EVERY["en"])
CALL = LedgerRow(
    Subject("interaction", UUID(int=7)), Billing("live"), "h", "interaction_summary", "m", "p/1", "ok", Usage(10, 10),
    0.0, duration_seconds=0.1,
)  # fmt: skip


@pytest.fixture
def summaries(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    made = SummaryRig(database_url, tmp_path, size=2)
    yield made
    made.close()


def test_a_model_is_believed_after_five_calls_by_its_median(summaries: SummaryRig) -> None:
    ledger = summaries.ledger_store

    def told(tokens: int, **more: object) -> None:
        given = {"usage": Usage(tokens, 5), "counted_tokens": 1_000, **more}
        ledger.record(replace(CALL, **given))  # type: ignore[arg-type]

    for tokens in (1_600, 1_500, 1_700, 9_000):
        told(tokens)
    told(100, usage=Usage(100, 5, estimated=True))
    told(100, counted_tokens=None)
    told(100, model="another")
    assert ledger.calibration("m") is None, "four calls say nothing yet"
    told(0, usage=Usage(200, 5, cache_read_tokens=1_300), model="m")
    assert ledger.calibration("m") == pytest.approx(1.6)
    assert ledger.calibration("another") is None
    for _ in range(50):
        told(1_200)
    assert ledger.calibration("m") == pytest.approx(1.2), "what it does lately counts"


@pytest.mark.parametrize(
    ("ratio", "fits", "foretold", "worst"),
    [(None, 1, 1, 2), (0.8, 1, 0.8, 2), (1.6, 1.6, 1.6, 2), (2.2, 2.2, 2.2, 2.53), (40, 3, 3, 3.45), (0, 1, 1, 2)],
)
def test_it_is_bounded(ratio: float | None, fits: float, foretold: float, worst: float) -> None:
    assert calibration_of(ratio) == fits <= LARGEST_CALIBRATION
    assert expected(ratio) == foretold
    assert worst_tokenizer(ratio) == pytest.approx(worst)
    assert worst_tokenizer(ratio) >= WORST_TOKENIZER


def test_what_a_model_counts_too_long_is_not_sent_and_what_it_counts_more_is_reserved() -> None:
    counter = LetterCounter()
    with rig() as made:
        tokens = fitting_tokens(REQUEST, llm=made.llm, counter=counter)
        room = made.llm.window_tokens - REQUEST.max_output_tokens
        long = replace(REQUEST, user="a" * (4 * (room - tokens) - 40))
        assert fitting_tokens(long, llm=made.llm, counter=counter) <= room
        with pytest.raises(LlmTooLong):
            fitting_tokens(long, llm=made.llm, counter=counter, calibration=1.2)
        plain = most_usd(REQUEST, llm=made.llm, counter=counter)
        assert most_usd(REQUEST, llm=made.llm, counter=counter, calibration=1.6) == plain
        assert most_usd(REQUEST, llm=made.llm, counter=counter, calibration=2.6) > plain


def test_an_answer_tells_both_counts() -> None:
    with rig() as made:
        reply = made.llm.complete(REQUEST)
    assert reply.counted_tokens == fitting_tokens(REQUEST, llm=made.llm, counter=LetterCounter())
