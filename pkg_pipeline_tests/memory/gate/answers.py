"""What the gate publishes of an item that an answer takes from some messages."""

from __future__ import annotations

from typing import cast

from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import CandidateItem, CandidateReading, ItemKind, ItemOwner, ReadItem
from pkg_pipeline_tests.memory.gate.closings import PEOPLE
from pkg_pipeline_tests.memory.truth.judging import source_of
from pkg_pipeline_tests.memory.truth.talks import Talk


def talk_of(language: str, said: str) -> Talk:
    """The talk of "< said to me | > said by me"."""
    me, other = PEOPLE[language]
    talk = Talk(f"{language}-c01", language, is_visible=True, me=me, others=[other], day="2026-03-03")
    messages = [(one[2:], me if one[0] == ">" else other) for one in said.split(" | ")]
    talk.said = [(number, who, words) for number, (words, who) in enumerate(messages, 1)]
    return talk


def published(
    language: str, said: str, text: str, *, kind: str = "action", owner: str = "them", quote: str = "", due: str = ""
) -> ReadItem | None:
    """What is published of an item that cites all messages, and quotes the last one or a part of any."""
    talk = talk_of(language, said)
    item = CandidateItem(
        kind=cast(ItemKind, {"action": "action_item", "decision": "decision"}[kind]),
        text=text,
        owner=cast(ItemOwner, owner),
        quote=quote or talk.said[-1][2],
        numbers=tuple(number for number, _, _ in talk.said),
        due_date=due or None,
    )
    gated = check_reading(CandidateReading(items=(item,)), source_of(talk))
    return next((one for reading in gated.readings for one in reading.items), None)
