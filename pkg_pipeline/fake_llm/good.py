"""Good answers to every prompt, made by rule from its fenced blocks; quotes are the input's words."""

from __future__ import annotations

import re
from typing import Any

from pkg_pipeline.fake_llm import talks
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.text.language_data import in_any, table
from pkg_pipeline.memory.text.normalise import sentences

Record = dict[str, Any]
Blocks = dict[str, list[Record]]

CLAUSE_CHARS = 120
PROFILE_CLAUSE_CHARS = 90
MOST_MILESTONES = 5
MOST_OF_BRIEF = 4
TOPIC_WORDS = 3

MONEY = re.compile(r"\d[\d\s.,]*\s?(?:руб|₽|€|\$|eur|usd|евро|доллар|元|块|万|тыс)|[$€£¥]\s?\d", re.IGNORECASE)
CONTACTS = {
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "phone": re.compile(r"\+\d[\d\s()-]{7,}\d"),
}
_CLAUSE_END = re.compile(r"[.!?…。！？\n]")
_PROFILE_CLAUSE_END = re.compile(r"[.!?…。！？；;\n]")
_TOPIC_WORD = re.compile(r"[\u4e00-\u9fff]{2,6}|[^\W\d_]{4,}")
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


def hears(name: str, text: str) -> bool:
    """Whether a text matches a pattern of ``words.toml`` in any language."""
    return in_any("fake_llm", "words", name).search(text) is not None


def language_of(texts: list[str]) -> str:
    """ru, zh or en by letters; a Chinese character counts three."""
    joined = "".join(texts)
    han = 3 * sum("\u4e00" <= character <= "\u9fff" for character in joined)
    cyrillic = sum("\u0400" <= character <= "\u04ff" for character in joined)
    latin = sum(character.isascii() and character.isalpha() for character in joined)
    return max((("en", latin), ("ru", cyrillic), ("zh", han)), key=lambda pair: pair[1])[0]


def told(language: str, names: list[str], lead: Record | None, result: Record | None) -> list[str]:
    """Sentences: who spoke of what, what came of it, in what tone."""
    words = table("fake_llm", language, "words")
    opening, outcome, tone = words["summary"]
    about = clause_of(lead["text"]) if lead else "-"
    parts = [opening.format(names=words["joiner"].join(names[:3]) or "-", lead=about)]
    if result is not None and result is not lead:
        parts.append(outcome.format(result=clause_of(result["text"], "decision")))
    return [*parts, tone]


def clause_of(text: str, name: str | None = None) -> str:
    """The clause with the pattern, else the longest, without its final mark."""
    clauses = [clause.strip() for clause in _CLAUSE_END.split(text) if clause.strip()] or [text.strip()]
    fired = (clause for clause in clauses if name is not None and hears(name, clause))
    return _cut(next(fired, max(clauses, key=len)), CLAUSE_CHARS)


def _cut(clause: str, most: int) -> str:
    return clause if len(clause) <= most else clause[:most].rsplit(" ", 1)[0]


def _decision(message: Record) -> Record:
    clause = clause_of(message["text"], "decision")
    return {
        "description": f"{message['speaker']}: {clause}",
        "date": message["time"].split(" ")[1],
        "importance": "high" if MONEY.search(message["text"]) else "medium",
        "quote": clause,
        "message_ids": [message["n"]],
    }


def _facts(message: Record) -> list[Record]:
    return [
        {
            "fact_type": kind,
            "value": match.group(),
            "about": message["speaker"],
            "confidence": 0.9,
            "quote": match.group(),
            "message_ids": [message["n"]],
        }
        for kind, contact in CONTACTS.items()
        for match in contact.finditer(message["text"])
    ]


def fold(blocks: Blocks) -> Record:
    messages = talks.messages(blocks)
    people = [one for one in talks.people(blocks) if not one["name"].startswith("tool: ")]
    spoken = [one for one in messages if not str(one["speaker"]).startswith("tool: ")] or messages
    names = [person["name"] for person in people]
    usable = [one for one in spoken if one["text"].strip() and not gives_orders(one["text"])]
    language = language_of([one["text"] for one in usable or spoken])
    heard = [one for one in usable if language_of([one["text"]]) == language] or usable
    decided = [one for one in heard if hears("decision", one["text"])]
    promised = [one for one in heard if hears("action", one["text"])]
    lead = next((one for one in heard if len(one["text"]) > 20), heard[0] if heard else None)
    sentences_told = told(
        language, names or [one["speaker"] for one in spoken[:1]], lead, (decided or heard or [None])[-1]
    )
    points = {one["n"]: clause_of(one["text"]) for one in [*decided, *promised, *heard]}.values()
    topics = (" ".join(_TOPIC_WORD.findall(point)[:TOPIC_WORDS]) for point in points)
    facts = [fact for one in usable for fact in _facts(one)][:10]
    return {
        "summary": space_of([one["text"] for one in heard or spoken]).join(sentences_told),
        "facts": [{**fact, "about": fact["about"] if fact["about"] in names else None} for fact in facts],
        "decisions": [_decision(one) for one in decided[:5]],
        "open_questions": _open_questions(spoken),
        "topics": list(dict.fromkeys(topic[:60].strip() for topic in topics if topic))[:7],
    }


