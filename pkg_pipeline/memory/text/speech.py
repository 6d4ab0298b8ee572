"""Speech as it was written down: without the sounds and repetitions that mean nothing."""

from __future__ import annotations

import re
from functools import cache

from pkg_pipeline.memory.languages import entries

_TWICE = re.compile(r"\b([^\W\d_]+(?:'[^\W\d_]+)?)(?:[ ,]+\1\b)+", re.IGNORECASE)


@cache
def _hesitation() -> re.Pattern[str]:
    return re.compile("|".join(source for _, source in entries("speech", "hesitation")), re.IGNORECASE)


def fluent(text: str) -> str:
    """``text`` without sounds of hesitation and words said twice in a row, with single blanks."""
    return " ".join(_TWICE.sub(r"\1", " ".join(_hesitation().sub(" ", text).split())).split())
