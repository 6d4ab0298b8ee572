"""What a person decided about items: applied at once, kept over runs and a rebuild, in the order in which it came."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pkg_pipeline.adapters.postgres.archive.erasure import PostgresErasure
from pkg_pipeline.adapters.postgres.engine import transaction
from pkg_pipeline.adapters.postgres.items.verdicts import PostgresVerdictStore
from pkg_pipeline.memory.items.records import PersonDecision, ReadingInput
from pkg_pipeline.stages.archive.erasing import erase_chat
from pkg_pipeline.stages.items.deciding import DecidedItem, ItemEdit, decide, decisions
from pkg_pipeline.stages.reads.items import ItemUnknown
from pkg_pipeline.stages.reads.stores import BadRequest
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, answered, by, promises
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, ScriptedLlm

NOW = datetime.fromisoformat("2026-09-01T12:00:00+00:00")
ITEM = UUID(int=7)


class Rig(ItemRig):
    def read_all(self) -> None:
        self.read(ScriptedLlm(by(promises), is_paid=False))

    def id_of(self, text: str) -> UUID:
        return self.one("SELECT id FROM items WHERE text = %s", text)

    def decide(self, which: str, /, **wanted: Any) -> None:
        decide(PostgresVerdictStore(self.connections), self.id_of(which), ItemEdit(**wanted), now=NOW)

    def shown(self) -> list[tuple[Any, ...]]:
        return self.rows("SELECT text, status, due_date, owner, decided_by FROM items ORDER BY text")

    def events(self, text: str) -> list[str]:
        item = self.id_of(text)
        return [row[0] for row in self.rows("SELECT event FROM item_states WHERE item_id = %s ORDER BY place", item)]

    def forget_all_that_is_derived(self) -> None:
        self.run("DELETE FROM items")
        self.run("DELETE FROM interaction_readings")


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(database_url, tmp_path)
    made.say("anna", ["I will send the keys.", "I will pay the rent.", "fine"])
    made.load()
    made.read_all()
    yield made
    made.close()


def test_a_verdict_is_applied_at_once_and_outlives_a_rebuild(rig: Rig) -> None:
    assert [row[:2] for row in rig.shown()] == [("Pay the rent", "open"), ("Send the keys", "open")]
    rig.decide("Send the keys", status="done")
    rig.decide("Pay the rent", text="Pay the rent of May", due_date=date(2026, 5, 4), owner="both")
    decided = [
        ("Pay the rent of May", "open", date(2026, 5, 4), "both", "person"),
        ("Send the keys", "done", None, "them", "person"),
    ]
    assert rig.shown() == decided
    before = rig.derived()
    rig.forget_all_that_is_derived()
    rig.read_all()
    assert rig.shown() == decided
    assert rig.derived() == before


def test_later_messages_change_nothing_of_what_a_person_set(rig: Rig) -> None:
    rig.decide("Send the keys", status="open")
    rig.decide("Pay the rent", text="Pay the rent of May")
    rig.say("anna", ["Done: send the keys.", "Done: pay the rent."], at=NOW + timedelta(days=1))
    rig.now = NOW + timedelta(days=3)
    rig.load()
    rig.read_all()
    assert [row[:2] for row in rig.shown()] == [("Pay the rent of May", "done"), ("Send the keys", "open")]
    assert rig.events("Send the keys") == ["opened", "reopened"]
    assert rig.events("Pay the rent of May") == ["opened", "edited", "done"]


def test_what_is_said_before_a_verdict_is_told_before_it(rig: Rig) -> None:
    rig.decide("Pay the rent", status="cancelled")
    rig.say("anna", ["hm", "Done: pay the rent."], at=OLD + timedelta(days=1))
    rig.load()
    rig.read_all()
    assert rig.events("Pay the rent") == ["opened", "done", "closed"]
    assert ("Pay the rent", "cancelled") in [row[:2] for row in rig.shown()]


def test_another_model_that_reads_anew_changes_nothing_of_what_a_person_set(rig: Rig) -> None:
    """Also where the item is another one for it: other words for the same message, or none at all."""
    rig.decide("Send the keys", status="done")
    rig.decide("Pay the rent", text="Pay the rent of May", due_date=date(2026, 5, 4))

    def otherwise(source: ReadingInput) -> dict[str, Any]:
        told = promises(source)
        for item in told["items"]:
            item["text"] = {"Send the keys": "Send Anna's keys", "Pay the rent": "Pay the rent soon"}[item["text"]]
        return told

    report = rig.read(ScriptedLlm(by(otherwise), is_paid=False, model="another"), stale=True)
    assert report.read == 1
    assert [row[:3] + row[4:] for row in rig.shown()] == [
        ("Pay the rent of May", "open", date(2026, 5, 4), "person"),
        ("Send Anna's keys", "done", None, "person"),
    ]
    rig.read(ScriptedLlm(lambda _: answered(), is_paid=False, model="blind"), stale=True)
    assert rig.shown() == []
    rig.read(ScriptedLlm(by(otherwise), is_paid=False, model="another"), stale=True)
    assert {row[0]: row[1] for row in rig.shown()} == {"Pay the rent of May": "open", "Send Anna's keys": "done"}


def test_verdicts_of_one_moment_stand_in_the_order_in_which_they_came(rig: Rig) -> None:
    for status in ("done", "open", "cancelled", "open", "done"):
        rig.decide("Pay the rent", status=status)
    rig.decide("Pay the rent", status="done")  # again: nothing new
    assert rig.one("SELECT count(*) FROM item_verdicts") == 5
    assert rig.events("Pay the rent") == ["opened", "closed", "reopened", "closed", "reopened", "closed"]
    before = rig.shown()
    rig.forget_all_that_is_derived()
    rig.read_all()
    assert rig.shown() == before
    assert ("Pay the rent", "done") in [row[:2] for row in before]


def test_words_and_status_at_once_are_an_edit_and_its_end(rig: Rig) -> None:
    rig.decide("Pay the rent", text="Pay", status="cancelled")
    assert rig.events("Pay") == ["opened", "edited", "closed"]
    rig.decide("Pay", text="Pay", status="cancelled")  # again: nothing new
    assert rig.events("Pay") == ["opened", "edited", "closed"]
    rig.decide("Pay", due_date=date(2026, 5, 4))
    rig.decide("Pay", clear_due_date=True)
    assert rig.shown()[0] == ("Pay", "cancelled", None, "self", "person")


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({}, "status"),
        ({"text": " \n"}, "text"),
        ({"text": "x" * 301}, "text"),
        ({"clear_due_date": True, "due_date": date(2026, 5, 4)}, "due_date"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_kept(rig: Rig, wanted: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        rig.decide("Pay the rent", **wanted)
    assert refused.value.field == field
    assert rig.one("SELECT count(*) FROM item_verdicts") == 0


def test_an_item_that_is_not_there_or_withheld_is_unknown(rig: Rig) -> None:
    rig.run("UPDATE items SET is_withheld = true WHERE text = 'Pay the rent'")
    for item in (UUID(int=1), rig.id_of("Pay the rent")):
        with pytest.raises(ItemUnknown):
            decide(PostgresVerdictStore(rig.connections), item, ItemEdit(status="done"), now=NOW)


def test_a_pass_that_works_on_the_item_and_a_verdict_wait_for_one_another(rig: Rig) -> None:
    """A pass holds the items while it reads: the verdict comes after what the pass saves, and neither is lost."""
    store = rig.items().store
    held = store.begin(holder="a pass", lease_seconds=60)
    assert held is not None
    began = threading.Event()

    def verdict() -> None:
        began.set()
        rig.decide("Pay the rent", status="cancelled")

    waiting = threading.Thread(target=verdict)
    with store.work(held):
        waiting.start()
        assert began.wait(10)
        waiting.join(0.2)
        assert waiting.is_alive()
        with transaction(rig.connections) as other:
            assert other.execute("SELECT count(*) FROM item_verdicts").fetchone() == (0,)
    waiting.join(20)
    assert not waiting.is_alive()
    assert ("Pay the rent", "cancelled") in [row[:2] for row in rig.shown()]


def test_what_is_forgotten_with_a_chat_is_forgotten_everywhere(rig: Rig) -> None:
    """Of another chat what was said in the forgotten one; with its own chat an item and what a person said of it."""
    rig.say("office", ["hm", "Done: send the keys."], at=OLD + timedelta(days=1))
    rig.load()
    rig.read_all()
    rig.decide("Pay the rent", text="Pay the rent of May")
    assert rig.events("Send the keys") == ["opened", "done"]
    chats = dict(rig.rows("SELECT external_id, id FROM chats"))
    erasure = PostgresErasure(rig.connections)
    erase_chat(erasure, chats["office"])
    assert rig.events("Send the keys") == ["opened"]
    assert [row[:2] for row in rig.shown()] == [("Pay the rent of May", "open"), ("Send the keys", "open")]
    erase_chat(erasure, chats["anna"])
    for table in ("items", "item_states", "item_people", "item_verdicts", "interaction_readings", "entities"):
        assert rig.one(f"SELECT count(*) FROM {table}") == 0, table


def test_a_decision_is_taken_back_and_never_done() -> None:
    decision, task = DecidedItem("decision"), DecidedItem("action_item")
    for item, wanted, status in (
        (decision, "closed", "cancelled"),
        (decision, "cancelled", "cancelled"),
        (task, "closed", "done"),
        (task, "cancelled", "cancelled"),
    ):
        (made,) = decisions(ITEM, item, ItemEdit(status=wanted), now=NOW)
        assert made == PersonDecision(ITEM, NOW, "close", status=status)
    for edit in (ItemEdit(status="done"), ItemEdit(owner="self"), ItemEdit(clear_due_date=True)):
        with pytest.raises(BadRequest):
            decisions(ITEM, decision, edit, now=NOW)
