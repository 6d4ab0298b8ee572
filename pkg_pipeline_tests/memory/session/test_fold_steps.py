"""Steps of a fold, noise, the hash of what is covered (H8, H12) and the distance of topics (H4)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.message.turns import groups
from pkg_pipeline.memory.session.folding import is_noise, steps, window_hash
from pkg_pipeline.memory.session.policies import drift
from pkg_pipeline.memory.session.records import SessionMessage
from pkg_pipeline_tests.memory.session.session_talk import talk


@pytest.mark.parametrize(
    ("script", "most", "tokens", "ends"),
    [
        ("", 3, 100, []),
        ("p", 3, 100, [1]),
        ("p p p", 3, 100, [3]),
        ("p p p p p p p", 3, 100, [3, 6, 7]),
        ("p p p p", 9, 25, [2, 4]),  # 10 tokens each: 20 fit into 25
        ("p p p", 9, 5, [1, 2, 3]),  # one over the limit is a step of its own
        ("u a u a u a", 5, 100, [4, 6]),  # the turn that begins at 4 goes to the next step
        ("u a u a u a", 4, 100, [4, 6]),
        ("u a u a u a", 3, 100, [2, 4, 6]),
        ("u a a a a a a u a", 8, 100, [7, 9]),
        ("u a u a a a a a a", 7, 100, [7, 9]),  # 2 is in the first half of 7
        ("u u u a u u a", 6, 100, [4, 7]),  # who goes on speaking begins no turn
        ("p p p p p", 3, 100, [3, 5]),
        ("u c1 r1 a u c1 r1 a", 6, 100, [4, 8]),
        ("u c12 r1 r2 a", 3, 100, [1, 4, 5]),  # 1 + 3 > 3
        ("u c12 r1 r2 a", 4, 100, [4, 5]),
        ("u c12 r1 r2 a", 2, 100, [1, 4, 5]),  # the group of 3 is over the limit of 2
    ],
)
def test_steps(script: str, most: int, tokens: int, ends: list[int]) -> None:
    assert steps(talk(script), most_messages=most, most_tokens=tokens) == ends


scripts = st.lists(
    st.sampled_from(["u", "a", "s", "v", "p", "c1", "c2", "c12", "r1", "r2", "R12", "b1"]), max_size=30
).map(" ".join)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(scripts, st.integers(1, 12), st.integers(1, 200))
def test_steps_cover_all_in_order_and_go_on_alike_after_a_death(script: str, most: int, tokens: int) -> None:
    messages = talk(script)
    ends = steps(messages, most_messages=most, most_tokens=tokens)
    starts = [0, *ends]
    assert ends == sorted(set(ends))
    assert starts[-1] == len(messages)
    for start, end in pairwise(starts):
        inside = [group for group in groups(messages) if start <= group[0] < end]
        assert inside[-1][1] == end
        assert len(inside) == 1 or (end - start <= most and 10 * (end - start) <= tokens)
        again = steps(messages[start:], most_messages=most, most_tokens=tokens)
        assert [start + one for one in again] == [one for one in ends if one > start]


def _one(script: str, text: str | None = None) -> SessionMessage:
    (message,) = talk(script)
    return message if text is None else replace(message, text=text)


@pytest.mark.parametrize(
    ("message", "noise"),
    [
        (_one("v", "Ann joined"), True),
        (_one("s", "You are a helpful assistant."), True),
        (_one("u", ""), True),
        (_one("u", " …!? 👍"), True),
        (_one("p", "+"), True),
        (_one("p", "ok"), False),
        (_one("u", "да"), False),
        (_one("u", "好"), False),
        (_one("a", "7"), False),
        (_one("r1", ""), False),  # without a text the words of its parts count: "found"
        (_one("c1", ""), False),  # what is asked of a tool is said
    ],
)
def test_noise(message: SessionMessage, noise: bool) -> None:
    assert is_noise(message) is noise


def test_the_hash_is_over_every_id_and_its_text() -> None:
    messages = talk("u v a")
    said = f"1:{1:064x};2:{2:064x};3:{3:064x};"
    assert window_hash(messages) == hashlib.sha256(said.encode()).hexdigest()
    assert window_hash([]) == hashlib.sha256(b"").hexdigest()
    edited = [*messages[:2], replace(messages[2], content_hash="f" * 64)]
    moved = [*messages[:2], replace(messages[2], id=4)]
    assert len({window_hash(some) for some in (messages, edited, moved, messages[:2], messages[1:])}) == 5


A, B = (1.0, 0.0), (0.0, 1.0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 0.0),
        ([A, A, B], 0.0),  # no rest
        ([A, A, A, A], 0.0),
        ([B, A, A, A], 1.0),  # at a right angle
        ([(-1.0, 0.0), A, A, A], 2.0),  # the other way
        ([A, A, A, A, B, A, A], 1 - 2 / 5**0.5),  # mean (2/3, 1/3) to (1, 0): cosine 2 / sqrt(5)
        ([A, B, A, A, A], 1 - 0.5**0.5),  # mean (1/2, 1/2) to (1, 0): cosine 1 / sqrt(2)
        ([(5.0, 0.0), A, A, A], 0.0),  # length says nothing
        ([(0.0, 0.0), A, A, A], 0.0),  # a mean without length
        ([A, B, (0.0, -1.0), (0.0, 0.0)], 0.0),  # the newest cancel out
    ],
)
def test_drift(rows: list[tuple[float, float]], expected: float) -> None:
    assert drift(np.array(rows, dtype=np.float32).reshape(-1, 2)) == pytest.approx(expected, abs=1e-7)


def test_drift_of_other_numbers_of_newest_messages() -> None:
    rows = np.array([A, A, B], dtype=np.float32)
    assert drift(rows, newest=1) == pytest.approx(1.0)
    assert drift(rows, newest=2) == pytest.approx(1 - 0.5**0.5)


@pytest.mark.parametrize(("rows", "newest"), [([1.0, 2.0], 3), ([[float("nan"), 1.0]] * 4, 3), ([[1.0, 1.0]] * 4, 0)])
def test_what_is_no_vectors_is_refused(rows: list[object], newest: int) -> None:
    with pytest.raises(ValueError):
        drift(np.array(rows, dtype=np.float32), newest=newest)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(4, 9), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_drift_is_a_distance_whatever_the_vectors(count: int, dimensions: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    found = drift(rows)
    assert 0.0 <= found <= 2.0
    assert drift(rows * np.float32(3)) == pytest.approx(found, abs=1e-5)
