"""Ids by their first digits, as tables show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from uuid import UUID

SHORT_ID = 8
"""Hexadecimal digits of an id as tables show it; at least so many name a row."""

_SHORT = re.compile(rf"[0-9a-f]{{{SHORT_ID},32}}")


def id_of(asked: str, between: Callable[[UUID, UUID], Sequence[UUID]], *, what: str, unknown: type[Exception]) -> UUID:
    """The id given in full, or by its first digits. ``between``: at most two ids of a range. Raises ``unknown``."""
    digits = asked.strip().lower().replace("-", "")
    if _SHORT.fullmatch(digits):
        first, last = (UUID(digits.ljust(32, digit)) for digit in "0f")
        if len(found := between(first, last)) == 1:
            return found[0]
        if found:
            raise unknown(f"several {what}s begin with {digits}; give more of the id")
    raise unknown(f"there is no {what} {asked!r}; an id is the one of a list, at least {SHORT_ID} digits of it")


def full_or_short(
    asked: str, between: Callable[[UUID, UUID], Sequence[UUID]], *, what: str, unknown: type[Exception]
) -> UUID:
    """As ``id_of``, but an id in full is not looked up: whoever reads the row says what became of it."""
    try:
        return UUID(asked)
    except ValueError:
        return id_of(asked, between, what=what, unknown=unknown)
