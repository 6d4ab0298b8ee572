"""Whether quoted words tell that what an item is about was done: its deed, or that its thing is there (B16, B18).

A plain word about a thing ("the ladder is next") is no evidence, nor is another deed to it ("cleaned the ladder").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pkg_pipeline.memory.gate.agents import follows, shows
from pkg_pipeline.memory.gate.calendar import EXACT, mentions
from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import agrees, found, has, parts_of
from pkg_pipeline.memory.gate.naming import Named
from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity
from pkg_pipeline.memory.gate.progress import acknowledges, is_open, is_plain, touched
from pkg_pipeline.memory.gate.wording import content, thing_meanings, tokens
from pkg_pipeline.memory.items.matter import Matter, is_asked_for
from pkg_pipeline.memory.languages import table
from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import sentences

_FOR_ITSELF = re.compile(r"https?://|\w@\w|\d{5,}|\d{3}[- ]\d{2}|\+\d")
"""A link, an address or a number that was asked for."""
_CLOCK = re.compile(r"\d[:.]\d\d|\d ?[点时]|(?:from|at|until|с|до|в) \d{1,2}(?!\d)|[一二三四五六七八九十两]点")
_MARKS = "(?:[了好完上掉到]|过(?:了|[，。！]|$))"
"""Behind a Chinese verb: it is done."""


def is_completed(
    matter: Matter, evidence: Evidence, quoted: SourceMessage, talk: Sequence[SourceMessage], *, is_owners: bool = True
) -> bool:
    """Whether the quoted words tell of the matter that it was done, and nothing behind them that it came to nothing.

    ``is_owners``: who was to do it writes them.
    """
    if any(message.attachments and _hands_over(message, matter) for message in evidence.messages):
        return True
    if comes_to_nothing(matter, evidence.quote, quoted):
        return False
    before = [m for m in talk if m.number < quoted.number]
    said = [one for one in touched([quoted], evidence.quote) if not is_question(one) and not has("thought", one)]
    parts = [part for one in said for part in parts_of(one) if not (is_owners and _is_to_writer(part, matter))]
    still = [part for part in parts if is_open(part)]
    if still and not any(_tells_deed(part, matter) and matter.names_in(part) for part in parts):
        return False
    if any(_has_deed(part, matter) for part in still):
        return False
    is_asked_again = any(is_question(one) and matter.names_in(one, is_asked=True) for one in sentences(quoted.text))
    is_there = any(_tells_deed(part, matter) or _praises(part, matter) for part in parts)
    is_there |= any(_tells_place(one, matter) for one in [*parts, *said])
    is_asked = is_asked_for(matter, quoted, talk) or any(m in before for m in evidence.messages)
    is_awaited = is_asked or _is_just_promised(quoted, before) or _is_answered_well(quoted, evidence)
    if not has("hands_over", matter.words):
        is_there |= any(
            matter.names_in(one) and has("now", one) and is_plain(one) and not has("lacking", one) for one in said
        )
    is_there |= any(_tells_state(part, matter) for part in parts)
    is_there |= any(_tells_time(part, matter, is_asked=is_asked) for part in parts)
    is_there |= is_asked and has("hands_over", matter.words) and any(has("with_you", part) for part in parts)
    if is_awaited and not any(map(is_open, parts)):
        done = [part for part in parts if has("completed", part) and not has("lacking", part)]
        is_there |= any(shows("points", part) or not matter.things_beside(part) for part in done)
    is_told = is_there or any(_FOR_ITSELF.search(one) and not has("promise", one) for one in said)
    is_received = _is_received(matter, evidence, quoted, before, is_owners) and not _is_for_another(quoted, matter)
    return is_told or (not is_asked_again and is_received) or _is_confirmed(evidence, quoted, talk)


def _hands_over(message: SourceMessage, matter: Matter) -> bool:
    """Whether a message with a file may hand over what the matter is about: it or the file names no other thing."""
    text = message.text
    is_lacking = any(has(sign, text) and not has(sign, matter.words) for sign in ("lacking", "draft"))
    if is_lacking or has("undone", text):
        return False
    if matter.names_in(text):
        return True
    names = [one.name for one in message.attachments if one.name]
    return any(matter.is_in_file(name) for name in names) or not any(map(matter.things_beside, parts_of(text)))


def _is_just_promised(quoted: SourceMessage, before: Sequence[SourceMessage]) -> bool:
    """Whether the writer's own message before says that it will be done."""
    last = before[-1:]
    return any(m.sender == quoted.sender and any(has("promise", part) for part in parts_of(m.text)) for m in last)


