"""What each mart says of the small memory."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from pkg_pipeline_tests.marts import small_memory as small
from pkg_pipeline_tests.marts.conftest import dbt


@pytest.fixture
def rows(built_url: str) -> Any:
    def read(statement: LiteralString) -> list[tuple[Any, ...]]:
        with psycopg.connect(built_url) as connection:
            return connection.execute(statement).fetchall()

    return read


def test_decisions_say_what_held_before_without_what_was_deleted(rows: Any) -> None:
    assert rows(
        "SELECT decision_id, description, decided_on, importance, status, superseded_by, formerly, agreed_by,"
        " entity_names, is_outdated, message_ids FROM marts.decisions ORDER BY decision_id"
    ) == [
        (small.AGREED, "Pay 5000 EUR", date(2024, 2, 1), "high", "open", None, ["Pay 4000 EUR"], [small.DANIEL],
         ["Daniel Okafor"], False, ["1", "2"]),
        (small.OLD, "Pay 4000 EUR", date(2024, 2, 1), "high", "superseded", small.AGREED, [], [], ["Daniel Okafor"],
         False, ["1"]),
        (small.TOGETHER, "Meet in Riga", date(2024, 2, 2), "medium", "open", None, [], [], ["Ann", "Daniel Okafor"],
         True, ["1"]),
    ]  # fmt: skip


def test_action_items_say_who_owes_whom_and_what_is_overdue(rows: Any) -> None:
    """The memory's day is 15 March: what is due on that day is not overdue, what was due the day before is; what was
    due in February and not spoken of since is not overdue but lapsed.
    """
    today = date(2024, 3, 15)
    assert rows(
        "SELECT item_id, owner, owner_name, owed_to_name, state, status, due_on, closed_on, is_overdue, days_overdue,"
        " as_of FROM marts.action_items ORDER BY item_id"
    ) == [
        (small.CONTRACT, "self", "Alex", "Daniel Okafor", "closed", "done", date(2024, 2, 9), date(2024, 2, 8), False,
         None, today),
        (small.PARTS, "them", "Daniel Okafor", "Alex", "open", "open", date(2024, 3, 14), None, True, 1, today),
        (small.SURVEY, "self", "Alex", "Ann, Daniel Okafor", "open", "open", date(2024, 3, 15), None, False, None,
         today),
        (small.LOST, "self", "Alex", "Daniel Okafor", "perhaps_done", "perhaps_done", None, None, False, None, today),
        (small.LAPSED, "other", "Petros", "Alex, Daniel Okafor", "lapsed", "lapsed", date(2024, 2, 10), None, False,
         None, today),
    ]  # fmt: skip
    assert rows(
        "SELECT item_id, formerly_due_on, decided_by FROM marts.action_items WHERE formerly_due_on <> '{}' ORDER BY 1"
    ) == [(small.PARTS, [date(2024, 2, 20)], "memory"), (small.SURVEY, [date(2024, 3, 1)], "person")]


def test_states_are_the_changes_over_all_conversations(rows: Any) -> None:
    def at(month: int, day: int, hour: int = 9, minute: int = 0) -> datetime:
        return datetime(2024, month, day, hour, minute, tzinfo=UTC)

    first, second = at(2, 1, 10, 30), at(2, 2, 10, 30)
    assert rows(
        "SELECT item_id, version, event, state, due_on, closed_on, recorded_from, recorded_to, is_current"
        " FROM marts.action_item_states ORDER BY item_id, version"
    ) == [
        (small.CONTRACT, 1, "opened", "open", date(2024, 2, 9), None, first, at(2, 8), False),
        (small.CONTRACT, 2, "done", "closed", date(2024, 2, 9), date(2024, 2, 8), at(2, 8), None, True),
        (small.PARTS, 1, "opened", "open", date(2024, 2, 20), None, first, at(3, 1), False),
        (small.PARTS, 2, "renewed", "open", date(2024, 3, 14), None, at(3, 1), None, True),
        (small.SURVEY, 1, "opened", "open", date(2024, 3, 1), None, second, at(3, 10), False),
        (small.SURVEY, 2, "edited", "open", date(2024, 3, 15), None, at(3, 10), None, True),
        (small.LOST, 1, "opened", "open", None, None, first, at(3, 2), False),
        (small.LOST, 2, "perhaps_done", "perhaps_done", None, None, at(3, 2), None, True),
        (small.LAPSED, 1, "opened", "open", date(2024, 2, 10), None, second, None, True),
    ]


def test_a_deletion_is_seen_at_the_next_read_without_a_build(built_url: str) -> None:
    with psycopg.connect(built_url) as connection:
        connection.execute("UPDATE pkg.messages SET deleted_at = now() WHERE external_id IN ('1', '2')")
        for mart in ("decisions", "action_items", "action_item_states", "milestones"):
            assert connection.execute(f"SELECT count(*) FROM marts.{mart}").fetchone() == (0,), mart


def test_milestones_are_the_newest_profiles_without_what_was_deleted(rows: Any) -> None:
    """Ann's profile rests on something deleted; of Daniel's two milestones one does."""
    assert rows("SELECT entity_name, day, title, importance, interaction_ids, week FROM marts.milestones") == [
        ("Daniel Okafor", date(2024, 2, 1), "First order", "high", [small.SECOND], date(2024, 3, 3)),
    ]


def test_coverage_says_why_a_day_is_not_whole(rows: Any) -> None:
    columns = (
        "interactions, eligible_interactions, due_interactions, summarized_interactions, outdated_interactions,"
        " failed_interactions, waiting_interactions, coverage, coverage_of_due"
    )
    assert rows(f"SELECT day, {columns} FROM marts.coverage_daily ORDER BY day") == [
        (date(2024, 2, 1), 1, 1, 1, 1, 0, 0, 0, 1, 1),
        (date(2024, 2, 2), 1, 1, 1, 1, 1, 0, 0, 1, 1),
        (date(2024, 2, 3), 2, 2, 2, 0, 0, 1, 1, 0, 0),  # one was given up, one waits
        (date(2024, 2, 5), 1, 0, 0, 0, 0, 0, 0, None, None),  # a channel is not summarised
        (date(2024, 3, 10), 1, 1, 0, 0, 0, 0, 0, 0, None),  # five days old: not due yet
    ]


def test_cost_is_the_ledgers_by_local_day_with_the_budget_beside_it(rows: Any) -> None:
    columns = (
        "calls, failed_calls, estimated_calls, input_tokens, cost_usd, task_budget_calls, task_budget_usd,"
        " lane_budget_usd, lane_cap_usd"
    )
    assert rows(f"SELECT day, lane, task, {columns} FROM marts.llm_cost_daily ORDER BY day") == [
        # 0.01 + 0.02; the lane's 0.03 + (0.01 + 0.02) of both tasks
        (date(2024, 2, 27), "live", "interaction_summary", 2, 1, 0, 200, Decimal("0.03"), 2, Decimal("0.03"),
         Decimal("0.06"), 1),
        (date(2024, 2, 28), "live", "interaction_summary", 1, 0, 1, 100, Decimal("0.04"), None, None, None, 1),
        (date(2024, 3, 1), "backfill", "profile", 1, 0, 0, 100, Decimal("0.10"), None, None, None, 5),
    ]  # fmt: skip


def test_savings_by_local_day_never_below_nothing(rows: Any) -> None:
    assert rows("SELECT * FROM marts.savings_daily ORDER BY day, kind") == [
        (date(2024, 2, 27), "context", 2, 5000, 21000, Decimal("0.7619"), None),
        (
            date(2024, 2, 28),
            "context",
            1,
            900,
            900,
            Decimal("0"),
            None,
        ),  # half past midnight in Berlin; longer than all
        (date(2024, 2, 28), "window", 2, 3000, 40000, Decimal("0.9250"), Decimal("0.02")),
    ]


def test_compression_and_relationships(rows: Any) -> None:
    assert rows(
        "SELECT day, language, method, summaries, source_tokens, summary_tokens, compression_ratio, key_points,"
        " decisions FROM marts.compression ORDER BY day"
    ) == [
        (date(2024, 2, 1), "en", "whole", 1, 40, 10, 4, 2, 3),
        (date(2024, 2, 2), "en", "whole", 1, 40, 10, 4, 0, 1),
    ]
    assert rows(
        "SELECT week, entity_id, relationship_type, frequency, coverage, open_action_items, milestones"
        " FROM marts.relationships_weekly ORDER BY week"
    ) == [
        (date(2024, 2, 25), small.DANIEL, "client", "quarterly", Decimal("0.75"), 0, 0),
        (date(2024, 3, 3), small.DANIEL, "client", "monthly", Decimal("0.75"), 1, 2),
    ]


def test_a_mart_that_breaks_its_promise_fails_the_build(built_url: str, tmp_path: Path) -> None:
    """Views are tested after they are made; a table refuses wrong rows in the transaction that would publish them."""
    with psycopg.connect(built_url) as connection:
        connection.execute(
            "SET LOCAL search_path TO pkg; ALTER TABLE items DROP CONSTRAINT items_importance_check;"
            " UPDATE items SET importance = 'urgent' WHERE kind = 'decision'"
        )
        connection.execute("UPDATE pkg.llm_calls SET cost_usd = -1")
        before = connection.execute("SELECT sum(cost_usd) FROM marts.llm_cost_daily").fetchone()
    built = dbt("build", built_url, tmp_path, "--select", "decisions", "llm_cost_daily")
    assert built.returncode != 0
    assert "FAIL 1 accepted_values_decisions_importance" in built.stdout
    assert "ERROR creating sql incremental model marts.llm_cost_daily" in built.stdout
    with psycopg.connect(built_url) as connection:
        assert connection.execute("SELECT sum(cost_usd) FROM marts.llm_cost_daily").fetchone() == before
