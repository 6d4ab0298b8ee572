"""Loads named statements: of the rooms' ``*.sql`` (``-- name: NAME`` starts one), and those compiled from
``statements.py`` into ``compiled.json``, so that reads do not import SQLAlchemy.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

import orjson

COMPILED = Path(__file__).with_name("compiled.json")
_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


class UnknownQuery(KeyError):
    """No statement of that name stands in that file."""


@cache
def files() -> dict[str, Path]:
    """Statement files by name without ``.sql``; migrations are none."""
    return {path.stem: path for path in Path(__file__).parent.glob("*/*.sql")}


@cache
def compiled() -> dict[str, dict[str, LiteralString]]:
    """Room → name → text."""
    return orjson.loads(COMPILED.read_bytes())


@cache
def _load(file: str) -> dict[str, LiteralString]:
    found = dict(compiled().get(file, {}))
    if file not in files():
        if not found:
            raise UnknownQuery(f"there is no {file}.sql")
        return found
    text = files()[file].read_text(encoding="utf-8")
    marks = list(_NAME.finditer(text))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        body = text[mark.end() : following.start() if following else len(text)].strip()
        if mark[1] in found:
            raise UnknownQuery(f"{file}.sql names {mark[1]} twice")
        # files of the package are as literal as strings in code
        found[mark[1]] = cast(LiteralString, body)
    return found


def names(file: str) -> list[str]:
    return list(_load(file))


def query(file: str, name: str) -> LiteralString:
    """A statement of ``FILE.sql`` or of the room of that name. Raises UnknownQuery."""
    try:
        return _load(file)[name]
    except KeyError:
        raise UnknownQuery(f"{file}.sql has no statement {name}") from None
