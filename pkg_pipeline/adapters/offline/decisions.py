"""Decisions out of a conversation: what was settled, by a word that settles or by a proposal that was accepted (P13)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from pkg_pipeline.adapters.offline.dates import find_dates
from pkg_pipeline.adapters.offline.phrases import phrases
from pkg_pipeline.adapters.offline.reading import Line, Reading, Sentence
from pkg_pipeline.adapters.offline.weighing import has_money, is_question, late_bonus, weigh_decision
from pkg_pipeline.memory.records import Person

CHAT_THRESHOLD = 1.7
MEETING_THRESHOLD = 1.5
PROPOSAL_SCORE = 0.9
ACCEPTED_SCORE = 1.2
REFUSED_SCORE = -2.0
ANSWER_REACH = 3
LOOK_BACK = 4
BARE_TERMS = 1
"""A sentence with this many content words or fewer says that something was settled, not what."""
LATE_WEIGHT = 1.0
CAP_PER_DOUBLING = 1.6

Importance = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class FoundDecision:
    """One decision. ``lines`` are message indices, the quoted one first; ``agreed_by`` accepted the proposal."""

    sentence: Sentence
    score: float
    lines: tuple[int, ...]
    day: date
    importance: Importance
    agreed_by: Person | None = None


def most_decisions(reading: Reading) -> int:
    if reading.is_bulletin:
        return 2
    if reading.is_meeting:
        return max(2, round(CAP_PER_DOUBLING * math.log2(max(2.0, reading.words / 400))))
    return max(1, min(len(reading.lines) // 3 + 1, 2 + round(math.log2(max(1.0, len(reading.lines) / 8)))))


def _importance(sentence: Sentence, line: Line) -> Importance:
    table = phrases(sentence.language)
    dated = any(d.day >= line.day for d in find_dates(sentence.text, sentence.language, line.day))
    if has_money(sentence.text) or dated or table.obligation.search(sentence.text):
        return "high"
    return "low" if len(sentence.terms) <= 2 or table.informal.search(sentence.text) else "medium"


def _accepted(reading: Reading, line: Line) -> tuple[Line | None, float]:
    """The first answer of another: an acceptance, a refusal or neither."""
    for later in reading.lines[line.index + 1 : line.index + 1 + ANSWER_REACH]:
        if later.speaker.entity_id == line.speaker.entity_id or not later.sentences:
            continue
        table = phrases(later.language)
        first = later.sentences[0].text
        if table.refusal.search(first):
            return None, REFUSED_SCORE
        if table.acceptance.search(first):
            return later, ACCEPTED_SCORE
        return None, 0.0
    return None, 0.0


def _content_before(reading: Reading, line: Line) -> Sentence | None:
    """What a bare "agreed" refers to: the proposal before it, else the richest sentence."""
    near = [
        s
        for earlier in reading.lines[max(0, line.index - LOOK_BACK) : line.index]
        if not earlier.is_data
        for s in earlier.sentences
    ]
    rich = [s for s in near if len(s.terms) > BARE_TERMS]
    proposals = [s for s in rich if phrases(s.language).proposal.search(s.text)]
    if proposals:
        return proposals[-1]
    return max(rich, key=lambda s: (len(s.terms), s.line)) if rich else None


def _judged(reading: Reading, line: Line, sentence: Sentence) -> FoundDecision | None:
    table = phrases(sentence.language)
    weighed = weigh_decision(sentence, line)
    proposes = table.proposal.search(sentence.text) is not None
    if weighed is None and not proposes:
        return None
    score = weighed.score if weighed else 0.0
    accepter: Line | None = None
    if not reading.is_bulletin:
        accepter, change = _accepted(reading, line)
        score += change if proposes or change < 0 else 0.5 * (accepter is not None)
    if proposes:
        score += PROPOSAL_SCORE if accepter is not None else -PROPOSAL_SCORE
    if is_question(sentence.text) and accepter is None:
        return None
    lines, said = (line.index,), sentence
    if len(sentence.terms) <= BARE_TERMS:
        content = _content_before(reading, line)
        if weighed is None or content is None:
            return None
        lines, said = (content.line, line.index), content
    elif accepter is not None and proposes:
        lines = (line.index, accepter.index)
    score += late_bonus(reading, line.index, LATE_WEIGHT)
    source = reading.lines[said.line]
    return FoundDecision(
        said, score, lines, line.day, _importance(said, source), accepter.speaker if accepter and proposes else None
    )


def find_decisions(reading: Reading) -> list[FoundDecision]:
    """The decisions of a conversation in the order in which they were made, none twice."""
    threshold = MEETING_THRESHOLD if reading.is_meeting else CHAT_THRESHOLD
    found: dict[tuple[int, int], FoundDecision] = {}
    for line in reading.lines:
        if line.is_data:
            continue
        for sentence in line.sentences:
            judged = _judged(reading, line, sentence)
            if judged is None or judged.score < threshold:
                continue
            key = (judged.sentence.line, judged.sentence.place)
            old = found.get(key)
            if old is None:
                found[key] = judged
            else:
                lines = tuple(dict.fromkeys((*old.lines, *judged.lines)))
                found[key] = replace(
                    old,
                    score=max(old.score, judged.score) + 0.3,
                    lines=lines,
                    agreed_by=old.agreed_by or judged.agreed_by,
                )
    kept = sorted(_distinct(list(found.values())), key=lambda d: (-d.score, d.lines[0]))[: most_decisions(reading)]
    return sorted(kept, key=lambda d: (d.lines[0], d.sentence.place))


def _distinct(decisions: list[FoundDecision]) -> list[FoundDecision]:
    """Of decisions that say the same close together, the strongest."""
    kept: list[FoundDecision] = []
    for decision in sorted(decisions, key=lambda d: (-d.score, d.lines[0])):
        terms = set(decision.sentence.terms)
        if not any(
            len(terms & set(k.sentence.terms)) >= 0.6 * max(1, min(len(terms), len(k.sentence.terms)))
            and abs(k.lines[0] - decision.lines[0]) <= 2 * ANSWER_REACH
            for k in kept
        ):
            kept.append(decision)
    return kept
