"""Row ids that the code cites (P19, B8, …) against docs/requirements.md: no citation without a row, no row unproven."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "requirements.md"
ROW = re.compile(r"^\| ([PHWTLB]\d+) \| (.+?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
CITED = re.compile(r"\b([PHWTLB])(\d{1,2})(?:\s?[-–]\s?\1?(\d{1,2}))?\b")
OTHER = {"T9", "T10"}
"""What looks like a row and is none: the beginning of a time."""


def rows() -> dict[str, tuple[str, str, str]]:
    """Row → what it asks for, where it is done, which test shows it."""
    return {row: (text, done, shown) for row, text, done, shown in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def citations(text: str) -> set[str]:
    found = set[str]()
    for letter, first, last in CITED.findall(text):
        found |= {f"{letter}{number}" for number in range(int(first), int(last or first) + 1)}
    return found - OTHER


def paths(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_ranges_are_read_as_all_their_rows() -> None:
    assert citations("(P24–P26), W1-W3, B9.") == {"P24", "P25", "P26", "W1", "W2", "W3", "B9"}


def test_every_citation_has_a_row() -> None:
    known = set(rows())
    missing = dict[str, set[str]]()
    for path in (*ROOT.glob("pkg_pipeline/**/*"), *ROOT.glob("dbt/**/*")):
        if path.suffix in {".py", ".sql", ".yml"} and (lost := citations(path.read_text(encoding="utf-8")) - known):
            missing[str(path.relative_to(ROOT))] = lost
    assert missing == {}


@pytest.mark.parametrize(("row", "cells"), rows().items())
def test_every_row_names_what_does_it_and_what_shows_it(row: str, cells: tuple[str, str, str]) -> None:
    text, done, shown = cells
    assert ((paths(done) or row == "B23") and paths(shown)) or "lanned" in text, row
    assert [path for path in paths(done) if not (ROOT / "pkg_pipeline" / path).exists()] == []
    assert [path for path in paths(shown) if not (ROOT / "pkg_pipeline_tests" / path).exists()] == []


def test_rows_are_numbered_without_gaps() -> None:
    for letter in "PHWTLB":
        numbers = sorted(int(row[1:]) for row in rows() if row[0] == letter)
        assert numbers == list(range(1, len(numbers) + 1)), letter
