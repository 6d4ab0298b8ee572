"""JSON with faults that cleaning repairs later."""

from __future__ import annotations

import json
from typing import Any

import orjson


class NotJson(ValueError):
    """Neither parser can read it; the message is that of the strict one and quotes no text."""


def loads(text: bytes) -> Any:
    """Accepts lone surrogates, control characters and broken UTF-8. Raises ``NotJson``."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as strict:
        try:
            return json.loads(text.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            raise NotJson(f"not valid JSON: {strict.msg}") from None
