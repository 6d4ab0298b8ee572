"""B23: a short version of every fault of docs/faults.md; ``make faults`` causes each many times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faults.ground import Ground
from faults.kinds import CannotRun, Kind, Outcome, kinds
from pkg_pipeline_tests.cli.processes import short_folder
from pkg_pipeline_tests.conftest import REPOSITORY


def in_the_browser() -> Kind:
    """``browser/test_hostile_pages.py`` causes it."""
    (found,) = [kind for kind in kinds() if kind.name == "hostile pages in the browser"]
    return found


HERE = [kind for kind in kinds() if kind is not in_the_browser()]


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.name.replace(" ", "-")) for kind in HERE])
def test_nothing_is_lost_or_doubled(kind: Kind, server_url: str) -> None:
    with short_folder() as folder:
        try:
            outcome = kind.attack(Ground(folder, server_url), kind.short)
        except CannotRun as why:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(f"NOT RUN: {why}")
    assert outcome.is_kept, "\n".join(outcome.wrong)
    assert outcome.tries >= 1


def test_the_page_names_every_kind() -> None:
    page = Path(REPOSITORY / "docs" / "faults.md").read_text(encoding="utf-8")
    missing = [kind.name for kind in kinds() if f"| {kind.name} |" not in page]
    assert missing == []


def test_a_missing_and_a_doubled_row_are_counted() -> None:
    outcome = Outcome(tries=1)
    outcome.compare({"messages": [("a",), ("b",)], "chats": [("c",)]}, {"messages": [("b",), ("b",)]}, at="here")
    assert (outcome.lost, outcome.doubled, outcome.is_kept) == (2, 1, False)
    assert outcome.wrong[0].startswith("here: messages")
