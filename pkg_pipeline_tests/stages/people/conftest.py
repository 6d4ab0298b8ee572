"""Databases of a test's own, as many as it asks for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pkg_pipeline_tests import databases


@pytest.fixture
def new_database(copy_of: Callable[[str], str]) -> Callable[[], str]:
    return lambda: copy_of(databases.TEMPLATE)
