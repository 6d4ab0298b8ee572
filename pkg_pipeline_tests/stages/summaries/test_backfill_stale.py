"""B5: what another prompt, model or schema made is stale: still served, redone by a backfill alone, exactly that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.summaries.stores import Scope
from pkg_pipeline_tests.stages.summaries.backfill_rig import DAY, BackfillRig
from pkg_pipeline_tests.stages.summaries.summary_rig import ALL_DAYS, OLD, ScriptedLlm


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[BackfillRig]:
    made = BackfillRig(database_url, tmp_path)
    made.use(ScriptedLlm(model="old-model"))
    made.talk(4)
    made.memory.summarize(ALL_DAYS, Billing("live"))
    yield made
    made.close()


def age(rig: BackfillRig, column: str, value: object, *chats: str) -> None:
    """As if these summaries had been made by something earlier."""
    rig.run(
        f"UPDATE interaction_summaries s SET {column} = %s FROM interactions i JOIN chats c ON c.id = i.chat_id"
        " WHERE i.id = s.interaction_id AND c.external_id = ANY(%s)",
        value,
        list(chats),
    )


REASONS = [
    ("prompt_version", "interaction_summary/0"),
    ("model_version", "older-model"),
    ("schema_version", 0),
]


@pytest.mark.parametrize(("column", "value"), REASONS)
def test_exactly_the_stale_ones_are_redone_and_only_when_asked_for(rig: BackfillRig, column: str, value) -> None:
    age(rig, column, value, "c01", "c03")
    before = rig.digest()
    llm = rig.use(ScriptedLlm(model="old-model"))
    assert rig.memory.backfills.stale_count() == 2
    rig.memory.summarize(ALL_DAYS, Billing("live"))
    rig.memory.summarize(ALL_DAYS, Billing("backfill"))
    assert (llm.requests, rig.digest()) == ([], before)  # they are served, and nobody redoes them unasked
    assert rig.memory.backfills.foretell(rig.request()).interactions == 0
    asked = rig.ask(stale=True)
    assert asked.forecast.interactions == 2
    rig.work_off(asked.id)
    assert rig.told(asked.id)["state"] == "done"
    assert rig.memory.backfills.stale_count() == 0
    assert [rig.status_of(chat) for chat in ("c00", "c01", "c02", "c03")] == [
        ["completed"],
        ["superseded", "completed"],
        ["completed"],
        ["superseded", "completed"],
    ]
    chained = "SELECT count(*) FROM interaction_summaries n JOIN interaction_summaries o ON o.id = n.parent_summary_id"
    assert rig.one(chained) == 2
    assert rig.memory.backfills.foretell(rig.request(stale=True)).interactions == 0


def test_another_model_makes_everything_stale_and_the_redone_are_its_own(rig: BackfillRig) -> None:
    llm = rig.use(ScriptedLlm(model="new-model"))
    assert rig.memory.backfills.stale_count() == 4
    asked = rig.ask(stale=True, limit=3)
    rig.work_off(asked.id)
    assert len(llm.requests) == 3
    made = "SELECT model_version, count(*) FROM interaction_summaries WHERE status = 'completed' GROUP BY 1 ORDER BY 1"
    assert rig.rows(made) == [("new-model", 3), ("old-model", 1)]
    rest = rig.ask(stale=True, limit=3)
    rig.work_off(rest.id)
    assert rig.rows(made) == [("new-model", 4)]
    assert rig.memory.backfills.stale_count() == 0


def test_a_stale_one_whose_redoing_fails_stays_served_and_is_told(rig: BackfillRig) -> None:
    rig.use(ScriptedLlm(lambda _: "no JSON", model="new-model"), attempt_limit=1)
    asked = rig.ask(stale=True, limit=1)
    rig.work_off(asked.id)
    told = rig.told(asked.id)
    assert (told["state"], told["failed"], told["actual"]["interactions"]) == ("done", 1, 0)
    assert rig.summarized() == ["c00", "c01", "c02", "c03"]
    assert rig.memory.backfills.foretell(rig.request(stale=True)).interactions == 3
    assert rig.memory.backfills.foretell(rig.request(stale=True, failed=True)).interactions == 1


def test_a_run_told_to_redo_stale_ones_takes_those_of_its_days(rig: BackfillRig) -> None:
    """What the tag of a backfill from the UI asks for."""
    llm = rig.use(ScriptedLlm(model="new-model"))
    days = (OLD.date(), (OLD + DAY).date())
    rig.memory.summarize(days, Billing("backfill"), scope=Scope(redo_stale=True))
    assert len(llm.requests) == 2
    assert rig.memory.backfills.stale_count() == 2
    assert rig.one("SELECT coalesce(sum(pending), 0) FROM partition_states") == 0  # the others are not pending


def test_the_count_looks_at_stale_ones_only(rig: BackfillRig) -> None:
    """Of 20,000 current ones it reads a handful of index entries, by the server's own account."""
    rig.run(
        "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
        " language, summary, message_ids, message_count, source_token_count, summary_token_count, compression_ratio,"
        " cost_usd, generation_seconds) SELECT gen_random_uuid(), gen_random_uuid(), 'completed', 'h',"
        " s.prompt_version, s.model_version, 'en', 'x', '{}', 3, 1, 1, 1, 0, 0"
        " FROM generate_series(1, 20000), (SELECT * FROM interaction_summaries LIMIT 1) s"
    )
    rig.run("VACUUM ANALYZE interaction_summaries")
    age(rig, "model_version", f"gone-{uuid4()}", "c02")
    from pkg_pipeline.adapters.postgres.queries import query
    from pkg_pipeline.adapters.postgres.summaries.store import eligible

    assert rig.memory.backfills.stale_count() == 1
    parameters = eligible(rig.memory.summaries.eligibility(), ALL_DAYS)
    with rig.connections.connection() as connection:
        explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query("backfills", "stale_count")
        plan = connection.execute(explain, parameters).fetchone()  # type: ignore[arg-type]
    assert plan is not None
    assert plan[0][0]["Plan"]["Shared Hit Blocks"] < 200
