"""Several short conversations in one question to a paid model: who stands together, who pays, what a fault costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.stages.archive.erasing import erase_chat
from pkg_pipeline.stages.ports import LlmMisconfigured, LlmRefused, LlmRequest, LlmUnavailable
from pkg_pipeline.stages.summaries.stores import Claimed
from pkg_pipeline.stages.summaries.together import MOST_TOKENS, SHORT_TOKENS, grouped, in_turn
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, OLD, ScriptedLlm, SummaryRig, good_answer

TALKS = 6
HOUR = timedelta(hours=8)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[SummaryRig]:
    found = SummaryRig(database_url, tmp_path)
    for place in range(TALKS):
        found.say(
            f"c{place}",
            [f"topic{place} {word}, what do you think?" for word in ("plan", "price", "place")],
            at=OLD + place * HOUR,
        )
    found.load()
    yield found
    found.close()


def told(request: LlmRequest) -> dict[str, Any]:
    """A good answer about one talk or several; each message that it calls important is the talk's last."""
    asked = request.payload
    if not isinstance(asked, tuple):
        return good_answer(asked)
    talks = [
        {**good_answer(one)["talks"][0], "talk": at, "important": [one.messages[-1].number]}
        for at, one in enumerate(asked, 1)
    ]
    return {"talks": talks}


def published(rig: SummaryRig) -> list[tuple[Any, ...]]:
    return rig.rows(
        "SELECT c.external_id, s.summary, s.important_messages -> 0 ->> 'content' FROM live_summaries s"
        " JOIN interactions i ON i.id = s.interaction_id JOIN chats c ON c.id = i.chat_id ORDER BY 1"
    )


def costs(rig: SummaryRig) -> tuple[float, float]:
    """Of the summaries, and of the ledger."""
    rows = rig.one("SELECT sum(cost_usd)::float8 FROM interaction_summaries")
    return rows, rig.one("SELECT sum(cost_usd)::float8 FROM llm_calls")


def test_one_question_is_about_all_and_each_has_its_own_words_and_its_share(rig: SummaryRig) -> None:
    llm = ScriptedLlm(told)
    reports = rig.summarize(llm, talks_together=20, concurrency=3)
    assert len(llm.requests) == 1 == sum(report.calls for report in reports)
    assert sum(report.summarized for report in reports) == TALKS
    assert sum(report.cost_usd for report in reports) == pytest.approx(0.001)
    for place, (chat, summary, important) in enumerate(published(rig)):
        assert chat == f"c{place}"
        assert f"topic{place}" in summary
        assert important.startswith(f"topic{place} place"), "numbers run on over the talks of a question"
    assert costs(rig) == (pytest.approx(0.001, abs=1e-5), pytest.approx(0.001))
    assert rig.one("SELECT count(*) FROM llm_call_subjects") == TALKS
    assert rig.one("SELECT sum(calls) FROM budgets") == 1, "one call counts one"


def test_a_model_that_costs_nothing_is_asked_about_one_at_a_time(rig: SummaryRig) -> None:
    llm = ScriptedLlm(told, is_paid=False)
    rig.summarize(llm, talks_together=20)
    assert len(llm.requests) == TALKS


@pytest.mark.parametrize("fault", ["words of nobody", "missing", "twice"])
def test_a_bad_one_of_a_group_is_asked_about_alone(rig: SummaryRig, fault: str) -> None:
    def spoilt(request: LlmRequest) -> dict[str, Any]:
        answer = told(request)
        if isinstance(request.payload, tuple):
            if fault == "missing":
                del answer["talks"][2]
            else:
                bad = {**answer["talks"][2], "summary": "Visit https://evil.example now, please."}
                answer["talks"][2:3] = [bad, *([bad] if fault == "twice" else [])]
        return answer

    llm = ScriptedLlm(spoilt)
    reports = rig.summarize(llm, talks_together=20)
    assert [isinstance(request.payload, tuple) for request in llm.requests] == [True, False]
    assert len(published(rig)) == TALKS
    assert not any("evil" in summary for _, summary, _ in published(rig))
    assert rig.one("SELECT count(*) FROM summary_attempts") == 0
    assert costs(rig) == (pytest.approx(0.002, abs=1e-5), pytest.approx(0.002))
    assert sum(report.cost_usd for report in reports) == pytest.approx(0.002)


@pytest.mark.parametrize("answer", ["{", '{"talks": []}', LlmRefused("no")])
def test_an_answer_of_no_use_leaves_each_to_its_own_ladder(rig: SummaryRig, answer: object) -> None:
    llm = ScriptedLlm(lambda request: answer if isinstance(request.payload, tuple) else told(request))
    rig.summarize(llm, talks_together=20)
    assert len(llm.requests) == 1 + TALKS
    assert len(published(rig)) == TALKS
    bill, ledger = costs(rig)
    assert bill == pytest.approx(ledger, abs=1e-5)


