"""Finds the tasks of a chat: cues of duty with what answers them, and how probable each group is (P13, B16)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from pkg_pipeline.memory.records import Owner, Person
from pkg_pipeline.offline.answers import asides, said_before, says_little
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.due_days import DueDay, due_of
from pkg_pipeline.offline.duties import RICH_TERMS, TAKEN, Cue, Duty, duties_of, lines_of
from pkg_pipeline.offline.found import FoundAction
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, named_in, vocative
from pkg_pipeline.offline.weighing import has_money, is_question

HEAD: Final = "chat_tasks"
THRESHOLD = 0.42
"""From this probability on a task is published."""
SILENT_FROM = 0.25
"""From here on one waits unseen for a talk that keeps it."""
TOGETHER = frozenset({"together", "free"})
ON_THE_SPOT = timedelta(minutes=15)
LONG_WORDS = 45
ASIDES = frozenset({"wish", "playful", "care", "advice", "agenda", "if_needed", "benefit", "announces"})
"""Turns of phrase that the head weighs, beside those that it weighs together with others."""


def features(reading: Reading, duty: Duty) -> dict[str, float]:
    """What the head weighs: classes of phrases, form, asides, the answer, and what was asked before."""
    told, request, promise = duty.told, duty.request, duty.promise
    said = set[str]().union(*(cue.asides for cue in duty.cues))
    found = {f"kind {kind}" for cue in duty.cues for kind in cue.kinds}
    found |= {f"aside {name}" for name in said & ASIDES}
    dated = any(_is_dated(cue) for cue in duty.cues)
    answer = duty.answer.kind if duty.answer else "none"
    taken = promise is not None and request is not None
    if request is not None:
        found.add("answer promised" if taken else f"answer {answer}")
    else:
        found |= {f"reply {answer}"} & {"reply refused", "reply already", "reply accepted", "reply thanked"}
        found |= {"was asked"} if _was_asked(reading, duty.cues[0].line) else set()
    taken = taken or (request is not None and answer in TAKEN)
    texts = [cue.line.message.text for cue in duty.cues] + ([duty.answer.text] if duty.answer else [])
    checks = {
        "dated": dated,
        "deadline": any(_has_deadline(cue) for cue in duty.cues),
        "amount": any(has_money(cue.sentence.text) for cue in duty.cues),
        "product": any(phrases(c.sentence.language).work_product.search(c.sentence.text) for c in duty.cues),
        "no terms": not told.sentence.terms,
        "one term": len(told.sentence.terms) == 1,
        "rich": len(told.sentence.terms) >= RICH_TERMS,
        "long": told.sentence.words > LONG_WORDS,
        "question": promise is None and is_question(told.sentence.text) and "kind can_you" not in found,
        "condition": _any(duty, "condition") and not _any(duty, "polite"),
        "unreal": _any(duty, "unreal") and not _any(duty, "polite"),
        "hedge": mark("hedge").search(told.sentence.text) is not None,
        "negation": mark("negation").search(told.sentence.text) is not None,
        "past": mark("past").search(told.sentence.text) is not None,
        "says done": phrases(told.sentence.language).done.search(told.sentence.text) is not None,
        "laughter": any(_laughs(text, told) for text in texts[: len(duty.cues)]),
        "laughter after": duty.answer is not None and _laughs(texts[-1], told),
        "phatic bare": "phatic" in said and not dated and len(told.sentence.terms) <= RICH_TERMS - 1 and not taken,
        "phatic": "phatic" in said,
        "immediate": "immediate" in said and not dated,
        "alone": promise is None and not taken and not dated and not found & {"kind please", "kind can_you"},
        "care unpromised": bool(said & {"care", "advice"}) and promise is None,
        "offer alone": "offer" in said and promise is None and not taken and "kind can_you" not in found,
        "asked and promised": promise is not None and request is not None,
        "Chinese": told.sentence.language == "zh",
    }
    found |= {name for name, holds in checks.items() if holds}
    score = max(cue.weighed.score for cue in duty.cues)
    return dict.fromkeys(sorted(found), 1.0) | {"score": max(-2.0, min(score, 5.0))} | _of_lines(reading, duty)


def _of_lines(reading: Reading, duty: Duty) -> dict[str, float]:
    """What the head of lines says of the lines of the duty and of the answer."""
    said = [reading.chances[cue.line.index] for cue in duty.cues]
    answer = reading.chances[duty.answer.line.index].task if duty.request and duty.answer else 0.0
    return {
        "line": max(chance.task for chance in said) / 2,
        "line told": reading.chances[duty.told.line.index].task / 2,
        "line decides": max(chance.decision for chance in said) / 2,
        "line answer": answer / 2,
    }


def _any(duty: Duty, name: str) -> bool:
    return any(name in cue.asides for cue in duty.cues)


def _laughs(text: str, cue: Cue) -> bool:
    return "laughter" in asides(text, cue.sentence.language)


def _is_dated(cue: Cue) -> bool:
    return any(
        found.day >= cue.line.day for found in find_dates(cue.sentence.text, cue.sentence.language, cue.line.day)
    )


def _has_deadline(cue: Cue) -> bool:
    found = find_dates(cue.sentence.text, cue.sentence.language, cue.line.day)
    return any(one.is_deadline and one.day >= cue.line.day for one in found)


def _was_asked(reading: Reading, line: Line) -> bool:
    """Whether another asked something just before."""
    for earlier in reversed(reading.lines[max(0, line.index - 2) : line.index]):
        if earlier.speaker.entity_id != line.speaker.entity_id:
            return is_question(earlier.message.text)
    return False


def asked_before(reading: Reading, duty: Duty) -> Sentence | None:
    """What a promise of few words answers, said by another just before."""
    told = duty.told
    if not says_little(told.sentence, told.line):
        return None
    if duty.request is not None:
        return duty.request.sentence if told.is_promise else None
    return said_before(reading, told.line)


def _cited(duty: Duty, before: Sentence | None, due: DueDay | None) -> tuple[int, ...]:
    """The lines that say it, what it answers, and who names its day."""
    beside = [one.line for one in (before, due) if one is not None]
    return tuple(dict.fromkeys((*lines_of(duty), *beside)))


def _on_the_spot(duty: Duty) -> bool:
    """Whether a file answered the request within minutes: done before it was a task."""
    request, answer = duty.request, duty.answer
    if request is None or answer is None or answer.kind != "file" or _is_dated(request):
        return False
    return answer.line.message.sent_at - request.line.message.sent_at <= ON_THE_SPOT


def _owner(reading: Reading, duty: Duty) -> tuple[Owner, Person | None]:
    cue = duty.promise or duty.request or duty.cues[0]
    others = reading.others_than(cue.line.speaker)
    giver = cue.giver
    if giver == "both" and len(others) == 1 and "we_will" in cue.kinds and not cue.kinds & TOGETHER:
        giver = "speaker"  # "we'll pay by Friday": the other one's firm, not both
    if giver == "both":
        return "both", None
    if giver == "speaker":
        person: Person | None = cue.line.speaker
    else:
        taker = duty.answer.line.speaker if duty.answer and duty.answer.kind in TAKEN else None
        named = named_in(cue.sentence.text, others)
        asked = vocative(cue.line, others)
        person = asked or (named if giver == "none" else None) or taker or reading.addressee(cue.line) or named
    if person is None:
        return ("them" if cue.line.speaker.is_self else "both"), None
    return ("self" if person.is_self else "them"), person


def find_chat_tasks(reading: Reading, settled: Collection[Sentence] = ()) -> list[FoundAction]:
    """The tasks of a chat in order; ``settled``: sentences of decisions, which are no tasks of both."""
    every = _found(reading, settled)
    return _once([one for one in every if one.probability >= THRESHOLD])


def find_silent(reading: Reading, settled: Collection[Sentence] = ()) -> list[FoundAction]:
    """Tasks of a chat too unlikely to be told, on other lines than those that are."""
    every = _found(reading, settled)
    told = {line for one in every if one.probability >= THRESHOLD for line in one.lines}
    return _once([one for one in every if one.probability < THRESHOLD and not told.intersection(one.lines)])


def _found(reading: Reading, settled: Collection[Sentence]) -> list[FoundAction]:
    found: list[FoundAction] = []
    for duty in duties_of(reading):
        sure = probability(HEAD, features(reading, duty))
        owner, person = _owner(reading, duty)
        if (
            sure < SILENT_FROM
            or _on_the_spot(duty)
            or (owner == "both" and any(c.sentence in settled for c in duty.cues))
        ):
            continue
        told = duty.told
        before = asked_before(reading, duty)
        due = due_of(reading, duty, before)
        found.append(
            FoundAction(
                told.sentence,
                sure,
                owner,
                person,
                _cited(duty, before, due),
                None if due is None else due.day,
                helper=next((cue.sentence for cue in duty.cues if cue is not told), None),
                probability=sure,
                before=before,
            )
        )
    return found


def _once(found: Sequence[FoundAction]) -> list[FoundAction]:
    """A line that says one task and belongs to another makes one task of both, in the words of the likelier."""
    kept: list[FoundAction] = []
    for one in found:
        place = next((at for at, other in enumerate(kept) if _is_part(one, other)), None)
        if place is None:
            kept.append(one)
            continue
        best, other = (one, kept[place]) if one.probability > kept[place].probability else (kept[place], one)
        kept[place] = replace(best, lines=tuple(dict.fromkeys((*best.lines, *other.lines))), due=best.due or other.due)
    return kept


def _is_part(one: FoundAction, other: FoundAction) -> bool:
    first, second = one.sentence.line, other.sentence.line
    return first != second and (first in other.lines or second in one.lines)
