"""Appending to a session: what goes in, what it counts, what an edit or a deletion does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg_pipeline_tests.stages.session_rig import SessionRig, counted, turns


@pytest.fixture
def rig(database_url: str) -> Iterator[SessionRig]:
    rig = SessionRig(database_url)
    yield rig
    rig.close()


def test_append_counts_and_is_idempotent(rig: SessionRig) -> None:
    report = rig.append(*turns(range(4)))
    assert report.to_json()["new"] == 4
    assert report.state is not None
    assert report.state.message_count == 4
    assert counted(rig.state()) == rig.recount(rig.state().id)
    again = rig.append(*turns(range(6)))
    assert (again.counts.new, again.counts.unchanged) == (2, 4)
    assert again.state == rig.state()
    assert counted(rig.state()) == rig.recount(rig.state().id)
    assert rig.append(*turns(range(6, 8))).state == rig.state()
    assert [one["text"] for one in rig.sessions.messages("jsonl:talk", limit=3).items] == [
        "assistant says 7",
        "user says 6",
        "assistant says 5",
    ]
