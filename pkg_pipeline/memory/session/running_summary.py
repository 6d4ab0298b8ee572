"""The running summary of a session (L3): one paragraph a fold, oldest first, within a limit of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.memory.text.normalise import sentences, stems

OLD_SHARE: Final = 1 / 3
"""L3: target share when the old part is compressed."""

NEWEST_KEPT_SHARE: Final = 0.5
"""Share of the newest summary's content words that a compressed whole must keep."""

PARAGRAPH: Final = "\n"

Count = Callable[[str], int]
"""Tokens of a text."""

Compress = Callable[[str, int], str | None]
"""(text, target tokens) → the compressed text, or None."""


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """``reason``: how the limit was kept, None if it was not reached; holds no content."""

    text: str
    reason: str | None = None


def append(running: str, newest: str, *, limit_tokens: int, count: Count, compress: Compress) -> RunningSummary:
    """``running`` with ``newest`` appended, within ``limit_tokens``.

    Over the limit: compress the old part, then the whole, then drop the oldest sentences. ``newest`` loses its last
    sentences only if it is over the limit alone; a single sentence stays whole.
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
    """The running summary of ``summaries``, oldest first, as by ``append`` (H15); ``reason`` is the last one."""
    made = RunningSummary("")
    for summary in summaries:
        after = append(made.text, summary, limit_tokens=limit_tokens, count=count, compress=compress)
        made = RunningSummary(after.text, after.reason or made.reason)
    return made


def _shorter(text: str, target_tokens: int, *, count: Count, compress: Compress) -> str | None:
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
    return ("" if said and said[0].endswith(("。", "！", "？")) and " " not in source else " ").join(said)


def _joined(*paragraphs: str) -> str:
    return PARAGRAPH.join(paragraph for paragraph in paragraphs if paragraph)
