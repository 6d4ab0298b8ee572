"""What a forked process loaded at its first use, for the process that it was forked from: else each loads it anew."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path


def tell(path: str, known: AbstractSet[str]) -> None:
    """By the one that ends: the modules that it has and its parent has not, in the order in which they came."""
    Path(path).write_text("\n".join(name for name in list(sys.modules) if name not in known), encoding="utf-8")


def load(path: str) -> None:
    """By the parent; who was killed has told nothing. Some are no modules of their own and are left."""
    told = Path(path)
    for name in told.read_text(encoding="utf-8").split():
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    told.write_text("", encoding="utf-8")
