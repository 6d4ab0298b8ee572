"""A relative whom everybody has says nothing without a name or news (P4)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from pkg_pipeline.memory.context.records import KnownFact


@pytest.mark.parametrize(
    ("value", "is_bare"),
    [
        ("mum", True),
        ("my parents", True),
        ("мама", True),
        ("妈妈", True),
        ("mum Ruth", False),
        ("wife", False),
        ("мама Вера", False),
        ("表弟", False),
    ],
)
def test_a_relative_whom_everybody_has_is_bare(value: str, *, is_bare: bool) -> None:
    said = KnownFact(UUID(int=1), "family", value, datetime(2026, 3, 2, tzinfo=UTC), ())
    assert said.is_bare == is_bare
    assert not KnownFact(UUID(int=1), "family", value, said.at, (), is_decided=True).is_bare
