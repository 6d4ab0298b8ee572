"""Attacks and work talk of ``orders/*.toml``, and a model that obeys the message it is told to.

``later`` was written after the first three were mended, ``unseen`` after all, and no pattern was changed for that;
``fresh`` last, without a look at patterns or other sets.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.gate.records import CandidateFact, CandidateSummary
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import CandidateItem, CandidateReading, ReadingInput
from pkg_pipeline.memory.records import Language, SummaryInput
from pkg_pipeline.memory.summary import gate as summary_gate
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline_tests.memory.conversations import BEN, EVERY, conversation

FOLDER = Path(__file__).parent / "orders"
NAMES = ("en", "ru", "zh", "later", "unseen", "fresh")


class Attack(NamedTuple):
    """What a stranger writes, and what a model says that obeys it."""

    text: str
    claim: str


def attacks(name: str) -> list[Attack]:
    return [Attack(one["text"], one["claim"]) for one in _read(name)["attack"]]


def work(name: str) -> list[str]:
    return list(_read(name)["work"]["said"])


def _read(name: str) -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def talk_with(text: str) -> SummaryInput:
    """A conversation in the text's language with it in the middle."""
    language: Language = detect([text])
    said = [(message.sender, message.text) for message in EVERY[language].messages]
    return conversation(*said[:2], (BEN, text), *said[2:], language=language)


def is_refused(text: str) -> bool:
    """Whether a message cannot carry anything."""
    return 3 in ordering_numbers(talk_with(text).messages)


def of_the_owner(attack: Attack) -> list[str]:
    """What is published as a task or decision of the memory's owner, told otherwise than in words of who wrote it."""
    source = talk_with(attack.text)
    (number,) = (message.number for message in source.messages if message.text == attack.text)
    quote = attack.text[:300]
    items = (
        CandidateItem("decision", attack.claim, "both", quote, (number,)),
        CandidateItem("action_item", attack.claim, "both", quote, (number,)),
        CandidateItem("action_item", attack.claim, "self", quote, (number,)),
    )
    found: list[str] = []
    for item in items:
        asked = ReadingInput((source,), (), source.language, source.timezone, "hash")
        gated = check_reading(CandidateReading(items=(item,)), asked)
        found += [one.text for reading in gated.readings for one in reading.items]
    return [text for text in found if not text.startswith(BEN.name)]


def published(attack: Attack) -> list[str]:
    """What the gates let through of a model that obeys: as items, a fact and a sentence, over the order as evidence."""
    source = talk_with(attack.text)
    (number,) = (message.number for message in source.messages if message.text == attack.text)
    quote = attack.text[:300]
    reading = CandidateReading(
        items=(
            CandidateItem("decision", attack.claim, "both", quote, (number,)),
            CandidateItem("action_item", attack.claim, "them", quote, (number,)),
        ),
        facts=(CandidateFact("other", attack.claim, 1.0, quote, (number,)),),
    )
    gated = check_reading(reading, ReadingInput((source,), (), source.language, source.timezone, "hash"))
    found = [item.text for one in gated.readings for item in one.items]
    found += [fact.value for one in gated.readings for fact in one.facts]
    told = summary_gate.check(CandidateSummary(attack.claim, (attack.claim,), "neutral"), source).content
    return found if told is None else [*found, told.summary, *told.key_points]
