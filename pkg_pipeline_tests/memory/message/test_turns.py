"""Where a conversation may be cut (H4, L4), each row a conversation in the short form of ``session_talk``."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.message.turns import cutoff, groups, live_turn
from pkg_pipeline_tests.memory.session.session_talk import talk

UNANSWERED = " ".join(["u"] * 12)


@pytest.mark.parametrize(
    ("script", "folded"),
    [
        ("", 0),
        # nobody takes turns: any message is complete
        ("p", 1),
        ("p p p", 3),
        ("p v p v", 4),
        ("s v", 2),
        # a turn ends with an answer; the live one never goes
        ("u", 0),
        ("a", 1),
        ("u a", 2),
        ("u a u", 2),
        ("u a u a", 4),
        ("u a a u", 3),
        ("a u", 1),  # the assistant greets first
        ("u u u", 0),  # all of them wait
        ("u a u u u", 2),
        ("u u u a u", 4),
        # what is said aside ends no turn, nor does it begin one
        ("s", 1),
        ("s u", 0),
        ("s u a s u", 3),  # the system message may belong to what follows
        ("u a v", 2),
        ("v u v a u", 4),
        # tool calls stay with their results, and a turn goes on until the assistant speaks
        ("u c1", 0),
        ("u c1 r1", 0),
        ("u c1 r1 a", 4),
        ("u a u c1 r1", 2),
        ("u c1 r1 c2 r2 a u", 6),
        ("u c1 r1 c2", 0),
        ("u b1", 2),  # one message holds the call and its result
        ("u c1 R1 a", 4),  # results under the user's role begin no turn
        ("u a u c1 R1", 2),
        ("u c1 x1", 0),  # the user brings the result and speaks: a new turn
        ("u c1 x1 a u", 4),
        # parallel calls, results in several messages
        ("u c12 r1 r2 a", 5),
        ("u c12 r2 r1 a", 5),
        ("u c12 R12 a u", 4),
        ("u c12 r1", 0),
        ("u a u c12 r1 a", 2),  # the second result is still to come
        ("u c12 r1 a r2", 0),  # an answer between two results is no end
        ("u c12 r1 a r2 a", 6),
        # results without a call: it lies before the window, or never was
        ("r9", 0),
        ("r9 a u", 2),
        ("u r9 a", 3),
        # a call whose result never comes
        ("u c1 a", 0),  # it may still come
        ("u c1 a u", 0),
        ("u c1 u a", 4),  # a later turn was answered
        ("u c1 u c2", 0),
        ("u c1 u c2 r2 a u", 6),
        ("u c1 u c2 a", 0),  # the later turn waits itself
        ("u c1 u a r1", 0),  # and here it came after all: the pair is not cut
        ("u c1 u a r1 a u", 6),
        ("u c1 r1 c1 r1 a", 6),  # an id used again
        ("u c1 c1 r1 a", 5),  # the id was taken by the second call: no result of the first can come
        ("u c1 u c1 r1 a", 6),
        # a person without a role among them speaks like a user
        ("p a p", 2),
        ("p p u a p", 4),
        # nobody answers: beyond twelve the older ones go
        (UNANSWERED, 0),
        (f"u {UNANSWERED}", 1),
        (f"u a u u u {UNANSWERED}", 5),
        (f"u a u c1 {UNANSWERED}", 4),  # the call is lost: twelve came after it
        (f"u a u c1 r1 s {UNANSWERED}", 6),
    ],
)
def test_up_to_the_last_complete_turn(script: str, folded: int) -> None:
    assert cutoff(talk(script), keep_tail=0) == folded


@pytest.mark.parametrize(
    ("script", "tail", "folded"),
    [
        ("u a u a u", 2, 3),  # only pairs bind: 5 - 2
        ("u a u a u", 5, 0),
        ("u a u a u", 9, 0),
        ("p p p p", 1, 3),
        ("p v p v p", 2, 2),  # two messages are kept; the service entry between them with them
        ("v p v v p p", 2, 4),  # entries before the tail go with what is folded
        ("u c1 r1 a u", 2, 3),
        ("u c1 r1 a u", 3, 1),  # 5 - 3 = 2 would cut the pair
        ("u c12 r1 r2 a", 2, 1),
        ("u c12 r1 r2 a", 1, 4),
        ("u a c1 u a u a", 2, 5),  # lost: a later turn was answered
        ("u a c1 u", 1, 2),  # it may still come: 3 would leave it behind
        ("u c1 c2 r2 c3 r3 a a", 2, 1),
        ("u c1 u c2 r1 r2 a a", 2, 6),
        ("u c1 u c2 r1 r2 a a", 3, 1),  # the two pairs overlap: both stay
    ],
)
def test_with_a_tail_only_tool_pairs_bind(script: str, tail: int, folded: int) -> None:
    assert cutoff(talk(script), keep_tail=tail) == folded


def test_turns_can_be_asked_for_or_not() -> None:
    assert cutoff(talk("u a u"), keep_tail=0, is_turn_based=False) == 3
    assert cutoff(talk("p p p"), keep_tail=0, is_turn_based=True) == 0
    assert cutoff(talk("p p k1"), keep_tail=0) == 2  # a tool call of nobody still waits


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("u a p", [(0, 1), (1, 2), (2, 3)]),
        ("u c1 r1 a", [(0, 1), (1, 3), (3, 4)]),
        ("c12 r1 r2 a", [(0, 3), (3, 4)]),
        ("c12 R12 a", [(0, 2), (2, 3)]),
        ("c1 c2 r1 r2", [(0, 4)]),  # they overlap
        ("c1 r1 c2 r2", [(0, 2), (2, 4)]),
        ("c1 u a r1 u", [(0, 4), (4, 5)]),  # what lies between goes with them
        ("c1 r1 r1", [(0, 3)]),  # the result came in two messages
        ("c1 r1 u c1 r1", [(0, 2), (2, 3), (3, 5)]),  # an id used again: each with its own
        ("r1 c1", [(0, 1), (1, 2)]),  # a result without a call, a call without a result
        ("b1 u", [(0, 1), (1, 2)]),
    ],
)
def test_what_stays_together(script: str, expected: list[tuple[int, int]]) -> None:
    assert groups(talk(script)) == expected


@pytest.mark.parametrize(
    ("script", "start"),
    [
        ("", 0),
        ("p p", 2),
        ("u", 0),
        ("u a", 2),
        ("u a u", 2),
        ("u u u", 2),  # the last of them
        ("u a u c1 r1", 2),
        ("u a u c1 r1 a", 6),
        ("u c1 R1", 0),  # results begin no turn
        ("u c1 x1", 2),
        ("u c12 r1 a", 0),  # one result is still awaited
        ("u c1 u a", 4),
        ("a a", 2),
        ("u s v", 0),
        ("u a s", 3),
    ],
)
def test_the_live_turn(script: str, start: int) -> None:
    assert live_turn(talk(script)) == start


words = st.sampled_from(
    ["u", "a", "a", "s", "v", "p", "c1", "c2", "c12", "r1", "r2", "r12", "R1", "R2", "x1", "b1", "c3", "r3"]
)
scripts = st.lists(words, max_size=40).map(" ".join)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(scripts, st.integers(0, 10))
def test_any_conversation_is_cut_between_its_groups_and_before_its_tail(script: str, tail: int) -> None:
    messages = talk(script)
    found = groups(messages)
    assert [at for start, end in found for at in range(start, end)] == list(range(len(messages)))
    cut = cutoff(messages, keep_tail=tail)
    assert cut in {0, *(end for _, end in found)}
    assert sum(message.kind == "message" for message in messages[cut:]) >= min(
        tail, sum(message.kind == "message" for message in messages)
    )
    live = live_turn(messages)
    assert live == len(messages) or messages[live].role == "user"
    if not tail and any(message.role in ("user", "assistant", "tool") for message in messages):
        # what is folded ends with an answer, or lies before twelve that nobody answered
        is_answer = cut == 0 or messages[cut - 1].role == "assistant"
        assert is_answer or sum(word[0] in "upx" for word in script.split()[cut:]) >= 12


@settings(max_examples=100, derandomize=True, deadline=None)
@given(scripts)
def test_nothing_holds_a_session_for_ever(script: str) -> None:
    """After two plain turns everything before them can go, whatever was lost."""
    messages = talk(f"{script} u a u a")
    assert cutoff(messages, keep_tail=0) == len(messages)
    assert live_turn(messages) == len(messages)
    assert cutoff(messages, keep_tail=1) == len(messages) - 1
