"""Language data: the TOML files in a room's ``languages/LANGUAGE/`` folders, read on first use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from pkg_pipeline.memory import languages
from pkg_pipeline.memory.languages import LANGUAGES

_PART = re.compile(r"\{([A-Z_]+)\}")


@cache
def table(room: str, language: str, name: str) -> Mapping[str, Any]:
    """``pkg_pipeline/ROOM/languages/LANGUAGE/NAME.toml``; do not modify the result.

    ``{NAME}`` in a pattern (``[patterns]``, or ``pattern`` of a row) stands for ``NAME`` of ``[parts]``; lists of texts
    are joined by line ends.
    """
    data = deepcopy(dict(languages.table(language, name, room)))
    parts = {key: _joined(text) for key, text in data.pop("parts", {}).items()}

    def filled(text: str | list[str]) -> str:
        return _PART.sub(lambda part: parts[part[1]], _joined(text))

    lists: list[list[Any]] = [value for value in data.values() if isinstance(value, list)]
    for row in (row for rows in lists for row in rows if "pattern" in row):
        row["pattern"] = filled(row["pattern"])
    return data | {"patterns": {key: filled(text) for key, text in data.get("patterns", {}).items()}}


def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


@cache
def in_any(room: str, name: str, key: str) -> re.Pattern[str]:
    """``[patterns] key`` of the table ``name`` in any language; where none has it nothing matches."""
    tables = (table(room, language, name)["patterns"] for language in LANGUAGES)
    return pattern("|".join(patterns[key] for patterns in tables if key in patterns) or "(?!)")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
