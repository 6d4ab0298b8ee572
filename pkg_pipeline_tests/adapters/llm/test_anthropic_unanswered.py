"""Calls that may have been charged though nobody read their answer, and answers that lie about what they cost."""

from __future__ import annotations

import socket

import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.llm.ask import most_usd
from pkg_pipeline.stages.ports import LlmUnanswered, LlmUnavailable
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter, request_for, rig

TRANSPORT = [
    Fault(drop="before"),
    Fault(drop="half"),
    Fault(cut_body=True),
    Fault(html=True),
    Fault(body={"id": "x"}),
    Fault(body=[]),
    Fault(body={"content": None, "usage": None, "type": "message"}),
    Fault(delay_seconds=30.0),
]


@pytest.mark.parametrize("fault", TRANSPORT, ids=repr)
def test_a_broken_answer_may_be_charged_and_is_booked_at_the_most_it_can_cost(fault: Fault) -> None:
    """Not tried again here: the next try needs a reservation of its own."""
    request = request_for()
    with rig(fault, timeout_seconds=0.15) as made:
        with pytest.raises(LlmUnanswered):
            made.llm.complete(request)
        [broken] = made.attempts
        made.fake.script.replace([])
        assert prompt.parse(made.llm.complete(request).text)
    assert (broken.outcome, broken.usage) == ("unknown", None)
    assert broken.cost_usd > made.attempts[1].cost_usd > 0
    assert most_usd(request, llm=made.llm, counter=LetterCounter()) > 2 * broken.cost_usd  # a second try has more room
    assert len(made.fake.journal) == 2


def test_a_service_that_cannot_be_reached_charges_nothing() -> None:
    with rig() as made, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        made.llm.client = made.llm.client.with_options(base_url=f"http://127.0.0.1:{port}")
        with pytest.raises(LlmUnavailable) as caught:
            made.llm.complete(request_for())
    assert not isinstance(caught.value, LlmUnanswered)
    assert [(attempt.outcome, attempt.cost_usd) for attempt in made.attempts] == [("unavailable", 0.0)] * 5


LIES: list[tuple[dict[str, object], str]] = [
    ({"input_tokens": 0, "output_tokens": 0}, "less"),
    ({"input_tokens": -5, "output_tokens": -5, "cache_read_input_tokens": -7}, "less"),
    ({"input_tokens": 1, "output_tokens": 1}, "less"),
    ({"input_tokens": 10**12, "output_tokens": 10**12, "cache_creation_input_tokens": 10**12}, "more"),
    ({"input_tokens": 10**12, "output_tokens": 1, "cache_read_input_tokens": "many"}, "more"),
    ({"input_tokens": None, "output_tokens": 3}, "less"),
]


@pytest.mark.parametrize(("usage", "than_true"), LIES)
def test_usage_that_cannot_be_true_is_not_believed(usage: dict[str, object], than_true: str) -> None:
    request = request_for()
    with rig() as made:
        honest = made.llm.complete(request).usage
        made.fake.script.replace([Fault(usage=usage)])
        told = made.llm.complete(request).usage
        least, most = made.llm.price(honest), made.llm.price(told)
    assert told.estimated
    assert 0 < most < 1  # the window and the room of one call at most
    assert most > least if than_true == "more" else most > least / 5
