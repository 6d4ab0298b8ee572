"""Validation of a model's rewritten questions (B9, B15).

They are only searched for, never printed, and need not be grounded in the question. Reasons hold no content.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.records import Language, Quarantined

MAX_PHRASINGS: Final = 3
MAX_PHRASING_CHARS: Final = 200
MAX_QUESTION_CHARS: Final = 1_000
"""Longer questions have words enough."""

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
"""Needed in Persian and emoji."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its local day and zone, and the other languages of the memory."""

    text: str
    asked_on: date
    timezone: str
    languages: tuple[Language, ...] = ()


RewriteGateResult = Gated[tuple[str, ...]]
"""The further questions to search for, possibly none."""


def no_rewrite_reason(question: str) -> str | None:
    """Why no model is asked about this question, or None."""
    if not _is_said(question):
        return "the question has no words"
    if len(question) > MAX_QUESTION_CHARS:
        return f"the question has more than {MAX_QUESTION_CHARS} characters"
    if gives_orders(question):
        return "the question speaks to a model rather than to the memory"
    return None


def check_rewrite(phrasings: Sequence[str], question: str) -> RewriteGateResult:
    """At most ``MAX_PHRASINGS`` that differ from the question and one another, in the model's order."""
    kept: list[str] = []
    dropped: list[Quarantined] = []
    seen = {_folded(question)}
    for place, phrasing in enumerate(phrasings):
        reason = _refusal(phrasing, question)
        folded = _folded(phrasing)
        if reason is None and folded not in seen and len(kept) == MAX_PHRASINGS:
            reason = f"more than {MAX_PHRASINGS}"
        if reason is not None:
            dropped.append(Quarantined(f"queries.{place}", reason))
        elif folded not in seen:
            seen.add(folded)
            kept.append(" ".join(phrasing.split()))
    if dropped and not kept:
        return RewriteGateResult(None, tuple(dropped), f"no phrasing can be used: {dropped[0].reason}")
    return RewriteGateResult(tuple(kept), tuple(dropped), None)


def _refusal(phrasing: str, question: str) -> str | None:
    if len(phrasing) > MAX_PHRASING_CHARS:
        return f"longer than {MAX_PHRASING_CHARS} characters"
    if any(unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS for letter in phrasing):
        return "holds a character that is not seen"
    if not _is_said(phrasing):
        return "has no words"
    if gives_orders(phrasing):
        return "gives orders"
    if "://" in phrasing and "://" not in question:
        return "holds an address"
    return None


def _is_said(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(letter if letter.isalnum() else " " for letter in plain).split())
