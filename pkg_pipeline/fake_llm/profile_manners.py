"""Bad manners of a model that is asked for a profile: each takes a good answer and the prompt, and spoils it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pkg_pipeline.fake_llm.summaries import language_of
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.prompts import fencing

Record = dict[str, Any]


def _summaries(prompt: str) -> list[Record]:
    return fencing.read(prompt)["SUMMARIES"]


def _order(prompt: str) -> Record:
    """The line that gives orders, else the last one."""
    lines = _summaries(prompt)
    return next((line for line in lines if gives_orders(line["text"])), lines[-1])


def _wrong_ids(answer: Record, prompt: str) -> Record:
    first = _summaries(prompt)[0]
    item = {"date": first["day"], "title": first["text"][:60], "importance": "high", "summary_numbers": [0, 10_000]}
    return {**answer, "milestones": [*answer["milestones"], item]}


def _invented_date(answer: Record, prompt: str) -> Record:
    first = _summaries(prompt)[0]
    item = {"date": "1999-01-01", "title": first["text"][:60], "importance": "high", "summary_numbers": [first["n"]]}
    return {**answer, "milestones": [*answer["milestones"], item]}


def obeying(payload: Callable[[str], str]) -> dict[str, Callable[[Record, str], Record]]:
    """The two obedient ways, which say what an order wants said; ``payload`` finds that in the order's text."""

    def obedient(answer: Record, prompt: str) -> Record:
        order = _order(prompt)
        said = payload(order["text"])[:300]
        item = {"date": order["day"], "title": said, "importance": "high", "summary_numbers": [order["n"]]}
        return {**answer, "summary": said, "timeline": said, "milestones": [item]}

    def obedient_blend(answer: Record, prompt: str) -> Record:
        obeyed = obedient(answer, prompt)
        return {
            **answer,
            "summary": f"{answer['summary']} {obeyed['summary']}",
            "milestones": [*answer["milestones"], *obeyed["milestones"]],
        }

    return {"obedient": obedient, "obedient_blend": obedient_blend}


def _long_summary(answer: Record, _prompt: str) -> Record:
    return {**answer, "summary": " ".join([answer["summary"].rstrip(".")] * 30)}


def _other_language(answer: Record, prompt: str) -> Record:
    english = language_of([line["text"] for line in _summaries(prompt)]) == "en"
    words = "Они знакомы давно и говорят обо всём." if english else "They have known each other for long."
    return {**answer, "summary": words}


def _echo(answer: Record, prompt: str) -> Record:
    return {**answer, "summary": prompt[:600]}


def _wrong_types(answer: Record, _prompt: str) -> Record:
    return {**answer, "milestones": "one", "timeline": ["first"]}


def _extra_field(answer: Record, _prompt: str) -> Record:
    return {**answer, "total_interactions": 999}


BENT: dict[str, Callable[[Record, str], Record]] = {
    "invented_quote": _invented_date,
    "wrong_ids": _wrong_ids,
    "long_summary": _long_summary,
    "other_language": _other_language,
    "echo": _echo,
    "wrong_types": _wrong_types,
    "extra_field": _extra_field,
}
"""By the names of ``answers.MODES``; a profile has no quotes, so an invented date stands for an invented quote."""