def test_one_that_is_given_up_alone_carries_its_share_of_the_question(rig: SummaryRig) -> None:
    llm = ScriptedLlm(lambda _: "{")
    rig.summarize(llm, talks_together=20)
    assert rig.one("SELECT count(*) FROM summary_attempts WHERE attempts = 1") == TALKS
    bill, ledger = costs(rig)
    assert bill == pytest.approx(ledger, abs=1e-5)
    asked = len(llm.requests)
    rig.retries_are_due()
    rig.summarize(llm, talks_together=20)
    assert not any(isinstance(request.payload, tuple) for request in llm.requests[asked:]), "only first attempts join"


def test_a_service_that_is_down_puts_one_off_and_gives_the_others_back(rig: SummaryRig) -> None:
    llm = ScriptedLlm(lambda _: LlmUnavailable("down"))
    reports = rig.summarize(llm, talks_together=20)
    assert len(llm.requests) == 1
    assert sum(report.deferred for report in reports) == 1
    assert rig.one("SELECT count(*) FROM leases") == 0
    assert rig.rows("SELECT attempts, deferrals FROM summary_attempts") == [(0, 1)]
    rig.retries_are_due()
    rig.summarize(ScriptedLlm(told), talks_together=20)
    assert len(published(rig)) == TALKS


def test_a_wrong_key_gives_everything_back(rig: SummaryRig) -> None:
    with pytest.raises(LlmMisconfigured):
        rig.summarize(ScriptedLlm(lambda _: LlmMisconfigured("no such key")), talks_together=20)
    assert rig.one("SELECT count(*) FROM leases") == 0


def test_a_cap_without_room_leaves_everything_for_later(rig: SummaryRig) -> None:
    llm = ScriptedLlm(told)
    rig.summarize(llm, talks_together=20, calls_cap=0)
    assert (llm.requests, published(rig)) == ([], [])
    assert rig.one("SELECT count(*) FROM leases") == 0
    rig.retries_are_due()
    rig.summarize(llm, talks_together=20, calls_cap=1)
    assert len(published(rig)) == TALKS


class Killed(BaseException):
    """The process is gone: nothing catches it."""


def test_killed_between_ledger_and_publication_nothing_is_paid_twice(
    rig: SummaryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm, publish = ScriptedLlm(told), rig.store.publish

    def killed(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(rig.store, "publish", killed)
        with pytest.raises(Killed):
            rig.summarize(llm, talks_together=20)
    assert published(rig) == []
    rig.store.publish = publish  # type: ignore[method-assign]
    rig.leases_ran_out()
    rig.summarize(llm, talks_together=20, concurrency=3)
    assert len(llm.requests) == 1, "the kept answer is used again"
    assert len(published(rig)) == TALKS
    assert costs(rig) == (pytest.approx(0.001, abs=1e-5), pytest.approx(0.001))


def test_one_taken_over_by_another_worker_does_not_keep_the_others_from_publishing(rig: SummaryRig) -> None:
    def late(request: LlmRequest) -> dict[str, Any]:
        rig.run("DELETE FROM leases WHERE subject_id = %s", request.payload[1].interaction_id)
        return told(request)

    reports = rig.summarize(ScriptedLlm(late), talks_together=20)
    assert len(published(rig)) == TALKS - 1
    assert sum(report.summarized for report in reports) == TALKS - 1


def test_what_is_forgotten_takes_the_answer_about_all_with_it(rig: SummaryRig) -> None:
    rig.summarize(ScriptedLlm(told), talks_together=20)
    assert rig.one("SELECT count(reply) FROM llm_calls") == 1
    erase_chat(PostgresErasure(rig.connections), rig.one("SELECT id FROM chats WHERE external_id = 'c3'"))
    assert rig.one("SELECT count(reply) FROM llm_calls") == 0
    assert len(published(rig)) == TALKS - 1


def claims(rig: SummaryRig) -> list[Claimed]:
    eligibility = rig.stage().eligibility()
    return rig.store.claim(ALL_DAYS, eligibility=eligibility, limit=100, holder="test", lease_seconds=60)


def test_groups_are_the_same_whatever_the_order_and_hold_to_their_limits(rig: SummaryRig) -> None:
    one = claims(rig)[0]
    many = [
        replace(
            one,
            source=replace(
                one.source,
                interaction_id=type(one.source.interaction_id)(int=at + 1),
                chat_key=f"jsonl:{at % 7}",
                language=("en", "ru", "zh")[at % 3],
            ),
            token_count=(60, 400, SHORT_TOKENS, SHORT_TOKENS + 1)[at % 4],
            attempts=int(at % 11 == 0),
        )
        for at in range(200)
    ]
    groups = grouped(many, most=20)
    shuffled = list(many)
    Random(7).shuffle(shuffled)
    assert grouped(shuffled, most=20) == groups
    for group in groups:
        assert 2 <= len(group) <= 20
        assert sum(talk.token_count for talk in group) <= MOST_TOKENS
        assert len({talk.source.language for talk in group}) == 1
        assert all(talk.attempts == 0 and talk.token_count <= SHORT_TOKENS for talk in group)
    turns = in_turn(many, groups)
    assert sorted(talk.lease_id for talk in turns) == sorted(talk.lease_id for talk in many)
    firsts = {group[0].lease_id for group in groups}
    assert {talk.lease_id for talk in turns[: len(groups)]} == firsts, "workers begin with different groups"
