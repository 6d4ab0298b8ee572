"""The store of recall: what a candidate brings along, what is withheld, what is known of a question."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall.store import (
    NAME_LIMIT,
    Limits,
    PostgresRecallStore,
)
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.stages.reads.stores import StoreUnavailable
from pkg_pipeline.stages.recall.records import FactsQuery, ScopeFacts, Space
from pkg_pipeline_tests.adapters.postgres.recall.recall_rig import CHATS, NOW, PEOPLE, START, RecallRig, Stored, Wanted

WORD = {7: 1.0}


@pytest.fixture
def rig(database_url: str) -> Iterator[RecallRig]:
    made = RecallRig(database_url)
    made.people()
    yield made
    made.close()


def stored(number: int, **given: Any) -> Stored:
    values: dict[str, Any] = {
        "source": "message", "chat_id": CHATS[3], "entity_id": PEOPLE[0], "at": START + timedelta(days=number),
        "topics": (), "words": WORD, "vector": None,
    }  # fmt: skip
    return Stored(number=number, **values | given)


def found(rig: RecallRig) -> dict[int, Any]:
    """Chunk by number, found by the one word."""
    store = rig.store()
    rows = store.search(rig.query(store, Wanted(), vector=None, words=WORD, fetch_terms=(7,)))
    return {one.id.int: one for one in rows}


def summary(rig: RecallRig, identity: UUID, messages: list[str]) -> None:
    rig.run(
        "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
        " language, summary, message_ids, message_count, source_token_count, summary_token_count, compression_ratio,"
        " cost_usd, generation_seconds) VALUES (%s, %s, 'completed', 'h', 'p', 'm', 'en', 's', %s, 1, 1, 1, 1, 0, 0)",
        identity, uuid4(), messages,
    )  # fmt: skip


def test_a_passage_is_cut_out_of_its_message(rig: RecallRig) -> None:
    rig.add(stored(1))
    rig.run("UPDATE messages SET content = 'One sentence. Another, мы здесь. A third.'")
    rig.run("UPDATE memory_chunks SET start_char = 14, end_char = 31, passage = 1, passages = 3")
    one = found(rig)[1]
    assert (one.text, one.passage, one.passages) == ("Another, мы здесь", 1, 3)


def test_who_said_it_and_where(rig: RecallRig) -> None:
    rig.run("UPDATE entities SET is_self = true WHERE id = %s", PEOPLE[0])
    rig.add(stored(1))
    rig.add(stored(2, source="decision", entity_id=PEOPLE[1]))
    said, derived = found(rig)[1], found(rig)[2]
    assert (said.speaker, said.is_self, said.sender_entity_id) == ("Person 0", True, PEOPLE[0])
    assert (derived.speaker, derived.is_self, derived.subject_id) == (None, False, UUID(int=2))
    assert (said.chat.source, said.chat.external_id, said.chat.kind, said.chat.title) == (
        "telegram", "chat:3", "group", "T",
    )  # fmt: skip


def test_archived_text_comes_back(rig: RecallRig) -> None:
    rig.add(stored(1))
    rig.run(
        "CREATE TABLE archived_messages_2025_01 (LIKE archived_messages INCLUDING ALL);"
        "ALTER TABLE archived_messages ATTACH PARTITION archived_messages_2025_01"
        " FOR VALUES FROM ('2025-01-01') TO ('2025-02-01')"
    )
    rig.run(
        "INSERT INTO archived_messages (month, message_id, chat_id, interaction_id, external_id, sent_at, content,"
        " content_hash) VALUES (%s, 1, %s, %s, '1', %s, 'kept elsewhere', 'h')",
        START.date(), CHATS[3], uuid4(), START,
    )  # fmt: skip
    rig.run(
        "UPDATE messages SET content = '', is_archived = true, archived_at = now(), archived_month = %s", START.date()
    )
    assert found(rig)[1].text == "kept elsewhere"


def test_what_rests_on_a_deleted_message_is_left_out_before_its_chunk_is_made_anew(rig: RecallRig) -> None:
    rig.add(stored(1))
    rig.add(stored(2, source="decision"))
    rig.add(stored(3, source="summary"))
    rig.add(stored(4))
    summary(rig, UUID(int=3), ["3"])
    assert set(found(rig)) == {1, 2, 3, 4}
    rig.run("UPDATE messages SET deleted_at = now() WHERE id IN (1, 2)")
    rig.run("UPDATE interaction_summaries SET status = 'dirty', dirty_reason = 'deleted'")
    assert set(found(rig)) == {4}


def test_a_summary_names_the_messages_it_was_made_from_until_it_is_superseded(rig: RecallRig) -> None:
    rig.add(stored(3, source="summary"))
    summary(rig, UUID(int=3), [str(number) for number in range(80)])
    one = found(rig)[3]
    assert one.message_ids[:2] == ("telegram:chat%3A3/0", "telegram:chat%3A3/1")
    assert len(one.message_ids) == 50
    rig.run("UPDATE interaction_summaries SET status = 'dirty', dirty_reason = 'edited'")
    assert set(found(rig)) == {3}
    rig.run("UPDATE interaction_summaries SET status = 'superseded'")
    assert found(rig) == {}


# ── facts ────────────────────────────────────────────────────────────────────────────────────


def test_scopes_that_do_not_exist(rig: RecallRig) -> None:
    store = rig.store()
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"entity_id": uuid4()}, "entity"),
        ({"chat_id": uuid4()}, "chat"),
        ({"entity_id": uuid4(), "chat_id": uuid4()}, "entity"),
        ({"entity_id": PEOPLE[0], "chat_id": uuid4()}, "chat"),
        ({"entity_id": PEOPLE[0], "chat_id": CHATS[0]}, None),
        ({}, None),
    ]
    for wanted, unknown in cases:
        assert store.question_facts(FactsQuery(terms=(), **wanted)).unknown == unknown
    nobody = Wanted(entity_id=uuid4())
    assert store.search(rig.query(store, nobody, vector=rig.vector(), words=WORD, fetch_terms=(7,))) == []


def test_facts_of_a_question(rig: RecallRig) -> None:
    for number in range(1, 31):
        rig.add(stored(number, vector=rig.vector(), entity_id=PEOPLE[number % 2]))
    rig.save(rig.chunks)
    rig.run("INSERT INTO chunk_terms VALUES (0, 30), (7, 12), (9, 1)")
    facts = rig.store().question_facts(FactsQuery(terms=(7, 8), entity_id=PEOPLE[1], chat_id=CHATS[3]))
    assert (facts.chunks, facts.document_frequencies) == (30, {7: 12})
    assert facts.space == Space(rig.space_id, "offline:small", 64, "active")
    assert facts.scopes == (ScopeFacts(PEOPLE[1], 15, is_indexed=False), ScopeFacts(CHATS[3], 30, is_indexed=True))
    timed = rig.store(Limits(scanned_time=10)).question_facts(FactsQuery(terms=(), at_from=START + timedelta(days=25)))
    assert timed.scopes == (ScopeFacts(EVERYTHING, 30, is_indexed=True, in_range=6),)
    bounded = rig.store(Limits(scanned_time=10)).question_facts(FactsQuery(terms=(), at_to=NOW))
    assert bounded.scopes[0].in_range == 11, "no further than it matters"


def test_who_is_meant(rig: RecallRig) -> None:
    crowd = [UUID(int=900 + number) for number in range(NAME_LIMIT)]
    for person in crowd:
        rig.run("INSERT INTO entities (id, name, name_at) VALUES (%s, 'Anna', now())", person)
        rig.run("INSERT INTO speaker_terms VALUES (5, %s)", person)
    for term, person in ((5, PEOPLE[0]), (6, PEOPLE[1]), (6, PEOPLE[2]), (8, PEOPLE[1])):
        rig.run("INSERT INTO speaker_terms VALUES (%s, %s)", term, person)
    for chat, person in ((0, 0), (0, 3), (1, 1), (4, 2), (4, 3)):
        rig.run("INSERT INTO chat_members VALUES (%s, %s)", CHATS[chat], PEOPLE[person])
    store = rig.store()

    def meant(*names: int, **scope: Any) -> list[int]:
        return [PEOPLE.index(one) for one in store.question_facts(FactsQuery((), names, **scope)).meant]

    assert meant(5) == [], "a name that fits too many people means nobody"
    assert meant(5, chat_id=CHATS[0]) == [0], "but who takes part in the chat is meant there"
    assert meant(6, 8) == [1, 2]
    assert meant(6, entity_id=PEOPLE[3]) == [2], "whoever shares a chat"
    assert meant(6, entity_id=PEOPLE[1]) == [1], "and the entity itself"
    assert meant(6, chat_id=CHATS[0]) == []
    assert meant() == []


def test_a_server_that_is_gone_is_said(rig: RecallRig) -> None:
    pool = engine.pool(rig.url, size=1, readonly=True)
    store = PostgresRecallStore(pool)
    store.question_facts(FactsQuery(terms=()))
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    rig.run(f"{ended} AND pid <> pg_backend_pid()")
    assert store.question_facts(FactsQuery(terms=())).unknown is None, "a broken connection is replaced"
    pool.close()
    with pytest.raises(StoreUnavailable):
        store.question_facts(FactsQuery(terms=()))
