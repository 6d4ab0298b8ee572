"""What people promise to do, by its kind (to send, to pay, to call …), and whether a text says that it was done."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.text.language_data import pattern, table


@cache
def _forms(kind: Literal["named", "done"]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each deed with its pattern in any of the languages, since people mix them."""
    patterns: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for row in table("offline", language, "deeds")[kind]:
            patterns.setdefault(row["name"], []).append(row["pattern"])
    return tuple((name, pattern("|".join(parts))) for name, parts in patterns.items())


@lru_cache(maxsize=4096)
def deeds_named(text: str) -> frozenset[str]:
    """The deeds that a text speaks of, in any form."""
    return frozenset(name for name, form in _forms("named") if form.search(text))


@cache
def _things() -> re.Pattern[str]:
    """Nouns that name a deed and are things as well: an invoice is paid, and is sent."""
    return pattern("|".join(table("offline", language, "deeds")["things"] for language in LANGUAGES))


@lru_cache(maxsize=8192)
def without_deeds(text: str) -> str:
    """A text without the words for deeds, but for ``_things``: "ordered a phone" is about a phone."""
    for kind in ("done", "named"):
        for _, form in _forms(kind):
            text = form.sub(_only_things, text)
    return text


def _only_things(deed: re.Match[str]) -> str:
    return f" {' '.join(_things().findall(deed.group()))} "


@lru_cache(maxsize=4096)
def deeds_done(text: str) -> frozenset[str]:
    """The deeds that a text tells as done."""
    return frozenset(name for name, form in _forms("done") if form.search(text))
