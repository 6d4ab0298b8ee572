"""Summaries without a model are two fifths as long as the talks that they sum up (P13)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.offline.llm import answer
from pkg_pipeline.offline.reading import read
from pkg_pipeline.offline.retelling import retell
from pkg_pipeline.offline.summary import LEAST_OF_TALK, MOST_OF_TALK, units_of, within_share, words_of
from pkg_pipeline_tests.offline.chats import chat
from training import accounts, summaries
from training.vectors import embed
from training.worlds import load

MOST = 0.55
"""Tokens of summaries with their points over tokens of talks, with those too short to be summed up."""
MOST_ALONE = {"ru": 0.41, "en": 0.41, "zh": 0.44}
"""Of summaries without their points."""


@pytest.mark.parametrize("language", ["ru", "en", "zh"])
def test_a_summary_is_two_fifths_of_its_talk_and_half_with_its_points(language: str) -> None:
    own = [world for world in (*accounts.load(), *load()) if world.language == language][:4]
    talks = [talk for world in own for talk in world.talks if len(talk.messages) >= 3]
    answers = [answer(talk, embed) for talk in talks]
    said = tokens(message.text for talk in talks for message in talk.messages)
    told = tokens(one.summary for one in answers)
    assert told / said <= MOST_ALONE[language]
    assert (told + tokens(point for one in answers for point in one.points)) / said <= MOST


def tokens(texts: Iterable[str]) -> int:
    return sum(TiktokenCounter().count_many(list(texts)))


PROMISES = ("I will bring the ladder on Friday.", "I will pay the electrician tomorrow.")


def test_what_is_cut_for_names_is_not_what_was_promised() -> None:
    """Long names make the summary too long; what goes is neither of the promises."""
    talk = chat(
        ("Bartholomew Fitzgerald", "The lamp in the hall flickered again all evening long."),
        ("Anastasia Montgomery", PROMISES[0]),
        ("Bartholomew Fitzgerald", "Lovely weather for painting the old fence, by the way."),
        ("Anastasia Montgomery", "Great, thanks a lot!"),
        ("Bartholomew Fitzgerald", PROMISES[1]),
        me="Somebody Else",
    )
    summary = answer(talk, embed).summary
    assert "ladder" in summary
    assert "electrician" in summary


@given(data=st.data())
def test_a_share_is_kept_and_what_is_spared_is_never_cut(data: st.DataObject) -> None:
    reading = read(TALK)
    told = [retell(unit.text, unit.sentence, reading, budget=40) for unit in units_of(reading)]
    chosen = data.draw(st.permutations(range(len(told))))[: data.draw(st.integers(1, len(told)))]
    spared = set(data.draw(st.lists(st.sampled_from(chosen))))
    kept = within_share(chosen, spared, told, reading)
    assert spared <= set(kept)
    assert kept == [one for one in chosen if one in kept]
    assert kept
    if set(kept) != set(chosen):
        assert words_of(kept, told, reading) >= LEAST_OF_TALK * reading.words
    if words_of(chosen, told, reading) <= MOST_OF_TALK * reading.words:
        assert kept == chosen


TALK = chat(
    ("Marion", "The boiler was repaired on Tuesday."),
    ("Edgar", "Good, how much did it cost?"),
    ("Marion", "It came to 240 euros with the new valve."),
    ("Edgar", "I will transfer my half tonight."),
    ("Marion", "And the neighbours asked about the noise again."),
    ("Edgar", "Tell them that it is over now."),
    me="Edgar",
)


TOLD_AT_LEAST = {"action_item": 0.5, "decision": 0.42, "done": 0.15, "fact": 0.28}
"""Shares of what accounts hold, read by heads that did not see them; all of them: ``python -m training.summaries``."""


def test_summaries_tell_the_news() -> None:
    found = summaries.counts_of(accounts.load()[::16])
    for kind, least in TOLD_AT_LEAST.items():
        assert found[kind] >= 50
        assert found[f"{kind} told"] >= least * found[kind], kind


def test_a_fact_goes_before_chatter() -> None:
    talk = chat(
        ("Rosa", "I have been looking at the old photographs of the harbour all afternoon, the harbour was so small"),
        ("Ivo", "The harbour was lovely then, and the photographs of the harbour make me feel a hundred years old"),
        ("Rosa", "Oh and my new number is +44 7700 900741"),
        ("Ivo", "The harbour looks so different now, with all of those glass boxes along the quay"),
        me="Ivo",
    )
    assert "900741" in answer(talk, embed).summary
