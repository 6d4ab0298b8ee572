"""A context in brief (P7): paid once for a block and day, forgotten with what it says, chosen by rule otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.memory.hashing import chat_id, content_hash
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline.wiring.receipts import Receipts
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.reads.brief_rig import asked, fill, opened, person
from pkg_pipeline_tests.stages.recall.rewriting_rig import ledger

Open = Callable[..., Memory]
HEADINGS = {"Anna Petrova": "## How things stand", "Маша Белова": "## Как обстоят дела", "陈伟": "## 关系现状"}
RULED = "the brief is chosen from the context's own lines: "


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic(api_key=KEY) as server:
        yield server


@pytest.fixture
def memory_of(database_url: str, tmp_path: Path, fake: FakeAnthropic) -> Iterator[Open]:
    made: list[Any] = []

    def open_one(**settings: Any) -> Memory:
        made.append(opened(database_url, tmp_path, fake.url, **settings))
        memory = made[-1].__enter__()
        if len(made) == 1:
            fill(memory, tmp_path)
            fake.journal.clear()
        return memory

    yield open_one
    for one in made:
        one.__exit__(None, None, None)


def spent(memory: Memory) -> list[tuple[Any, ...]]:
    with memory.connections.connection() as connection:
        return connection.execute("SELECT lane, task, calls, reserved_usd, spent_usd > 0 FROM budgets").fetchall()


@pytest.mark.parametrize("name", HEADINGS)
def test_it_is_asked_once_for_a_block_in_the_blocks_language(memory_of: Open, fake: FakeAnthropic, name: str) -> None:
    memory = memory_of()
    plain = asked(memory, name, brief=False)
    assert (plain.to_json()["brief"], fake.journal) == (None, [])
    first, second = asked(memory, name), asked(memory, name)
    assert first.brief is not None
    assert first.brief == second.brief
    assert first.block == plain.block, "the block is the same with a brief"
    assert len(fake.journal) == 1
    assert ledger(memory.connections) == [("context_brief", "live", "ok", "brief", True)]
    assert spent(memory) == [("live", "context_brief", 1, 0, True)]
    assert first.brief.text.startswith(HEADINGS[name])
    shown = {(item.kind, item.id) for tier in first.block.tiers for item in tier.items} | {
        ("card", str(first.entity_id))
    }
    sentences = [told for part in first.to_json()["brief_parts"]["parts"] for told in part["sentences"]]
    assert sentences
    assert all(told["items"] and {(one["kind"], one["id"]) for one in told["items"]} <= shown for told in sentences)
    assert (first.brief.warning, first.brief.prompt_version) == (None, "context_brief/1")


def test_another_block_is_another_brief(memory_of: Open, fake: FakeAnthropic) -> None:
    memory = memory_of()
    asked(memory)
    asked(memory, hint="the mooring fee")
    assert len(fake.journal) == 2
    with memory.connections.connection() as connection:
        connection.execute("UPDATE messages SET content = replace(content, '4,500', '4,700')")
    assert "4,700" in asked(memory).block.text
    assert len(fake.journal) == 3


def test_what_was_deleted_is_in_no_brief(memory_of: Open, fake: FakeAnthropic) -> None:
    memory = memory_of()
    before = asked(memory).brief
    assert before is not None
    assert "boat" in before.text
    with memory.connections.connection() as connection:
        connection.execute("UPDATE messages SET deleted_at = now(), content = '' WHERE content LIKE '%boat%'")
    after = asked(memory).brief
    assert after is not None
    assert "boat" not in after.text


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (Fault(status=529), "the model is unavailable"),
        (Fault(status=401), "the model is not set up rightly"),
        (Fault(stop_reason="refusal"), "the model declined"),
        (Fault(answer="prose"), "the model's answer cannot be used: the answer is no JSON"),
        (Fault(answer="other_language"), "the model's answer cannot be used: no sentence may be published"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_whatever_fails_there_is_a_brief_with_a_warning(
    memory_of: Open, fake: FakeAnthropic, rule: Fault, reason: str
) -> None:
    memory = memory_of()
    fake.script.replace([rule])
    found = asked(memory).brief
    assert found is not None
    assert found.model is None
    assert (found.warning or "").startswith(RULED + reason)
    assert "The mooring fee for the summer is 300 euros" in found.text
    assert len(fake.journal) == 1, "a read waits for one try"


def test_a_spent_budget_asks_nothing(memory_of: Open, fake: FakeAnthropic) -> None:
    found = asked(memory_of(live_briefs_per_day=0)).brief
    assert found is not None
    assert found.warning == f"{RULED}the live lane's 0 calls of today are used up"
    assert fake.journal == []


def test_offline_it_is_chosen_without_a_warning(memory_of: Open, fake: FakeAnthropic) -> None:
    found = asked(memory_of(llm="offline")).brief
    assert found is not None
    assert (found.model, found.warning, fake.journal) == (None, None, [])
    assert "300 euros" in found.text


def test_a_false_sum_costs_its_sentence(memory_of: Open, fake: FakeAnthropic) -> None:
    memory = memory_of()
    good = asked(memory).brief
    assert good is not None
    fake.script.replace([Fault(answer="invented_quote")])
    found = asked(memory, hint="the boat").brief  # another prompt
    assert found is not None
    assert found.model is not None
    assert "987654" not in found.text


def test_forgetting_takes_the_answer_along(memory_of: Open, fake: FakeAnthropic) -> None:
    memory = memory_of()
    asked(memory)
    assert "boat" in replies(memory)
    memory.forgetting.forget(memory.forgetting.message(chat_id("jsonl", "anna"), "1"), by="test")
    assert "boat" not in replies(memory)
    assert [row[2] for row in ledger_outcomes(memory)] == ["erased"]


def replies(memory: Memory) -> str:
    with memory.connections.connection() as connection:
        return str(connection.execute("SELECT reply FROM llm_calls").fetchall())


def ledger_outcomes(memory: Memory) -> list[tuple[Any, ...]]:
    with memory.connections.connection() as connection:
        return connection.execute("SELECT task, lane, outcome FROM llm_calls").fetchall()


def test_its_receipt_rebuilds_the_block_and_knows_the_brief(memory_of: Open) -> None:
    memory = memory_of()
    served = asked(memory)
    assert served.receipt_id is not None
    assert served.brief is not None
    receipts = Receipts(memory)
    kept = receipts.show(served.receipt_id).request["brief"]
    assert kept == {
        "model": served.brief.model,
        "prompt": "context_brief/1",
        "sha256": content_hash(served.brief.text),
    }
    rebuilt = receipts.rebuild(served.receipt_id)
    assert (rebuilt.text, rebuilt.reason) == (served.block.text, None)


@pytest.mark.parametrize(("when", "calls"), [("after", 1), ("before", 2)])
def test_killed_between_answer_and_reply_pays_once(
    memory_of: Open, fake: FakeAnthropic, database_url: str, tmp_path: Path, when: str, calls: int
) -> None:
    """Once booked it is replayed; killed before that, the lost call is booked at the most that it can cost."""
    memory = memory_of()
    entity = person(memory)
    killed("reads.brief_worker", database_url, str(tmp_path), fake.url, str(entity), when)
    with memory.connections.connection() as connection:
        connection.execute("UPDATE budget_reservations SET expires_at = now() - interval '1 second'")
    memory.budgets.settle_lost()
    found = asked(memory).brief
    assert found is not None
    assert found.model is not None
    assert len(fake.journal) == calls
    outcomes = sorted(row[2] for row in ledger_outcomes(memory))
    assert outcomes == (["ok"] if when == "after" else ["ok", "unknown"])
