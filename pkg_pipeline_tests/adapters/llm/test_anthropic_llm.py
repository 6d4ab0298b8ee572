"""The Anthropic adapter against a server that keeps the protocol: every row of what can go wrong."""

from __future__ import annotations

import logging
import random
from dataclasses import replace

import pytest
from anthropic import transform_schema
from pydantic import SecretStr

from pkg_pipeline.adapters.llm.anthropic_llm import AnthropicLlm
from pkg_pipeline.adapters.llm.prices import price
from pkg_pipeline.adapters.llm.retrying import BACKOFF_CAP_SECONDS
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.summary import gate
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.prompts.answers import AnswerInvalid
from pkg_pipeline.stages.llm.ask import hash_of
from pkg_pipeline.stages.ports import (
    LlmError,
    LlmMisconfigured,
    LlmRefused,
    LlmRejected,
    LlmTooLong,
    LlmUnanswered,
    LlmUnavailable,
    Subject,
)
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY, LetterCounter, request_for, rig
from pkg_pipeline_tests.memory.conversations import EVERY


@pytest.mark.parametrize("language", EVERY)
def test_an_answer_comes_back_passes_the_gate_and_is_reported_with_its_cost(language: str) -> None:
    source = EVERY[language]
    with rig() as made:
        reply = made.llm.complete(request_for(source))
    result = gate.check(prompt.to_candidates(prompt.parse(reply.text))[1], source)
    assert result.quarantine_reason is None
    assert result.dropped == ()
    assert reply.tries == 1
    assert not reply.usage.estimated
    [attempt] = made.attempts
    assert (attempt.outcome, attempt.usage, attempt.status_code) == ("ok", reply.usage, 200)
    assert attempt.request_id == reply.request_id == "req_000001"
    assert attempt.cost_usd == price("claude-haiku-5-5", reply.usage) > 0
    assert attempt.subject == Subject("interaction", source.interaction_id)


def test_what_goes_over_the_wire_is_the_prompt_its_schema_and_nothing_removed_from_the_api() -> None:
    request = request_for()
    with rig() as made:
        made.llm.complete(request)
        [call] = made.fake.journal
    body = call["body"]
    assert body["model"] == "claude-haiku-5-5"
    assert body["system"][0]["text"] == request.system
    assert body["messages"] == [{"role": "user", "content": request.user}]
    assert body["thinking"] == {"type": "disabled"}
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"]["format"]["schema"] == transform_schema(prompt.schema())
    assert not {"temperature", "top_p", "top_k"} & set(body)


STATUSES = [
    (Fault(status=400), LlmRejected, "rejected", 1),
    (Fault(status=400, message="prompt is too long: 210000 tokens > 200000 maximum"), LlmTooLong, "too_long", 1),
    (Fault(status=400, message="You have reached your specified API usage limits."), LlmUnavailable, "unavailable", 1),
    (Fault(status=400, message="Your credit balance is too low"), LlmUnavailable, "unavailable", 1),
    (Fault(status=429, error_code="enforced_spend_limit_reached"), LlmUnavailable, "unavailable", 1),
    (Fault(status=401), LlmMisconfigured, "misconfigured", 1),
    (Fault(status=402), LlmMisconfigured, "misconfigured", 1),
    (Fault(status=403), LlmMisconfigured, "misconfigured", 1),
    (Fault(status=404), LlmMisconfigured, "misconfigured", 1),
    (Fault(status=413), LlmTooLong, "too_long", 1),
    (Fault(status=422), LlmRejected, "rejected", 1),
    (Fault(status=408), LlmUnavailable, "unavailable", 5),
    (Fault(status=409), LlmUnavailable, "unavailable", 5),
    (Fault(status=429), LlmUnavailable, "unavailable", 5),
    (Fault(status=500), LlmUnavailable, "unavailable", 5),
    (Fault(status=502), LlmUnavailable, "unavailable", 5),
    (Fault(status=504), LlmUnanswered, "unknown", 1),
    (Fault(status=529), LlmUnavailable, "unavailable", 5),
    (Fault(status=529, headers={"x-should-retry": "false"}), LlmUnavailable, "unavailable", 1),
    (Fault(status=429, headers={"retry-after": "3600"}), LlmUnavailable, "unavailable", 1),
]


@pytest.mark.parametrize(("fault", "expected", "outcome", "tries"), STATUSES)
def test_a_status_means_one_kind_of_failure(fault: Fault, expected: type[LlmError], outcome: str, tries: int) -> None:
    with rig(fault) as made, pytest.raises(LlmError) as caught:
        made.llm.complete(request_for())
    assert type(caught.value) is expected
    assert [attempt.outcome for attempt in made.attempts] == [outcome] * tries
    assert {attempt.status_code for attempt in made.attempts} == {fault.status}
    assert len(made.slept) == tries - 1
    assert len({attempt.request_hash for attempt in made.attempts}) == 1


