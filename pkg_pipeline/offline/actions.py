"""Extracts action items: owner, due date, whether done (P13)."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection
from dataclasses import replace
from datetime import date

from pkg_pipeline.memory.records import Owner, Person
from pkg_pipeline.offline.dates import due_date
from pkg_pipeline.offline.found import FoundAction, roots_of
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, named_in, vocative
from pkg_pipeline.offline.weighing import (
    Weighed,
    asks_for_facts,
    is_question,
    late_bonus,
    weigh_action,
)

CHAT_THRESHOLD = 1.5
PROBABILITY = 0.24
"""Share of the tasks found in meetings that people named too; nothing in them tells these from the others."""
MEETING_THRESHOLD = 2.0
CAP_PER_DOUBLING = 0.9
ANSWER_REACH = 4
DONE_REACH_WITHOUT_WORDS = 3
HAN_VERB = re.compile(r"[\u4e00-\u9fff](?<![了已经都刚才我好完过给你您])")
LATE_WEIGHT = 3.5
SPEECH_NAMED_SCORE = 0.8
SPEECH_IMMEDIATE_SCORE = -1.0
SPEECH_CONTINUED_SCORE = -1.0
SPEECH_GENERAL_SCORE = -0.5
SPEECH_QUESTION_SCORE = -1.0
SPEECH_BROKEN_SCORE = -1.0
SHORT_ANSWER_CHARS = 60
SHORT_SENTENCE_WORDS = 6
_FOR_NOW = ("imperative", "please", "can_you", "would_you_mind", "you_can", "let_us")
_ENDED = re.compile(r"[.!?。！？…]\s*$")
TAKEN_UP_SCORE = 1.0
REFUSED_SCORE = -1.5


def _owner(reading: Reading, line: Line, weighed: Weighed) -> tuple[Owner, Person | None]:
    giver, others = weighed.giver, reading.others_than(line.speaker)
    if giver == "both":
        return "both", None
    named, addressee = named_in(weighed.sentence.text, others), reading.addressee(line)
    if giver == "speaker":
        person = line.speaker
    elif giver == "addressee":
        person = vocative(line, others) or addressee or named
    else:
        person = named or line.speaker
    if person is None:
        return ("them" if line.speaker.is_self else "both"), None
    return ("self" if person.is_self else "them"), person


def _speech_score(reading: Reading, weighed: Weighed, line: Line) -> float:
    """In transcribed talk a real duty names a time or a product."""
    text = weighed.sentence.text
    table = phrases(weighed.sentence.language)
    lasting = table.ahead.search(text) is not None or table.work_product.search(text) is not None
    named = named_in(text, reading.others_than(line.speaker)) is not None
    score = SPEECH_NAMED_SCORE * named
    if not lasting and not named:
        score += SPEECH_IMMEDIATE_SCORE * weighed.only(*_FOR_NOW)
        score += SPEECH_GENERAL_SCORE * weighed.only("you_need", "we_will_do", "i_have_to", "imperative")
    score += SPEECH_QUESTION_SCORE * (is_question(text) and not weighed.has("can_you", "would_you_mind"))
    score += SPEECH_BROKEN_SCORE * (mark("broken_off").search(text) is not None)
    earlier = reading.lines[line.index - 1] if line.index else None
    if earlier is not None and earlier.speaker == line.speaker and not _ENDED.search(earlier.message.text):
        score += SPEECH_CONTINUED_SCORE * weighed.only("imperative", "you_can", "gonna_work")
    return score


def _threshold(reading: Reading) -> float:
    return MEETING_THRESHOLD if reading.is_meeting else CHAT_THRESHOLD


def most_items(reading: Reading, per_doubling: float = CAP_PER_DOUBLING) -> int:
    """Most items a person would list: half the lines of a short chat, growing logarithmically."""
    if reading.is_meeting:
        return max(2, round(per_doubling * math.log2(max(2.0, reading.words / 250))))
    return max(2, min(len(reading.lines) // 2 + 1, 3 + round(1.5 * math.log2(max(1.0, len(reading.lines) / 8)))))


def _answer(reading: Reading, line: Line) -> tuple[Line | None, float]:
    """The answer in the next lines of others: accepted, refused, or neutral."""
    for later in reading.lines[line.index + 1 : line.index + 1 + ANSWER_REACH]:
        if later.speaker.entity_id != line.speaker.entity_id and later.sentences:
            table, first = phrases(later.language), later.sentences[0].text
            if table.refusal.search(first):
                return later, REFUSED_SCORE
            return (later, TAKEN_UP_SCORE) if table.acceptance.search(first) else (None, 0.0)
    return None, 0.0


def _candidates(reading: Reading) -> list[tuple[Weighed, Line]]:
    found: list[tuple[Weighed, Line]] = []
    for line in reading.lines:
        best: Weighed | None = None
        for sentence in () if line.is_data else line.sentences:
            if asks_for_facts(sentence):
                continue
            weighed = weigh_action(sentence, line)
            if weighed is None or (is_question(sentence.text) and weighed.giver == "none"):
                continue
            is_best = best is None or weighed.score > best.score
            second = best if is_best else weighed
            if second is not None and second.score >= _threshold(reading):
                found.append((second, line))
            best = weighed if is_best else best
        if best is not None:
            found.append((best, line))
    return found


def _completion(reading: Reading, item: FoundAction) -> Sentence | None:
    """The later sentence that says it is done, by recurring words or a bare "done" close by."""
    roots = roots_of(item.sentence.terms) | (roots_of(item.helper.terms) if item.helper else set())
    asked = item.lines[0]
    for later in reading.lines[asked + 1 :]:
        for sentence in later.sentences:
            said = phrases(sentence.language).done.search(sentence.text)
            if said is None or is_question(sentence.text):
                continue
            if item.owner_person is not None and later.speaker.entity_id != item.owner_person.entity_id:
                continue
            verbs = HAN_VERB.findall(said.group()) if sentence.language == "zh" else []
            shared = roots & roots_of(sentence.terms) or any(v in item.sentence.text for v in verbs)
            if shared or (len(sentence.terms) <= 2 and later.index - asked <= DONE_REACH_WITHOUT_WORDS):
                return sentence
    return None


def _same_duty(reading: Reading, a: FoundAction, b: FoundAction) -> bool:
    """Whether the later ``b`` repeats ``a`` or is its "I will"."""
    if a.owner != b.owner or a.owner_person != b.owner_person or abs(a.lines[0] - b.lines[0]) > ANSWER_REACH:
        return False
    shared = roots_of(a.sentence.terms) & roots_of(b.sentence.terms)
    if a.lines[0] == b.lines[0]:
        return bool(shared) or not b.sentence.terms
    if not reading.is_meeting and reading.lines[a.lines[0]].speaker == reading.lines[b.lines[0]].speaker:
        return len(shared) >= 2
    bare = len(b.sentence.terms) <= 1 or (reading.is_meeting and len(a.sentence.terms) <= 1)
    return bool(shared) or bare or b.lines[0] in a.lines


def _merged(reading: Reading, items: list[FoundAction]) -> list[FoundAction]:
    """Merges a request with the promise that answers it, quoted by the more informative one."""
    kept: list[FoundAction] = []
    for item in sorted(items, key=lambda i: (i.lines[0], i.sentence.place)):
        near = itertools.takewhile(lambda k, at=item.lines[0]: at - k.lines[0] <= ANSWER_REACH, reversed(kept))
        twin = next((k for k in near if _same_duty(reading, k, item)), None)
        if twin is None:
            kept.append(item)
            continue
        first, second = (twin, item) if len(twin.sentence.terms) >= len(item.sentence.terms) else (item, twin)
        united = replace(
            first,
            score=max(twin.score, item.score) + 0.5,
            lines=tuple(dict.fromkeys((*first.lines, *second.lines))),
            due=item.due or twin.due,
            helper=second.sentence,
        )
        kept[kept.index(twin)] = united
    return kept


def find_actions(reading: Reading, settled: Collection[Sentence] = ()) -> list[FoundAction]:
    """The action items in order; ``settled``: sentences of decisions, which are no tasks."""
    items: list[FoundAction] = []
    for weighed, line in _candidates(reading):
        score = weighed.score + late_bonus(reading, line.index, LATE_WEIGHT)
        if reading.is_meeting:
            score += _speech_score(reading, weighed, line)
        taken_up: Line | None = None
        change = 0.0
        if weighed.giver in {"addressee", "both"}:
            taken_up, change = _answer(reading, line)
            score += change
        sentence = weighed.sentence
        if score < _threshold(reading) or (weighed.giver == "both" and sentence in settled):
            continue
        owner, person = _owner(reading, line, weighed)
        due = due_of(line, sentence, taken_up)
        lines = (line.index, taken_up.index) if taken_up is not None and change > 0 else (line.index,)
        items.append(
            FoundAction(
                sentence, score, owner, person, lines, due, probability=PROBABILITY if reading.is_meeting else 1.0
            )
        )
    kept = sorted(_merged(reading, items), key=lambda i: (-i.score, i.lines[0]))[: most_items(reading)]
    return sorted((_closed(reading, item) for item in kept), key=lambda i: (i.lines[0], i.sentence.place))


def _closed(reading: Reading, item: FoundAction) -> FoundAction:
    closing = _completion(reading, item)
    if closing is None:
        return item
    day = reading.lines[closing.line].day
    return replace(item, closed_at=day, closing=closing, lines=(*item.lines, closing.line))


def due_of(line: Line, sentence: Sentence, taken_up: Line | None) -> date | None:
    """The due date: from the acceptance, else the request, else a short sentence beside it."""
    texts = [(sentence.text, line)]
    if taken_up is not None and len(taken_up.message.text) <= SHORT_ANSWER_CHARS:
        texts.insert(0, (taken_up.message.text, taken_up))
    near = (other for other in line.sentences if abs(other.place - sentence.place) == 1)
    texts += [(other.text, line) for other in near if other.words <= SHORT_SENTENCE_WORDS]
    days = (due_date(text, said.language, said.day) for text, said in texts)
    return next((day for day in days if day is not None), None)
