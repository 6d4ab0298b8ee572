"""``pkg-pipeline dev`` on a home with conversations, its API open to who asks: all files that look at Dagster's pages
look at this one, since to start and end it costs as much as any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pkg_pipeline.demo import account
from pkg_pipeline_tests.browser import running
from pkg_pipeline_tests.browser.chromium import needed

CONVERSED_DAYS = 5


@dataclass(frozen=True, slots=True)
class Dev:
    """``first``: the day with which the conversations begin."""

    dagster: running.Dagster
    home: Path
    first: date


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    needed()
    first = datetime.now(UTC).date() - timedelta(days=40)
    files = tmp_path_factory.mktemp("conversations")
    if os.environ.get("PKG_TEST_SCREENSHOTS"):
        account.write_exports(files, datetime.now(UTC))
    else:
        running.small_talk(files / "talk.jsonl", first, CONVERSED_DAYS)
    with running.home() as home:
        running.take_in(home, files)
        with running.dev(home, PKG_API_TOKENS="none") as dagster:
            yield Dev(dagster, home, first)


@pytest.fixture
def dagster(dev: Dev) -> running.Dagster:
    return dev.dagster