RETRY_AFTER = [
    ({"retry-after": "0"}, 0.25),
    ({"retry-after": "1"}, 1.0),
    ({"retry-after": "60"}, 60.0),
    ({"retry-after-ms": "1500"}, 1.5),
    ({"retry-after": "Sat, 21 Nov 2026 12:00:07 GMT"}, 7.0),
    ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0.25),
    ({"retry-after": "soon"}, 0.25),
    ({"retry-after": "nan"}, 0.25),
    ({"retry-after": "-5"}, 0.25),
    ({}, 0.25),  # 0.5 of 0.5 s
]


@pytest.mark.parametrize(("headers", "slept"), RETRY_AFTER)
def test_the_wait_is_what_the_service_asks_or_the_jitter(headers: dict[str, str], slept: float) -> None:
    with rig(Fault(status=429, headers=headers, times=1)) as made:
        assert made.llm.complete(request_for()).tries == 2
    assert made.slept == [pytest.approx(slept)]


@pytest.mark.parametrize(("header", "asked"), [("61", 61.0), ("3600", 3600.0), ("4294967", 4294967.0)])
def test_a_longer_wait_is_not_slept_but_handed_up(header: str, asked: float) -> None:
    with rig(Fault(status=429, headers={"retry-after": header})) as made, pytest.raises(LlmUnavailable) as caught:
        made.llm.complete(request_for())
    assert made.slept == []
    assert caught.value.retry_after_seconds == asked


def test_waits_grow_up_to_the_cap_and_jitter_is_full() -> None:
    with rig(Fault(status=529), draw=lambda: 1.0) as made, pytest.raises(LlmUnavailable):
        made.llm.complete(request_for())
    assert made.slept == [0.5, 1.0, 2.0, 4.0]
    assert max(made.slept) <= BACKOFF_CAP_SECONDS
    with rig(Fault(status=529), draw=lambda: 0.0) as made, pytest.raises(LlmUnavailable):
        made.llm.complete(request_for())
    assert made.slept == [0.0, 0.0, 0.0, 0.0]


def test_two_hundred_calls_of_which_two_in_five_fail_are_all_done_or_deferred() -> None:
    """Fault row 5: no wait over the cap, no other exception."""
    chance = random.Random(7)
    bad = [
        Fault(status=429, headers={"retry-after": "0"}),
        Fault(status=429, headers={"retry-after": "1"}),
        Fault(status=429, headers={"retry-after": "3600"}),
        Fault(status=529),
        Fault(status=500),
        Fault(html=True),
    ]
    rules = [replace(chance.choice(bad), call=call) for call in range(1, 2000) if chance.random() < 0.4]
    done = deferred = 0
    with rig(*rules) as made:
        request = request_for()
        for _ in range(200):
            try:
                made.llm.complete(request)
                done += 1
            except LlmUnavailable:
                deferred += 1
    assert done + deferred == 200
    assert done > 150
    assert max(made.slept) <= 60
    assert len(made.attempts) == len(made.fake.journal)


def test_an_answer_cut_at_its_limit_is_asked_for_once_more_with_twice_the_room() -> None:
    with rig(Fault(stop_reason="max_tokens", times=1)) as made:
        reply = made.llm.complete(request_for(max_output_tokens=2000))
        rooms = [call["body"]["max_tokens"] for call in made.fake.journal]
    assert rooms == [2000, 4000]
    assert reply.tries == 2
    assert [attempt.outcome for attempt in made.attempts] == ["truncated", "ok"]
    assert all(attempt.cost_usd > 0 for attempt in made.attempts)
    assert not any(made.slept)


def test_an_answer_that_does_not_fit_twice_is_too_long_and_both_are_paid_for() -> None:
    with rig() as made, pytest.raises(LlmTooLong) as caught:
        made.llm.complete(request_for(max_output_tokens=10))
    assert [attempt.outcome for attempt in made.attempts] == ["truncated", "truncated"]
    assert caught.value.usage is not None
    assert caught.value.usage.output_tokens > 0


def test_a_refusal_is_told_with_its_category_and_not_repeated() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "no"}
    with rig(Fault(stop_reason="refusal", stop_details=details)) as made, pytest.raises(LlmRefused) as caught:
        made.llm.complete(request_for())
    assert caught.value.category == "bio"
    assert caught.value.usage is not None
    assert [attempt.outcome for attempt in made.attempts] == ["refused"]


@pytest.mark.parametrize("answer", ["good", "prose"])
def test_a_refusal_without_details_or_with_text_is_a_refusal(answer: str) -> None:
    with rig(Fault(stop_reason="refusal", answer=answer)) as made, pytest.raises(LlmRefused) as caught:
        made.llm.complete(request_for())
    assert caught.value.category is None


STOPS = [
    (Fault(stop_reason="model_context_window_exceeded"), LlmTooLong, "too_long"),
    (Fault(answer="empty"), LlmRejected, "empty"),
    (Fault(answer="thinking_only"), LlmRejected, "empty"),
    (Fault(answer="empty", stop_reason="a_new_reason"), LlmRejected, "empty"),
    (Fault(answer="empty", stop_reason="pause_turn"), LlmRejected, "empty"),
]


