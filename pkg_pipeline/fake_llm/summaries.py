"""A sensible summary of a fenced conversation, made by rule: the same input always gives the same words.

It plays a well-behaved model for demos and tests; the offline summariser of the product is another thing. Quotes are
always words of the input, in the input's language.
"""

from __future__ import annotations

import re
from typing import Any

from pkg_pipeline.memory.gate.instructions import gives_orders

Record = dict[str, Any]

_DECISION = re.compile(
    r"договорил|решили|решено|утвердил|подтвержда|согласен|согласна|по рукам|\bagreed\b|\bdeal\b|\bdecided\b"
    r"|\bsettled\b|\bconfirmed\b|\blet's go with\b|同意|决定|确认|就这么定|说定",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"пришлю|отправлю|сделаю|подготовлю|позвоню|перезвоню|скину|оплачу|\bi'll\b|\bi will\b|\bcan you\b|\bplease\b"
    r"|我会|我来|请你|麻烦",
    re.IGNORECASE,
)
_MONEY = re.compile(r"\d[\d\s.,]*\s?(?:руб|₽|€|\$|eur|usd|евро|доллар|元|块|万|тыс)|[$€£¥]\s?\d", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+\d[\d\s()-]{7,}\d")
_CLAUSE_END = re.compile(r"[.!?…。！？\n]")
_FRAMES = {
    "ru": ("{names} обсуждали: {lead}.", "Итог: {result}.", "Тон разговора ровный."),
    "en": ("{names} talked about this: {lead}.", "It came to this: {result}.", "The tone was even."),
    "zh": ("{names}谈到：{lead}。", "结果：{result}。", "语气平和。"),
}
_JOINERS = {"ru": " и ", "en": " and ", "zh": "和"}
CLAUSE_CHARS = 120


def language_of(texts: list[str]) -> str:
    """ru, zh or en by what the letters are; a Chinese character counts three."""
    joined = "".join(texts)
    han = 3 * sum("\u4e00" <= character <= "\u9fff" for character in joined)
    cyrillic = sum("\u0400" <= character <= "\u04ff" for character in joined)
    latin = sum(character.isascii() and character.isalpha() for character in joined)
    return max((("en", latin), ("ru", cyrillic), ("zh", han)), key=lambda pair: pair[1])[0]


def summarise(participants: list[Record], messages: list[Record]) -> Record:
    """An answer of the summary schema for fenced ``participants`` and ``messages``."""
    usable = [message for message in messages if message["text"].strip() and not gives_orders(message["text"])]
    language = language_of([message["text"] for message in usable or messages])
    spoken = [message for message in usable if language_of([message["text"]]) == language] or usable
    decided = [message for message in spoken if _DECISION.search(message["text"])]
    promised = [message for message in spoken if _ACTION.search(message["text"])]
    lead = next((message for message in spoken if len(message["text"]) > 20), spoken[0] if spoken else None)
    result = (decided or spoken or [None])[-1]
    return {
        "summary": _summary(language, participants, lead, result),
        "key_points": [_clause(message["text"]) for message in _distinct([*decided, *promised, *spoken])[:7]] or ["-"],
        "tone": "neutral",
        "decisions": [_decision(message) for message in decided[:5]],
        "action_items": [_action(message, participants) for message in promised[:5]],
        "facts": [fact for message in usable for fact in _facts(message)][:10],
        "important_message_ids": [message["n"] for message in usable if message.get("important")],
    }


def _summary(language: str, participants: list[Record], lead: Record | None, result: Record | None) -> str:
    names = _JOINERS[language].join([person["name"] for person in participants][:3]) or "-"
    opening, outcome, tone = _FRAMES[language]
    parts = [opening.format(names=names, lead=_clause(lead["text"]) if lead else "-")]
    if result is not None and result is not lead:
        parts.append(outcome.format(result=_clause(result["text"], _DECISION)))
    return ("" if language == "zh" else " ").join([*parts, tone])


def _clause(text: str, pattern: re.Pattern[str] | None = None) -> str:
    """The clause where ``pattern`` fires, else the longest: whole words of the text, without its final mark."""
    clauses = [clause.strip() for clause in _CLAUSE_END.split(text) if clause.strip()] or [text.strip()]
    fired = [clause for clause in clauses if pattern is not None and pattern.search(clause)]
    clause = fired[0] if fired else max(clauses, key=len)
    return clause if len(clause) <= CLAUSE_CHARS else clause[:CLAUSE_CHARS].rsplit(" ", 1)[0]


def _distinct(messages: list[Record]) -> list[Record]:
    return list({message["n"]: message for message in messages}.values())


def _decision(message: Record) -> Record:
    return {
        "description": f"{message['speaker']}: {_clause(message['text'], _DECISION)}",
        "date": message["time"].split(" ")[1],
        "importance": "high" if _MONEY.search(message["text"]) else "medium",
        "quote": _clause(message["text"], _DECISION),
        "message_ids": [message["n"]],
    }


def _action(message: Record, participants: list[Record]) -> Record:
    is_mine = any(person["is_me"] and person["name"] == message["speaker"] for person in participants)
    return {
        "description": f"{message['speaker']}: {_clause(message['text'], _ACTION)}",
        "owner": "self" if is_mine else "them",
        "owner_name": message["speaker"],
        "status": "open",
        "due_date": None,
        "closed_at": None,
        "quote": _clause(message["text"], _ACTION),
        "message_ids": [message["n"]],
    }


def _facts(message: Record) -> list[Record]:
    found = [("email", _EMAIL), ("phone", _PHONE)]
    return [
        {
            "fact_type": kind,
            "value": match.group(),
            "about": message["speaker"],
            "confidence": 0.9,
            "quote": match.group(),
            "message_ids": [message["n"]],
        }
        for kind, pattern in found
        for match in pattern.finditer(message["text"])
    ]
