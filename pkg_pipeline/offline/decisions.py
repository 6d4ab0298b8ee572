"""Extracts decisions: by a word that settles, or an accepted proposal (P13)."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from pkg_pipeline.offline.answers import BARE_TERMS
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import FoundDecision, Importance
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, words_of
from pkg_pipeline.offline.weighing import (
    Weighed,
    asks_for_facts,
    has_money,
    is_question,
    late_bonus,
    plain,
    weigh_decision,
)

CHAT_THRESHOLD = 2.0
PROBABILITY = 0.14
"""Share of the decisions found in meetings that people named too; nothing in them tells these from the others."""
MEETING_THRESHOLD = 1.5
PROPOSAL_SCORE = 0.9
ACCEPTED_SCORE = 1.0
CONSENT_SCORE = 1.8
"""Separates binding words ("deal", "договорились") from acknowledgements ("ok")."""
AGAIN_SCORE = 0.6
PROMISED_SCORE = -0.5
"""Score of what is answered by "will do": a task."""
CONCRETE_SCORE = 0.6
CONSENTS_SCORE = 0.8
OFFER_SCORE = 0.5
ECHO_WORDS = 5
REFUSED_SCORE = -2.0
ANSWER_REACH = 3
LOOK_BACK = 4
LATE_WEIGHT = 3.0
CAP_PER_DOUBLING = 1.9


_SUM = re.compile(r"(?<![\d:./-])\d{1,3}(?:[ ,.\u00a0]\d{3})+(?!\d)|(?<![\d:./-])\d{3,}(?![\d:./-])")
"""Numbers of three digits or more, mostly prices; not dates, times or year spans."""


def most_decisions(reading: Reading) -> int:
    if reading.is_bulletin:
        return 2
    if reading.is_meeting:
        return max(2, round(CAP_PER_DOUBLING * math.log2(max(2.0, reading.words / 400))))
    return max(1, min(len(reading.lines) // 3 + 1, 2 + round(math.log2(max(1.0, len(reading.lines) / 8)))))


def _importance(sentence: Sentence, line: Line, around: str) -> Importance:
    """P13: money, deadlines and obligations are high, two-word talk is low."""
    text = f"{sentence.text} {around}"
    deadline = any(d.is_deadline for d in find_dates(sentence.text, sentence.language, line.day))
    obliges = phrases(sentence.language).obligation.search(text)
    if has_money(text) or _SUM.search(sentence.text) or deadline or obliges:
        return "high"
    return "low" if len(sentence.terms) <= 2 and not line.sentences[1:] else "medium"


def _concrete(sentence: Sentence, line: Line) -> bool:
    return any(ch.isdigit() for ch in sentence.text) or bool(find_dates(sentence.text, sentence.language, line.day))


def _answer(reading: Reading, line: Line, sentence: Sentence) -> tuple[Line | None, float]:
    """The line that accepts or repeats the sentence, and its score."""
    near = reading.lines[line.index + 1 : line.index + 1 + ANSWER_REACH]
    of_others = (one for one in near if one.speaker.entity_id != line.speaker.entity_id)
    later = next((one for one in of_others if one.sentences and not one.is_data), None)
    if later is None:
        return None, 0.0
    table, first = phrases(later.language), later.sentences[0]
    whole = " ".join(s.text for s in later.sentences[:2])
    again = _says_again(first, whole, sentence)
    accepts = table.acceptance.search(first.text)
    if table.refusal.search(first.text):
        return None, REFUSED_SCORE
    if is_question(later.message.text) and not accepts:
        return None, 0.0
    if table.promise.search(whole):
        return None, PROMISED_SCORE
    if table.consent.search(whole):
        return later, CONSENT_SCORE + AGAIN_SCORE * again
    if accepts:
        return later, ACCEPTED_SCORE + AGAIN_SCORE * again
    few = ECHO_WORDS * (2 if later.language == "zh" else 1)
    echoes = again and first.words <= few and set(first.terms) <= set(sentence.terms)
    return (later, ACCEPTED_SCORE) if echoes and not reading.is_meeting else (None, 0.0)


def _is_offer(sentence: Sentence) -> bool:
    return is_question(sentence.text) and not mark("information").search(plain(sentence.text, sentence.language))


def _answers_somebody(reading: Reading, line: Line) -> bool:
    return line.index > 0 and reading.lines[line.index - 1].speaker != line.speaker


def _says_again(first: Sentence, whole: str, sentence: Sentence) -> bool:
    """Whether an answer repeats a number or content word, or is one word of the question ("… go?" "Go.")."""
    numbers = set(re.findall(r"\d+", whole)) & set(re.findall(r"\d+", sentence.text))
    if numbers or set(first.terms) & set(sentence.terms):
        return True
    single = words_of(first.text, first.language)
    return len(single) == 1 and len(single[0]) > 1 and single[0] in words_of(sentence.text, sentence.language)


def _content_before(reading: Reading, line: Line) -> Sentence | None:
    """What a bare "agreed" refers to: the proposal before it, else the richest sentence."""
    earlier = reading.lines[max(0, line.index - LOOK_BACK) : line.index]
    rich = [s for one in earlier if not one.is_data for s in one.sentences if len(s.terms) > BARE_TERMS]
    proposals = [s for s in rich if phrases(s.language).proposal.search(s.text)]
    return proposals[-1] if proposals else max(rich, key=lambda s: (len(s.terms), s.line), default=None)


def _judged(reading: Reading, line: Line, sentence: Sentence) -> FoundDecision | None:
    table = phrases(sentence.language)
    weighed = weigh_decision(sentence, line)
    proposes = table.proposal.search(sentence.text) is not None
    concrete = _concrete(sentence, line)
    if weighed is None and not proposes and reading.is_meeting:
        return None
    if asks_for_facts(sentence):
        return None
    accepter, answer = (None, 0.0) if reading.is_bulletin else _answer(reading, line, sentence)
    if is_question(sentence.text) and accepter is None:
        return None
    if weighed is None and not proposes and not concrete and answer < CONSENT_SCORE + AGAIN_SCORE:
        return None
    score = (weighed.score if weighed else 0.0) + late_bonus(reading, line.index, LATE_WEIGHT)
    if not reading.is_meeting:
        score += CONSENTS_SCORE * (table.consent.search(sentence.text) is not None and _answers_somebody(reading, line))
        score += OFFER_SCORE * (accepter is not None and _is_offer(sentence))
    if proposes or (answer != 0 and not reading.is_meeting) or answer < 0:
        score += answer
    else:
        score += 0.5 * (accepter is not None)
    score += CONCRETE_SCORE * (concrete and not reading.is_meeting)
    if proposes:
        score += PROPOSAL_SCORE if accepter is not None else -PROPOSAL_SCORE
    return _placed(reading, line, sentence, weighed, accepter, score)


def _placed(
    reading: Reading, line: Line, sentence: Sentence, weighed: Weighed | None, accepter: Line | None, score: float
) -> FoundDecision | None:
    """The decision with its quote; of a bare "agreed", what it refers to."""
    lines, said = (line.index,), sentence
    if len(sentence.terms) <= BARE_TERMS and not _concrete(sentence, line):
        following = [s for s in line.sentences if s.place == sentence.place + 1 and len(s.terms) > BARE_TERMS]
        content = following[0] if following else _content_before(reading, line)
        if weighed is None or content is None:
            return None
        lines, said = tuple(dict.fromkeys((content.line, line.index))), content
    elif accepter is not None:
        lines = (line.index, accepter.index)
    source = reading.lines[said.line]
    around = " ".join(reading.lines[i].message.text[:300] for i in lines)
    agreed = (accepter.speaker,) if accepter and accepter.speaker != source.speaker else ()
    proposer = source.speaker if agreed else None
    return FoundDecision(said, score, lines, line.day, _importance(said, source, around), agreed, proposer, PROBABILITY)


def find_decisions(reading: Reading) -> list[FoundDecision]:
    """The decisions in order, without duplicates."""
    threshold = MEETING_THRESHOLD if reading.is_meeting else CHAT_THRESHOLD
    found: dict[tuple[int, int], FoundDecision] = {}
    for line, sentence in reading.heard:
        fresh = _judged(reading, line, sentence)
        if fresh is None or fresh.score < threshold:
            continue
        key = (fresh.sentence.line, fresh.sentence.place)
        if (old := found.get(key)) is not None:
            lines = tuple(dict.fromkeys((*old.lines, *fresh.lines)))
            score, agreed_by = max(old.score, fresh.score) + 0.3, old.agreed_by or fresh.agreed_by
            fresh = replace(old, score=score, lines=lines, agreed_by=agreed_by)
        found[key] = fresh
    kept = sorted(_distinct(list(found.values())), key=lambda d: (-d.score, d.lines[0]))[: most_decisions(reading)]
    return sorted(kept, key=lambda d: (d.lines[0], d.sentence.place))


def _same_matter(a: FoundDecision, b: FoundDecision) -> bool:
    if abs(a.lines[0] - b.lines[0]) > 2 * ANSWER_REACH:
        return False
    first, second = set(a.sentence.terms), set(b.sentence.terms)
    alike = len(first & second) >= 0.5 * max(1, min(len(first), len(second)))
    return alike or bool(set(a.lines) & set(b.lines))


def _distinct(decisions: list[FoundDecision]) -> list[FoundDecision]:
    """The last of near decisions on one matter; earlier ones add to its score."""
    kept: list[FoundDecision] = []
    for decision in sorted(decisions, key=lambda d: (-d.lines[0], -d.sentence.place)):
        twin = next((k for k in kept if _same_matter(k, decision)), None)
        if twin is None:
            kept.append(decision)
        else:
            kept[kept.index(twin)] = replace(twin, score=max(twin.score, decision.score) + 0.2)
    return kept
