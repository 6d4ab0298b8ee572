"""Telling in the third person what somebody said in the first, where that can be done without changing the sense.

English only: its verbs need two endings. Russian and Chinese sentences are shown as said, with the speaker before them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading, Sentence, count_words
from pkg_pipeline.offline.weighing import is_question, plain

_IRREGULAR_PAST_WORDS = """
was were had did went said told got made took came saw knew thought found gave left felt put brought began kept
held wrote stood heard let meant set met ran paid sat spoke lay led read grew lost fell sent built understood
drew broke spent cut rose drove bought wore chose ate slept forgot won taught caught sold fought threw woke hit
hurt flew drank sang swam shut quit bet cost bit hid rode shot stuck tore used
"""
_IRREGULAR_PAST = frozenset(_IRREGULAR_PAST_WORDS.split())
_FIXED = {
    "am": "is", "'m": " is", "are": "is", "'re": " is", "have": "has", "'ve": " has", "do": "does", "don't": "doesn't",
    "haven't": "hasn't", "aren't": "isn't", "were": "was", "weren't": "wasn't", "'ll": " will", "'d": " would",
}  # fmt: skip
_MODAL_WORDS = """
will would can could shall should may might must can't couldn't won't wouldn't shouldn't didn't wasn't had
hadn't isn't is was has hasn't does doesn't never
"""
_MODAL = frozenset(_MODAL_WORDS.split())
_ADVERB_WORDS = """
also just really already still always usually often probably only actually now then even definitely recently
finally totally
"""
_ADVERB = frozenset(_ADVERB_WORDS.split())
_SUBJECT_I = re.compile(r"\b(?P<subject>i|you)(?P<short>'(?:m|ve|ll|d|re))?\b(?P<adverbs>(?:\s+(?:also|just|really|already|still|always|usually|often|probably|only|actually|now|even|definitely|recently|finally|totally|never))*)(?:\s+(?P<verb>[a-z]+(?:'t)?))?", re.IGNORECASE)  # fmt: skip  # noqa: E501
_REQUEST = re.compile(
    r"^(?:(?:please|pls)[,\s]+)?(?:can|could|would|will) you (?:please |kindly |maybe |just )*(?P<what>[a-z].*?)[?.!]*$"
    r"|^(?:please|pls|kindly)[,\s]+(?P<order>[a-z].*?)[.!]*$|^would you mind (?P<ing>\w+ing\b.*?)[?.!]*$",
    re.IGNORECASE,
)
_PROPOSAL = re.compile(r"^let'?s (?P<what>[a-z].*?)[.!?]*$", re.IGNORECASE)
_YES_NO = re.compile(r"^(?P<aux>are|do|did|have|will|were) you (?P<rest>[a-z].*?)\??$", re.IGNORECASE)
_TITLES_WORDS = """
mr mrs ms miss dr prof sir hon господин госпожа доктор
"""
_TITLES = frozenset(_TITLES_WORDS.split())
_QUOTING = re.compile(r"[\"“”«»]")


def conjugate(verb: str) -> str:
    """The third person of an English verb as it stands after "I"; past forms and modals stay. ``go`` → ``goes``."""
    low = verb.lower()
    if low in _FIXED:
        return _FIXED[low]
    if low in _MODAL or low in _IRREGULAR_PAST or low.endswith("ed") or low in _ADVERB:
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", low):
        return verb + "es"
    if re.search(r"[^aeiou]y$", low):
        return verb[:-1] + "ies"
    return verb + "s"


def third_person(text: str, speaker: str, hearer: str | None) -> str:
    """Said by Ann to Tom, "I'll call you" becomes "Ann will call Tom"; without a hearer "you" stays."""
    seen = {"i": 0, "you": 0}

    def subject(m: re.Match[str]) -> str:
        who = m["subject"].lower()
        if who == "you" and (hearer is None or (m["verb"] is None and m["short"] is None)):
            return m.group() if hearer is None else hearer
        before = text[: m.start()].rstrip().lower()
        if (
            who == "you"
            and re.search(
                r"\b(?:to|for|with|see|tell|call|give|send|let|thank|love|miss|help|ask|show|about|from|of|at|by|meet|know|like|and|pick|bring|text|join|want|need|if|hear|get|remind|than)$",
                before,
            )
            and not m["short"]
        ):
            return hearer + m.group()[3:]  # type: ignore[operator]
        name = speaker if who == "i" else hearer or "you"
        seen[who] += 1
        adverbs, verb, short = m["adverbs"] or "", m["verb"] or "", (m["short"] or "").lower()
        if short:
            return f"{name}{_FIXED[short]}{adverbs}{' ' + verb if verb else ''}"
        return f"{name}{adverbs}{' ' + conjugate(verb) if verb else ''}"

    told = _SUBJECT_I.sub(subject, text.replace("’", "'"))
    for pattern, value in (
        (r"\bmy\b", "their"), (r"\bme\b", speaker), (r"\bmine\b", "theirs"), (r"\bmyself\b", "themselves"),
        (r"\byour\b", f"{hearer}'s" if hearer else "your"), (r"\byourself\b", "themselves" if hearer else "yourself"),
    ):  # fmt: skip
        told = re.sub(pattern, value, told, flags=re.IGNORECASE)
    return told


def _english(text: str, speaker: str, hearer: str | None) -> str | None:
    bare = text.strip()
    m = _REQUEST.match(bare)
    if m and (what := m["what"] or m["order"] or m["ing"]):
        to = "" if m["ing"] else "to "
        verb = "asks" if not m["ing"] else "asks about"
        whom = f"{hearer} " if hearer and not m["ing"] else ""
        return f"{speaker} {verb} {whom}{to}{third_person(what, speaker, hearer)}"
    m = _PROPOSAL.match(bare)
    if m:
        return f"{speaker} suggests to {third_person(m['what'], speaker, hearer)}"
    m = _YES_NO.match(bare)
    if m and hearer and m["aux"].lower() in {"are", "have", "will", "were"}:
        aux = {"are": "is", "have": "has", "will": "will", "were": "was"}[m["aux"].lower()]
        return f"{speaker} asks if {hearer} {aux} {third_person(m['rest'], speaker, None)}"
    if is_question(bare):
        return None
    if re.match(r"(?:i|i'\w+)\b", bare, re.IGNORECASE):
        return third_person(bare.rstrip(".!"), speaker, hearer)
    return None


def _ended(text: str, language: str) -> str:
    text = text.strip(" ,，;；、-–—")
    if not text:
        return text
    text = text[0].upper() + text[1:]
    return text if re.search(r"[.!?。！？…]$", text) else text + ("。" if language == "zh" else ".")


def first_name(person: Person, reading: Reading) -> str:
    """A name short enough for a summary: the first word of a personal name, where no one else shares it."""
    name = re.sub(r"(?<=\w)\.(?=\s)", "", person.name)  # "Hon." would read as the end of a sentence
    parts = name.split()
    if (
        len(reading.source.participants) > 2
        or len(parts) != 2
        or not all(p[:1].isupper() and p.isalpha() for p in parts)
    ):
        return name
    if parts[0].lower() in _TITLES:
        return name
    others = [p.name for p in reading.source.participants if p.entity_id != person.entity_id]
    return name if any(set(parts) & set(other.split()) for other in others) else parts[0]


@dataclass(frozen=True, slots=True)
class Told:
    """A piece of speech as a sentence of a summary: ``told`` in the third person, else ``said`` after a name."""

    speaker: str
    text: str
    is_told: bool


def retell(text: str, sentence: Sentence, reading: Reading, *, budget: int = 60) -> Told:
    """One piece of speech, without fillers, in at most about ``budget`` words."""
    line = reading.lines[sentence.line]
    speaker = first_name(line.speaker, reading)
    hearer = None
    if len(reading.speakers) == 2:
        hearer = next((first_name(p, reading) for p in reading.speakers if p.entity_id != line.speaker.entity_id), None)
    shown = clipped(plain(text, sentence.language) or text.strip(), budget)
    if sentence.language == "en" and not reading.is_meeting and not _QUOTING.search(shown):
        told = _english(shown, speaker, hearer)
        if told is not None:
            return Told(speaker, _ended(told, "en"), is_told=True)
    return Told(speaker, _ended(shown, sentence.language), is_told=False)


def sentence_of(told: Sequence[Told], reading: Reading) -> str:
    """Pieces of one speaker and one kind as one sentence: the name once, semicolons between."""
    first = told[0]
    out = first.text
    for piece in told[1:]:
        more = piece.text.removeprefix(f"{first.speaker} ") if first.is_told else piece.text
        ended = re.sub(r"[.!…。！]+$", "", out).replace("？", "?")
        out = f"{ended}；{more}" if reading.language == "zh" else f"{ended}; {more}"
    return out if first.is_told else phrases(reading.language).templates["said"].format(who=first.speaker, what=out)


def clipped(text: str, budget: int) -> str:
    """A text of at most ``budget`` words; cut at a clause where possible, marked by an ellipsis."""
    if count_words(text) <= budget:
        return text
    kept = ""
    for clause in re.split(r"(?<=[,，;；、])", text):
        if count_words(kept + clause) > budget:
            break
        kept += clause
    if count_words(kept) < budget // 3:
        kept = ""
        for piece in re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\S+\s*|\s+", text):
            if count_words(kept + piece) > budget - 1:
                break
            kept += piece
    return kept.rstrip(" ,，;；、") + "…"
