"""Rules by which a message gives up an open item or puts it off, and the words of it that are quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.items.records import CandidateChange, ShownItem
from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.dates import due_date
from pkg_pipeline.offline.deeds import deeds_done
from pkg_pipeline.offline.evidence import Heard, claims, fit, others_best, own_fit
from pkg_pipeline.offline.matters import Open, Weights, roots_of_text
from pkg_pipeline.offline.reading import Reading
from pkg_pipeline.offline.weighing import is_question

QUOTE_CHARS = 300
CANCELLED_FIT = 0.4
PUT_OFF_FIT = 0.34
FEW_ROOTS = 4
AHEAD = 0.1
"""How much better a message has to fit an item than any other open one."""
CANCELLED_PROBABILITY = 0.88
RENEWED_PROBABILITY = 0.9


def quote_of(said: Heard, item: Open | None = None) -> str:
    """The sentence that says it, of those that speak of ``item`` if any does; the file's name where a message has no
    words.
    """
    sentences = [one.text for one in said.line.sentences]
    if not sentences:
        return next((one.name for one in said.line.message.attachments if one.name), "")[:QUOTE_CHARS]
    told = [text for text in sentences if not is_question(text)] or sentences
    wanted = frozenset[str]() if item is None else item.matter.roots

    def weight(text: str) -> tuple[int, int, int]:
        roots = roots_of_text(text)
        done = len(deeds_done(text)) + len(claims(text))
        return (2 * bool(done) + bool(roots & wanted), done, len(roots))

    return max(told, key=weight)[:QUOTE_CHARS].rstrip()


def _about(items: Sequence[Open], index: int, said: Heard, scale: Weights) -> float:
    """The fit of a message to an item, 0 unless it fits it better than the others."""
    fits = [fit(item, said, scale) for item in items]
    return fits[index] if fits[index] >= others_best(fits, index) + AHEAD or len(items) == 1 else 0.0


def cancelled_by(
    shown: ShownItem, items: Sequence[Open], index: int, talk: Sequence[Heard], scale: Weights
) -> CandidateChange | None:
    """The item given up: a message that is about it says so, and nothing of the kind is only asked."""
    for said in talk:
        gives_up = "cancelled" in said.says and "postponed" not in said.says and not said.only_asks
        if gives_up and _about(items, index, said, scale) >= CANCELLED_FIT:
            return CandidateChange(
                ref=shown.ref,
                to="cancelled",
                quote=quote_of(said, items[index]),
                numbers=(said.line.message.number,),
                probability=CANCELLED_PROBABILITY,
            )
    return None


def put_off(
    reading: Reading,
    shown: ShownItem,
    items: Sequence[Open],
    index: int,
    talk: Sequence[Heard],
    scale: Weights,
    repeats: Sequence[FoundAction],
) -> CandidateChange | None:
    """The item renewed: promised again, or put off to another day. ``repeats``: the new tasks that only repeat it."""
    for said in reversed(talk):
        day = promised_anew(items, index, said, scale)
        if day is not None and day != shown.due_date:
            return _renewed(shown, quote_of(said, items[index]), said.line.message.number, day)
    if repeats:
        last = repeats[-1]
        return _renewed(shown, last.sentence.text, reading.lines[last.sentence.line].message.number, last.due)
    return None


def promised_anew(items: Sequence[Open], index: int, said: Heard, scale: Weights) -> date | None:
    """The new day of an item that a message puts off: said by whoever has to do it, or as a delay."""
    item, speaker = items[index], said.line.speaker.entity_id
    is_delay = bool({"postponed", "not_yet"} & said.says)
    if said.only_asks or not (is_delay or ("later" in said.says and item.owner == speaker)):
        return None
    if not is_delay and not (_speaks_of_its_deed(item, said) and _names_it(item, said, scale)):
        return None
    is_meant = _about(items, index, said, scale) >= PUT_OFF_FIT or _only_one_meant(items, index, said)
    if not is_meant or "cancelled" in said.says or item.matter.deeds & said.done:
        return None
    return due_date(said.line.message.text, said.line.language, said.line.day)


def _names_it(item: Open, said: Heard, scale: Weights) -> bool:
    """Whether the message or the question that it answers speaks of the item."""
    asked = [one for one in said.before if one.is_question and one.line.speaker != said.line.speaker]
    return own_fit(item, said, scale) >= PUT_OFF_FIT or any(
        len(said.matter.roots) <= FEW_ROOTS and own_fit(item, one, scale) >= CANCELLED_FIT for one in asked
    )


def _speaks_of_its_deed(item: Open, said: Heard) -> bool:
    """Whether the deed is the item's, or none is named."""
    return not said.matter.deeds or bool(said.matter.deeds & item.matter.deeds)


def _only_one_meant(items: Sequence[Open], index: int, said: Heard) -> bool:
    """A delay without an object, from somebody who has one thing to do."""
    speaker = said.line.speaker.entity_id
    own = [i for i, item in enumerate(items) if item.owner == speaker]
    return own == [index] and said.is_bare and bool({"postponed", "not_yet"} & said.says)


def _renewed(shown: ShownItem, quote: str, number: int, due: date | None) -> CandidateChange:
    is_new = due is not None and due != shown.due_date
    return CandidateChange(
        ref=shown.ref,
        to="renewed",
        quote=quote[:QUOTE_CHARS].rstrip(),
        numbers=(number,),
        due_date=due.isoformat() if due is not None and is_new else None,
        probability=RENEWED_PROBABILITY,
    )
