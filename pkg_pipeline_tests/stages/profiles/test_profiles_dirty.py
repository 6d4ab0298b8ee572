"""What makes a profile dirty and a week due (P29): deletions, edits, publications; no mark too many, none too few."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.profiles.marks import mark_newest_week
from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.stages.profiles.profile_rig import (
    CHAT,
    DEAL,
    FIRST,
    NOW,
    SPOKEN,
    WEEK,
    ProfileRig,
    good_profile,
    profile_llm,
)

EARLIER = WEEK - timedelta(days=7)
MARKS = "SELECT partition_key, reason FROM dirty_partitions WHERE asset = 'entity_relationship_profiles' ORDER BY id"
STATES = (
    "SELECT e.name, p.week, p.status, p.dirty_reason FROM entity_relationship_profiles p"
    " JOIN entities e ON e.id = p.entity_id ORDER BY 1, 2"
)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path)
    yield made
    made.close()


def change(rig: ProfileRig, text: str, **fields: object) -> None:
    """Anna's first message comes in again."""
    rig.line("anna", f"{FIRST:%Y%m%d%H%M}-00001", text, FIRST + timedelta(minutes=1), "Me", **fields)
    rig.take_in()


def test_a_deletion_withholds_every_profile_over_it_at_once(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], DEAL)
    rig.meet("Anna", [50])
    rig.meet("Bob", [0])
    rig.settle()
    rig.build(weeks=[EARLIER, WEEK])
    assert rig.due() == []
    change(rig, DEAL[1], deleted=True)
    assert rig.rows(STATES) == [
        ("Anna", EARLIER, "dirty", "deleted"),
        ("Anna", WEEK, "dirty", "deleted"),
        ("Bob", EARLIER, "completed", None),
        ("Bob", WEEK, "completed", None),
    ]
    assert rig.rows(MARKS) == [(str(WEEK), "message deleted")]
    assert rig.due() == [WEEK]

    llm = profile_llm()
    [report] = rig.build(llm)
    assert (report.profiled, report.unchanged) == (1, 1)
    assert [summary.day for summary in llm.requests[0].payload.summaries] == [date(2026, 4, 22)]
    row = rig.profile("Anna")
    assert (row["status"], row["key_decisions"], row["summarized_interactions"]) == ("completed", [], 1)
    assert rig.rows(MARKS) == []
    assert rig.rows(STATES)[0] == ("Anna", EARLIER, "dirty", "deleted")  # withheld for ever, or built again


def test_an_edit_is_served_marked_until_its_summary_is_made_anew(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], DEAL)
    rig.settle()
    rig.build()
    change(rig, DEAL[1] + " Or 301.", edited_at=FIRST.isoformat())
    assert rig.rows(STATES) == [("Anna", WEEK, "dirty", "edited")]
    assert rig.due() == []  # there is nothing new to say yet
    [report] = rig.build()
    assert (report.unchanged, rig.rows(STATES)) == (1, [("Anna", WEEK, "dirty", "edited")])
    rig.settle()
    assert rig.due() == [WEEK]
    rig.build()
    assert rig.rows(STATES) == [("Anna", WEEK, "completed", None)]


def test_a_message_deleted_while_the_model_answers_makes_the_row_dirty_from_birth(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], DEAL)
    rig.settle()

    def answer(request: LlmRequest) -> object:
        change(rig, DEAL[1], deleted=True)
        return good_profile(request.payload)

    rig.build(profile_llm(answer))
    assert rig.rows(STATES) == [("Anna", WEEK, "dirty", "deleted")]
    assert rig.due() == [WEEK]  # the mark came after the week was begun


def test_many_publications_make_one_mark(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    rig.build()
    rig.meet("Anna", list(range(10, 22)))
    rig.settle()
    assert rig.rows(MARKS) == [(str(WEEK), "summaries changed")]
    assert rig.due() == [WEEK]
    rig.build()
    assert (rig.rows(MARKS), rig.due()) == ([], [])


def test_what_the_newest_week_does_not_cover_marks_nothing(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    rig.build()
    rig.at(NOW + timedelta(days=6))
    rig.meet("Anna", [104])  # in the week itself
    rig.settle()
    assert rig.one("SELECT count(*) FROM interaction_summaries") == 2
    assert (rig.rows(MARKS), rig.due()) == ([], [])


def test_before_any_week_was_built_nothing_is_marked(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    assert rig.rows(MARKS) == []


def test_somebody_new_in_a_week_without_anybody_is_found(rig: ProfileRig) -> None:
    """Nobody was old enough, so no row says what the week covers."""
    rig.meet("Young", [85])
    rig.settle()
    assert rig.build()[0].persons == 0
    rig.meet("Anna", [0])
    rig.settle()
    assert rig.due() == [WEEK]


def test_a_publication_while_the_week_is_built_is_not_lost(rig: ProfileRig) -> None:
    """The mark that the run works on does not stand in for a later change; nor does the lack of any."""
    rig.meet("Anna", [0])
    rig.meet("Bob", [0])
    rig.settle()

    def answer(request: LlmRequest) -> object:
        if request.payload.entity.name == "Bob" and len(request.payload.summaries) == 1:
            rig.meet("Anna", [20])
            rig.meet("Bob", [20])
            rig.settle()
        return good_profile(request.payload)

    rig.build(profile_llm(answer))
    assert rig.rows(MARKS) == [(str(WEEK), "summaries changed")]
    assert rig.due() == [WEEK]
    rig.build()
    assert [rig.profile(name)["summarized_interactions"] for name in ("Anna", "Bob")] == [2, 2]
    assert (rig.due(), rig.rows(MARKS)) == ([], [])


def test_a_killed_run_leaves_its_week_due(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    rig.weeks.begin(_week(rig))
    assert rig.rows(MARKS) == [(str(WEEK), "in work")]
    rig.weeks.begin(_week(rig))
    assert rig.rows(MARKS) == [(str(WEEK), "in work")]
    assert rig.due() == [WEEK]


def test_a_run_that_begins_waits_for_publications_under_way(rig: ProfileRig) -> None:
    """Else it would read before they commit, and the mark they saw standing would be taken away."""
    rig.meet("Anna", [0])
    rig.settle()
    interaction = rig.one("SELECT id FROM interactions")
    with engine.connect(rig.url) as publishing:
        mark_newest_week(publishing, [interaction], reason="summaries changed")
        with engine.connect(rig.url) as beginning:
            beginning.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(Exception, match="lock timeout"):
                beginning.execute("SELECT pg_advisory_xact_lock(7310527)")
        publishing.rollback()


def test_an_old_week_is_built_only_when_asked_for(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], CHAT)
    rig.settle()
    rig.build(weeks=[EARLIER, WEEK])
    rig.meet("Anna", [10])
    rig.settle()
    assert rig.due() == [WEEK]


def _week(rig: ProfileRig):
    return SPOKEN
