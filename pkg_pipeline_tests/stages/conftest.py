"""Fixtures of the stages' tests."""

from collections.abc import Iterator

import pytest

from pkg_pipeline_tests.stages.reads.context_memory import Remembered, remembered
from pkg_pipeline_tests.stages.recall.recall_memory import Asked, recalled


@pytest.fixture
def memory(database_url: str) -> Iterator[Remembered]:
    """Me, Anna and their dialog, without a message yet."""
    yield from remembered(database_url)


@pytest.fixture(scope="session")
def asked(server_url: str) -> Iterator[Asked]:
    """A memory in three languages that is only read."""
    with recalled(server_url) as memory:
        yield memory
