"""Other words for a fenced question, made by rule, and the bad manners of a model that is asked for them.

The same question always gets the same words. What a real model does with a date or another language is not played.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.prompts import fencing

Record = dict[str, Any]
QUESTION_KEYS = {"queries"}

_WORD = re.compile(r"\w+")


def question_of(prompt: str) -> str:
    """The fenced question."""
    return str(fencing.read(prompt)["QUESTION"][0]["question"])


def rewrite(question: str) -> Record:
    """The words that carry it, and these the other way round; nothing for one that gives orders."""
    words = [word for word in _WORD.findall(question) if word.casefold() not in word_set("words", "no_topic")]
    if gives_orders(question) or not words:
        return {"queries": []}
    found = [" ".join(words)[:190], " ".join(reversed(words))[:190]]
    return {"queries": list(dict.fromkeys(found))}


def obeying(payload: Callable[[str], str]) -> dict[str, Callable[[Record, str], Record]]:
    """The two obedient ways, which say what an order wants said; ``payload`` finds that in the order's text."""

    def obedient(_answer: Record, prompt: str) -> Record:
        return {"queries": [payload(question_of(prompt))]}

    def obedient_blend(answer: Record, prompt: str) -> Record:
        return {"queries": [*answer["queries"], *obedient(answer, prompt)["queries"]]}

    return {"obedient": obedient, "obedient_blend": obedient_blend}


def _long(answer: Record, prompt: str) -> Record:
    return {"queries": [*answer["queries"][:1], " ".join([question_of(prompt)] * 30)]}


def _many(answer: Record, prompt: str) -> Record:
    return {"queries": [*answer["queries"], *(f"{question_of(prompt)[:100]} {number}" for number in range(8))]}


def _invisible(_answer: Record, prompt: str) -> Record:
    question = question_of(prompt)[:100]
    return {"queries": ["", f"{question}\n{question}", f"\u202e{question}"]}


def _echo(_answer: Record, prompt: str) -> Record:
    return {"queries": [prompt[:600], question_of(prompt)]}


def _same(_answer: Record, prompt: str) -> Record:
    return {"queries": [question_of(prompt).upper()]}


BENT: dict[str, Callable[[Record, str], Record]] = {
    "invented_quote": _many,
    "wrong_ids": _invisible,
    "long_summary": _long,
    "other_language": _same,
    "echo": _echo,
    "wrong_types": lambda _answer, _prompt: {"queries": "one"},
    "extra_field": lambda answer, _prompt: {**answer, "confidence": 0.5},
}
"""By the names of ``answers.MODES``: too many for an invented quote, unseen signs for wrong ids."""
