"""A sensible profile of a fenced relationship, made by rule: the same input always gives the same words.

It plays a well-behaved model for demos and tests; the product's own offline synthesis is another thing.
"""

from __future__ import annotations

import re
from typing import Any

from pkg_pipeline.fake_llm.summaries import language_of
from pkg_pipeline.memory.gate.instructions import gives_orders

Record = dict[str, Any]
PROFILE_KEYS = {"relationship_type", "summary", "timeline", "milestones"}
CLAUSE_CHARS = 90
MOST_MILESTONES = 5

_TRADE = re.compile(r"договор|сч[её]т|оплат|цен[аы]|contract|invoice|\bpaid\b|price|合同|付款|报价", re.IGNORECASE)
_WORK = re.compile(r"релиз|отч[её]т|совещан|sprint|release|report|会议|报告|上线", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?…。！？；;\n]")
_FRAMES = {
    "ru": ("{name}: разговоров {count}, с {first}.", "Последнее, о чём говорили: {lead}.", "С {first}: {lead}."),
    "en": (
        "{name}: {count} conversations since {first}.",
        "Last they spoke of this: {lead}.",
        "Since {first}: {lead}.",
    ),
    "zh": ("{name}：自{first}起谈话{count}次。", "最近谈到：{lead}。", "自{first}起：{lead}。"),
}


def profile(blocks: dict[str, list[Record]]) -> Record:
    """An answer of the profile schema for the fenced blocks of its prompt."""
    summaries = [one for one in blocks["SUMMARIES"] if not gives_orders(" ".join([one["text"], *one["decisions"]]))]
    texts = [one["text"] for one in summaries or blocks["SUMMARIES"]]
    language = language_of(texts)
    spoken = [one for one in summaries if language_of([one["text"]]) == language]
    counted = next((one for one in blocks["COUNTED"] if "conversations" in one and "frequency" in one), {})
    name = next((one["name"] for one in blocks["PEOPLE"] if not one["is_me"]), "-")
    opening, latest, course = _FRAMES[language]
    first = counted.get("first_conversation", "")
    parts = [opening.format(name=name, count=counted.get("conversations", 0), first=first)]
    if spoken:
        parts.append(latest.format(lead=_clause(spoken[-1]["text"])))
    joined = "\n".join(texts)
    timeline = course.format(first=first, lead=_clause(spoken[0]["text"])) if spoken else parts[0]
    return {
        "relationship_type": _type(joined),
        "summary": ("" if language == "zh" else " ").join(parts),
        "timeline": timeline,
        "milestones": [_milestone(one) for one in spoken if one["decisions"]][:MOST_MILESTONES],
    }


def _type(text: str) -> str:
    if _TRADE.search(text):
        return "client"
    return "colleague" if _WORK.search(text) else "acquaintance"


def _clause(text: str) -> str:
    clauses = [clause.strip() for clause in _CLAUSE_END.split(text) if clause.strip()] or [text.strip()]
    clause = clauses[0]
    return clause if len(clause) <= CLAUSE_CHARS else clause[:CLAUSE_CHARS].rsplit(" ", 1)[0]


def _milestone(summary: Record) -> Record:
    return {
        "date": summary["day"],
        "title": _clause(summary["decisions"][0]),
        "importance": "medium",
        "summary_numbers": [summary["n"]],
    }
