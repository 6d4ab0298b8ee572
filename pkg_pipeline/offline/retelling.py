"""Rewrites first-person speech in the third person (English only), else quotes it after the speaker's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

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
def _words(name: str) -> Any:
    english = table("offline", "en", "third_person")
    if name in english["patterns"]:
        return pattern(english["patterns"][name])
    return frozenset(english[name].split()) if isinstance(english[name], str) else english[name]


@cache
def _titles() -> frozenset[str]:
    return frozenset(word for language in LANGUAGES for word in table("offline", language, "phrases")["titles"].split())


def conjugate(verb: str) -> str:
    """The third person of an English verb after "I" (``go`` → ``goes``). ``Unsafe``: not a known verb."""
    low = verb.lower()
    if low in _words("fixed"):
        return _words("fixed")[low]
    if low in _words("present"):
        if re.search(r"(?:s|x|z|ch|sh|o)$", low):
            return verb + "es"
        return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", low) else verb + "s"
    if low in _words("modal") or low in _words("past") or low.endswith("ed"):
        return verb
    raise Unsafe


class Unsafe(ValueError):
    """The words cannot be turned surely; they are quoted as said."""


def third_person(text: str, speaker: str, hearer: str | None) -> str:
    """``text`` in the third person: "I'll call you" → "Ann will call Tom". ``Unsafe`` where that may change it."""

    def told(m: re.Match[str]) -> str:
        if m["other"]:
            raise Unsafe
        if m["pronoun"]:
            return _possessed(m["pronoun"].lower(), text, speaker, hearer)
        if m["subject"].lower() == "i":
            if _words("inverted").search(text[: m.start()].rstrip(" ,").lower()):
                raise Unsafe
            return _acting(speaker, m, text[m.end() :])
        return _addressed(m, text, hearer)

    text = text.replace("’", "'")
    return _words("persons_told").sub(told, text)


def _possessed(pronoun: str, text: str, speaker: str, hearer: str | None) -> str:
    """What "me", "my" and "your" become; "their" would be another's where others are told of."""
    if pronoun == "me":
        return speaker
    if pronoun == "your":
        if hearer is None:
            raise Unsafe
        return f"{hearer}'s"
    if _words("they").search(text):
        raise Unsafe
    return "their"


def _addressed(m: re.Match[str], text: str, hearer: str | None) -> str:
    """What "you" becomes: an object as it stands, a subject with its verb. "I know you like it" is no "I know Tom"."""
    before = text[: m.start()].rstrip().lower()
    follows = (m["verb"] or "").lower()
    if hearer is None or _words("inverted").search(before):
        raise Unsafe
    if m["short"] is None and not m["adverbs"] and (not follows or follows in _words("after_object")):
        return hearer + m.group()[len("you") :]
    if _words("governs").search(before):
        raise Unsafe
    return _acting(hearer, m, text[m.end() :])


def _acting(name: str, m: re.Match[str], rest: str) -> str:
    """A subject by name with its verb in the third person."""
    adverbs, verb, short = m["adverbs"] or "", m["verb"] or "", (m["short"] or "").lower()
    low = verb.lower()
    if _words("persons").fullmatch(low):
        raise Unsafe
    if short:
        if short == "'d" and low not in _words("present"):  # "I'd better", "I'd been"
            raise Unsafe
        return f"{name}{_words('fixed')[short]}{adverbs}{' ' + verb if verb else ''}"
    turned = conjugate(low)
    if turned != low and low not in ("am", "are", "were"):
        follows = [more["verb"].lower() for more in _words("also").finditer(rest)]
        first = rest.split()[:1] if low in _words("also_runs") else []
        if any(word.lower() in _words("present") for word in (*follows, *first)):  # "I go home and cook", "I go tell"
            raise Unsafe
    return f"{name}{adverbs} {turned}"


def _english(text: str, speaker: str, hearer: str | None) -> str | None:
    """``text`` told of ``speaker``, or None: it is quoted."""
    try:
        return _turned(text.strip(), speaker, hearer)
    except Unsafe:
        return None


def _turned(bare: str, speaker: str, hearer: str | None) -> str | None:
    if m := _words("request").match(bare):
        whom = f"{hearer} " if hearer else ""
        return f"{speaker} asks {whom}to {third_person(_deed(m['what'] or m['order']), speaker, hearer)}"
    if m := _words("proposal").match(bare):
        return f"{speaker} suggests to {third_person(_deed(m['what']), speaker, hearer)}"
    if hearer and (m := _words("yes_no").match(bare)):
        aux = conjugate(m["aux"].lower())
        return f"{speaker} asks if {hearer} {aux} {third_person(_one_sentence(m['rest']), speaker, None)}"
    if is_question(bare) or not _words("first_person").match(bare):
        return None
    return third_person(_one_sentence(bare.rstrip(".!")), speaker, hearer)


def _deed(words: str) -> str:
    """What follows "to": it begins with the verb of a deed, unlike "not then", "don't forget", "like a tea"."""
    first = re.split(r"[\s,]", words.lower(), maxsplit=1)[0]
    if first not in _words("present") or first in _words("no_deed"):
        raise Unsafe
    return _one_sentence(words)


def _one_sentence(words: str) -> str:
    if re.search(r"[?!]|\.{2}|[.…]\s", words):
        raise Unsafe
    return words


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
    line = reading.lines[sentence.line]
    speaker = first_name(line.speaker, reading)
    hearer = None
    if len(reading.speakers) == 2:
        hearer = next((first_name(p, reading) for p in reading.speakers if p.entity_id != line.speaker.entity_id), None)
    shown = clipped(text, budget)
    if sentence.language == "en" and not as_said and not reading.is_meeting and not _QUOTING.search(shown):
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


def _will(sentence: Sentence, reading: Reading) -> str | None:
    """What "I'll send the draft" becomes ("Ann will …"); None where another is spoken of or something is asked."""
    text = " ".join(sentence.text.split())
    m = _words("i_will").match(plain(text, "en"))
    if m is None or _QUOTING.search(text) or _words("persons").search(m["rest"]) or is_question(text):
        return None
    speaker = first_name(reading.lines[sentence.line].speaker, reading)
    return ended(f"{speaker} will {clipped(m['rest'], DESCRIPTION_WORDS)}", "en")
