"""The running summary of a session (L3): all folds' summaries in order, kept within a limit of tokens. Pure.

One paragraph a fold, oldest first. What is over the limit is told shorter by a model, and where that gives nothing,
whole sentences go by rule, the oldest first. How a model is asked is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.memory.text.normalise import sentences, stems

OLD_SHARE: Final = 1 / 3
"""L3: the old part is compressed to about this share of itself."""

NEWEST_KEPT_SHARE: Final = 0.5
"""A compressed whole holds at least this share of the newest summary's content words, else it is not taken."""

PARAGRAPH: Final = "\n"
"""Between the paragraphs."""

Count = Callable[[str], int]
"""Tokens of a text."""

Compress = Callable[[str, int], str | None]
"""A text and about how many tokens it should have → the shorter text, or None."""


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """``reason`` says what was done to keep within the limit, None where nothing; it holds no word of the text."""

    text: str
    reason: str | None = None


def append(running: str, newest: str, *, limit_tokens: int, count: Count, compress: Compress) -> RunningSummary:
    """``running`` with the summary ``newest`` after it, within ``limit_tokens`` as ``count`` counts.

    Over the limit, the old part is compressed to about a third of itself; should both still be over, the whole once
    more; should that fail, sentences are dropped from the oldest part. Only where ``newest`` alone is over the limit
    does it lose sentences itself, its last ones first, and one that is too long by itself stays whole.
    """
    running, newest = running.strip(), newest.strip()
    whole = _joined(running, newest)
    if count(whole) <= limit_tokens:
        return RunningSummary(whole)
    if not newest:
        return _by_rule(running, "", limit_tokens=limit_tokens, count=count, why="")
    if not running or count(newest) >= limit_tokens:
        return _newest_alone(running, newest, limit_tokens=limit_tokens, count=count)
    old, failures = running, ""
    shorter = _shorter(running, max(1, round(count(running) * OLD_SHARE)), count=count, compress=compress)
    if shorter is None:
        failures = "; the model did not tell the old part shorter"
    else:
        old = shorter
    whole = _joined(old, newest)
    if count(whole) <= limit_tokens:
        return RunningSummary(whole, "the old part was compressed")
    again = _shorter(whole, limit_tokens, count=count, compress=compress)
    if again is not None and count(again) <= limit_tokens and _holds(again, newest):
        return RunningSummary(again, f"the whole was compressed{failures}")
    why = f"{failures}; the model did not tell the whole shorter"
    return _by_rule(old, newest, limit_tokens=limit_tokens, count=count, why=why)


def rebuild(summaries: Iterable[str], *, limit_tokens: int, count: Count, compress: Compress) -> RunningSummary:
    """The running summary of ``summaries``, oldest first, as appending one after another makes it (H15).

    ``reason`` is the last one that there was.
    """
    made = RunningSummary("")
    for summary in summaries:
        after = append(made.text, summary, limit_tokens=limit_tokens, count=count, compress=compress)
        made = RunningSummary(after.text, after.reason or made.reason)
    return made


def _shorter(text: str, target_tokens: int, *, count: Count, compress: Compress) -> str | None:
    """What the model makes of it, if that is shorter at all."""
    made = compress(text, target_tokens)
    if made is None or not made.strip() or count(made.strip()) >= count(text):
        return None
    return made.strip()


def _holds(text: str, newest: str) -> bool:
    wanted = stems(newest)
    return len(wanted & stems(text)) >= NEWEST_KEPT_SHARE * len(wanted)


def _newest_alone(running: str, newest: str, *, limit_tokens: int, count: Count) -> RunningSummary:
    why = "the newest summary leaves no room for the older ones" if running else "the summary is over the limit"
    if count(newest) <= limit_tokens:
        return RunningSummary(newest, why)
    said = sentences(newest)
    while len(said) > 1 and count(_told(said, newest)) > limit_tokens:
        said.pop()
    return RunningSummary(_told(said, newest), f"{why}; its last sentences were dropped")


def _by_rule(old: str, newest: str, *, limit_tokens: int, count: Count, why: str) -> RunningSummary:
    """Whole sentences of the old part go, first ones first, until it fits."""
    paragraphs = [sentences(paragraph) for paragraph in old.splitlines() if paragraph.strip()]
    dropped, whole = 0, _joined(old, newest)
    while paragraphs and count(whole) > limit_tokens:
        paragraphs[0].pop(0)
        dropped += 1
        if not paragraphs[0]:
            paragraphs.pop(0)
        whole = _joined(*(_told(said, old) for said in paragraphs), newest)
    return RunningSummary(whole, f"{dropped} of the oldest sentences were dropped{why}")


def _told(said: list[str], source: str) -> str:
    """Sentences in a row, spaced as the language of ``source`` does it."""
    return ("" if said and said[0].endswith(("。", "！", "？")) and " " not in source else " ").join(said)


def _joined(*paragraphs: str) -> str:
    return PARAGRAPH.join(paragraph for paragraph in paragraphs if paragraph)
