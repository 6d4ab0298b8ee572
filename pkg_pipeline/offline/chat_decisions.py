"""Finds the decisions of a chat: what one proposed and another agreed to, or what somebody says is fixed (P13, B16)."""

from __future__ import annotations

import re
from typing import Final, Literal

from pkg_pipeline.memory.records import Person
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.answers import asides, burst_after
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import FoundDecision, roots_of
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.line_context import NOBODY
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.settlements import BARE_TERMS, CLASS_OF, SUM, Settled, dated, says_what, settled_of
from pkg_pipeline.offline.weighing import asks_for_facts, has_money, is_question, weigh_action, weigh_decision

HEAD: Final = "chat_decisions"
THRESHOLD = 0.5
"""From this probability on a decision is published."""
DOUBTFUL = 0.2
"""From this probability on it is one if it takes the place of what was decided before."""
CONTEST_REACH = 3


def features(reading: Reading, one: Settled) -> dict[str, float]:
    """What the head weighs: agreement, words of settlement, what is fixed, and what speaks against it."""
    said = set[str]().union(*(asides(s.text, s.language) for s in one.said))
    signals = [w for s in one.said if (w := weigh_decision(s, reading.lines[s.line], in_chat=True)) is not None]
    found = {f"settles {CLASS_OF[g.name]}" for w in signals for g in w.signals if g.name in CLASS_OF}
    found |= {f"aside {name}" for name in said & {"wish", "playful", "care", "advice", "agenda", "immediate", "phatic"}}
    found |= {one.agreement} if one.agreement else {"nobody agreed"}
    duty = weigh_action(one.offer or one.content, reading.lines[(one.offer or one.content).line], in_chat=True)
    text = " ".join(reading.lines[i].message.text for i in one.lines)
    decided = "settles decided" in found
    checks = {
        "money": any(has_money(s.text) for s in one.said),
        "number": any(SUM.search(s.text) for s in one.said),
        "clock": any(mark("clock").search(s.text) for s in one.said),
        "dated": any(dated(s, reading.lines[s.line]) for s in one.said),
        "echo": _echoes(reading, one),
        "question": is_question(one.content.text),
        "question for facts": mark("information").search(one.content.text) is not None
        and is_question(one.content.text),
        "condition": "condition" in said and "polite" not in said,
        "unreal": "unreal" in said and "polite" not in said,
        "hedge": mark("hedge").search(one.content.text) is not None,
        "past": mark("past").search(one.content.text) is not None,
        "request": duty is not None and duty.giver == "addressee",
        "promise": duty is not None and duty.giver == "speaker",
        "says done": phrases(one.content.language).done.search(one.content.text) is not None,
        "laughter": "laughter" in asides(text, one.content.language),
        "recalled": "recalled" in said,
        "contested": _contested(reading, one),
        "no terms": not one.content.terms,
        "one term": len(one.content.terms) == 1,
        "long": one.content.words > 40,
        "several agreed": len(one.agreed) > 1,
        "alone": not one.agreed and not decided,
        "proposal": any(phrases(s.language).proposal.search(s.text) for s in one.said),
        "also settled": one.settling is not None and bool(one.agreed),
    }
    found |= {name for name, holds in checks.items() if holds}
    return dict.fromkeys(sorted(found), 1.0) | {"score": min(one.score, 5.0)} | _of_lines(reading, one)


def _of_lines(reading: Reading, one: Settled) -> dict[str, float]:
    """What the head of lines says of the lines of the decision."""
    said = sorted((reading.chances[line].decision for line in one.lines), reverse=True)
    return {
        "line": said[0] / 2,
        "line second": said[1] / 2 if len(said) > 1 else 0.0,
        "line content": reading.chances[one.content.line].decision / 2,
        "line task": max(reading.chances[line].task for line in one.lines) / 2,
        "line after": _most(reading, max(one.lines) + 1),
        "line before": _most(reading, min(one.lines) - 2),
    }


def _most(reading: Reading, first: int) -> float:
    """The most that the head says of two lines in a row."""
    return max((one.decision for one in reading.chances[max(0, first) : max(0, first + 2)]), default=NOBODY) / 2


