"""The list of importers: each name is a module of this package that defines ``FORMAT``. A new format is its module and
its name here.
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
"""In the order of detection."""


def formats() -> dict[str, ExportFormat]:
    return {name: importlib.import_module(f"pkg_pipeline.adapters.exports.{name}").FORMAT for name in NAMES}
