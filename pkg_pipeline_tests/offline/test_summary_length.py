"""Summaries without a model are at most about half as long as the talks that they sum up (P13)."""

from __future__ import annotations

import pytest

from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.offline.llm import answer
from training import accounts
from training.vectors import embed
from training.worlds import World, load

MOST = 0.57
"""Tokens of summaries with their points over tokens of talks, with those too short to be summed up."""


@pytest.mark.parametrize("language", ["ru", "en", "zh"])
def test_a_summary_is_about_half_of_its_talk_at_most(language: str) -> None:
    own = [world for world in (*accounts.load(), *load()) if world.language == language][:4]
    assert ratio(own) <= MOST


def ratio(worlds: list[World]) -> float:
    talks = [talk for world in worlds for talk in world.talks if len(talk.messages) >= 3]
    count = TiktokenCounter().count_many
    answers = [answer(talk, embed) for talk in talks]
    told = sum(count([text for one in answers for text in (one.summary, *one.points)]))
    return told / sum(count([message.text for talk in talks for message in talk.messages]))
