"""Which decision in force a message calls off: one whose day is to come, by naming its day or what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pkg_pipeline.memory.items.records import CandidateChange, ShownItem
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.evidence import Heard
from pkg_pipeline.offline.matters import Matter, shown_matter, things_of_text
from pkg_pipeline.offline.reading import language_of
from pkg_pipeline.offline.settling import CANCELLED_PROBABILITY, quote_of


def called_off(talk: Sequence[Heard], decisions: Sequence[ShownItem], names: frozenset[str]) -> list[CandidateChange]:
    """The decisions that a talk calls off, each once; not what is put off to a day ("can't today, friday instead?").

    ``decisions``: in force and not replaced in this talk.
    """
    known = [(item, _days(item), shown_matter(item, names)) for item in decisions]
    found: dict[str, CandidateChange] = {}
    for said in talk:
        if said.only_asks or "cancelled" not in said.says:
            continue
        meant = _meant(said, [one for one in known if one[0].ref not in found])
        if meant is not None:
            number = said.line.message.number
            found[meant.ref] = CandidateChange(
                ref=meant.ref,
                to="cancelled",
                quote=quote_of(said),
                numbers=(number,),
                probability=CANCELLED_PROBABILITY,
            )
    return list(found.values())


def _days(item: ShownItem) -> frozenset[date]:
    text = f"{item.text}\n{item.quote}\n{item.said}"
    said = item.said_at.date()
    named = {one.day for one in find_dates(text, language_of(item.quote, "en"), said)}
    return frozenset(named | ({item.due_date} if item.due_date is not None else set()))


def _meant(said: Heard, known: Sequence[tuple[ShownItem, frozenset[date], Matter]]) -> ShownItem | None:
    today = said.line.day
    named = {one.day for one in find_dates(said.line.message.text, said.line.language, today)}
    later = {day for day in named if day > today} if "postponed" in said.says else set[date]()
    ahead = [one for one in known if one[1] and max(one[1]) >= today and later <= one[1]]
    own = said.matter.things.union(*(one.matter.things for one in said.before))
    ranked = [
        (bool(days & named) + len(own & (matter.things | things_of_text(item.said))), item)
        for item, days, matter in ahead
    ]
    best = max((score for score, _ in ranked), default=0)
    meant = [item for score, item in ranked if score == best > 0]
    return meant[0] if len(meant) == 1 else None
