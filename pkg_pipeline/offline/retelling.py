"""Rewrites first-person speech in the third person (English only), else quotes it after the speaker's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import LANGUAGES, pattern, table
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading, Sentence, count_words
from pkg_pipeline.offline.weighing import is_question, plain

DESCRIPTION_WORDS = 60
DESCRIPTION_CHARS = 300
_QUOTING = re.compile(r"[\"“”«»]")


@cache
def _words(name: str) -> Any:
    english = table("offline", "en", "third_person")
    if name in english["patterns"]:
        return pattern(english["patterns"][name])
    return frozenset(english[name].split()) if isinstance(english[name], str) else english[name]


@cache
def _titles() -> frozenset[str]:
    return frozenset(word for language in LANGUAGES for word in table("offline", language, "phrases")["titles"].split())


def conjugate(verb: str) -> str:
    """The third person of an English verb after "I" (``go`` → ``goes``); past forms and modals stay."""
    low = verb.lower()
    if low in _words("fixed"):
        return _words("fixed")[low]
    if low.endswith("ed") or any(low in _words(kind) for kind in ("modal", "past", "adverbs")):
        return verb
    if re.search(r"(?:s|x|z|ch|sh|o)$", low):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", low) else verb + "s"


def third_person(text: str, speaker: str, hearer: str | None) -> str:
    """``text`` in the third person: "I'll call you" → "Ann will call Tom"; "you" stays without a hearer."""

    def subject(m: re.Match[str]) -> str:
        is_you = m["subject"].lower() == "you"
        if is_you and hearer is None:
            return m.group()
        name = (hearer or "you") if is_you else speaker
        if is_you and m["verb"] is None and m["short"] is None:
            return name
        adverbs, verb, short = m["adverbs"] or "", m["verb"] or "", (m["short"] or "").lower()
        if is_you and not short and _words("governs").search(text[: m.start()].rstrip().lower()):
            return name + m.group()[3:]
        if short:
            return f"{name}{_words('fixed')[short]}{adverbs}{' ' + verb if verb else ''}"
        return f"{name}{adverbs}{' ' + conjugate(verb) if verb else ''}"

    told = _words("subject").sub(subject, text.replace("’", "'"))
    pronouns = {"my": "their", "me": speaker, "mine": "theirs", "myself": "themselves"}
    pronouns |= {"your": f"{hearer}'s" if hearer else "your", "yourself": "themselves" if hearer else "yourself"}
    for pronoun, said in pronouns.items():
        told = re.sub(rf"\b{pronoun}\b", lambda _, said=said: said, told, flags=re.IGNORECASE)
    return told


def _english(text: str, speaker: str, hearer: str | None) -> str | None:
    bare = text.strip()
    if m := _words("request").match(bare):
        if m["ing"]:
            return f"{speaker} asks about {third_person(m['ing'], speaker, hearer)}"
        whom = f"{hearer} " if hearer else ""
        what = m["what"] or m["order"]
        if _words("prohibition").match(what):  # "to don't forget" is no English
            return None
        return f"{speaker} asks {whom}to {third_person(what, speaker, hearer)}"
    if m := _words("proposal").match(bare):
        return f"{speaker} suggests to {third_person(m['what'], speaker, hearer)}"
    if hearer and (m := _words("yes_no").match(bare)):
        aux = conjugate(m["aux"].lower())
        return f"{speaker} asks if {hearer} {aux} {third_person(m['rest'], speaker, None)}"
    if is_question(bare) or not _words("first_person").match(bare):
        return None
    return third_person(bare.rstrip(".!"), speaker, hearer)


def ended(text: str, language: Language) -> str:
    """A text as a sentence: capital first letter, final mark."""
    text = text.strip(" ,，;；、-–—")
    if not text:
        return text
    text = text[0].upper() + text[1:]
    return text if re.search(r"[.!?。！？…]$", text) else text + phrases(language).templates["stop"]


def first_name(person: Person, reading: Reading) -> str:
    """The first word of a personal name if unique."""
    name = re.sub(r"(?<=\w)\.(?=\s)", "", person.name)  # "Hon." would read as the end of a sentence
    parts, people = name.split(), reading.source.participants
    is_personal = len(parts) == 2 and all(part[:1].isupper() and part.isalpha() for part in parts)
    if len(people) > 2 or not is_personal or parts[0].lower() in _titles():
        return name
    others = [other.name for other in people if other.entity_id != person.entity_id]
    return name if any(set(parts) & set(other.split()) for other in others) else parts[0]


@dataclass(frozen=True, slots=True)
class Told:
    """Speech as a sentence of a summary: ``told`` in the third person, else ``said`` after a name."""

    speaker: str
    text: str
    is_told: bool


def retell(text: str, sentence: Sentence, reading: Reading, *, budget: int = 60) -> Told:
    """One piece of speech without fillers, in at most about ``budget`` words."""
    line = reading.lines[sentence.line]
    speaker = first_name(line.speaker, reading)
    hearer = None
    if len(reading.speakers) == 2:
        hearer = next((first_name(p, reading) for p in reading.speakers if p.entity_id != line.speaker.entity_id), None)
    shown = clipped(plain(text, sentence.language) or text.strip(), budget)
    if sentence.language == "en" and not reading.is_meeting and not _QUOTING.search(shown):
        told = _english(shown, speaker, hearer)
        if told is not None:
            return Told(speaker, ended(told, "en"), is_told=True)
    return Told(speaker, ended(shown, sentence.language), is_told=False)


def sentence_of(told: Sequence[Told], reading: Reading) -> str:
    """Pieces of one speaker and kind as one sentence, joined by semicolons."""
    first = told[0]
    out = first.text
    for piece in told[1:]:
        more = piece.text.removeprefix(f"{first.speaker} ") if first.is_told else piece.text
        bare = re.sub(r"[.!…。！]+$", "", out).replace("？", "?")
        out = f"{bare}；{more}" if reading.language == "zh" else f"{bare}; {more}"
    return out if first.is_told else phrases(reading.language).templates["said"].format(who=first.speaker, what=out)


def runs_of(told: Sequence[Told]) -> list[list[Told]]:
    runs: list[list[Told]] = []
    for piece in told:
        if runs and (runs[-1][-1].speaker, runs[-1][-1].is_told) == (piece.speaker, piece.is_told):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def clipped(text: str, budget: int) -> str:
    """At most ``budget`` words, cut at a clause if possible, with an ellipsis."""
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


def described(sentence: Sentence, reading: Reading, before: Sentence | None = None) -> str:
    """An item in words, at most ``DESCRIPTION_CHARS`` characters: as said; who owes it stands beside it.

    Only "I will …" about nobody else is turned into the third person. ``before``: what a bare answer answers.
    """
    parts = [] if before is None else [_as_said(before, DESCRIPTION_WORDS // 2)]
    told = _will(sentence, reading) if before is None and sentence.language == "en" else None
    parts.append(told or _as_said(sentence, DESCRIPTION_WORDS))
    return " — ".join(parts)[:DESCRIPTION_CHARS].rstrip()


def decided(sentence: Sentence, reading: Reading, before: Sentence | None = None) -> str:
    """A decision in words, as said; who said it stands behind it, since a decision has no owner."""
    told = described(sentence, reading, before)
    speaker = first_name(reading.lines[sentence.line].speaker, reading)
    if told.startswith(speaker):
        return told
    by = f" ({speaker})"
    return told[: DESCRIPTION_CHARS - len(by)].rstrip() + by


def _as_said(sentence: Sentence, budget: int) -> str:
    return ended(clipped(" ".join(sentence.text.split()), budget), sentence.language)


def _will(sentence: Sentence, reading: Reading) -> str | None:
    """What "I'll send the draft" becomes ("Ann will …"); None where another is spoken of or something is asked."""
    text = " ".join(sentence.text.split())
    m = _words("i_will").match(plain(text, "en"))
    if m is None or _QUOTING.search(text) or _words("persons").search(m["rest"]) or is_question(text):
        return None
    speaker = first_name(reading.lines[sentence.line].speaker, reading)
    return ended(f"{speaker} will {clipped(m['rest'], DESCRIPTION_WORDS)}", "en")
