"""What a kind of fault is, what came of causing it, and the list of all kinds."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from faults.ground import Ground

MODULES: tuple[str, ...] = (
    "statement_kills",
    "lost_database",
    "no_connections",
    "random_kills",
    "append_kills",
    "hostile_pages",
    "schema_changes",
    "hostile_clients",
    "api_fuzz",
    "model_trouble",
    "hostile_exports",
    "full_disk",
    "backup_kills",
    "damaged_backups",
    "migration_kills",
    "batch_kills",
    "two_workers",
    "leaping_clock",
)
"""Modules of this package in the order of the table."""


class CannotRun(Exception):
    """This machine does not allow the fault to be caused; the message says what is missing."""


@dataclass(slots=True)
class Outcome:
    """What came of some tries. ``lost`` and ``doubled`` are rows, messages or calls, whatever the kind counts."""

    tries: int = 0
    lost: int = 0
    doubled: int = 0
    ends: str = ""
    """How a try ends, in one line for the table."""
    wrong: list[str] = field(default_factory=list[str])
    """One line for each promise that was broken."""

    def compare(self, expected: Mapping[str, Sequence[Any]], found: Mapping[str, Sequence[Any]], *, at: str) -> None:
        """Count the rows of each table that are missing or too many after a fault ``at`` some place."""
        for table, rows in expected.items():
            wanted, there = Counter(map(repr, rows)), Counter(map(repr, found.get(table, ())))
            lost, doubled = (wanted - there).total(), (there - wanted).total()
            self.lost += lost
            self.doubled += doubled
            if lost or doubled:
                self.wrong.append(f"{at}: {table}: {lost} rows missing, {doubled} too many")

    @property
    def is_kept(self) -> bool:
        """Whether every try ended as promised."""
        return not (self.lost or self.doubled or self.wrong)


@dataclass(frozen=True, slots=True)
class Kind:
    """A fault that can be caused again. ``short`` and ``full`` are numbers of tries."""

    name: str
    how: str
    attack: Callable[[Ground, int], Outcome]
    short: int
    full: int


_KINDS: dict[str, Kind] = {}


def fault(
    name: str, *, how: str, short: int, full: int
) -> Callable[[Callable[[Ground, int], Outcome]], Callable[[Ground, int], Outcome]]:
    """Put an attack on the list."""

    def register(attack: Callable[[Ground, int], Outcome]) -> Callable[[Ground, int], Outcome]:
        if name in _KINDS:
            raise ValueError(f"two kinds are named {name}")
        _KINDS[name] = Kind(name, how, attack, short, full)
        return attack

    return register


def kinds() -> list[Kind]:
    """All kinds, in the order of ``MODULES``."""
    for module in MODULES:
        importlib.import_module(f"faults.{module}")
    return list(_KINDS.values())
