"""The words of the talk in place of an answer's own that cannot be shown to be true (B18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pkg_pipeline.memory.gate.checker import Checker
from pkg_pipeline.memory.gate.nearest import Spoken, is_question, meant
from pkg_pipeline.memory.gate.truth import Testimony
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.text.normalise import comparable

MOST_CHARS: Final = 240
SHARED: Final = 1 / 2
"""More than this share of a text's meanings stands in what takes its place, where no quote says what it rests on."""
MOST_SENTENCES: Final = 3
LEAST_DIGITS: Final = 2
"""A number of more digits tells of the matter by itself."""
LEAST_MEANINGS: Final = 2
"""Words that stand for themselves mean at least so much."""


def as_said(
    text: str,
    quote: str,
    testimony: Testimony,
    checker: Checker,
    *,
    least: float = SHARED,
    told: str = "",
    may_invent: bool = False,
) -> str | None:
    """What the messages say where ``text`` retells them: their sentences that tell most of it, behind who wrote them.

    The sentence of the ``quote`` is among them. None: ``text`` tells of something else or may not be published.
    ``least``: more than this share of its meanings stands in them, where there is no quote. ``told``: what was told
    before, whose sentences are not told again. ``may_invent``: what the text tells need not follow from them.
    """
    if checker.words(text, is_part=bool(quote)) is not None:
        return None
    if not quote and not may_invent and testimony.invented(text) is not None:
        return None
    spoken = [one for one in testimony.spoken.every if not told or _plain(one) not in told]
    wanted = meant(text)
    chosen = [one for one in spoken if _holds(one.text, quote)][:MOST_SENTENCES]
    says = _meant(chosen)
    while len(chosen) < MOST_SENTENCES and wanted - says:
        best = max(spoken, key=lambda one: len((meant(one.text) & wanted) - says), default=None)
        if best is None or not (meant(best.text) & wanted) - says:
            break
        chosen.append(best)
        says = _meant(chosen)
    while quote and chosen and len(says) < LEAST_MEANINGS and len(chosen) < MOST_SENTENCES and spoken.index(chosen[0]):
        chosen = [spoken[spoken.index(chosen[0]) - 1], *chosen]  # what it answers or goes on with
        says = _meant(chosen)
    shared = wanted & says
    is_near = len(shared) > least * len(wanted) or any(map(_is_sum, shared))
    if len(says) < LEAST_MEANINGS or not (is_near or quote):
        return None
    if not shared and (not quote or testimony.figures(text) is not None):
        return None
    for one in [one for one in chosen if is_question(one.text)]:
        answer = [said for said in _answers([one], testimony) if said not in chosen]
        if sum(len(said.text) for said in [*chosen, *answer]) <= MOST_CHARS:
            chosen += answer
    if all(is_question(one.text) for one in chosen) or sum(len(one.text) for one in chosen) > MOST_CHARS:
        return None
    words = _joined(spoken, chosen)
    return None if checker.words(words) is not None else words


def _answers(asked: Sequence[Spoken], testimony: Testimony) -> list[Spoken]:
    """The first sentence of what was answered to the last question."""
    answers = [message.number for message in testimony.spoken.answers(asked[-1])[:1]]
    found = [one for one in testimony.spoken.every if one.message.number in answers]
    return found[:1]


def _meant(chosen: Sequence[Spoken]) -> frozenset[str]:
    return frozenset[str]().union(*(meant(one.text) for one in chosen))


def _is_sum(meaning: str) -> bool:
    return meaning.startswith("#") and len(meaning) > LEAST_DIGITS


def _holds(sentence: str, quote: str) -> bool:
    """Whether a sentence has a part of the quote, or the quote it."""
    mine, theirs = comparable(sentence), comparable(quote)
    return bool(theirs) and (theirs in mine or mine in theirs)


def _joined(spoken: Sequence[Spoken], chosen: Sequence[Spoken]) -> str:
    """The chosen sentences in their order, those of one message together; "…" where one is left out."""
    told: dict[int, str] = {}
    last: dict[int, str] = {}
    for one in (one for one in spoken if one in chosen):
        words, number = _plain(one), one.message.number
        if number in told:
            before = last[number]
            message = " ".join(one.message.text.split())
            between = next((gap for gap in ("", " ") if f"{before}{gap}{words}" in message), " … ")
            told[number] += f"{between}{words}"
        else:
            told[number] = words
        last[number] = words
    names = {one.message.number: one.message.sender.name for one in chosen}
    return " ".join(_labelled(names[number], words) for number, words in told.items())


def _plain(one: Spoken) -> str:
    return " ".join(one.text.split())


def _labelled(name: str, words: str) -> str:
    opens, closes = ("«", "»") if any("а" <= letter <= "я" for letter in words.casefold()) else ("“", "”")
    return f"{name}{'：' if is_han(words[:1]) else ': '}{opens}{words}{closes}"
