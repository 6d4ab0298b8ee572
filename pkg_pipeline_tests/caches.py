"""What is remembered of texts is forgotten later than in the product: tests read the same thousands of talks again and
again, and a cache that they outgrow remembers nothing. Not the tests.

Loaded with the package, before the modules whose caches it makes larger.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

LEAST, MOST = 1024, 262_144
"""A cache of at least ``LEAST`` entries gets ``MOST``."""
_lru_cache = functools.lru_cache
_OF_TEXTS = ("pkg_pipeline.offline.", "pkg_pipeline.memory.")


def _larger(maxsize: Any = 128, typed: bool = False) -> Any:
    if not isinstance(maxsize, int) or maxsize < LEAST:
        return _lru_cache(maxsize, typed)

    def decorated(function: Callable[..., Any]) -> Any:
        is_of_texts = function.__module__.startswith(_OF_TEXTS)
        return _lru_cache(max(maxsize, MOST) if is_of_texts else maxsize, typed)(function)

    return decorated


def enlarge() -> None:
    functools.lru_cache = _larger  # type: ignore[assignment]
