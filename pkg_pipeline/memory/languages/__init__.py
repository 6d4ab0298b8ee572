"""Languages as data: a folder each of TOML files, read on first use and cached; ``common`` applies to all.

A language is its folder and its code in ``records.Language``; a folder with only ``orders.toml`` adds orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from pkg_pipeline.memory.records import Language

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
COMMON: Final = "common"

_REFERENCE: Final = re.compile(r"<([A-Z][A-Z_]*)>")
_EACH_OF: Final = re.compile(r"<\*([A-Z][A-Z_]*)>")


@cache
def table(language: str, name: str, room: str = "memory") -> Mapping[str, Any]:
    """The file ``name`` of a language or of ``common`` in a room of the package; empty without one."""
    import tomllib  # imported here: only some callers need the parser

    path = FOLDER.parents[1] / room / "languages" / language / f"{name}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


@cache
def folders(name: str) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{name}.toml")))


def entries(name: str, key: str) -> Iterator[tuple[str, Any]]:
    """(language, value) of ``key`` in every file ``name`` that has it."""
    for language in folders(name):
        if key in table(language, name):
            yield language, table(language, name)[key]


@cache
def word_set(name: str, key: str) -> frozenset[str]:
    """The blank-separated words under ``key`` of the files ``name`` of all languages."""
    return frozenset(word for _, text in entries(name, key) for word in text.split())


def patterns(language: str, name: str, sources: Iterable[str]) -> list[str]:
    """``sources`` with ``<NAME>`` replaced by the ``[words]`` of the language or the common ones.

    ``<*NAME>`` expands to one pattern per word. ``KeyError``: unknown name.
    """
    vocabulary = {**table(COMMON, name).get("words", {}), **table(language, name).get("words", {})}

    def filled(source: str) -> str:
        return _REFERENCE.sub(lambda found: filled(vocabulary[found[1]]), source)

    made: list[str] = []
    for source in sources:
        each = _EACH_OF.search(source)
        variants = [source.replace(each[0], word) for word in vocabulary[each[1]]] if each else [source]
        made += map(filled, variants)
    return made
