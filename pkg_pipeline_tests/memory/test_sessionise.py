"""Where a silence cuts, and that arriving late, twice or shuffled ends in the same interactions (B10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory import sessionise
from pkg_pipeline.memory.hashing import interaction_id
from pkg_pipeline.memory.sessionise import ExistingInteraction, Plan

GAP = 100
CHAT = "jsonl:chat"


def times(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("sent_at", "starts"),
    [
        ((), []),
        ((5,), [0]),
        ((0, 100), [0]),  # 100 = gap: one interaction
        ((0, 101), [0, 1]),  # 101 > gap
        ((0, 100, 200, 300), [0]),  # long together, no silence longer than the gap
        ((0, 0, 0), [0]),
        ((0, 50, 151, 152, 253), [0, 2, 4]),  # 151 − 50 = 101, 253 − 152 = 101
        ((-500, -350, -300), [0, 1]),  # before 1970
    ],
)
def test_a_silence_longer_than_the_gap_splits(sent_at: tuple[int, ...], starts: list[int]) -> None:
    assert sessionise.split(times(*sent_at), GAP).tolist() == starts


def test_unsorted_times_and_negative_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="sorted"):
        sessionise.split(times(2, 1), GAP)
    with pytest.raises(ValueError, match="negative"):
        sessionise.split(times(1), -1)


@pytest.mark.parametrize(("silence_us", "completed"), [(0, False), (100, False), (101, True), (-5, False)])
def test_an_interaction_is_completed_by_a_silence_longer_than_the_gap(silence_us: int, completed: bool) -> None:
    ended = datetime(2024, 3, 1, tzinfo=UTC)
    now = ended + timedelta(microseconds=silence_us)
    assert sessionise.is_completed(ended, now, timedelta(microseconds=GAP)) is completed


def test_message_ten_follows_message_nine_of_the_same_second() -> None:
    ids = ["10", "b", "9", "100", "1"]
    assert [ids[i] for i in sessionise.message_order(times(5, 5, 5, 5, 4), ids)] == ["1", "9", "b", "10", "100"]


MESSAGES = st.dictionaries(
    st.text("0123456789ab", min_size=1, max_size=3), st.integers(0, 1500), min_size=1, max_size=25
)


@given(MESSAGES)
def test_the_order_is_that_of_the_key(messages: dict[str, int]) -> None:
    ids = list(messages)
    order = sessionise.message_order(times(*messages.values()), ids)
    assert [ids[i] for i in order] == sorted(ids, key=lambda i: (messages[i], len(i), i))


class Store:
    """A chat as tables would hold it, fed batch by batch."""

    def __init__(self) -> None:
        self.sent_at: dict[str, int] = {}
        self.inside: dict[str, UUID] = {}
        self.interactions: dict[UUID, ExistingInteraction] = {}

    def arrive(self, batch: dict[str, int]) -> Plan:
        batch = {key: at for key, at in batch.items() if key not in self.sent_at}
        stored = list(self.interactions.values())
        near = sessionise.neighbourhood(
            times(*batch.values()),
            times(*(interaction.started_at_us for interaction in stored)),
            times(*(interaction.ended_at_us for interaction in stored)),
            GAP,
        )
        existing = [interaction for interaction, is_near in zip(stored, near, strict=True) if is_near]
        self.sent_at |= batch
        near_ids = {interaction.id for interaction in existing}
        ids = [key for key in self.sent_at if key in batch or self.inside[key] in near_ids]
        plan = sessionise.plan(
            CHAT,
            times(*(self.sent_at[key] for key in ids)),
            ids,
            current=[self.inside.get(key) for key in ids],
            existing=existing,
            gap_us=GAP,
        )
        for old in plan.retired:
            del self.interactions[old]
        for interaction in plan.interactions:
            self.interactions[interaction.id] = ExistingInteraction(
                interaction.id,
                interaction.external_id,
                interaction.started_at_us,
                interaction.ended_at_us,
                interaction.message_count,
            )
            self.inside |= {ids[index]: interaction.id for index in interaction.messages}
        return plan


@settings(max_examples=200)
@given(MESSAGES, st.data())
def test_any_order_of_arrival_gives_the_same_as_all_at_once(messages: dict[str, int], data: st.DataObject) -> None:
    at_once, bit_by_bit = Store(), Store()
    at_once.arrive(messages)
    rest = data.draw(st.permutations(list(messages)))
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        bit_by_bit.arrive({key: messages[key] for key in rest[:size]})
        rest = rest[size:]
    assert bit_by_bit.inside == at_once.inside
    assert bit_by_bit.interactions == at_once.interactions


@given(MESSAGES, MESSAGES)
def test_a_late_message_joins_and_extends_but_never_splits(first: dict[str, int], late: dict[str, int]) -> None:
    store = Store()
    store.arrive(first)
    together = dict(store.inside)
    untouched_before = dict(store.interactions)
    plan = store.arrive(late)
    for one in together:
        for other in together:
            if together[one] == together[other]:
                assert store.inside[one] == store.inside[other]
    touched = plan.created | plan.changed | set(plan.retired)
    for key, interaction in untouched_before.items():
        if key not in touched:
            assert store.interactions[key] == interaction
    for successors in plan.retired.values():
        assert len(successors) == 1  # whole interactions are joined, none is torn


def test_one_late_message_joins_two_interactions_and_keeps_the_earlier_id() -> None:
    store = Store()
    store.arrive({"a": 0, "b": 150, "far": 1000})
    plan = store.arrive({"m": 75})
    a, b, far = (interaction_id(CHAT, key) for key in ("a", "b", "far"))
    assert [interaction.id for interaction in plan.interactions] == [a]
    assert plan.changed == {a}
    assert plan.retired == {b: (a,)}
    assert plan.created == frozenset()
    assert set(store.interactions) == {a, far}


def test_an_earlier_first_message_gives_a_new_id_and_names_the_successor() -> None:
    store = Store()
    store.arrive({"b": 150})
    plan = store.arrive({"a": 100})
    assert plan.created == {interaction_id(CHAT, "a")}
    assert plan.retired == {interaction_id(CHAT, "b"): (interaction_id(CHAT, "a"),)}


def test_a_plan_over_what_is_stored_changes_nothing() -> None:
    store = Store()
    store.arrive({"a": 0, "b": 50, "c": 500})
    plan = store.arrive({"b": 50})
    assert (plan.created, plan.changed, plan.retired) == (frozenset(), frozenset(), {})


def replan(messages: dict[str, int], existing: list[ExistingInteraction], inside: UUID) -> Plan:
    ids = list(messages)
    return sessionise.plan(
        CHAT, times(*messages.values()), ids, current=[inside] * len(ids), existing=existing, gap_us=GAP
    )


def test_a_deleted_message_may_tear_an_interaction_or_end_it() -> None:
    whole = interaction_id(CHAT, "a")
    before = [ExistingInteraction(whole, "a", 0, 160, 3)]
    torn = replan({"a": 0, "c": 160}, before, whole)
    assert [interaction.external_id for interaction in torn.interactions] == ["a", "c"]
    assert torn.changed == {whole}
    assert torn.created == {interaction_id(CHAT, "c")}
    headless = replan({"c": 160}, before, whole)
    assert headless.retired == {whole: (interaction_id(CHAT, "c"),)}
    assert replan({}, before, whole).retired == {whole: ()}


def test_a_message_exchanged_for_another_at_the_same_time_is_a_change() -> None:
    whole = interaction_id(CHAT, "a")
    before = [ExistingInteraction(whole, "a", 0, 10, 2)]
    plan = sessionise.plan(CHAT, times(0, 10), ["a", "x"], current=[whole, None], existing=before, gap_us=GAP)
    assert plan.changed == {whole}


@pytest.mark.parametrize(("at", "near"), [(-100, True), (-101, False), (50, True), (300, True), (301, False)])
def test_the_neighbourhood_reaches_exactly_as_far_as_the_gap(at: int, near: bool) -> None:
    assert sessionise.neighbourhood(times(at), times(0), times(200), GAP).tolist() == [near]


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="external ids"):
        sessionise.message_order(times(1), [])
    with pytest.raises(ValueError, match="assignments"):
        sessionise.plan(CHAT, times(1), ["a"], current=[], existing=[], gap_us=GAP)
