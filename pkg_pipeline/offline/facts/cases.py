"""Russian names in any case as they are listed (P13)."""

from __future__ import annotations

import re
from functools import cache

from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.name_forms import inflections


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
