"""Finds the requests in letters: many senders who write once, each line judged by a head over its words and vector."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from pkg_pipeline.memory.records import Owner, Person
from pkg_pipeline.offline import genre_heads
from pkg_pipeline.offline.actions import due_of
from pkg_pipeline.offline.found import FoundAction
from pkg_pipeline.offline.line_features import Named, of_line
from pkg_pipeline.offline.line_head import MOST_CHARS, Embed
from pkg_pipeline.offline.reading import Line, Reading, Sentence, vocative
from pkg_pipeline.offline.weighing import Weighed, is_question, weigh_action

THRESHOLD: Final = 0.45
"""From this probability on a request is published."""
MOST = 40


def features(line: Line) -> Named:
    return of_line(line) | {"length": math.log1p(len(line.message.text)) / 3}


def judged(reading: Reading, embed: Embed) -> Reading:
    """The reading with how probably each line asks for something; what says nothing or is data asks for nothing."""
    lines = [line for line in reading.lines if line.sentences and not line.is_data]
    vectors = embed([line.message.text[:MOST_CHARS] for line in lines])
    sure = genre_heads.probabilities("request of a letter", [features(line) for line in lines], vectors)
    known = dict(zip((line.index for line in lines), sure.tolist(), strict=True))
    return replace(reading, requests=tuple(known.get(line.index, 0.0) for line in reading.lines))


def find_requests(reading: Reading) -> list[FoundAction]:
    """The requests of letters ``judged`` in order, at most ``MOST``, the most probable."""
    found = [(one, line) for one, line in zip(reading.requests, reading.lines, strict=True) if one >= THRESHOLD]
    kept = sorted(found, key=lambda pair: (-pair[0], pair[1].index))[:MOST]
    return [_request(reading, line, one) for one, line in sorted(kept, key=lambda pair: pair[1].index)]


def _request(reading: Reading, line: Line, sure: float) -> FoundAction:
    said = [(weigh_action(sentence, line), sentence) for sentence in line.sentences]
    weighed, sentence = max(said, key=lambda pair: _asks(*pair))
    owner, person = _owner(reading, line, weighed)
    return FoundAction(sentence, sure, owner, person, (line.index,), due_of(line, sentence, None), probability=sure)


def _asks(weighed: Weighed | None, sentence: Sentence) -> tuple[bool, float, bool, int]:
    """What is quoted of a letter: the strongest phrase of duty, else a question, else what says most."""
    return weighed is not None, weighed.score if weighed else 0.0, is_question(sentence.text), len(sentence.terms)


def _owner(reading: Reading, line: Line, weighed: Weighed | None) -> tuple[Owner, Person | None]:
    """Who promises, else who is called by name; what is asked of nobody by name is everybody's."""
    promises = weighed is not None and weighed.giver == "speaker"
    person = line.speaker if promises else vocative(line, reading.others_than(line.speaker))
    if person is None:
        return "both", None
    return ("self" if person.is_self else "them"), person
