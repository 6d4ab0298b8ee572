"""Whether somebody named, or a relative, can be who "he" or "she" is (P13)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline.offline.facts.words import any_cue

Gender = Literal["m", "f"]
_HE: Final = re.compile(r"he(?:['’]?s)?|him|his|он|его|ему|него|нему|ним|他", re.IGNORECASE)
_SHE: Final = re.compile(r"she(?:['’]?s)?|hers?|она|её|ее|ей|неё|нее|ней|她", re.IGNORECASE)
_MEN_IN_A: Final = frozenset({"никита", "илья", "данила", "лука", "фома", "савва", "кузьма"})


def may_be(pronoun: str, name: str) -> bool:
    """Whether a pronoun may mean somebody of a name; what is not known may be."""
    meant: Gender | None = "m" if _HE.fullmatch(pronoun) else "f" if _SHE.fullmatch(pronoun) else None
    if meant is None or not name.split():
        return True
    if any_cue("woman_kin" if meant == "m" else "man_kin").match(name):
        return False
    known = _genders().get(name.split()[0].casefold().replace("ё", "е"))
    return known is None or meant in known


@cache
def _genders() -> dict[str, frozenset[Gender]]:
    """Each form of the listed names to whose it may be, by the full name that begins its row."""
    found: dict[str, frozenset[Gender]] = {}
    for language, rows in entries("people", "same"):
        for row in rows if language == "ru" else ():
            full, *short = row.split()
            gender: Gender = "f" if full.endswith(("а", "я", "овь", "и")) and full not in _MEN_IN_A else "m"
            for word in (full, *short):
                for form in {word, *inflections(word)}:
                    found[form] = frozenset({*found.get(form, ()), gender})
    return found
