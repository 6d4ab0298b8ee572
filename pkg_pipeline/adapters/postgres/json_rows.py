"""Frozen records as JSON objects for ``jsonb`` columns: dates and ids as text, tuples as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson


def rows_of(records: Iterable[Any]) -> list[dict[str, Any]]:
    """One object a record, with the record's own field names."""
    return orjson.loads(orjson.dumps(list(records)))
