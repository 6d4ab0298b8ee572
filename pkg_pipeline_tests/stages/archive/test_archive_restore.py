"""What comes back: every byte, by message, interaction, chat or month; and what never does (P26)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline.stages.archive.stage import NothingThere
from pkg_pipeline_tests.stages.archive.archive_rig import AFTER_DAYS, JANUARY, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, line

pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)
DAY = 24 * 60
ODD = (
    "",
    " ",
    "\t\n",
    "[archived]",
    "e\u0301 é",
    "👩‍👩‍👧",
    "\u202eabc",
    "𝔘\U0010ffff",
    "\\x00 %s %(a)s '",
    "ﬃ",
    "a\r\nb",
)


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def talk(rig: ArchiveRig) -> None:
    """Two chats in January, c1 again in February."""
    rig.load(
        [
            line(chat, f"{chat}-{day}-{number}", minute=day * DAY + number, text=f"{chat} day {day} number {number}")
            for chat, day in (("c1", 0), ("c2", 1), ("c1", 30))
            for number in range(3)
        ]
    )
    rig.now += timedelta(days=30)
    rig.summarise()
    rig.archive()
    assert set(rig.live().values()) == {"[archived]"}


def back(rig: ArchiveRig) -> set[str]:
    return {key for key, text in rig.live().items() if text != "[archived]"}


texts = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
parts = st.one_of(
    st.none(),
    st.lists(
        st.recursive(
            st.one_of(st.none(), st.booleans(), numbers, texts),
            lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
            max_leaves=6,
        ),
        max_size=3,
    ),
)


@settings(
    max_examples=25,
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(texts, parts), min_size=1, max_size=12))
def test_every_byte_comes_back(rig: ArchiveRig, said: list[tuple[str, Any]]) -> None:
    rig.empty()
    given = [line("c1", number, minute=number, text=text, parts=more) for number, (text, more) in enumerate(said)]
    rig.load([{key: value for key, value in one.items() if value is not None} for one in given])
    rig.summarise()
    bytes_of = (
        "SELECT external_id, convert_to(content, 'UTF8'), content_hash, parts::text, token_count FROM {} ORDER BY 1"
    )
    before = rig.rows(bytes_of.format("messages"))
    rig.archive(JANUARY)
    assert rig.rows("SELECT count(*) FROM messages WHERE NOT is_archived AND importance_score < 0.5") == [(0,)]
    assert rig.rows(bytes_of.format("message_texts")) == before
    rig.restore()
    assert rig.rows(bytes_of.format("messages")) == before
    assert rig.rows("SELECT DISTINCT is_archived, archived_at, archived_month FROM messages") == [(False, None, None)]
    assert rig.rows("SELECT * FROM archived_messages") == []


def test_by_message_interaction_chat_and_month(rig: ArchiveRig) -> None:
    talk(rig)
    report = rig.restore(RestoreScope(message=("jsonl", "c1", "c1-0-1")))
    assert (report.messages, report.interactions, report.bytes) == (1, 1, len("c1 day 0 number 1"))
    assert back(rig) == {"c1-0-1"}
    interaction: UUID = rig.value("SELECT DISTINCT interaction_id FROM message_texts WHERE external_id = 'c2-1-0'")
    assert rig.restore(RestoreScope(interaction_id=interaction)).messages == 3
    assert back(rig) == {"c1-0-1", "c2-1-0", "c2-1-1", "c2-1-2"}
    assert rig.restore(RestoreScope(month=JANUARY)).messages == 2
    assert rig.rows("SELECT month, message_count FROM archive_months ORDER BY 1") == [(JANUARY, 0), (FEBRUARY, 3)]
    assert rig.restore(RestoreScope(chat=("jsonl", "c1"))).messages == 3
    assert len(back(rig)) == 9
    assert rig.restore(RestoreScope(chat=("jsonl", "c1"))).messages == 0  # again: there is nothing left to do


FEBRUARY = date(2026, 2, 1)


@pytest.mark.parametrize(
    "scope",
    [
        RestoreScope(message=("jsonl", "c1", "nothing")),
        RestoreScope(chat=("jsonl", "nowhere")),
        RestoreScope(interaction_id=UUID(int=7)),
    ],
)
def test_what_is_not_there(rig: ArchiveRig, scope: RestoreScope) -> None:
    talk(rig)
    with pytest.raises(NothingThere):
        rig.restore(scope)


def test_what_is_restored_is_left_alone_for_the_age_again(rig: ArchiveRig) -> None:
    talk(rig)
    rig.restore(RestoreScope(message=("jsonl", "c1", "c1-0-1")))
    until = rig.now + timedelta(days=AFTER_DAYS)
    assert rig.rows("SELECT held_until FROM archive_holds") == [(until,)]
    assert rig.due() == []
    (report,) = rig.archive(JANUARY)
    assert (report.messages, report.reasons) == (0, ["1 restored"])
    assert rig.value("SELECT due_at FROM partition_states WHERE partition_key = '2026-01-01'") == until
    rig.now = until
    assert rig.due() == [JANUARY]
    assert rig.archive()[0].messages == 1
    assert rig.rows("SELECT * FROM archive_holds") == []
    assert back(rig) == set()


def test_a_copy_that_was_changed_by_hand_is_not_taken_for_the_text(rig: ArchiveRig) -> None:
    talk(rig)
    rig.run("UPDATE archived_messages SET content = 'forged' WHERE external_id = 'c1-0-1'")
    report = rig.restore(RestoreScope(chat=("jsonl", "c1")))
    assert report.messages == 5
    assert report.mismatched == [rig.value("SELECT id FROM messages WHERE external_id = 'c1-0-1'")]
    assert rig.live()["c1-0-1"] == "[archived]"
    assert rig.value("SELECT content FROM archived_messages WHERE external_id = 'c1-0-1'") == "forged"


# ── retention ─────────────────────────────────────────────────────────────────────────────────


def test_whole_months_are_dropped_only_when_that_is_set_and_it_is_said_before(rig: ArchiveRig) -> None:
    talk(rig)
    rig.take(
        [line("c1", "c1-0-0", text="an earlier version")], exported_at=NOW - timedelta(days=30)
    )  # kept as a revision
    assert [one.will_drop for one in rig.status().months] == [False, False]
    assert rig.due() == []
    # August: six whole months before it are February to July
    assert f"{rig.now:%Y-%m}" == "2026-08"
    assert [(one.month, one.will_drop) for one in rig.status(keep_months=6).months] == [
        (JANUARY, True),
        (FEBRUARY, False),
    ]
    assert rig.due(keep_months=7) == []
    assert rig.due(keep_months=6) == [JANUARY]
    (report,) = rig.archive(keep_months=6)
    assert report.dropped == 6
    assert report.reasons == ["over its time (6 months are kept): 6 texts dropped for good"]
    assert rig.rows("SELECT month, state, message_count, dropped_at IS NULL FROM archive_months ORDER BY 1") == [
        (JANUARY, "dropped", 6, False),
        (FEBRUARY, "kept", 3, True),
    ]
    assert rig.value("SELECT to_regclass('archived_messages_2026_01')") is None
    assert rig.rows("SELECT DISTINCT content FROM message_texts WHERE archived_month = %s", JANUARY) == [
        ("[archived]",)
    ]
    assert rig.rows("SELECT content FROM message_revisions") == [("[archived]",)]
    assert rig.due(keep_months=6) == []
    report = rig.restore(RestoreScope(chat=("jsonl", "c1")))
    assert (report.messages, report.dropped, report.mismatched) == (3, 3, [])


def test_a_dropped_text_does_not_come_back_with_an_old_or_a_new_export(rig: ArchiveRig) -> None:
    talk(rig)
    rig.archive(JANUARY, keep_months=6)
    said = [
        line("c2", f"c2-1-{number}", minute=DAY + number, text=f"c2 day 1 number {number}", parts=[number])
        for number in range(3)
    ]
    for days in (-60, 1):
        rig.take(said, exported_at=NOW + timedelta(days=days))
    assert {text for key, text in rig.live().items() if key.startswith("c2")} == {"[archived]"}
    # what says something else is a new text, and what it replaced is gone
    rig.take([{**said[0], "text": "edited"}], exported_at=NOW + timedelta(days=2))
    assert rig.live()["c2-1-0"] == "edited"
    assert rig.rows("SELECT content FROM message_revisions") == [("[archived]",)]


def test_a_month_that_somebody_reads_is_dropped_by_the_next_run(rig: ArchiveRig) -> None:
    talk(rig)
    with engine.connect(rig.url) as reader:
        reader.execute("SELECT count(*) FROM archived_messages")
        (report,) = rig.archive(JANUARY, keep_months=6)
    assert report.dropped == 0
    assert "somebody reads the archive" in report.reasons[0]
    assert rig.due(keep_months=6) == [JANUARY]
    assert rig.archive(keep_months=6)[0].dropped == 6


def test_late_talk_of_a_dropped_month_goes_the_same_way(rig: ArchiveRig) -> None:
    talk(rig)
    rig.archive(JANUARY, keep_months=6)
    rig.load([line("c3", f"c3-{number}", minute=5 * DAY + number) for number in range(3)])
    rig.summarise()
    (report,) = rig.archive(keep_months=6)
    assert (report.messages, report.dropped) == (3, 3)
    assert rig.rows("SELECT state, message_count FROM archive_months WHERE month = %s", JANUARY) == [("dropped", 3)]
