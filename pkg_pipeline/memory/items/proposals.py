"""Whether quoted words only offer, ask, wish or make a condition, and nobody took them up (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import agrees, found, has, parts_of
from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.progress import ASKED_WITHIN, shares_text
from pkg_pipeline.memory.records import SourceMessage

_STOP = re.compile(r"(?<=[.!?。！？])\s+|\n")
"""Ends a sentence; in a chat the next one may begin with a small letter."""
_MARK = re.compile(r"[,;.!?，。；！？\n]+")


def not_taken_up(evidence: Evidence, talk: Sequence[SourceMessage]) -> str | None:
    """Why quoted words bind nobody and settle nothing yet, or None."""
    quoted = evidence.quoted
    said = [one for one in _sentences(quoted) if shares_text(one, evidence.quote)]
    if not said or not all(map(_is_tentative, said)) or _is_accepted(quoted, talk):
        return None
    bound = [one for m in evidence.messages if m.sender == quoted.sender for one in _sentences(m)]
    if any(has("promise", one) and not _is_tentative(one) for one in bound if one not in said):
        return None
    is_conditional = any(map(_hangs_on, said))
    if not is_conditional and not any(map(is_question, said)) and _is_answer(quoted, talk):
        return None
    return "hangs on a condition" if is_conditional else "was only offered or wished"


def _sentences(message: SourceMessage) -> list[str]:
    return [one for one in _STOP.split(message.text) if one.strip()]


def with_whole_clauses(evidence: Evidence) -> Evidence:
    """The same with the quoted words drawn out to the marks around them: what denies them may stand before."""
    text = evidence.quoted.text
    at = text.find(evidence.quote)
    if at < 0:
        return evidence
    before = [match.end() for match in _MARK.finditer(text, 0, at)]
    behind = _MARK.search(text, at + len(evidence.quote))
    whole = text[before[-1] if before else 0 : behind.end() if behind else len(text)].strip()
    return replace(evidence, quote=whole)


def _is_tentative(sentence: str) -> bool:
    return has("offer", sentence) or has("wish", sentence) or _hangs_on(sentence)


def _hangs_on(sentence: str) -> bool:
    """Whether a sentence makes a condition, and asks for nothing beside it."""
    beside = (folded(part).partition(found("hinges", part) or "\0") for part in parts_of(sentence))
    return has("hinges", sentence) and not any(has("ask", before) for before, _, _ in beside)


def _is_accepted(quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether another's word right behind agrees, promises or thanks."""
    later = [m for m in talk if 0 < m.number - quoted.number <= ASKED_WITHIN and m.sender != quoted.sender]
    return any(agrees(m) or has("promise", m.text) or has("received", m.text) for m in later[:1])


def _is_answer(quoted: SourceMessage, talk: Sequence[SourceMessage]) -> bool:
    """Whether another asks right before."""
    before = [m for m in talk if 0 < quoted.number - m.number <= ASKED_WITHIN and m.sender != quoted.sender]
    return any(is_question(one) or has("ask", one) for m in before[-1:] for one in _sentences(m))
