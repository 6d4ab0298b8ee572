"""Where long texts are cut: nothing is lost, nothing is doubled, nothing is torn that need not be."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.text.passages import WHOLE_WORDS, both_ends, first_words, last_words, passages

WORDS = st.sampled_from(
    [
        "a",
        "word",
        "Привет,",
        "end.",
        "конец!",
        "\n",
        "\n\n",
        "  ",
        "我们",
        "。",
        "「好」",
        "サーバー",
        "か\u3099",
        "서울",
        "👨\u200d👩\u200d👧",
        "x" * 13,
        "y" * 599,
        "z" * 1300,
        "a\u0301",
        "\u200d",
        "\u3000",
        "https://example.com/" + "p/" * 40,
        "\x00",
        "\ud800",
    ]
)
TEXTS = st.builds(
    lambda words, gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=False)),
    st.lists(WORDS, max_size=600),
    st.lists(st.sampled_from(["", " ", " ", "\n", "\t"]), min_size=600, max_size=600),
) | st.text(max_size=900)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


def words(text: str) -> int:
    return len(text.split())


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_every_character_but_space_lies_in_exactly_one_passage(text: str) -> None:
    ranges = passages(text)
    assert all(start < end for start, end in ranges)
    assert all(first[1] <= second[0] for first, second in pairwise(ranges))
    assert "".join("".join(cut(text)).split()) == "".join(text.split())
    assert all(piece == piece.strip() for piece in cut(text))


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_a_passage_is_bounded_and_stays_whole_when_cut_again(text: str) -> None:
    for piece in cut(text):
        assert words(piece) <= WHOLE_WORDS
        assert len("".join(piece.split())) <= WHOLE_WORDS * 12
        assert passages(piece) == [(0, len(piece))]


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_no_word_is_torn_that_fits_into_a_passage(text: str) -> None:
    for (_, end), (start, _) in pairwise(passages(text)):
        if end == start and not re.search("[\u200d\u0300-\u036f\u2e80-\u9fff]", text[end - 1 : end + 1]):
            word = re.search(r"[^\s\u2e80-\u9fff]*\Z", text[:end])
            assert word is not None
            assert len(word.group()) >= 590


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.integers(0, 60))
def test_the_first_and_last_words_are_a_bounded_beginning_and_end(text: str, count: int) -> None:
    first, last = first_words(text, count), last_words(text, count)
    assert text.lstrip().startswith(first)
    assert text.rstrip().endswith(last)
    assert max(words(first), words(last)) <= count / 0.6  # of a character each
    assert max(len("".join(first.split())), len("".join(last.split()))) <= count * 12
    assert (first, last) == (first.strip(), last.strip())


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.integers(0, 60))
def test_both_ends_are_the_first_and_last_words_on_a_line(text: str, count: int) -> None:
    expected = tuple(" ".join(cut(text, count).split()) for cut in (first_words, last_words))
    assert both_ends(text, count) == expected


@pytest.mark.parametrize(
    "text", ["ab\u200d c", "e\u0301 " * 9, "w" * 700, "w" * 61 + " a", "a " * 25, "好 " * 26, "a\u3000b"]
)
def test_both_ends_of_what_units_are_cut_in(text: str) -> None:
    for count in (1, 2, 9, 25):
        expected = tuple(" ".join(cut(text, count).split()) for cut in (first_words, last_words))
        assert both_ends(text, count) == expected


SIZES = [
    # (text, words or characters of each passage)
    ("", []),
    (" \n\u3000\t", []),
    ("ok", [1]),
    ("word " * 145, [145]),  # a rest up to 145 stays whole
    ("word " * 146, [100, 46]),
    ("word " * 250, [100, 100, 50]),
    ("word " * 345, [100, 100, 145]),
    ("слово " * 110 + "конец. " + "слово " * 60, [111, 60]),  # the sentence ends within 60 … 120
    ("слово " * 69 + "конец.\n" + "слово " * 20 + "конец. " + "слово " * 100, [70, 121]),  # a line before a sentence
    ("word " * 30 + "end.\n" + "word " * 130, [100, 61]),  # 31 words are too few
]


@pytest.mark.parametrize(("text", "sizes"), SIZES)
def test_words_of_passages(text: str, sizes: list[int]) -> None:
    assert [words(piece) for piece in cut(text)] == sizes


CHARACTERS = [
    # (text, characters of each passage)
    ("x" * 870, [870]),  # 870 / 6 = 145 words
    ("x" * 871, [600, 271]),  # a word has 600 letters at most; its halves 100 and 45.1 words
    ("字" * 241, [241]),  # 241 x 0.6 = 144.6 words
    ("字" * 400, [167, 233]),  # 167 x 0.6 = 100.2 words, the nearest to 100
    ("字" * 150 + "。" + "字" * 149, [151, 149]),
    ("字" * 166 + "，" + "字" * 200, [167, 200]),  # no passage begins with a comma
    ("字" * 149 + "。」" + "字" * 149, [151, 149]),
]


@pytest.mark.parametrize(("text", "sizes"), CHARACTERS)
def test_characters_of_passages(text: str, sizes: list[int]) -> None:
    assert [len(piece) for piece in cut(text)] == sizes


def test_a_megabyte_of_letters_is_cut_like_any_text() -> None:
    assert {len(piece) for piece in cut("x" * 1_000_000)} == {600, 400}


BOUNDED = [
    # (text, words, first, last)
    ("", 5, "", ""),
    ("  one two  three ", 2, "one two", "two  three"),
    ("one two", 5, "one two", "one two"),
    ("one", 0, "", ""),
    ("我们讨论合同", 3, "我们讨论合", "们讨论合同"),  # 3 / 0.6 = 5 characters
    ("用React写前端", 2, "用React", "写前端"),  # 0.6 + 1, then 0.6 would be 2.2; from the end 3 x 0.6 = 1.8
    ("a" * 100 + "z" * 100, 5, "a" * 30, "z" * 30),  # a word longer than asked for is cut: 5 x 6 letters
    ("hi " + "z" * 100, 5, "hi", "z" * 30),
]


@pytest.mark.parametrize(("text", "count", "first", "last"), BOUNDED)
def test_first_and_last_words(text: str, count: int, first: str, last: str) -> None:
    assert (first_words(text, count), last_words(text, count)) == (first, last)


# ── blocks ───────────────────────────────────────────────────────────────────────────────────


def _words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def _cut(text: str) -> list[str]:
    return [text[start:end] for start, end in passages(text)]


def test_a_long_answer_is_cut_at_its_headings_and_paragraphs() -> None:
    parts = [f"## Part {number}\n\n**About:**\n- {_words(22)}\n- {_words(22)}" for number in range(4)]
    assert _cut("\n\n".join(parts)) == parts


def test_code_stays_with_the_sentence_before_it_and_ends_with_its_fence() -> None:
    code = "```python\n" + "\n".join(["result = total + 1"] * 8) + "\n```"
    assert _cut(f"{code}\n\n{_words(60)}\n\n{code}") == [code, _words(60), code]


def test_small_blocks_stay_together() -> None:
    text = "\n\n".join([_words(10)] * 9)
    assert _cut(text) == [text], "ninety words are one passage"
    assert {len(one.split()) for one in _cut("\n\n".join([_words(10)] * 20))} <= set(range(25, 91))


def test_no_passage_ends_with_a_heading() -> None:
    text = "\n".join(f"**{_words(4, 'head')}:**\n{_words(60)}" for _ in range(6))
    assert not [one for one in _cut(text) if one.endswith(":**")]


@pytest.mark.parametrize("lines", [100, 140])
def test_lines_of_a_text_without_blocks_stay_as_they_were(lines: int) -> None:
    text = "\n".join([_words(4)] * (lines // 4))
    assert _cut(text) == [text]
