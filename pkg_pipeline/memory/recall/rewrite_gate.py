"""The gate of rewritten questions (B9, B15): what a model proposes to search for as well, until these checks pass.

A phrasing is only ever searched for: it is not printed, not obeyed, and it cannot widen what a reader may see. So it
need not be grounded in the question's words (another language shares none); it must only look like one line to search
for. Reasons hold none of anybody's words.
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
"""What is longer is a text that something is to be found for, and has words enough."""

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
"""Persian and emoji cannot be written without them."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the memory, on which local day of which zone, and the languages its texts are in besides."""

    text: str
    asked_on: date
    timezone: str
    languages: tuple[Language, ...] = ()


RewriteGateResult = Gated[tuple[str, ...]]
"""Its content, which may be empty, is searched for as well."""


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
    """At most ``MAX_PHRASINGS`` that say something else than the question and one another, in the model's order."""
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
    """What two phrasings are compared by: their letters and digits."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(letter if letter.isalnum() else " " for letter in plain).split())
