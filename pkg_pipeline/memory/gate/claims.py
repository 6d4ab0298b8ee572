"""What a sentence about a talk claims of a matter (done, not yet done, settled), and whether the talk bears it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pkg_pipeline.memory.gate.duty import agrees, has, parts_of
from pkg_pipeline.memory.gate.nearest import Sentences, Spoken, is_question, meant
from pkg_pipeline.memory.gate.polarity import after_denial, polarity
from pkg_pipeline.memory.gate.progress import (
    acknowledges,
    gives_up,
    is_open,
    is_plain,
    is_weighed,
    is_weighed_answer,
    tells_done,
)
from pkg_pipeline.memory.gate.wording import content

Claim = Literal["done", "undone", "settled"]


def claim_of(clause: str) -> Claim | None:
    """What a clause claims; None for what is told to be asked, wanted, promised or planned, and for all else."""
    if is_question(clause):
        return None
    if has("not_yet", clause):
        return "undone"
    said = polarity(clause)
    if has("receives", clause) or has("unreal", clause) or has("plans", clause):
        return None
    if said.denies or said.refuses:
        rest = after_denial(clause)
        return "undone" if said.denies and (has("completed", rest) or has("settled", rest)) else None
    if has("settled", clause):
        return "settled"
    return "done" if has("completed", clause) else None


def is_borne_out(claim: Claim, clause: str, spoken: Sentences, names: Iterable[str]) -> bool:
    """Whether the talk's sentences on the matter of a clause let it claim this; without any, all but a denial."""
    matter = spoken.on_matter(clause, names)
    if claim == "settled":
        is_counted = any(one.startswith("#") for one in meant(clause))
        matter = matter if is_counted else spoken.nearest(clause, names)
        return not matter or any(_is_settled(one, spoken) for one in matter)
    if claim == "done":
        has_file = any(message.attachments for message in spoken.messages)
        return (
            not matter
            or (has_file and not any(_is_against(one, spoken) for one in matter))
            or any(_is_done(one, spoken) or _says(content(clause) - frozenset(names), one.text) for one in matter)
        )
    return _is_undone(matter, spoken, is_settling=has("settled", clause))


def _is_undone(matter: Sequence[Spoken], spoken: Sentences, *, is_settling: bool) -> bool:
    """Whether the last word on a matter is against it, or leaves it open, and none tells it as done."""
    if is_settling:
        return bool(matter) and not all(_is_settled(one, spoken) for one in matter[-1:])
    told = [one for one in matter if _is_done(one, spoken) or _is_against(one, spoken)]
    plainly = [one for one in told if tells_done(one.text) and not _is_against(one, spoken)]
    return bool(told) and not plainly and _is_against(told[-1], spoken)


def _says(wanted: frozenset[str], text: str) -> bool:
    """Whether a text tells all that is wanted, and something as completed, whatever came of it."""
    return wanted <= content(text) and any(has("completed", part) and not is_open(part) for part in parts_of(text))


def _is_done(one: Spoken, spoken: Sentences) -> bool:
    if gives_up(one.text):
        return False
    if tells_done(one.text) or is_plain(one.text) or one.message.attachments:
        return True
    before = [*spoken.said_before(one.message), one.message]
    return any(tells_done(m.text) or m.attachments or acknowledges(m, before) for m in spoken.following(one))


def _is_against(one: Spoken, spoken: Sentences) -> bool:
    """Whether a sentence, or what answers it, puts something off, denies or refuses it."""
    if not one.is_question:
        return is_open(one.text) or has("undone", one.text) or denies(one.text)
    before = [*spoken.said_before(one.message), one.message]
    answers = [m for m in spoken.answers(one) if not acknowledges(m, before)]
    return any(is_open(m.text) or has("undone", m.text) or denies(m.text) for m in answers)


def denies(text: str) -> bool:
    """Whether a text denies, refuses, gives up or waits for anything."""
    said = polarity(text)
    return said.denies or said.refuses or said.waits or has("cancel", text)


def _is_settled(one: Spoken, spoken: Sentences) -> bool:
    if has("refusal", one.text):
        return False
    if not is_weighed(one.text):
        return not any(map(is_weighed_answer, spoken.answers(one)[:1]))
    return any(map(agrees, spoken.answers(one)))
