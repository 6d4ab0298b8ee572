"""Somebody who bears the owner's name: the model is told of each message whether it is the owner's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pkg_pipeline.memory.records import Person, SummaryInput
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts import interaction_summary as prompt
from pkg_pipeline_tests.memory.conversations import BEN, ENGLISH


def called(name: str) -> SummaryInput:
    """The English talk with Ben under another name."""
    namesake = replace(BEN, name=name)

    def renamed(person: Person) -> Person:
        return namesake if person == BEN else person

    return replace(
        ENGLISH,
        participants=tuple(map(renamed, ENGLISH.participants)),
        messages=tuple(replace(message, sender=renamed(message.sender)) for message in ENGLISH.messages),
    )


@pytest.mark.parametrize("name", ["Dana Reed", "dana reed", "Dаna Reed", "Dana\u200b Reed"])
def test_messages_of_a_namesake_are_told_apart(name: str) -> None:
    messages = fencing.read(prompt.render(called(name)).user)["MESSAGES"]
    assert [message["is_me"] for message in messages] == [False, True, False, True]


def test_other_messages_cost_no_token_more() -> None:
    messages = fencing.read(prompt.render(called("Ben Reed")).user)["MESSAGES"]
    assert not any("is_me" in message for message in messages)
