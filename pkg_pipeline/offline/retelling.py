"""Tells what was said: quoted after the speaker's name; "I'll …", of nobody else, as "Ann will …" (English)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.text.language_data import LANGUAGES, pattern, table
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading, Sentence, count_words
from pkg_pipeline.offline.weighing import is_question, plain

DESCRIPTION_WORDS = 60
DESCRIPTION_CHARS = 300
WHOLE_WORDS = 25
"""Of a message that is told whole where one of its sentences decides."""
_QUOTING = re.compile(r"[\"“”«»]")


@cache
def _words(name: str) -> re.Pattern[str]:
    return pattern(table("offline", "en", "third_person")["patterns"][name])


@cache
def _titles() -> frozenset[str]:
    return frozenset(word for language in LANGUAGES for word in table("offline", language, "phrases")["titles"].split())


def ended(text: str, language: Language) -> str:
    """A text as a sentence: capital first letter, final mark."""
    text = text.strip(" ,，;；、-–—")
    if not text:
        return text
    text = text[0].upper() + text[1:]
    open_end = r"[.!?。！？]$" if language == "zh" else r"[.!?。！？…]$"  # after "…" no Chinese sentence begins
    return text if re.search(open_end, text) else text + phrases(language).templates["stop"]


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


def retell(text: str, sentence: Sentence, reading: Reading, *, budget: int = 60, as_said: bool = False) -> Told:
    """One piece of speech, in at most about ``budget`` words. ``as_said``: not in the third person."""
    speaker = first_name(reading.lines[sentence.line].speaker, reading)
    shown = clipped(text, budget)
    if sentence.language == "en" and not as_said and not reading.is_meeting:
        told = _will(shown, speaker)
        if told is not None:
            return Told(speaker, told, is_told=True)
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
    told = None
    if before is None and sentence.language == "en":
        told = _will(sentence.text, first_name(reading.lines[sentence.line].speaker, reading))
    parts.append(told or _as_said(sentence, DESCRIPTION_WORDS))
    return " — ".join(parts)[:DESCRIPTION_CHARS].rstrip()


def decided(sentence: Sentence, reading: Reading, before: Sentence | None = None) -> str:
    """A decision in words, as said; who said it stands behind it, since a decision has no owner. A short message is
    told whole: what is fixed may stand beside the words that fix it.
    """
    line = reading.lines[sentence.line]
    whole = " ".join(one.text for one in line.sentences)
    if len(line.sentences) > 1 and count_words(whole) <= WHOLE_WORDS:
        sentence = replace(sentence, text=whole)
    told = described(sentence, reading, before)
    speaker = first_name(line.speaker, reading)
    if told.startswith(speaker):
        return told
    by = f" ({speaker})"
    return told[: DESCRIPTION_CHARS - len(by)].rstrip() + by


def _as_said(sentence: Sentence, budget: int) -> str:
    return ended(clipped(" ".join(sentence.text.split()), budget), sentence.language)


def _will(said: str, speaker: str) -> str | None:
    """What "I'll send the draft" becomes ("Ann will …"); None where another is spoken of or something is asked."""
    text = " ".join(said.split())
    m = _words("i_will").match(plain(text, "en"))
    if m is None or _QUOTING.search(text) or is_question(text):
        return None
    if _words("persons").search(m["rest"]) or _words("persons").search(speaker):  # "Me will bring it"
        return None
    return ended(f"{speaker} will {clipped(m['rest'], DESCRIPTION_WORDS)}", "en")
