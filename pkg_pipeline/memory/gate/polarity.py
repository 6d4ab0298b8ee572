"""What a text denies, and whether an answer turns round what was said (B18)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.wording import content, tokens
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.text.normalise import sentences

_CLAUSE: Final = re.compile(r"[,;:.!?，。；：！？、\n()«»\"“”…—–]+")
SHORT_DENIAL: Final = 2
CHARACTERS: Final = 4
"""A denial of so few words, of so many letters or characters each, says little of what it denies."""
_UNABLE: Final = re.compile("不[了成到](?!解|立|底|达)")
"""Behind a Chinese verb: what it does cannot be done."""
_HAN: Final = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Polarity:
    """Meanings that a text denies and those that it says plainly; whether it denies, refuses or still waits at all.

    ``bare``: it denies without saying what ("I can't").
    """

    denied: frozenset[str]
    plain: frozenset[str]
    denies: bool
    refuses: bool
    waits: bool
    bare: bool = False


@dataclass(frozen=True, slots=True)
class _Signs:
    """The signs of one script: of words between spaces, or of Chinese characters."""

    spared: re.Pattern[str]
    denies: re.Pattern[str]
    refuses: re.Pattern[str]
    waits: re.Pattern[str]
    reach: dict[str, int]
    antonyms: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]


def whole(source: str) -> str:
    """A pattern that matches whole words only; Chinese has no borders."""
    return f"(?:{source})" if _HAN.search(source) else rf"(?<![\w'’])(?:{source})(?![\w'’])"


@cache
def _signs() -> _Signs:
    tables = [table(language, "polarity") for language in folders("polarity")]

    def any_of(key: str) -> re.Pattern[str]:
        return re.compile("|".join(whole(one[key]) for one in tables))

    return _Signs(
        spared=re.compile("|".join(whole(one[key]) for one in tables for key in ("no_denial", "asks_politely"))),
        denies=any_of("denies"),
        refuses=any_of("refuses"),
        waits=any_of("pending"),
        reach={"han": 4, "word": 2}
        | {language: table(language, "polarity")["reach"] for language in folders("polarity")},
        antonyms=tuple((re.compile(whole(a)), re.compile(whole(b))) for one in tables for a, b in one["antonyms"]),
    )


@lru_cache(maxsize=16_384)
def polarity(text: str) -> Polarity:
    signs = _signs()
    plain = signs.spared.sub(" , ", folded(text).replace("’", "'"))
    denied: set[str] = set()
    said: set[str] = set()
    denies = refuses = bare = False
    for clause in _CLAUSE.split(plain):
        found = sorted(
            (m.span(), m.re is signs.refuses) for p in (signs.denies, signs.refuses) for m in p.finditer(clause)
        )
        at = 0
        for (start, end), is_refusal in found:
            if start < at:
                continue
            refuses |= is_refusal
            denies |= not is_refusal
            said |= {meaning for _, meaning in tokens(clause[at:start]) if meaning}
            at = _end_of_reach(clause, end)
            reached = {meaning for _, meaning in tokens(clause[end:at]) if meaning} - modal()
            if _UNABLE.match(clause, start):
                reached |= {meaning for _, meaning in tokens(clause[max(0, start - 1) : start]) if meaning}
                said -= reached
            bare |= not reached or len(clause.split()) <= SHORT_DENIAL >= len(clause) / CHARACTERS
            denied |= reached
        said |= {meaning for _, meaning in tokens(clause[at:]) if meaning}
    return Polarity(frozenset(denied), frozenset(said), denies, refuses, signs.waits.search(plain) is not None, bare)


def after_denial(text: str) -> str:
    """The words behind the first denial of a text; empty without one."""
    plain = _signs().spared.sub(" , ", folded(text).replace("’", "'"))
    found = _signs().denies.search(plain)
    return plain[found.end() :] if found else ""


def refusal_in(text: str) -> str | None:
    """The word of a text that refuses without a denial, or None."""
    found = _signs().refuses.search(_signs().spared.sub(" , ", folded(text).replace("’", "'")))
    return None if found is None else found.group()


@cache
def modal() -> frozenset[str]:
    """Meanings of verbs that say nothing without another (can, will, хочу)."""
    words = (word for language in folders("polarity") for word in table(language, "polarity")["modal"].split())
    return frozenset(meaning for word in words for _, meaning in tokens(word) if meaning)


def _end_of_reach(clause: str, at: int) -> int:
    """Where the words end that a denial reaches."""
    reach = _signs().reach
    if _HAN.match(clause[at : at + 1]):
        return at + reach["zh"]
    words = re.finditer(r"\S+", clause[at:])
    length = reach["ru"] if re.search("[а-я]", clause[at:]) else reach["en"]
    ends = [match.end() for _, match in zip(range(length), words, strict=False)]
    return at + (ends[-1] if ends else 0)


def turned_round(text: str, said: Sequence[str], quote: str) -> str | None:
    """A word of ``text`` that denies what was said plainly, or says plainly what was denied; None if there is none."""
    mine = polarity(text)
    if mine.denies and (left_out := _denied_of_what_is_left_out(text, said)) is not None:
        return left_out
    theirs = [polarity(one) for one in said]
    denied = frozenset(
        one for text_said, other in zip(said, theirs, strict=True) for one in _denied_in(text_said, other)
    )
    told = [other for one, other in zip(said, theirs, strict=True) if not is_question(one)] or theirs
    plain = frozenset(one for other in told for one in other.plain)
    asserted = frozenset(
        one
        for text_said, other in zip(said, theirs, strict=True)
        if not (is_question(text_said) or other.denies or other.refuses)
        for one in other.plain
    )
    if mine.denied or mine.denies:
        if not any(one.denies or one.refuses or one.waits for one in theirs):
            return _word(text, mine.denied) or quote[:20] or text[:20]
        turned = mine.denied & asserted - denied - mine.plain
        if (
            turned
            and not any(one.refuses or one.bare for one in theirs)
            and not polarity(quote).denies
            and not polarity(quote).waits
        ):
            return _word(text, turned)
    elif mine.refuses:
        if not any(one.denies or one.refuses for one in theirs):
            return _word(text, mine.denied) or quote[:20] or text[:20]
    else:
        turned = mine.plain & denied - plain
        if turned:
            return _word(text, turned)
    return opposite(text, said)


@cache
def _only() -> re.Pattern[str]:
    return re.compile("|".join(whole(table(language, "polarity")["only"]) for language in folders("polarity")))


def _denied_of_what_is_left_out(text: str, said: Sequence[str]) -> str | None:
    """A word of ``text`` that denies what a sentence leaves out of its denial ("not the door, only the walls")."""
    clauses = [content(one) for one in _CLAUSE.split(folded(text)) if polarity(one).denies]
    for sentence in (one for each in said for one in sentences(each)):
        plain = _signs().spared.sub(" , ", folded(sentence).replace("’", "'"))
        cuts = [piece for clause in _CLAUSE.split(plain) for piece in _pieces(clause)]
        denied = [content(piece) for piece, is_only in cuts if not is_only and polarity(piece).denies]
        kept = frozenset(
            one for piece, is_only in cuts if is_only and not polarity(piece).denies for one in content(piece)
        ).difference(*denied)
        for clause in clauses:
            if denied and clause & kept and not any(clause >= one for one in denied):
                return _word(text, clause & kept)
    return None


def _pieces(clause: str) -> list[tuple[str, bool]]:
    """A clause up to its first "only", and from there on: whether it is that."""
    found = _only().search(clause)
    return [(clause, False)] if found is None else [(clause[: found.start()], False), (clause[found.end() :], True)]


def _denied_in(text: str, said: Polarity) -> frozenset[str]:
    """What a text denies; a question denies nothing."""
    return frozenset() if is_question(text) else said.denied


def opposite(text: str, said: Iterable[str]) -> str | None:
    """A word of ``text`` whose opposite was said and not it, or None."""
    mine, theirs = folded(text), folded("\n".join(said))
    for one, other in _signs().antonyms:
        for here, there in ((one, other), (other, one)):
            if here.search(mine) and not there.search(mine) and there.search(theirs) and not here.search(theirs):
                found = _plainly(here, mine)
                if found is not None and _plainly(there, theirs) is not None:
                    return found
    return None


def _plainly(sign: re.Pattern[str], text: str) -> str | None:
    """What of a text is this sign, if no clause with it denies; or None."""
    found = [(clause, match) for clause in _CLAUSE.split(text) if (match := sign.search(clause)) is not None]
    return None if not found or any(polarity(clause).denies for clause, _ in found) else found[0][1].group()


def _word(text: str, meanings: frozenset[str]) -> str:
    return next((word for word, meaning in tokens(text) if meaning in meanings), "")
