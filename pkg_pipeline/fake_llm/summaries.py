"""Good answers to the prompts of summaries, by rule: of talks, of one with new messages, of a long talk's parts."""

from __future__ import annotations

from itertools import groupby

from pkg_pipeline.fake_llm import talks
from pkg_pipeline.fake_llm.good import clause_of, hears, language_of, space_of, told
from pkg_pipeline.fake_llm.talks import Blocks, Record
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.text.normalise import sentences

SHORT_TALK = 12
"""Messages; such a talk has one sentence and one point."""


def of_talks(blocks: Blocks) -> Record:
    grouped = groupby(talks.messages(blocks), key=lambda message: message["talk"])
    return {"talks": [{"talk": number, **_words(list(messages))} for number, messages in grouped]}


def updated(blocks: Blocks) -> Record:
    """The known sentences, and the first of a summary of what is shown."""
    known, fresh = blocks["SUMMARY"][0], _words(talks.messages(blocks))
    texts = [*sentences(known["summary"])[:2], *sentences(fresh["summary"])[:1]]
    points = list(dict.fromkeys([*fresh["points"], *known["points"]]))[:7]
    return {**fresh, "summary": space_of(texts).join(texts), "points": points, "tone": known["tone"]}


def of_parts(blocks: Blocks) -> Record:
    """First sentences of the first, middle and last part, a point of each."""
    parts = [{"summary": line[3], "points": line[4]} for line in blocks["PARTS"]]
    chosen = [parts[0], parts[len(parts) // 2], parts[-1]]
    texts = list(dict.fromkeys(sentences(part["summary"])[0] for part in chosen))
    points = list(dict.fromkeys(part["points"][0] for part in parts if part["points"]))
    return {"summary": space_of(texts).join(texts), "points": points[:7] or ["-"], "tone": "neutral"}


def _words(messages: list[Record]) -> Record:
    """One sentence and one point for a short talk, else three and up to seven."""
    usable = [one for one in messages if one["text"].strip() and not gives_orders(one["text"])]
    language = language_of([one["text"] for one in usable or messages])
    spoken = [one for one in usable if language_of([one["text"]]) == language] or usable
    decided = [one for one in spoken if hears("decision", one["text"])]
    lead = next((one for one in (*decided, *spoken) if len(one["text"]) > 20), spoken[0] if spoken else None)
    names = list(dict.fromkeys(one["speaker"] for one in messages))
    is_short = len(messages) <= SHORT_TALK
    sentences_told = told(language, names, lead, None if is_short else (decided or spoken or [None])[-1])
    distinct = {one["n"]: one for one in [*decided, *spoken]}.values()
    return {
        "summary": sentences_told[0] if is_short else space_of(sentences_told).join(sentences_told),
        "points": [clause_of(one["text"]) for one in distinct][: 1 if is_short else 7] or ["-"],
        "tone": "neutral",
        "important": [one["n"] for one in usable if one["important"]],
    }
