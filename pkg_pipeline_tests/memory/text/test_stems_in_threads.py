"""Stemmers have state: words are cut alike however many threads ask at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pkg_pipeline.memory.text import topic_words

WORDS = [
    f"{root}{end}" for root in ("договор", "поставк", "connect", "general") for end in ("", "ами", "ений", "ing", "s")
]


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching")
def test_threads_cut_words_as_one_does() -> None:
    cut = topic_words.stem.__wrapped__
    alone = [cut(word) for word in WORDS]
    with ThreadPoolExecutor(4) as threads:
        assert all(found == alone for found in threads.map(lambda _: [cut(word) for word in WORDS], range(60)))