def _open_questions(messages: list[Record]) -> list[Record]:
    found: list[Record] = []
    for place, message in enumerate(messages):
        is_answered = any(later["speaker"] != message["speaker"] for later in messages[place + 1 :])
        asked = _QUESTION.search(message["text"])
        if asked is None or is_answered or gives_orders(message["text"]) or len(asked.group().strip()) < 8:
            continue
        quote = asked.group().strip()[:500]
        found.append({"text": quote, "quote": quote, "message_ids": [message["n"]]})
    return found


def shorter(blocks: Blocks, prompt: str) -> Record:
    """The first sentences of all paragraphs within the target."""
    texts = [paragraph["text"] for paragraph in blocks["SUMMARY"]]
    said, in_chinese = [sentences(text) for text in texts], language_of(texts) == "zh"
    limit = [int(number) for number in re.findall(r"\d+", prompt.split("<<<")[0])][-1]
    chosen: set[tuple[int, int]] = set()
    size = 0
    for place in range(max(map(len, said))):
        for part, told in enumerate(said):
            if place < len(told):
                more = len(told[place]) if in_chinese else len(told[place].split())
                if not chosen or size + more <= limit:
                    chosen.add((part, place))
                    size += more
    return {"summary": space_of(texts).join(said[part][place] for part, place in sorted(chosen))}


def profile(blocks: Blocks) -> Record:
    everything = talks.summaries(blocks)
    summaries = [one for one in everything if not gives_orders(" ".join([one["text"], *one["decisions"]]))]
    texts = [one["text"] for one in summaries or everything]
    language = language_of(texts)
    spoken = [one for one in summaries if language_of([one["text"]]) == language]
    counted: Record = blocks["COUNTED"][0]
    name = next((one["name"] for one in talks.people(blocks) if not one["is_me"]), "-")
    words = table("fake_llm", language, "words")
    opening, latest, course = words["profile"]
    first = counted.get("first_conversation", "")
    parts = [opening.format(name=name, count=counted.get("conversations", 0), first=first)]
    timeline = parts[0]
    if spoken:
        parts.append(latest.format(lead=_firstclause_of(spoken[-1]["text"])))
        timeline = course.format(first=first, lead=_firstclause_of(spoken[0]["text"]))
    milestones = [
        {
            "date": one["day"],
            "title": _firstclause_of(one["decisions"][0]),
            "importance": "medium",
            "summary_numbers": [one["n"]],
        }
        for one in spoken
        if one["decisions"]
    ]
    joined = "\n".join(texts)
    kind = "client" if hears("trade", joined) else "colleague" if hears("work", joined) else "acquaintance"
    return {
        "relationship_type": kind,
        "summary": words["space"].join(parts),
        "timeline": timeline,
        "milestones": milestones[:MOST_MILESTONES],
        "doubts": [],
    }


def brief(blocks: Blocks) -> Record:
    """Lines of each kind in their part, in the words of their first clause; orders are left out."""
    lines = [one for one in talks.lines_of_brief(blocks) if not gives_orders(one["text"])]

    def told(*kinds: str) -> list[Record]:
        found = [one for one in lines if one["kind"] in kinds]
        return [{"text": _firstclause_of(one["text"]), "lines": [one["n"]]} for one in found[:MOST_OF_BRIEF]]

    return {
        "state": told("card")[:1],
        "current": told("summary", "message"),
        "open": told("action_item"),
        "facts": told("fact", "decision"),
    }


def _firstclause_of(text: str) -> str:
    clauses = (clause.strip() for clause in _PROFILE_CLAUSE_END.split(text) if clause.strip())
    return _cut(next(clauses, text.strip()), PROFILE_CLAUSE_CHARS)


def rewrite(blocks: Blocks) -> Record:
    """The question's content words, forwards and backwards; nothing for orders."""
    question = str(blocks["QUESTION"][0]["question"])
    words = [word for word in re.findall(r"\w+", question) if word.casefold() not in word_set("words", "no_topic")]
    if gives_orders(question) or not words:
        return {"queries": []}
    found = [" ".join(words)[:190], " ".join(reversed(words))[:190]]
    return {"queries": list(dict.fromkeys(found))}


def space_of(texts: list[str]) -> str:
    return table("fake_llm", language_of(texts), "words")["space"]
