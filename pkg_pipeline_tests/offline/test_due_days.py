"""The day of a task in its talk: ``due_in_talk/LANGUAGE.toml``, half of it never looked at for wording."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.offline.chat_tasks import find_silent
from pkg_pipeline.offline.reading import read
from pkg_pipeline.offline.talk_items import found, prepared
from pkg_pipeline_tests.offline.chats import EMBED, chat

FOLDER = Path(__file__).parent / "due_in_talk"
WEDNESDAY = datetime(2024, 5, 15, 9, tzinfo=UTC)
ME = {"en": "Me", "ru": "Я", "zh": "我"}
LEAST = {"seen": 66, "unseen": 65}
"""Of 75 each (docs/figures.md)."""


def due(said: list[str], language: Language) -> str | None:
    """The day of the likeliest task; None where none is found."""
    lines = [(who, text) for who, _, text in (one.partition(": ") for one in said)]
    reading = prepared(read(chat(*lines, me=ME[language], language=language, start=WEDNESDAY)), EMBED)
    tasks = found(reading)[1] or find_silent(reading)
    if not tasks:
        return None
    return str(max(tasks, key=lambda one: one.probability).due or "")


@pytest.mark.parametrize("half", LEAST)
def test_a_task_is_due_on_the_day_that_its_talk_means(half: str) -> None:
    rows: list[tuple[Language, Any]] = [
        (language, row)
        for language in LANGUAGES
        for row in tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))[half]
    ]
    assert len(rows) == 75
    wrong = [
        f"{row['due']} {got}: {row['said']}" for tongue, row in rows if (got := due(row["said"], tongue)) != row["due"]
    ]
    assert len(rows) - len(wrong) >= LEAST[half], "\n".join(wrong if half == "seen" else [])
