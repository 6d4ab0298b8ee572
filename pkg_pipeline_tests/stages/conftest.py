"""Fixtures of the stages' tests."""

from collections.abc import Iterator

import pytest

from pkg_pipeline_tests.stages.context_memory import Remembered, remembered


@pytest.fixture
def memory(database_url: str) -> Iterator[Remembered]:
    """Me, Anna and their dialog, without a message yet."""
    yield from remembered(database_url)
