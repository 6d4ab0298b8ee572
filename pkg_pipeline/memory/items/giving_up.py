"""Whether quoted words give up what an item is about, or put it off: its own deed or thing, not another's (B16, B18)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg_pipeline.memory.gate.agents import Scene, shows
from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import agrees, found, has, parts_of
from pkg_pipeline.memory.gate.naming import Named, is_known
from pkg_pipeline.memory.gate.nearest import Sentences, is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity, refusal_in
from pkg_pipeline.memory.gate.progress import acknowledges, is_open, touched
from pkg_pipeline.memory.gate.roles import subject_of
from pkg_pipeline.memory.gate.wording import content, thing_meanings
from pkg_pipeline.memory.items.matter import Matter
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import Person, SourceMessage


def is_given_up(
    matter: Matter, evidence: Evidence, quoted: SourceMessage, people: Sequence[Person], owner: Person | None
) -> bool:
    """Whether a quoted clause gives up the matter's deed or thing, or names nothing else; ``owner``: who was to do it."""
    said = [one for one in touched([quoted], evidence.quote) if not is_question(one) and not has("supposed", one)]
    scene = Scene(Sentences(evidence.messages, evidence.messages), people)
    parts = [part for one in said for part in parts_of(one)]
    later = [m for m in evidence.messages if m.number > quoted.number and m.sender != quoted.sender]
    is_near = bool(matter.names_in(quoted.text)) or any(map(agrees, later))
    return any(_gives_up(part, matter, is_near) and not _is_anothers(part, scene, owner) for part in parts)


def _gives_up(part: str, matter: Matter, is_near: bool) -> bool:
    """Whether a clause gives up by its words what is not another thing, or denies the deed for good."""
    if has("delayed", part) or has("limited", part):
        return False
    word = found("cancel", part) or refusal_in(part)
    if word is not None:
        before, _, rest = folded(part).partition(word)
        is_object = bool(matter.names_in(before) and matter.things_beside(rest)) and not matter.names_in(rest)
        is_other = not is_near and bool(matter.things_beside(part)) and not matter.names_in(part)
        return not is_object and not is_other
    said = polarity(part)
    is_deed = bool(said.denied & (matter.meanings - thing_meanings()))
    is_same = is_deed or bool(matter.names_in(part)) or (is_near and shows("points", part))
    return said.denies and is_same and not has("not_done", part)


def _is_anothers(part: str, scene: Scene, owner: Person | None) -> bool:
    """Whether a clause names another than the owner as who does not do it."""
    subject = subject_of(part, scene)
    if subject is None or owner is None or not is_known(subject):
        return False
    return not subject.is_same(Named(0, 0, owner.name, owner))


def is_put_off(matter: Matter, quote: str, quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether quoted words may put off the matter: they do not say yes to whether it was done, nor tell of another."""
    before = [m for m in talk if m.number < quoted.number]
    parts = parts_of(quote)
    if acknowledges(quoted, before) and not any(map(is_open, parts)):
        return False
    beside = [part for part in parts if matter.things_beside(part) and not is_han(part[:1])]
    others = [part for part in beside if content(part) & matter.meanings]
    return not (others and len(others) == len(parts) and not any(map(matter.names_in, parts)))