@pytest.mark.parametrize(("fault", "expected", "outcome"), STOPS)
def test_an_answer_without_words_is_never_a_reply(fault: Fault, expected: type[LlmError], outcome: str) -> None:
    with rig(fault) as made, pytest.raises(expected) as caught:
        made.llm.complete(request_for())
    assert [attempt.outcome for attempt in made.attempts] == [outcome]
    assert made.attempts[0].usage == caught.value.usage is not None


def test_an_unknown_stop_reason_with_words_is_left_to_the_gate() -> None:
    with rig(Fault(stop_reason="a_new_reason")) as made:
        reply = made.llm.complete(request_for())
    assert reply.stop_reason == "a_new_reason"
    assert prompt.parse(reply.text)


def test_usage_that_the_service_did_not_tell_is_counted_here_and_marked() -> None:
    request = request_for()
    with rig(Fault(without_usage=True)) as made:
        reply = made.llm.complete(request)
    assert reply.usage.estimated
    assert reply.usage.output_tokens == LetterCounter().count(reply.text)
    assert reply.usage.input_tokens > LetterCounter().count(request.user)
    assert made.attempts[0].cost_usd > 0


INVALID = ["invalid_json", "prose", "wrong_types", "extra_field"]


@pytest.mark.parametrize("answer", INVALID)
def test_an_answer_that_is_no_answer_is_a_failure_and_never_no_facts(answer: str) -> None:
    with rig(Fault(answer=answer)) as made:
        reply = made.llm.complete(request_for())
    with pytest.raises(AnswerInvalid) as caught:
        prompt.parse(reply.text)
    assert caught.value.problem
    assert made.attempts[0].usage is not None


@pytest.mark.parametrize("language", EVERY)
def test_messages_that_the_model_made_up_are_not_published(language: str) -> None:
    source = EVERY[language]
    with rig(Fault(answer="wrong_ids")) as made:
        reply = made.llm.complete(request_for(source))
    told = prompt.to_candidates(prompt.parse(reply.text))
    if told.keys() != {1}:  # it speaks of talks that there are not
        return
    result = gate.check(told[1], source)
    assert result.dropped


def test_a_wrong_key_stops_the_run_and_no_key_is_in_any_log_or_error(caplog: pytest.LogCaptureFixture) -> None:
    planted = "sk-planted-secret-000111222"
    caplog.set_level(logging.DEBUG)
    with rig(key=planted) as made:
        with pytest.raises(LlmMisconfigured) as caught:
            made.llm.complete(request_for())
        assert planted not in repr(vars(made.llm).get("_counter"))
    assert planted not in caplog.text
    assert planted not in str(caught.value)
    assert planted not in repr(made.attempts)


def test_no_word_of_the_conversation_is_in_an_error() -> None:
    request = request_for()
    echo = request.user[-300:]
    with rig(Fault(status=400, message=f"messages.0: {echo}")) as made, pytest.raises(LlmRejected) as caught:
        made.llm.complete(request)
    assert "boathouse" not in str(caught.value)
    with rig(Fault(status=400, message="max_tokens: 9 > 8")) as made, pytest.raises(LlmRejected, match="max_tokens: 9"):
        made.llm.complete(request)


def test_half_a_character_is_refused_before_it_is_sent() -> None:
    request = replace(request_for(), user="broken \ud800 text")
    with rig() as made, pytest.raises(LlmRejected):
        made.llm.complete(request)
    assert made.fake.journal == []


def test_without_a_key_or_a_price_there_is_no_client() -> None:
    with pytest.raises(LlmMisconfigured, match="ANTHROPIC_API_KEY"):
        AnthropicLlm(api_key=SecretStr(" "), counter=LetterCounter())
    with pytest.raises(LlmMisconfigured, match="PKG_LLM_MODEL"):
        AnthropicLlm(api_key=SecretStr(KEY), counter=LetterCounter(), model="claude-unheard-of")


def test_the_model_is_paid_for_and_prices_by_the_table() -> None:
    with rig() as made:
        assert made.llm.is_paid
        assert made.llm.window_tokens >= 100_000
        assert made.llm.price(Usage(1_000_000, 0)) == 0.5  # over 100k: 0.50 a million
        assert made.llm.price(Usage(100_000, 0)) == pytest.approx(0.01)


def test_the_request_hash_is_by_content_and_model() -> None:
    request = request_for()
    same = hash_of("a", replace(request, max_output_tokens=7, subject=None))
    assert same == hash_of("a", request)
    assert same != hash_of("b", request)
    assert same != hash_of("a", replace(request, user=request.user + " "))


def test_a_ledger_that_fails_is_not_passed_over() -> None:
    def full(_attempt: object) -> None:
        raise OSError("disk full")

    with rig() as made:
        made.llm._on_attempt = full
        with pytest.raises(OSError, match="disk full"):
            made.llm.complete(request_for())
