"""Imports and the archive: what is said again, edited or deleted after its text moved out (P9, P25, B10)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.accounts import File, accounts, courses
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, line
from pkg_pipeline_tests.stages.recount import assert_recounts

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

SLOW = settings(
    max_examples=12,
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
PARTS = [{"type": "text", "text": "one"}, {"type": "tool_use", "input": {"n": 1.50}}]


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def lines(**second: Any) -> list[dict[str, Any]]:
    return [
        line("c1", 1, minute=1, text="one", parts=PARTS),
        line("c1", 2, minute=2, sender="bob", **{"text": "two", **second}),
        line("c1", 3, minute=3, text="three"),
    ]


@pytest.fixture
def archived(rig: ArchiveRig) -> ArchiveRig:
    rig.load(lines())
    rig.summarise()
    assert rig.archive()[0].messages == 3
    return rig


def test_the_same_export_again_changes_nothing(archived: ArchiveRig) -> None:
    before = archived.logical(), archived.rows("SELECT ctid FROM messages ORDER BY 1")
    report = archived.take(lines())
    assert (report.counts.unchanged, report.counts.updated) == (3, 0)
    assert (archived.logical(), archived.rows("SELECT ctid FROM messages ORDER BY 1")) == before


def test_a_later_export_of_the_same_brings_no_text_back(archived: ArchiveRig) -> None:
    """It is newer, so it is written down as of when the file spoke; the text stays where it is."""
    before, texts = archived.logical(), archived.texts()
    report = archived.take(lines(), exported_at=NOW + timedelta(days=1))
    assert (report.counts.unchanged, report.counts.updated) == (3, 0)
    archived.build()
    assert archived.logical() == before
    assert archived.texts() == texts
    assert archived.due() == []


def test_an_edit_keeps_the_earlier_text_and_comes_out_of_the_archive(archived: ArchiveRig) -> None:
    edited = (START + timedelta(days=1)).isoformat()
    report = archived.take(lines(text="two, or rather three", edited_at=edited))
    assert report.counts.updated == 1
    assert archived.rows("SELECT content, is_deleted FROM message_revisions") == [("two", False)]
    assert archived.live() == {"1": "[archived]", "2": "two, or rather three", "3": "[archived]"}
    assert archived.rows("SELECT is_archived, archived_at, archived_month FROM messages WHERE external_id = '2'") == [
        (False, None, None)
    ]
    assert archived.rows("SELECT external_id FROM archived_messages ORDER BY 1") == [("1",), ("3",)]
    assert archived.value("SELECT message_count FROM archive_months") == 2
    # held back until the new summary, then archived again
    archived.build()
    assert archived.archive(JANUARY)[0].reasons == ["1 dirty"]
    archived.summarise()
    assert archived.archive(JANUARY)[0].messages == 1
    assert archived.live()["2"] == "[archived]"
    assert archived.rows("SELECT content FROM message_revisions") == [("two",)]
    archived.restore()
    assert archived.live() == {"1": "one", "2": "two, or rather three", "3": "three"}


def test_an_older_version_that_comes_late_is_kept_beside_the_archived_one(archived: ArchiveRig) -> None:
    before = archived.live()
    archived.take(lines(text="two, as it was first"), exported_at=NOW - timedelta(days=9))
    assert archived.live() == before
    assert archived.rows("SELECT content FROM message_revisions") == [("two, as it was first",)]


def test_a_deletion_with_the_same_text_stays_archived_and_one_without_text_comes_out(archived: ArchiveRig) -> None:
    archived.take(lines(deleted=True))
    assert archived.live()["2"] == "[archived]"
    assert archived.rows("SELECT content, is_deleted FROM message_revisions") == [("two", False)]
    assert archived.rows("SELECT status, dirty_reason FROM interaction_summaries") == [("dirty", "deleted")]
    archived.take(lines(text="", deleted=True), exported_at=NOW + timedelta(days=1))
    assert archived.live()["2"] == ""
    assert archived.rows("SELECT content, is_deleted FROM message_revisions ORDER BY 2") == [
        ("two", False),
        ("two", True),
    ]


def test_other_parts_come_out_of_the_archive_too(archived: ArchiveRig) -> None:
    changed = lines()
    changed[0]["parts"] = [{"type": "text", "text": "one", "more": True}]
    archived.take(changed, exported_at=NOW + timedelta(days=1))
    assert archived.rows("SELECT content, parts FROM messages WHERE external_id = '1'") == [
        ("one", [{"type": "text", "text": "one", "more": True}])
    ]
    assert archived.value("SELECT count(*) FROM archived_messages") == 2


def test_a_cut_anew_reads_what_is_archived(rig: ArchiveRig) -> None:
    """Language and belonging of a group are made from texts, wherever they are (P34)."""
    said = [
        line("g", 1, minute=1, sender="ann", text="Привет всем, кто видел договор?", chat_kind="group"),
        line("g", 2, minute=2, sender="bob", text="Пусть Dai посмотрит", chat_kind="group"),
        line("g", 3, minute=3, sender="cem", text="Спасибо", chat_kind="group"),
        line("g", 4, minute=4, sender="cem", text="До завтра", chat_kind="group"),
        line("g", 5, minute=900, sender="dai", text="Я здесь", chat_kind="group"),
    ]
    rig.load(said)
    before = rig.rows("SELECT * FROM interactions"), rig.rows("SELECT * FROM message_entities ORDER BY 1, 2")
    assert rig.rows("SELECT DISTINCT language FROM interactions") == [("ru",)]
    rig.summarise()
    rig.archive()
    rig.run(
        "INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)"
        " SELECT 'interactions', chat_id, 'look again', min(sent_at), max(sent_at) FROM messages GROUP BY chat_id"
    )
    assert set(rig.live().values()) == {"[archived]"}
    rig.build()
    after = rig.rows("SELECT * FROM interactions"), rig.rows("SELECT * FROM message_entities ORDER BY 1, 2")
    rig.run("UPDATE interactions SET status = 'completed'")
    assert after[1] == before[1]
    assert rig.rows("SELECT DISTINCT language FROM interactions") == [("ru",)]


COMPARED = (
    "entities",
    "chats",
    "messages",
    "message_revisions",
    "message_entities",
    "interactions",
    "interaction_participants",
    "entity_days",
)


@SLOW
@given(st.data())
def test_any_way_in_with_archiving_in_between_ends_like_one_clean_import(rig: ArchiveRig, data: st.DataObject) -> None:
    files: list[File] = data.draw(accounts())
    rig.empty()
    for file in files:
        rig.take(file.lines, exported_at=file.exported_at)
    rig.build()
    rig.summarise()  # interactions are completed by it
    with rig.connection() as connection:
        clean = tables(connection)
    rig.empty()
    for step in data.draw(courses(files)):
        if step is None:
            rig.build()
        else:
            rig.take(step.lines, exported_at=step.exported_at)
        match data.draw(st.sampled_from(("archive", "archive", "restore", "nothing"))):
            case "archive":
                rig.build()
                rig.summarise()
                rig.run("TRUNCATE archive_holds")
                rig.archive(JANUARY)
            case "restore":
                rig.restore_all()
            case _:
                pass
    rig.build()
    rig.summarise()
    rig.restore_all()
    with rig.connection() as connection:
        found = tables(connection)
    assert {name: found[name] for name in COMPARED} == {name: clean[name] for name in COMPARED}
    assert rig.rows("SELECT * FROM archived_messages") == []
    assert rig.rows("SELECT sum(message_count), sum(content_bytes) FROM archive_months")[0] in ((0, 0), (None, None))
    assert_recounts(rig)
