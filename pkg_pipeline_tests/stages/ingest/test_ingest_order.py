"""However an account comes in, the memory ends the same (B10), and equal to what a recount from scratch gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.accounts import File, accounts, courses
from pkg_pipeline_tests.stages.ingest.import_rig import Rig
from pkg_pipeline_tests.stages.recount import assert_recounts

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

SLOW = settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.generate),  # a failing example is small enough as it is found
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def assert_same(rig: Rig, expected: dict[str, list[tuple[object, ...]]]) -> None:
    with rig.connection() as connection:
        found = tables(connection)
    for name, rows in expected.items():
        assert found[name] == rows, name


@SLOW
@given(st.data())
def test_any_way_in_ends_like_one_clean_import(rig: Rig, data: st.DataObject) -> None:
    files: list[File] = data.draw(accounts())
    rig.empty()
    for file in files:
        rig.take(file.lines, exported_at=file.exported_at)
    rig.build()
    with rig.connection() as connection:
        clean = tables(connection)
    rig.empty()
    for step in data.draw(courses(files)):
        if step is None:
            rig.build()
        else:
            rig.take(step.lines, exported_at=step.exported_at)
    rig.build()
    assert_same(rig, clean)
    assert_recounts(rig)
