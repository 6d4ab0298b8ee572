"""The store of recall: both ways through the vectors against a search by hand, under every filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.postgres.recall.store import Limits, vector_plan
from pkg_pipeline_tests.adapters.postgres.recall.recall_rig import (
    CHATS,
    IN_GRAPH,
    NOW,
    PEOPLE,
    SCANNED,
    SOURCES,
    START,
    TIME_SCANNED,
    TOPICS,
    RecallRig,
    Wanted,
)

MIDDLE, LATE = START + timedelta(hours=4_000), START + timedelta(hours=8_000)
FILTERS = {
    "nothing": Wanted(),
    "an entity": Wanted(entity_id=PEOPLE[0]),
    "a chat": Wanted(chat_id=CHATS[3]),
    "both": Wanted(entity_id=PEOPLE[1], chat_id=CHATS[4]),
    "a time": Wanted(at_from=MIDDLE, at_to=LATE),
    "from then on": Wanted(at_from=LATE),
    "an entity's time": Wanted(entity_id=PEOPLE[2], at_to=MIDDLE),
    "a chat's time, both": Wanted(entity_id=PEOPLE[0], chat_id=CHATS[3], at_from=MIDDLE, at_to=LATE),
    "as of": Wanted(as_of=MIDDLE),
    "as of before the end": Wanted(chat_id=CHATS[4], at_to=LATE, as_of=MIDDLE),
    "a topic": Wanted(topics=(TOPICS[0],)),
    "two topics of a chat": Wanted(chat_id=CHATS[3], topics=TOPICS[1:]),
    "sources": Wanted(sources=frozenset({"decision", "fact"})),
    "everything at once": Wanted(
        entity_id=PEOPLE[3], chat_id=CHATS[3], topics=TOPICS[:2], sources=frozenset({"message"}), at_from=START,
        as_of=LATE,
    ),
    "nothing there": Wanted(at_from=NOW),
}  # fmt: skip
WORDS = {3: 2.0, 8: 0.5, 21: 1.25}


@pytest.fixture
def rig(database_url: str) -> Iterator[RecallRig]:
    made = RecallRig(database_url)
    yield made
    made.close()


def test_both_ways_find_what_a_search_by_hand_finds(rig: RecallRig) -> None:
    rig.fill(500)
    ways: set[str] = set()
    for limits in (SCANNED, IN_GRAPH, TIME_SCANNED, Limits(reranked=40)):
        store = rig.store(limits)
        for label, wanted in FILTERS.items():
            vector = rig.vector()
            query = rig.query(store, wanted, vector=vector, words=WORDS, fetch_terms=(3, 21))
            ways.add(f"{vector_plan(query, limits).way} {wanted.at_from is not None}")
            found = store.search(query)
            expected = {*rig.nearest(wanted, vector, 10), *rig.worded(wanted, WORDS, (3, 21), 10)}
            assert {one.no for one in found} == expected, (label, limits)
            rig.assert_scored(found, WORDS, vector)
            assert found == store.search(query), "the order is the same every time"
            known = [one.similarity for one in found if one.similarity is not None]
            assert known == sorted(known, reverse=True)
    assert ways == {"codes False", "codes True", "graph False", "graph True"}


def test_words_alone(rig: RecallRig) -> None:
    rig.fill(200)
    store = rig.store()
    for label, wanted in FILTERS.items():
        found = store.search(rig.query(store, wanted, vector=None, words=WORDS, fetch_terms=(8,)))
        assert {one.no for one in found} == set(rig.worded(wanted, WORDS, (8,), 10)), label
        rig.assert_scored(found, WORDS, None)
    nothing = rig.query(store, Wanted(), vector=None, words=WORDS)
    assert store.search(nothing) == [], "no word may bring candidates"


def test_vectors_alone(rig: RecallRig) -> None:
    rig.fill(200)
    store = rig.store()
    vector = rig.vector()
    found = store.search(rig.query(store, Wanted(), vector=vector, limit=5))
    assert [one.no for one in found] == rig.nearest(Wanted(), vector, 5)
    assert {one.lexical for one in found} == {0.0}


def test_a_time_that_was_not_counted_with_the_facts_is_counted_then(rig: RecallRig) -> None:
    rig.fill(200)
    store = rig.store(TIME_SCANNED)
    vector = rig.vector()
    timed = Wanted(at_from=MIDDLE, at_to=LATE)
    early, late = rig.query(store, Wanted(), vector=vector), rig.query(store, timed, vector=vector)
    assert [one.in_range for one in early.facts.scopes] == [None]
    assert [one.in_range for one in late.facts.scopes] == [
        len([one for one in rig.chunks if MIDDLE <= one.at < LATE and one.vector is not None])
    ]
    named_late = replace(late, facts=early.facts)
    assert store.search(named_late) == store.search(late)


MOMENTS = st.none() | st.integers(0, 10_000).map(lambda hours: START + timedelta(hours=hours))


def test_no_result_ever_leaves_what_was_asked_for(rig: RecallRig) -> None:
    """And nothing is missing where there is room for everything that fits."""
    rig.fill(150)
    stored = {one.no: one for one in rig.chunks}

    @settings(max_examples=60, deadline=None)
    @given(
        entity=st.none() | st.sampled_from(PEOPLE),
        chat=st.none() | st.sampled_from(CHATS),
        topics=st.sets(st.sampled_from(TOPICS)),
        sources=st.sets(st.sampled_from(SOURCES)),
        at_from=MOMENTS,
        at_to=MOMENTS,
        as_of=MOMENTS,
        terms=st.sets(st.integers(1, 40), max_size=5),
        limits=st.sampled_from([SCANNED, IN_GRAPH, TIME_SCANNED]),
        limit=st.sampled_from([3, 200]),
    )
    def holds(entity, chat, topics, sources, at_from, at_to, as_of: datetime | None, terms, limits, limit) -> None:
        wanted = Wanted(
            entity, chat, tuple(sorted(topics)), frozenset(sources), at_from, at_to, NOW if as_of is None else as_of
        )
        store = rig.store(limits)
        words = dict.fromkeys(terms, 1.0)
        query = rig.query(store, wanted, vector=rig.vector(), words=words, fetch_terms=tuple(terms), limit=limit)
        found = store.search(query)
        assert all(wanted.fits(stored[one.no]) for one in found)
        assert len({one.no for one in found}) == len(found) <= 2 * limit
        if limit == 200:
            near = {one.no for one in rig.chunks if wanted.fits(one) and one.vector is not None}
            assert near <= {one.no for one in found}

    holds()
