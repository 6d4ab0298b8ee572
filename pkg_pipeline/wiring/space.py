"""Room on the disk that holds the embedded database: below a floor nothing is begun that writes much.

PostgreSQL panics when its log finds no room. A server of somebody else is watched by whoever runs it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg_pipeline.settings import Settings, variable_of

MEGABYTE = 1 << 20


class SpaceLow(Exception):
    """One line: how much is free, how much is asked for, what to do."""


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes that are free for this user on the disk of ``folder``, and the floor."""

    folder: Path
    free_bytes: int
    minimum_bytes: int

    @property
    def is_low(self) -> bool:
        return self.free_bytes < self.minimum_bytes

    @property
    def line(self) -> str:
        """For people, where it is low."""
        return (
            f"only {self.free_bytes // MEGABYTE:,} MB are free on the disk of {self.folder}; imports and runs need"
            f" {self.minimum_bytes // MEGABYTE:,} MB: free some space, or set {variable_of('minimum_free_megabytes')}"
        )

    def to_json(self) -> dict[str, Any]:
        return {"free_bytes": self.free_bytes, "minimum_bytes": self.minimum_bytes, "is_low": self.is_low}


def space(settings: Settings) -> Space | None:
    """How it is now; None for a database that is not on a disk of ours, or where the watch is off (a floor of 0)."""
    if settings.database_url is not None or not settings.minimum_free_megabytes:
        return None
    there = next(place for place in (settings.home, *settings.home.parents) if place.exists())
    return Space(settings.home, shutil.disk_usage(there).free, settings.minimum_free_megabytes * MEGABYTE)


def require_space(settings: Settings) -> None:
    """Raises SpaceLow."""
    found = space(settings)
    if found is not None and found.is_low:
        raise SpaceLow(found.line)


def while_there_is_space(settings: Settings, heard: Callable[..., Any] | None = None) -> Callable[..., None]:
    """``heard``, and then whether the work may go on. Raises SpaceLow between two pieces of it."""

    def hear(*told: Any) -> None:
        if heard is not None:
            heard(*told)
        require_space(settings)

    return hear
