"""What the rules see in a line of a chat and in the lines around it, by name: what the head of lines weighs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import timedelta

from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.answers import NUMBER, RICH_TERMS, asides
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.found import roots_of
from pkg_pipeline.offline.phrases import Phrases, mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.weighing import asks_for_facts, has_money, is_question, weigh_action, weigh_decision

REACH = 3
"""Lines before and after in which another speaker's line is looked for."""
FAR = timedelta(minutes=30)
LONG_TERMS = 20
FEW_WORDS = 3
_WORDS = (
    "proposal",
    "acceptance",
    "refusal",
    "done",
    "obligation",
    "promise",
    "consent",
    "ahead",
    "work_product",
    "idle",
)
_MARKS = (
    "hedge",
    "negation",
    "past",
    "condition",
    "clock",
    "information",
    "fact_question",
    "second_person",
    "from_then",
    "attends",
    "takes",
)
_CHANGES = ("changed", "cancelled", "undecided")
"""Of the words of ``closing.toml``: that something is now otherwise, called off, left open."""

Named = dict[str, float]


def _words(table: Phrases, text: str) -> Iterable[str]:
    return (name for name in _WORDS if getattr(table, name).search(text))


def _of_sentence(line: Line, sentence: Sentence, found: Named) -> None:
    action = weigh_action(sentence, line, in_chat=True)
    if action is not None:
        found["duty"] = max(found.get("duty", -2.0), min(action.score, 5.0))
        found[f"duty of {action.giver}"] = 1.0
        found |= dict.fromkeys((f"duty {signal.name}" for signal in action.signals), 1.0)
    decision = weigh_decision(sentence, line, in_chat=True)
    if decision is not None:
        found["settles"] = max(found.get("settles", -2.0), min(decision.score, 5.0))
        found |= dict.fromkeys((f"settles {signal.name}" for signal in decision.signals), 1.0)
    text = sentence.text
    days = [one for one in find_dates(text, sentence.language, line.day) if one.day >= line.day]
    names = [f"says {name}" for name in _words(phrases(sentence.language), text)]
    names += [f"mark {name}" for name in _MARKS if mark(name).search(text)]
    names += [name for name in _CHANGES if in_any("offline", "closing", name).search(text)]
    names += [f"aside {name}" for name in asides(text, sentence.language)]
    checks = {
        "money": has_money(text),
        "question": is_question(text),
        "question for facts": asks_for_facts(sentence),
        "dated": bool(days),
        "deadline": any(one.is_deadline for one in days),
    }
    found |= dict.fromkeys([*names, *(name for name, holds in checks.items() if holds)], 1.0)


def of_line(line: Line) -> Named:
    """The features of one line by itself."""
    found: Named = {}
    for sentence in line.sentences:
        _of_sentence(line, sentence, found)
    terms = sum(len(sentence.terms) for sentence in line.sentences)
    checks = {
        "number": NUMBER.search(line.message.text) is not None,
        "no terms": terms == 0,
        "one term": terms == 1,
        "rich": terms >= RICH_TERMS,
        "long": terms > LONG_TERMS,
        "few words": sum(sentence.words for sentence in line.sentences) <= FEW_WORDS,
        "file": bool(line.message.attachments),
    }
    return found | {name: 1.0 for name, holds in checks.items() if holds}


def _shared(line: Line, other: Line) -> Iterable[str]:
    """Whether both name a number or a word, or other numbers: "375" - "375, if it's warm", or "360" instead."""
    mine, theirs = (set(re.findall(r"\d+", one.message.text)) for one in (line, other))
    if mine and theirs:
        yield "same number" if mine & theirs else "other number"
    first, second = (roots_of(term for s in one.sentences for term in s.terms) for one in (line, other))
    if first & second:
        yield "same word"


def neighbours(reading: Reading, index: int) -> tuple[int | None, int | None]:
    """The nearest line of another speaker before a line, and after it."""
    lines, speaker = reading.lines, reading.lines[index].speaker
    before = range(index - 1, max(-1, index - 1 - REACH), -1)
    after = range(index + 1, min(len(lines), index + 1 + REACH))
    first, second = (next((i for i in places if lines[i].speaker != speaker), None) for places in (before, after))
    return first, second


def of_reading(reading: Reading) -> list[Named]:
    """The features of every line with those of the lines around it."""
    alone = [of_line(line) for line in reading.lines]
    return [_around(reading, index, alone) for index in range(len(alone))]


def _around(reading: Reading, index: int, alone: list[Named]) -> Named:
    lines, line = reading.lines, reading.lines[index]
    before, after = neighbours(reading, index)
    own_before = index - 1 if index and lines[index - 1].speaker == line.speaker else None
    own_after = index + 1 if index + 1 < len(lines) and lines[index + 1].speaker == line.speaker else None
    found = dict(alone[index])
    places = {"before": before, "after": after, "own before": own_before, "own after": own_after}
    for name, place in places.items():
        if place is None:
            found[f"{name}: none"] = 1.0
            continue
        found |= {f"{name}: {key}": value for key, value in alone[place].items()}
        found |= {f"{name}: {key}": 1.0 for key in _shared(line, lines[place])}
        if abs(lines[place].message.sent_at - line.message.sent_at) > FAR:
            found[f"{name}: far"] = 1.0
    checks = {
        "by me": line.speaker.is_self,
        "of several": len(reading.speakers) > 2,
        "alone": len(lines) == 1,
        "first": index == 0,
        "last": index == len(lines) - 1,
        "Chinese": reading.language == "zh",
        "Russian": reading.language == "ru",
    }
    found |= {name: 1.0 for name, holds in checks.items() if holds}
    return found | {"length": math.log1p(len(line.message.text)) / 3}
