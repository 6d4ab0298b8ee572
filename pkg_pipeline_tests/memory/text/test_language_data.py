"""Language data: every room speaks every language, its patterns compile, and each example does what it stands for."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.text.language_data import pattern, table

ROOMS = sorted(
    folder.name
    for folder in files("pkg_pipeline").iterdir()
    if folder.is_dir() and (folder / "languages").is_dir() and folder.name != "memory"  # see test_languages
)  # fmt: skip
TABLES = [
    (room, language, name.name.removesuffix(".toml"))
    for room in ROOMS
    for language in LANGUAGES
    for name in (files("pkg_pipeline") / room / "languages" / language).iterdir()
]

OF_ONE_LANGUAGE = {"third_person", "lunar_months"}
"""Retelling what was said: other languages are quoted. Months of a calendar that others do not have."""


def rows_of(language: str) -> list[tuple[str, str, Any]]:
    return [
        (room, name, row)
        for room, spoken, name in TABLES
        if spoken == language
        for rows in table(room, spoken, name).values()
        if isinstance(rows, list)
        for row in rows
        if "pattern" in row
    ]


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "prompts"])
def test_a_room_has_the_same_tables_and_patterns_for_every_language(room: str) -> None:
    told = {
        language: {
            name: sorted(table(room, language, name).keys() - OF_ONE_LANGUAGE)
            for of, spoken, name in TABLES
            if (of, spoken) == (room, language) and name not in OF_ONE_LANGUAGE
        }
        for language in LANGUAGES
    }
    assert told["ru"] == told["zh"] == told["en"]
    assert sorted(path.name for path in (files("pkg_pipeline") / room / "languages").iterdir()) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pattern_can_be_matched_and_is_hit_by_its_examples(language: str) -> None:
    """A row's ``examples`` hold its pattern, its ``misses`` do not."""
    for room, name, row in rows_of(language):
        compiled = pattern(row["pattern"])
        assert [text for text in row.get("examples", ()) if not compiled.search(text)] == [], (room, name, row)
        assert [text for text in row.get("misses", ()) if compiled.search(text)] == [], (room, name, row)
    for room, spoken, name in TABLES:
        if spoken == language:
            for text in table(room, spoken, name)["patterns"].values():
                pattern(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_signal_of_the_offline_reader_has_an_example(language: str) -> None:
    signals = table("offline", language, "signals")
    assert [row["name"] for kind in ("actions", "decisions") for row in signals[kind] if not row.get("examples")] == []


def test_parts_are_filled_in_and_quantifiers_left_alone() -> None:
    promised = next(row for row in table("offline", "en", "signals")["actions"] if row["name"] == "i_will_do")
    assert "{DO}" not in promised["pattern"]
    assert "{0,2}" in promised["pattern"]
