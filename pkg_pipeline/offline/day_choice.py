"""The day of what a duty is for: "lunch is on the 8th" - "I'll make the cake". A head weighs the days around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.dates import EXACT, PARTS_OF_DAY, FoundDate, is_beginning, is_of_another
from pkg_pipeline.offline.deeds import deeds_named
from pkg_pipeline.offline.duties import Duty
from pkg_pipeline.offline.found import roots_of
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.reading import Reading, Sentence
from pkg_pipeline.offline.told_days import days_told
from pkg_pipeline.offline.weighing import is_question

HEAD: Final = "due_days"
THRESHOLD = 0.6
ONLY_THRESHOLD = 0.25
"""A day is taken from this probability on; where it is the only one that may be meant from the lower one on."""
BEFORE, AFTER = 14, 4
"""Lines before the first and after the last cue of a duty whose days may be meant."""
NEAR = (1, 2, 4, 8)
"""Bounds of the lines between a day and the duty."""
AHEAD = (1, 7, 30, 90)
"""Bounds of the days from when it is said."""
MOST = 4
"""What there is more of counts as so much."""
SCALE = 4.0
"""Log-odds of a line are divided by this."""
ANCHORS = ("at_event", "then", "anchor")
PREPARES, TELLS = frozenset({"bring", "buy", "make"}), frozenset({"send", "check", "write", "call"})


@dataclass(slots=True)
class NamedDay:
    """A day that may be meant. ``line``: the first that names it; ``features``: of all that do."""

    day: date
    line: int
    features: dict[str, float] = field(default_factory=dict[str, float])


def day_of_event(reading: Reading, duty: Duty, only: date | None = None) -> NamedDay | None:
    """The likeliest day named around a duty that has none of its own, if it is likely enough."""
    weighed = [(probability(HEAD, one.features), one) for one in days_around(reading, duty)]
    weighed = [pair for pair in weighed if pair[0] >= (ONLY_THRESHOLD if pair[1].day == only else THRESHOLD)]
    return max(weighed, key=lambda pair: pair[0], default=(0.0, None))[1]


def days_around(reading: Reading, duty: Duty) -> list[NamedDay]:
    """Every day named around a duty, with what the head weighs."""
    mentions = list(_mentions(reading, duty))
    first = duty.cues[0].line
    nearest = max((s.line for s, found in mentions if s.line <= first.index and found.kind in EXACT), default=-1)
    count = len({found.day for _, found in mentions})
    about = dict.fromkeys(_of_duty(duty), 1.0) | {
        f"days {min(count, MOST)}": 1.0,
        "told task": max(reading.chances[cue.line.index].task for cue in duty.cues) / SCALE,
        "told decides": max(reading.chances[cue.line.index].decision for cue in duty.cues) / SCALE,
    }
    days: dict[date, NamedDay] = {}
    for sentence, found in mentions:
        day = found.expected
        one = days.setdefault(day, NamedDay(day, sentence.line, dict(about)))
        one.features |= dict.fromkeys(_of_mention(reading, duty, sentence, found), 1.0)
        if sentence.line == nearest:
            one.features["nearest before"] = 1.0
        chance = reading.chances[sentence.line]
        for name, odds in (("line task", chance.task), ("line decides", chance.decision)):
            one.features[name] = max(one.features.get(name, -SCALE), odds / SCALE)
    for one in days.values():
        one.features[f"in days {sum((one.day - first.day).days >= bound for bound in AHEAD)}"] = 1.0
        for kind in ("prepares", "tells"):
            if kind in one.features and "event" in one.features:
                one.features[f"{kind} for event"] = 1.0
    return list(days.values())


def _mentions(reading: Reading, duty: Duty) -> Iterator[tuple[Sentence, FoundDate]]:
    first, last = duty.cues[0].line, max(cue.line.index for cue in duty.cues)
    own = [cue.sentence for cue in duty.cues]
    for line in reading.lines[max(0, first.index - BEFORE) : last + AFTER + 1]:
        for sentence in () if line.is_data else line.sentences:
            for found in days_told(reading, line, sentence.text, sentence.language):
                of_another = sentence in own and is_of_another(sentence.text, sentence.language, found)
                if found.day >= max(line.day, first.day) and not of_another:
                    yield sentence, found


def _of_duty(duty: Duty) -> set[str]:
    """What is to be done, and whether it is said to be for something."""
    texts = [cue.sentence.text for cue in duty.cues]
    deeds = frozenset[str]().union(*(deeds_named(text) for text in texts))
    names = {f"deed {name}" for name in deeds} | {f"kind {kind}" for kind in duty.told.kinds}
    names |= {name for name in ANCHORS if any(in_any("offline", "dates", name).search(text) for text in texts)}
    names |= {"prepares"} if deeds & PREPARES else set()
    names |= {"tells"} if deeds & TELLS else set()
    names |= {f"terms {min(len(duty.told.sentence.terms), MOST)}", duty.told.sentence.language}
    return names | {"promised" if duty.promise is not None else "asked"}


def _of_mention(reading: Reading, duty: Duty, sentence: Sentence, found: FoundDate) -> Iterator[str]:
    """Where a day is named, by whom, and with what."""
    line = reading.lines[sentence.line]
    where = _where(duty, line.index)
    side = where.split()[0]
    yield where
    yield f"{side} {'part' if found.kind in PARTS_OF_DAY else 'exact' if found.kind in EXACT else found.kind}"
    speakers = {cue.line.speaker.entity_id for cue in duty.cues}
    yield f"{side} by {'one of them' if line.speaker.entity_id in speakers else 'another'}"
    if found.is_deadline:
        yield f"deadline {side}"
    checks: Mapping[str, bool] = {
        "deadline": found.is_deadline,
        "begins": is_beginning(sentence.text, sentence.language, found),
        "event": in_any("offline", "dates", "event").search(line.message.text) is not None,
        "in question": is_question(sentence.text),
        "shares a word": bool(roots_of(sentence.terms) & duty.roots),
        "bare day": len(sentence.terms) <= 2,
    }
    yield from (name for name, holds in checks.items() if holds)
    yield from (f"day of {name}" for name in deeds_named(sentence.text))


def _where(duty: Duty, index: int) -> str:
    lines = [cue.line.index for cue in duty.cues]
    gap = min(abs(index - one) for one in lines)
    if gap == 0:
        return "beside"
    return f"{'before' if index < lines[0] else 'after'} {sum(gap > bound for bound in NEAR)}"
