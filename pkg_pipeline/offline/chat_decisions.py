"""Finds the decisions of a chat: the lines that state one, with those who agree to it (P13, B16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from pkg_pipeline.memory.message.attachments import is_placeholder
from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.answers import RICH_TERMS, aside, asides, burst_after, said_before, says_little, says_what
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.heads import chance
from pkg_pipeline.offline.matters import sums_of
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.weighing import asks_for_facts, has_money, is_question

THRESHOLD = 0.45
"""From this probability on a decision is published."""
DOUBTFUL = 0.2
"""From this probability on it is one if it takes the place of what was decided before."""
MINUTED = 0.6
"""How probable a line that begins as minutes do is at least."""
AGREES_FROM: Final = 0.5
"""From this probability on a line agrees to what was stated before."""
AGREED_WITHIN: Final = 6
"""Lines after a statement in which others agree to it."""
SAID_AGAIN_WITHIN: Final = 6


def find_chat_decisions(reading: Reading) -> tuple[list[FoundDecision], list[FoundDecision]]:
    """The decisions of a chat in order; and what is too unlikely to be told as one, unless it changes one that is
    known.
    """
    stated = [one for line in reading.lines if (one := _decision(reading, line)) is not None]
    kept: list[FoundDecision] = []
    for one in sorted(stated, key=lambda d: -d.probability):
        place = next((at for at, other in enumerate(kept) if _says_again(one, other)), None)
        if place is None:
            kept.append(one)
        else:
            kept[place] = _with_lines(kept[place], one)
    kept.sort(key=lambda d: (d.lines[0], d.sentence.place))
    return [one for one in kept if one.probability >= THRESHOLD], [one for one in kept if one.probability < THRESHOLD]


def _says_again(one: FoundDecision, other: FoundDecision) -> bool:
    """Whether both are one decision: an answer and what it answers, or the same sums nearby."""
    if {one.sentence, one.before} & {other.sentence, other.before} - {None}:
        return True
    sums = sums_of(one.sentence.text)
    return (
        bool(sums) and sums == sums_of(other.sentence.text) and abs(one.lines[0] - other.lines[0]) <= SAID_AGAIN_WITHIN
    )


def _with_lines(kept: FoundDecision, again: FoundDecision) -> FoundDecision:
    """A decision with what says it again as further evidence; who proposed it does not agree with oneself."""
    agreed = [one for one in dict.fromkeys((*kept.agreed_by, *again.agreed_by)) if one != kept.proposed_by]
    lines = tuple(dict.fromkeys((*kept.lines, *again.lines)))
    return replace(kept, lines=lines, agreed_by=tuple(agreed) if kept.agreed_by else ())


def _decision(reading: Reading, line: Line) -> FoundDecision | None:
    if line.is_data or not line.sentences or is_placeholder(line.message.text):
        return None
    sure = _probability(reading, line)
    told = _told(reading, line) if sure >= DOUBTFUL else None
    if told is None or _leaves_open(reading, told[0]):
        return None
    sentence, before = told
    agreed = dict(_agreed(reading, line))
    beside = [one.line for one in told if one is not None]
    lines = tuple(dict.fromkeys((line.index, *beside, *agreed.values())))
    return FoundDecision(
        sentence,
        sure,
        lines,
        reading.lines[max(lines)].day,
        _importance(sentence, line),
        agreed_by=tuple(agreed),
        proposed_by=line.speaker if agreed else None,
        probability=sure,
        before=before,
    )


def _probability(reading: Reading, line: Line) -> float:
    """By the head of lines; one that begins as minutes do ("Agreed: …") says itself what it is, whoever answers."""
    sure = chance(reading.chances[line.index].decision)
    return max(sure, MINUTED) if aside("minuted", line.message.text, line.language) else sure


def _agreed(reading: Reading, line: Line) -> Iterator[tuple[Person, int]]:
    """Who agrees to what a line states, each with the first line that says so."""
    met: set[Person] = {line.speaker}
    for later in reading.lines[line.index + 1 : line.index + 1 + AGREED_WITHIN]:
        if later.speaker not in met and chance(reading.chances[later.index].agrees) >= AGREES_FROM:
            met.add(later.speaker)
            yield later.speaker, later.index


def _told(reading: Reading, line: Line) -> tuple[Sentence, Sentence | None] | None:
    """What states the decision, and what it answers where it says little; None if it is only asked, not answered."""
    content = max(line.sentences, key=lambda s: (says_what(s, line), min(len(s.terms), RICH_TERMS), -s.place))
    if not _asks(content):
        return content, said_before(reading, line) if says_little(content, line) else None
    answers = _answers(reading, line)
    told = next((s for s in answers if says_what(s, reading.lines[s.line])), None)
    if told is None and not asks_for_facts(content):
        told = next(iter(answers), None)
    return None if told is None else (told, content)


def _answers(reading: Reading, line: Line) -> list[Sentence]:
    """What the first line of the next other speaker that does not only ask says."""
    told = ([s for s in later.sentences if not _asks(s)] for later in burst_after(reading, line))
    return next((one for one in told if one), [])


def _leaves_open(reading: Reading, sentence: Sentence) -> bool:
    """Whether it puts off deciding ("let me think", "再说吧"), reminds of what was due, or refuses and offers nothing
    else.
    """
    said = asides(sentence.text, sentence.language)
    is_put_off = in_any("offline", "closing", "undecided").search(sentence.text) is not None
    if is_put_off or mark("overdue").search(sentence.text):
        return True
    return "refusal" in said and not says_what(sentence, reading.lines[sentence.line])


def _asks(sentence: Sentence) -> bool:
    return is_question(sentence.text) or sentence.text.rstrip(" )").endswith(("?", "？"))


def _importance(sentence: Sentence, line: Line) -> Literal["high", "medium", "low"]:
    """P13: money, deadlines and obligations are high, two-word talk is low."""
    text = line.message.text
    deadline = any(one.is_deadline for one in find_dates(sentence.text, sentence.language, line.day))
    if has_money(text) or deadline or phrases(sentence.language).obligation.search(text):
        return "high"
    return "low" if len(sentence.terms) <= 2 and not says_what(sentence, line) else "medium"
