"""JSON as other programs write it: what the strict parser refuses but cleaning can mend is read all the same."""

from __future__ import annotations

import json
from typing import Any

import orjson


class NotJson(ValueError):
    """Neither parser can read it; the message says what the strict one missed, never a word of the text."""


def loads(text: bytes) -> Any:
    """The value. Lone surrogates, control characters and broken UTF-8 are left to cleaning. Raises ``NotJson``."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as strict:
        try:
            return json.loads(text.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            raise NotJson(f"not valid JSON: {strict.msg}") from None
