"""Russian names in any case as they are listed (P13)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import table
from pkg_pipeline.memory.text.name_forms import inflections

_ENDING: Final = re.compile(
    r"(?:[ая]ми|[ыи]ми|[ое]го|[ое]му|[оеё]м|[оеёиы]й|ую|юю|ая|[ыи]х|[ая]м|[ое]в|[ая]х|[ауеыиюяьs])$"
)


def nominative(word: str, language: Language) -> str:
    """A usual Russian name in any case as it is listed; others as they are written."""
    if language != "ru":
        return word
    first, *more = word.split()
    plain = _plain().get(first.casefold().replace("ё", "е"))
    if plain is None:
        return word
    is_hers = plain.endswith(("а", "я"))
    return " ".join((plain.capitalize(), *(_surname(one, is_hers=is_hers) for one in more)))


def _patronymic(word: str) -> str:
    word = re.sub(r"(ич)(?:а|у|ем|е)$", r"\1", word)
    return re.sub(r"(вн|ичн)(?:ы|е|у|ой)$", r"\1а", word)


def _surname(word: str, *, is_hers: bool) -> str:
    """A Russian surname or patronymic without its case."""
    word = _patronymic(word)
    if is_hers:
        word = re.sub(r"(ов|ев|ёв|ин|ын)(?:ой|у)$", r"\1а", word)
        return re.sub(r"(ск|цк)(?:ой|ую)$", r"\1ая", word)
    word = re.sub(r"(ов|ев|ёв|ин|ын)(?:а|у|ым|ом|е)$", r"\1", word)
    return re.sub(r"(ск|цк)(?:ого|ому|им|ом)$", r"\1ий", word)


@cache
def _plain() -> dict[str, str]:
    """Each form that only one listed name has, to that name."""
    found: dict[str, str] = {}
    double: set[str] = set()
    names = {word for _, rows in entries("people", "same") for row in rows for word in row.split()}
    for name in sorted(names):
        for form in inflections(name):
            if found.setdefault(form, name) != name:
                double.add(form)
    return {form: name for form, name in found.items() if form not in double or form in names} | {n: n for n in names}


def plain_kin(text: str) -> str:
    """A relative as they are listed, with their adjective and name: "младшей сестре Кате" is "младшая сестра Катя"."""
    words = text.split()
    plain = [_kin().get(word.casefold().replace("ё", "е")) for word in words]
    if not any(plain):
        return text
    is_hers = any(one.endswith(("а", "я", "чь", "вь")) for one in plain if one)
    return " ".join(one or _of_kin(word, is_hers=is_hers) for word, one in zip(words, plain, strict=True))


def called_kin(word: str, language: Language) -> str:
    """A relative named alone, in small letters and without a case."""
    return plain_kin(word.lower()) if language == "ru" else word.lower()


def is_possessor(kin: str, name: str) -> bool:
    """Whether a name behind a relative is whose they are ("сестра Лёши"), not what they are called ("сестра Катя")."""
    low = kin.casefold().replace("ё", "е")
    plain = nominative(name, "ru").casefold().replace("ё", "е")
    return _kin().get(low, "").replace("ё", "е") == low and plain != name.casefold().replace("ё", "е")


def _of_kin(word: str, *, is_hers: bool) -> str:
    adjective = re.fullmatch(r"(младш|старш|средн|родн|двоюродн|бывш|маленьк)\w{2,3}", word)
    if adjective is None:
        return nominative(word, "ru")
    theirs = {"родн": "ой", "двоюродн": "ый"}.get(adjective[1], "ий")
    return adjective[1] + (("яя" if adjective[1] == "средн" else "ая") if is_hers else theirs)


def plain_job(text: str) -> str:
    """What somebody is as it is listed, with the adjectives before it: "старшим логопедом" is "старший логопед"; what
    belongs to it stays ("руководителем отдела закупок").
    """
    words = text.split()
    jobs = [_jobs().get(stemmed(word)) for word in words]
    place = next((at for at, job in enumerate(jobs) if job and not any(jobs[at + 1 : at + 2])), 0)
    plain = jobs[place] if jobs else None
    if plain is None or words[place].casefold().replace("ё", "е") in _listed_jobs():
        return text
    is_hers = plain.endswith(("а", "я"))
    before = [_adjective(word, is_hers=is_hers) for word in words[:place]]
    return " ".join((*before, plain, *words[place + 1 :]))


def stemmed(word: str) -> str:
    """A word without its ending, short ones whole."""
    plain = word.casefold().replace("ё", "е")
    return _ENDING.sub("", plain) if len(plain) > len("кок") else plain


def _adjective(word: str, *, is_hers: bool) -> str:
    ending = re.search(r"(?:[ыи]м|[ое]го|[ое]му|[ое]й|[ую]ю)$", word)
    if ending is None:
        return word
    stem = word[: ending.start()]
    if is_hers:
        return stem + ("яя" if stem.endswith("н") and ending.group() in ("ей", "юю") else "ая")
    return stem + ("ый" if ending.group()[0] in "ыо" and stem[-1:] not in "гкхжчшщ" else "ий")


@cache
def _listed_jobs() -> frozenset[str]:
    return frozenset(table("offline", "ru", "mentions")["words"]["jobs"].replace("ё", "е").split())


@cache
def _jobs() -> dict[str, str]:
    """The stem of each listed job to it."""
    words = table("offline", "ru", "mentions")["words"]["jobs"].split()
    return {stemmed(word): word for word in reversed(words)}


@cache
def _kin() -> dict[str, str]:
    """Each form of a word for a relative to its plain form."""
    rows = table("offline", "ru", "facts")["words"]["kin_forms"]
    return {form: row.split()[0] for row in rows for form in row.replace("ё", "е").split()}
