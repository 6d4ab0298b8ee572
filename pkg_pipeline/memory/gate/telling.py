"""Texts about a whole talk: what of them is true, sentence by sentence (B9, B18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pkg_pipeline.memory.gate.as_said import as_said
from pkg_pipeline.memory.gate.checker import MAX_TEXT_CHARS, Checker, DropLog
from pkg_pipeline.memory.gate.foreign import FENCE_SHAPE
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.text.normalise import sentences, stems, word_count

MIN_WORDS: Final = 3
GROUNDED_SHARE: Final = 0.1
"""Least share of a text's content words that occurs in the conversation; good ones reach a third or more."""
GROUNDED_FROM_STEMS: Final = 6
"""The share is checked from this many content words on."""
_FULL_STOPS: Final = "。！？"


def true_text(
    text: str,
    part: str,
    checker: Checker,
    whole: Testimony,
    log: DropLog,
    *,
    most_words: int,
    talked_of: frozenset[str] | None = None,
    may_be_unshown: bool = False,
) -> str | Fault:
    """The sentences of ``text`` that are true to the talk, up to ``most_words``, or why none may be published.

    ``talked_of``: stems of the talk, with which the text then shares some words. ``may_be_unshown``: what is not untrue
    stands, since a stretch of code, pictures and commands has no words to be shown by.
    """
    if word_count(text[:MAX_TEXT_CHARS]) < MIN_WORDS:
        return Fault("is empty or says nothing", "")
    if FENCE_SHAPE.search(text):
        return Fault("repeats the form of the prompt", "")
    kept, faults = _told_of(text, checker, whole, most_words, may_be_unshown=may_be_unshown)
    if not kept and not may_be_unshown:  # a talk without any text would be asked about again and again
        kept, faults = _told_of(text, checker, whole, most_words, may_be_unshown=True)
    for index, fault in faults.items():
        log.note(f"{part}.sentences[{index}]", *fault)
    told = joined(kept)
    if checker.words(told, is_part=True) is not None:
        told = _sound(kept, checker)
    if word_count(told) < MIN_WORDS:
        return next(iter(faults.values()), Fault("is empty or says nothing", ""))
    reason = checker.words(told)
    if reason is None and talked_of is not None and not _is_grounded(text, talked_of):
        reason = "has almost no word in common with the conversation"
    return told if reason is None else Fault(reason, "")


def _is_grounded(text: str, talked_of: frozenset[str]) -> bool:
    content = stems(text[:MAX_TEXT_CHARS])
    return len(content) < GROUNDED_FROM_STEMS or len(content & talked_of) >= GROUNDED_SHARE * len(content)


def _told_of(
    text: str, checker: Checker, whole: Testimony, most: int, *, may_be_unshown: bool
) -> tuple[list[str], dict[int, Fault]]:
    """The sentences that may be published, and what is wrong with others by their place."""
    kept: list[str] = []
    faults: dict[int, Fault] = {}
    for index, sentence in enumerate(sentences(text[:MAX_TEXT_CHARS])):
        said, fault = _told(sentence, checker, whole, joined(kept), most, may_be_unshown=may_be_unshown)
        if said in kept:
            said, fault = None, Fault("says again what it said before", "")
        if fault is not None:
            faults[index] = fault
        if said is not None:
            kept.append(said)
    return kept, faults


def _sound(kept: Sequence[str], checker: Checker) -> str:
    """The sentences that may be published behind those before them, as one text."""
    sound: list[str] = []
    for one in kept:
        if checker.words(joined([*sound, one]), is_part=True) is None:
            sound.append(one)
    return joined(sound)


def _told(
    sentence: str, checker: Checker, whole: Testimony, before: str, most: int, *, may_be_unshown: bool
) -> tuple[str | None, Fault | None]:
    """A sentence as it may be published behind others, in its own words or the talk's, and its fault."""
    words = word_count(before)
    fault = untrue_point(sentence, checker, whole) or whole.doubt(sentence)
    if fault is None and words + word_count(sentence) > most:
        return None, Fault(f"has more than {most} words", "")
    unshown = fault or whole.unshown(sentence)
    said = None
    if unshown is not None and not whole.is_digest:
        said = as_said(sentence, "", whole, checker, told=before)
        if said is None and (fault is None or whole.figures(sentence) is None):
            said = as_said(sentence, "", whole, checker, least=0, told=before, may_invent=fault is None)
    if unshown is not None and said is not None and words + word_count(said) <= most:
        return said, unshown.told_as_said()
    if fault is None and (unshown is None or may_be_unshown or whole.is_digest):
        return " ".join(sentence.split()), None
    return None, unshown


def joined(parts: Sequence[str]) -> str:
    """Sentences as one text; Chinese ones without spaces between."""
    text = ""
    for part in parts:
        text += part if not text or text[-1] in _FULL_STOPS else f" {part}"
    return text


def untrue_point(text: str, checker: Checker, whole: Testimony) -> Fault | None:
    """Why one sentence about a talk may not be published, or None."""
    reason = checker.words(text, is_part=True)
    return whole.told(text) if reason is None else Fault(reason, "")