def _is_for_another(message: SourceMessage, matter: Matter) -> bool:
    """Whether each acknowledgement in a message is of something else ("thanks for the photos")."""
    parts = [part for part in parts_of(message.text) if has("received", part)]
    return bool(parts) and all(_tells_of_another(part, matter) for part in parts)


def _tells_of_another(part: str, matter: Matter) -> bool:
    is_like = any(has(sign, part) and not has(sign, matter.words) for sign in ("other", "notice"))
    return is_like or (bool(_others(part, matter)) and not matter.names_in(part))


def _others(part: str, matter: Matter) -> list[str]:
    return [word for word in matter.others_in(part) if not has("received", word)]


def _is_confirmed(evidence: Evidence, quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether another cited message says yes to whether it was done, or thanks for it."""
    others = [m for m in evidence.messages if m != quoted]
    return any(acknowledges(m, [one for one in talk if one.number < m.number]) for m in others)


def _is_received(
    matter: Matter, evidence: Evidence, quoted: SourceMessage, before: Sequence[SourceMessage], is_owners: bool
) -> bool:
    """Whether the quoted message says yes to whether it was done, or thanks for it, where it was not theirs to give.

    Cited alone, it answers what the messages before it say of the matter.
    """
    if len(evidence.messages) > 1:
        return acknowledges(quoted, before)
    is_yes = has("affirms", next(iter(parts_of(quoted.text)), ""))
    if is_owners and not is_yes and has("hands_over", matter.words):
        return False
    return acknowledges(quoted, before, is_of=lambda text: _is_of(text, matter))


def _is_of(text: str, matter: Matter) -> bool:
    """Whether a text tells or asks of the matter: its deed, or its thing and no other deed; or it names no thing."""
    parts = parts_of(text)
    if any(_has_deed(part, matter) for part in parts):
        return any(map(matter.names_in, parts)) or not any(map(matter.things_beside, parts))
    if not any(map(matter.names_in, parts)):
        return not any(map(matter.things_beside, parts))
    asked = [part for part in parts if is_question(part)]
    return not any(
        (has("completed", part) or has("asks_if_done", part)) and not (has("finished", part) or has("made", part))
        for part in asked
    )


def _is_answered_well(quoted: SourceMessage, evidence: Evidence) -> bool:
    """Whether somebody else's cited message behind the quoted one agrees with it."""
    later = [m for m in evidence.messages if m.number > quoted.number and m.sender != quoted.sender]
    return any(agrees(m) and not polarity(m.text).denies for m in later)


def comes_to_nothing(matter: Matter, quote: str, quoted: SourceMessage) -> bool:
    """Whether the quoted words, or what their writer says behind them, tell of a failure, and nothing done after it."""
    _, said, rest = quoted.text.partition(quote)
    parts = parts_of(f"{said}{rest}" if said else quoted.text)
    failed = [
        at for at, part in enumerate(parts) if (word := found("failed", part)) and not content(word) & matter.meanings
    ]
    return bool(failed) and not any(_tells_deed(part, matter) for part in parts[failed[-1] + 1 :])


def _tells_deed(part: str, matter: Matter) -> bool:
    """Whether a clause tells as done the deed of a matter, one that hands over as it does, or any without a name.

    What it is done to is the matter's thing, or goes without saying.
    """
    is_told = any(has(sign, part) for sign in ("completed", "finished", "made"))
    if not is_told or is_open(part) or polarity(part).denies or is_question(part) or has("lacking", part):
        return False
    if _is_of_other(part, matter):
        return False
    is_to_hand = has("hands_over", matter.words)
    is_finished = has("finished", part) or (has("made", part) and not is_to_hand)
    return (
        is_finished
        or (is_to_hand and has("hands_over", part))
        or any(_is_deed(word, one, matter, part) for word, one in tokens(part) if one)
    )


def _is_of_other(part: str, matter: Matter) -> bool:
    """Whether a clause names another thing, one that stands for one of the matter's, or what is given in its place."""
    beside = matter.things_beside(part)
    if beside and (not matter.names_in(part) or matter.is_of_other(part)):
        return True
    is_paid = bool(beside) and has("pays", matter.words) and not has("pays", part)
    return is_paid or (has("other", part) and not has("other", matter.words))


def _is_to_writer(part: str, matter: Matter) -> bool:
    """Whether a clause tells that who writes it gets or keeps what they were to give away."""
    is_given = has("hands_over", matter.words)
    if has("pays", matter.words) and matter.names_in(part) and not (has("pays", part) or has("finished", part)):
        return True  # a bill that came is not paid
    is_kept = has("with_me", part) and not has("with_me", matter.words)
    return is_given and (is_kept or (shows("me", part) and has("hands_over", part)))


def _has_deed(part: str, matter: Matter) -> bool:
    is_handed = has("hands_over", part) and has("hands_over", matter.words)
    return is_handed or any(one in matter.meanings and not one.isalpha() for _, one in tokens(part))


def _is_deed(word: str, one: str, matter: Matter, part: str) -> bool:
    """Whether a word is of a deed of the matter; a Russian verb under any prefix, a Chinese one before its mark."""
    if is_han(word) and one in matter.meanings and re.search(f"{word}{_MARKS}", part):
        return True
    if one in matter.meanings and (has("completed", word) or (one.startswith("=") and one not in thing_meanings())):
        return True
    if not is_cyrillic(word) or not has("completed", word):
        return False
    return _root(word) in {_root(other) for other, meaning in tokens(matter.words) if meaning in matter.meanings}


def _root(word: str) -> str:
    return re.sub(table("ru", "agents")["prefix"], "", word)[:4]


def _tells_place(part: str, matter: Matter) -> bool:
    """Whether a clause tells that the thing is who got or gets it ("in your mailbox"), or at another of its things."""
    if is_open(part) or polarity(part).denies or is_question(part) or not has("hands_over", matter.words):
        return False
    named = matter.names_in(part)
    is_shared = has("with_you", part) or has("shared", part)
    goals = {one for word, one in tokens(matter.words) if one and _is_where(word, matter.words)}
    there = [word for word in named if content(word) & goals or is_han(word)]
    return bool(named) and (is_shared or any(_is_where(word, part) for word in there))


def _is_where(word: str, text: str) -> bool:
    """Whether a word stands for where something is or goes."""
    at = folded(text).find(word)
    return at > 0 and follows(Named(at, at + len(word), word, None), folded(text), "places")


def _tells_state(part: str, matter: Matter) -> bool:
    """Whether a clause plainly tells only of the thing how it is, where nothing is to be handed over."""
    if has("hands_over", matter.words) or has("completed", part) or matter.things_beside(part):
        return False
    if has("cancel", matter.words):
        return False  # that it is there is no end of it
    said = mentions(part, matter.day)
    is_dated = any(one.kind in EXACT or min(one.days, default=matter.day) > matter.day for one in said)
    return bool(matter.names_in(part)) and is_plain(part) and not has("amiss", part) and not is_dated


def _tells_time(part: str, matter: Matter, *, is_asked: bool) -> bool:
    """Whether a clause plainly tells when what was to be booked is, or, where that was asked, when they have it."""
    if not has("books", matter.words) or has("offered", part) or not is_plain(part):
        return False
    is_timed = any(one.kind in EXACT for one in mentions(part, matter.day)) or _CLOCK.search(part) is not None
    return is_timed and (is_asked or bool(matter.names_in(part)))


def _praises(part: str, matter: Matter) -> bool:
    """Whether a clause only praises a thing of the matter, which then is there."""
    return has("praises", part) and bool(matter.names_in(part)) and not is_open(part)