def _echoes(reading: Reading, one: Settled) -> bool:
    """Whether an agreement repeats a number or a word of what was offered."""
    if one.offer is None:
        return False
    offered = set(re.findall(r"\d+", one.offer.text)) | roots_of(one.offer.terms)
    answers = [s for _, i in one.agreed for s in reading.lines[i].sentences]
    return any(offered & (set(re.findall(r"\d+", s.text)) | roots_of(s.terms)) for s in answers)


def _contested(reading: Reading, one: Settled) -> bool:
    """Whether another took it back or spoke against it right after."""
    last = max(one.lines)
    own = {reading.lines[one.content.line].speaker} if not one.agreed else set[Person]()
    for later in reading.lines[last + 1 : last + 1 + CONTEST_REACH]:
        if later.sentences:
            said = asides(later.message.text[:200], later.language)
            if "contest" in said or (later.speaker not in own and "refusal" in said and not one.agreed):
                return True
    return "contest" in asides(one.content.text, one.content.language)


def _importance(one: Settled, line: Line, text: str) -> Literal["high", "medium", "low"]:
    """P13: money, deadlines and obligations are high, two-word talk is low."""
    deadline = any(d.is_deadline for d in find_dates(one.content.text, one.content.language, line.day))
    if has_money(text) or deadline or phrases(one.content.language).obligation.search(text):
        return "high"
    return "low" if len(one.content.terms) <= 2 and not says_what(one.content, line) else "medium"


def _told(reading: Reading, one: Settled) -> tuple[Sentence, Sentence | None] | None:
    """What states the decision, and what it answers where it says little; None if it is only asked, not answered."""
    last = reading.lines[one.content.line].sentences[-1]
    if not one.agreed and last.place > one.content.place and _asks(last):
        return None  # "Quote 420 euro. Accept?", not answered
    if not _asks(one.content):
        is_thin = len(one.content.terms) <= BARE_TERMS and one.offer is not None and one.offer.line < one.content.line
        return one.content, one.offer if is_thin else None
    answers = _answers(reading, one)
    told = next((s for s in answers if says_what(s, reading.lines[s.line])), None)
    if told is None and not asks_for_facts(one.content):
        told = next(iter(answers), None)
    return None if told is None else (told, one.content)


def _answers(reading: Reading, one: Settled) -> list[Sentence]:
    """What the first line of another that does not ask says after the content: of its own lines, or next."""
    said_by = reading.lines[one.content.line].speaker
    after = [reading.lines[i] for i in sorted(one.lines) if i > one.content.line]
    after += burst_after(reading, reading.lines[one.content.line])
    told = ([s for s in line.sentences if not _asks(s)] for line in after if line.speaker != said_by)
    return next((one for one in told if one), [])


def _leaves_open(reading: Reading, sentence: Sentence) -> bool:
    """Whether it puts off deciding ("let me think", "再说吧"), or refuses and offers nothing else."""
    said = asides(sentence.text, sentence.language)
    line = reading.lines[sentence.line]
    is_put_off = in_any("offline", "closing", "undecided").search(sentence.text) is not None
    return is_put_off or ("refusal" in said and not says_what(sentence, line))


def _asks(sentence: Sentence) -> bool:
    return is_question(sentence.text) or sentence.text.rstrip(" )").endswith(("?", "？"))


def find_chat_decisions(reading: Reading) -> tuple[list[FoundDecision], list[FoundDecision]]:
    """The decisions of a chat in order, one of each matter; and what is too unlikely to be told as one, unless it
    changes one that is known.
    """
    found: list[FoundDecision] = []
    for one in settled_of(reading):
        sure = probability(HEAD, features(reading, one))
        told = _told(reading, one)
        if told is None or sure < DOUBTFUL or _leaves_open(reading, told[0]):
            continue
        sentence, before = told
        line = reading.lines[one.content.line]
        text = " ".join(reading.lines[i].message.text[:300] for i in one.lines)
        agreed = tuple(person for person, _ in one.agreed)
        day = reading.lines[max(one.lines)].day
        found.append(
            FoundDecision(
                sentence,
                sure,
                one.lines,
                day,
                _importance(one, line, text),
                agreed_by=agreed,
                proposed_by=one.proposed_by if agreed else None,
                probability=sure,
                before=before,
            )
        )
    found.sort(key=lambda d: (d.lines[0], d.sentence.place))
    return [one for one in found if one.probability >= THRESHOLD], [one for one in found if one.probability < THRESHOLD]
