"""The importers there are: each name is that of a module beside this one, which declares itself in ``FORMAT``.

A new format is its module and its name here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pkg_pipeline.adapters.exports.reading import ExportFormat

NAMES: Final = (
    "jsonl",
    "telegram",
)
"""In the order in which a file of unknown content is compared with them."""


def formats() -> dict[str, ExportFormat]:
    """All of them by name."""
    return {name: importlib.import_module(f"pkg_pipeline.adapters.exports.{name}").FORMAT for name in NAMES}
