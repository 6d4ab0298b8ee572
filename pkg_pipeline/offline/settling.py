"""How an item given up or put off is told, and the words of a message that are quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.items.records import CandidateChange, ShownItem
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import pattern, table
from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.claims import claims
from pkg_pipeline.offline.dates import due_date, find_dates
from pkg_pipeline.offline.deeds import deeds_done, deeds_named
from pkg_pipeline.offline.evidence import Heard
from pkg_pipeline.offline.found import ANY_DAY
from pkg_pipeline.offline.judging import Judged
from pkg_pipeline.offline.matters import Open, roots_of_text, things_of_text
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.retelling import described, ended
from pkg_pipeline.offline.told_days import days_told
from pkg_pipeline.offline.weighing import is_question

QUOTE_CHARS = 300
CANCELLED_PROBABILITY = 0.88
RENEWED_PROBABILITY = 0.9


def sentence_of(said: Heard, item: Open | None = None) -> Sentence | None:
    """The sentence that says it, of those that speak of ``item`` if any does; None where a message has no words."""
    sentences = said.line.sentences
    told = [one for one in sentences if not is_question(one.text)] or sentences
    wanted = frozenset[str]() if item is None else item.matter.roots

    def weight(one: Sentence) -> tuple[int, int, int]:
        roots = roots_of_text(one.text)
        done = len(deeds_done(one.text)) + len(claims(one.text))
        return (2 * bool(done) + bool(roots & wanted), done, len(roots))

    return max(told, key=weight, default=None)


def quote_of(said: Heard, item: Open | None = None) -> str:
    """The words of ``sentence_of``; what stands for the file where a message has none."""
    sentence = sentence_of(said, item)
    return said.line.placeholder[:QUOTE_CHARS] if sentence is None else sentence.text[:QUOTE_CHARS].rstrip()


def cancelled_by(shown: ShownItem, item: Open, given_up: Judged | None) -> CandidateChange | None:
    """The item given up."""
    if given_up is None:
        return None
    quote, number = quote_of(given_up.said, item), given_up.said.line.message.number
    return CandidateChange(
        ref=shown.ref, to="cancelled", quote=quote, numbers=(number,), probability=CANCELLED_PROBABILITY
    )


def put_off(
    reading: Reading, shown: ShownItem, item: Open, renewed: Judged | None, repeats: Sequence[FoundAction]
) -> CandidateChange | None:
    """The item promised again, or put off to another day. ``repeats``: the new tasks that only repeat it."""
    if renewed is not None:
        line = renewed.said.line
        said = [one.day for one in days_told(reading, line, line.message.text) if one.day >= line.day]
        day = said[-1] if said else due_date(line.message.text, line.language, line.day)
        again = _promising(line, [one.sentence for one in repeats if one.sentence.line == line.index])
        is_owners = shown.owner == ("self" if line.speaker.is_self else "them")
        text = _newest(reading, shown, item, again) if again is not None and is_owners else None
        quote = quote_of(renewed.said, item) if again is None else again.text
        return _renewed(shown, quote, line.message.number, day, text)
    if repeats:
        last = repeats[-1]
        number = reading.lines[last.sentence.line].message.number
        text = _newest(reading, shown, item, last.sentence, last.before) if last.owner == shown.owner else None
        return _renewed(shown, last.sentence.text, number, last.due, text)
    return None


def _promising(line: Line, found: Sequence[Sentence]) -> Sentence | None:
    """The sentence by which a line promises again: a task ``found`` there, or the last that names a day ahead; one that
    tells what is not done yet only where there is no other.
    """
    told = [one for one in line.sentences if not is_question(one.text)]
    ahead = [one for one in told if any(day.day >= line.day for day in find_dates(one.text, line.language, line.day))]
    either = [one for one in told if one in found or one in ahead]
    return next((one for one in reversed(either) if "not_yet" not in claims(one.text)), either[-1] if either else None)


def _newest(
    reading: Reading, shown: ShownItem, item: Open, again: Sentence, before: Sentence | None = None
) -> str | None:
    """The words by which an item is promised again, if they say what it is about; else its own, without the old day."""
    said = again.text if before is None else f"{before.text} {again.text}"
    things = item.matter.things
    if things & things_of_text(said) if things else item.matter.deeds & deeds_named(said):
        return described(again, reading, before)
    return _without_deadline(shown.text, again.language)


def _without_deadline(text: str, language: Language) -> str | None:
    """A text without the days by which it is due; None where it names none."""
    words = table("offline", language, "dates")["patterns"]
    rest = text
    for one in reversed(find_dates(text, language, ANY_DAY)):
        before, after = rest[: one.start], rest[one.end :]
        by = pattern(words["by_before"]).search(before)
        then = pattern(words["by_after"]).match(after) if "by_after" in words else None
        if one.is_deadline and (by or then):
            rest = (before[: by.start()] if by else before).rstrip() + (after[then.end() :] if then else after)
    return None if rest == text else ended(rest, language)


def _renewed(shown: ShownItem, quote: str, number: int, due: date | None, text: str | None) -> CandidateChange:
    is_new = due is not None and due != shown.due_date
    return CandidateChange(
        ref=shown.ref,
        to="renewed",
        quote=quote[:QUOTE_CHARS].rstrip(),
        numbers=(number,),
        due_date=due.isoformat() if due is not None and is_new else None,
        text=text,
        probability=RENEWED_PROBABILITY,
    )
