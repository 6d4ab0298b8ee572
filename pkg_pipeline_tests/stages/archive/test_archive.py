"""What moves, what stays, what waits and why (P24, P25), and when a month is due."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pytest

from pkg_pipeline_tests.stages.archive.archive_rig import AFTER_DAYS, JANUARY, OLD_ENOUGH, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import START, line

HOUR, DAY = 60, 24 * 60


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def talk(
    rig: ArchiveRig, chat: str = "c1", *, day: float = 0, texts: tuple[str, ...] = ("one", "two", "three")
) -> None:
    rig.load(
        [
            line(
                chat,
                f"{chat}-{day:g}-{number}",
                minute=day * DAY + number,
                sender=("ann", "bob")[number % 2],
                text=text,
            )
            for number, text in enumerate(texts)
        ]
    )


def test_texts_of_a_summarised_conversation_move_and_important_ones_stay(rig: ArchiveRig) -> None:
    talk(rig, texts=("hello", "agreed, 500 EUR by 12 March", "the code of the door is blue", "bye"))
    rig.summarise("c1-0-2")
    (report,) = rig.archive()
    assert rig.live() == {
        "c1-0-0": "[archived]",
        "c1-0-1": "agreed, 500 EUR by 12 March",  # its score is over 0.5
        "c1-0-2": "the code of the door is blue",  # the summary lists it
        "c1-0-3": "[archived]",
    }
    assert (report.month, report.interactions, report.messages, report.bytes) == (JANUARY, 1, 2, len("hellobye"))
    assert (report.kept_important, report.pending, report.mismatched, report.dropped) == (2, 0, 0, 0)
    assert rig.rows(
        "SELECT external_id, month, content, content_hash = encode(sha256(convert_to(content, 'UTF8')), 'hex')"
        " FROM archived_messages ORDER BY 1"
    ) == [("c1-0-0", JANUARY, "hello", True), ("c1-0-3", JANUARY, "bye", True)]
    assert rig.rows("SELECT state, message_count, content_bytes FROM archive_months") == [("kept", 2, 8)]
    assert rig.rows("SELECT DISTINCT is_archived, archived_at IS NULL, archived_month FROM messages ORDER BY 1") == [
        (False, True, None),
        (True, False, JANUARY),
    ]


def test_a_second_run_finds_nothing_and_changes_nothing(rig: ArchiveRig) -> None:
    talk(rig)
    rig.summarise()
    rig.archive()
    before = rig.logical(), rig.rows("SELECT ctid, archived_at FROM archived_messages ORDER BY 1")
    assert rig.due() == []
    (report,) = rig.archive(JANUARY)
    assert (report.interactions, report.messages, report.bytes) == (0, 0, 0)
    assert (rig.logical(), rig.rows("SELECT ctid, archived_at FROM archived_messages ORDER BY 1")) == before


REASONS = {
    "no summary": "DELETE FROM interaction_summaries s USING interactions i"
    " WHERE i.id = s.interaction_id AND i.day = %s",
    "dirty": "UPDATE interaction_summaries s SET status = 'dirty' FROM interactions i"
    " WHERE i.id = s.interaction_id AND i.day = %s",
    "too young": "UPDATE interactions SET status = 'active' WHERE day = %s",
    "restored": "INSERT INTO archive_holds SELECT id, '2030-01-01' FROM interactions WHERE day = %s",
    "chat changed": "INSERT INTO dirty_partitions (asset, partition_key, reason, from_at, to_at)"
    " SELECT 'interactions', chat_id, 'new', started_at, ended_at FROM interactions WHERE day = %s",
    "failed": "WITH gone AS (DELETE FROM interaction_summaries s USING interactions i"
    " WHERE i.id = s.interaction_id AND i.day = %s RETURNING i.id)"
    " INSERT INTO summary_attempts (interaction_id, input_hash, prompt_version, model_version, attempts, state,"
    " last_error) SELECT id, 'h', 'p', 'm', 3, 'failed', 'e' FROM gone",
}


@pytest.mark.parametrize("reason", REASONS)
def test_one_that_waits_holds_back_only_itself(rig: ArchiveRig, reason: str) -> None:
    talk(rig)
    talk(rig, "c2", day=1)
    rig.summarise()
    rig.run(REASONS[reason], START.date() + timedelta(days=1))
    (report,) = rig.archive()
    assert {key for key, text in rig.live().items() if text != "[archived]"} == {"c2-1-0", "c2-1-1", "c2-1-2"}
    assert (report.interactions, report.messages, report.pending) == (1, 3, 1)
    assert report.reasons == [f"1 {reason}"]
    (month,) = rig.status().months
    assert dict(month.left.held_back) == {reason: 1}


def test_what_was_said_since_the_summary_waits_for_the_next_one(rig: ArchiveRig) -> None:
    """A late export joins the conversation: the input is another one, the old summary is not current."""
    talk(rig)
    rig.summarise()
    rig.load([line("c1", "late", minute=1.5, text="I forgot something")])
    (report,) = rig.archive()
    assert (report.messages, report.reasons) == (0, ["1 dirty"])
    rig.summarise()
    assert rig.archive(JANUARY)[0].messages == 4


def test_the_age_is_counted_from_the_end(rig: ArchiveRig) -> None:
    talk(rig)
    rig.summarise()
    ended = START + timedelta(minutes=2)
    rig.now = ended + timedelta(days=AFTER_DAYS)
    assert rig.due() == []
    assert rig.archive(JANUARY)[0].messages == 0  # more than 180 days ago, not just as long
    assert rig.rows("SELECT * FROM partition_states WHERE asset = 'archived_messages'") == []
    rig.now += timedelta(microseconds=1)
    assert rig.due() == [JANUARY]
    assert rig.archive()[0].messages == 3


def test_short_and_mass_conversations_wait_for_nothing(rig: ArchiveRig) -> None:
    """They are never summarised, so they are never archived, and no month stays open for them."""
    talk(rig, texts=("only one",))
    talk(rig, "c2", day=1)
    rig.run("UPDATE chats SET category = 'mass' WHERE external_id = 'c2'")
    (report,) = rig.archive(minimum_messages=3)
    assert (report.messages, report.pending, report.reasons) == (0, 0, [])
    assert rig.due(minimum_messages=3) == []


def minute_of(moment: str) -> float:
    return (datetime.fromisoformat(moment) - START).total_seconds() / 60


def test_the_month_is_the_local_one_in_which_the_conversation_started(rig: ArchiveRig) -> None:
    """23:30 UTC on 31 January is February in Berlin; talk that runs over into a month stays in its first."""
    late = minute_of("2026-01-31T23:30Z")
    over = minute_of("2026-02-28T16:00Z")
    rig.load(
        [
            *(line("c1", f"late {number}", minute=late + number) for number in range(3)),
            *(line("c2", f"over {number}", minute=over + number * 3.9 * HOUR) for number in range(4)),
        ]
    )
    assert rig.value("SELECT ended_at FROM interactions ORDER BY 1 DESC LIMIT 1").month == 3
    rig.summarise()
    rig.now = OLD_ENOUGH + timedelta(days=40)
    assert rig.due() == [date(2026, 2, 1)]
    assert rig.archive()[0].messages == 7
    assert rig.rows("SELECT DISTINCT month FROM archived_messages") == [(date(2026, 2, 1),)]


def test_a_copy_without_its_hash_leaves_the_message_as_it_is(rig: ArchiveRig) -> None:
    """Whatever broke the hash, the text is not given up for a copy that cannot be proved."""
    talk(rig)
    rig.summarise()
    rig.run("UPDATE messages SET content_hash = repeat('0', 64) WHERE external_id = 'c1-0-1'")
    broken = rig.value("SELECT id FROM messages WHERE external_id = 'c1-0-1'")
    (report,) = rig.archive()
    assert (report.messages, report.mismatched) == (2, 1)
    assert report.reasons == [f"message {broken}: its copy has not its hash, it stays as it is"]
    assert rig.live() == {"c1-0-0": "[archived]", "c1-0-1": "two", "c1-0-2": "[archived]"}
    assert rig.rows("SELECT external_id FROM archived_messages ORDER BY 1") == [("c1-0-0",), ("c1-0-2",)]
    assert rig.rows("SELECT message_count FROM archive_months") == [(2,)]


def test_a_month_comes_of_age_bit_by_bit(rig: ArchiveRig) -> None:
    talk(rig)
    talk(rig, "c2", day=10)
    rig.summarise()
    first, second = START + timedelta(minutes=2), START + timedelta(days=10, minutes=2)
    rig.now = first + timedelta(days=AFTER_DAYS + 1)
    (report,) = rig.archive()
    assert (report.messages, report.pending, report.reasons) == (3, 1, ["1 too young"])
    assert rig.due() == []
    assert rig.value("SELECT due_at FROM partition_states WHERE asset = 'archived_messages'") == second + timedelta(
        days=AFTER_DAYS, microseconds=1
    )
    rig.now = second + timedelta(days=AFTER_DAYS, microseconds=1)
    assert rig.due() == [JANUARY]
    assert rig.archive()[0].messages == 3


def test_late_conversations_make_an_archived_month_due_again(rig: ArchiveRig) -> None:
    talk(rig)
    assert rig.rows("SELECT * FROM dirty_partitions WHERE asset = 'archived_messages'") == []  # time alone, no marks
    rig.summarise()
    rig.archive()
    talk(rig, "c2", day=2)
    assert rig.due() == [JANUARY]
    rig.archive()
    assert rig.due() == []
    assert rig.rows("SELECT * FROM dirty_partitions WHERE asset = 'archived_messages'") == []
    rig.run("UPDATE partition_states SET resume_at = clock_timestamp() WHERE asset = 'archived_messages'")
    assert rig.due() == [JANUARY]  # looked at again after a while, whoever summarised it
    rig.summarise()
    assert rig.archive()[0].messages == 3
