"""The running summary (L3): when it is told shorter, by whom, and what is never lost of it. A token is a word here."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.session.running_summary import RunningSummary, append, rebuild
from pkg_pipeline.memory.text.normalise import sentences


def count(text: str) -> int:
    return len(text.split())


def first_words(text: str, target: int) -> str:
    """A model that keeps the first words."""
    return " ".join(text.split()[:target]).rstrip(".") + "."


def silent(_text: str, _target: int) -> str | None:
    return None


class Scripted:
    """Answers in turn; remembers what it was asked for."""

    def __init__(self, *answers: str | None) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    def __call__(self, text: str, target: int) -> str | None:
        self.asked.append((text, target))
        return self._answers.pop(0)


NINE = "A one two. B one two. C one two."
NEWEST = "Dora sold boats. Eve paid everything."  # six words


def test_what_fits_is_put_behind() -> None:
    asked = Scripted()
    assert append(NINE, NEWEST, limit_tokens=15, count=count, compress=asked) == RunningSummary(f"{NINE}\n{NEWEST}")
    assert append("", NEWEST, limit_tokens=6, count=count, compress=asked) == RunningSummary(NEWEST)
    assert append(NINE, "", limit_tokens=9, count=count, compress=asked) == RunningSummary(NINE)
    assert asked.asked == []


def test_over_the_limit_the_old_part_is_asked_for_in_a_third() -> None:
    asked = Scripted("C one two.")
    told = append(NINE, NEWEST, limit_tokens=10, count=count, compress=asked)  # 9 + 6 > 10, 3 + 6 is not
    assert told == RunningSummary(f"C one two.\n{NEWEST}", "the old part was compressed")
    assert asked.asked == [(NINE, 3)]


def test_still_over_the_whole_is_asked_for_once_more() -> None:
    asked = Scripted("A B C one two three.", "A to C. Dora sold boats. Eve.")
    told = append(NINE, NEWEST, limit_tokens=8, count=count, compress=asked)  # 6 + 6 > 8
    assert told == RunningSummary("A to C. Dora sold boats. Eve.", "the whole was compressed")
    assert asked.asked == [(NINE, 3), (f"A B C one two three.\n{NEWEST}", 8)]


@pytest.mark.parametrize(
    ("answers", "limit", "text", "why"),
    [
        # no model at all: the oldest sentences go until 9 + 6 is 12
        ((None, None), 12, f"B one two. C one two.\n{NEWEST}", "did not tell the old part shorter"),
        # what is not shorter counts as none
        ((NINE, None), 12, f"B one two. C one two.\n{NEWEST}", "did not tell the old part shorter"),
        ((" ", None), 12, f"B one two. C one two.\n{NEWEST}", "did not tell the old part shorter"),
        # the old part was told in six words, of which three fit; the whole came back over the limit
        (("A one two. C one two.", NINE), 9, f"C one two.\n{NEWEST}", "did not tell the whole shorter"),
        # the whole came back without the newest
        (("A one two. C one two.", "A one two."), 9, f"C one two.\n{NEWEST}", "did not tell the whole shorter"),
        # nothing of the old part fits
        ((None, None), 7, NEWEST, "3 of the oldest sentences were dropped"),
    ],
)
def test_where_the_model_fails_whole_sentences_go_oldest_first(
    answers: tuple[str | None, ...], limit: int, text: str, why: str
) -> None:
    told = append(NINE, NEWEST, limit_tokens=limit, count=count, compress=Scripted(*answers))
    assert told.text == text
    assert why in (told.reason or "")


def test_only_a_newest_that_is_too_long_by_itself_loses_sentences() -> None:
    asked = Scripted()
    told = append(NINE, NEWEST, limit_tokens=4, count=count, compress=asked)
    assert told.text == "Dora sold boats."
    assert "last sentences were dropped" in (told.reason or "")
    whole = "One sentence of six words here."
    assert append("", whole, limit_tokens=4, count=count, compress=asked).text == whole  # never cut inside
    assert append(NINE, NEWEST, limit_tokens=6, count=count, compress=asked).text == NEWEST
    assert asked.asked == []


def test_a_text_over_a_limit_that_was_lowered_is_brought_within() -> None:
    assert append(NINE, "", limit_tokens=4, count=count, compress=silent).text == "C one two."


def test_rebuilding_gives_what_appending_gave() -> None:
    summaries = [f"{letter} one two. {letter} three four." for letter in "ABCDEFG"]
    running, reason = "", None
    for summary in summaries:
        told = append(running, summary, limit_tokens=15, count=count, compress=first_words)
        running, reason = told.text, told.reason or reason
    made = rebuild(summaries, limit_tokens=15, count=count, compress=first_words)
    assert made == RunningSummary(running, reason)
    assert rebuild([], limit_tokens=15, count=count, compress=first_words) == RunningSummary("")


def test_chinese_sentences_are_joined_without_spaces() -> None:
    told = append("甲说一。乙说二。丙说三。", "丁说四。", limit_tokens=12, count=len, compress=silent)
    assert told.text == "丙说三。\n丁说四。"  # 4 + 1 + 4 = 9; with 乙 it were 13


WORD = st.sampled_from(["boat", "house", "June", "offer", "Ben", "Dana", "sent", "paid"])
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(lambda words: " ".join(words).capitalize() + ".")
SUMMARY = st.lists(SENTENCE, min_size=1, max_size=5).map(" ".join)
MODELS: list[Callable[[str, int], str | None]] = [
    silent,
    first_words,
    lambda text, target: " ".join(text.split()[-target:]).capitalize(),
    lambda text, target: text + " And more.",
    lambda text, target: "" if target % 2 else "Boat house.",
]


@settings(max_examples=300, derandomize=True, deadline=None)
@given(summaries=st.lists(SUMMARY, min_size=1, max_size=8), limit=st.integers(3, 60), model=st.sampled_from(MODELS))
def test_whatever_the_model_says_the_limit_holds_and_the_newest_is_there(
    summaries: list[str], limit: int, model: Callable[[str, int], str | None]
) -> None:
    made = rebuild(summaries, limit_tokens=limit, count=count, compress=model)
    assert made == rebuild(summaries, limit_tokens=limit, count=count, compress=model)
    newest = summaries[-1]
    if count(newest) > limit:
        first = sentences(newest)[0]
        assert made.text.startswith(first)
        assert count(made.text) <= max(limit, count(first))
        assert newest.startswith(made.text)
        return
    assert count(made.text) <= limit
    if made.reason is None:
        assert made.text == "\n".join(summaries)
    wanted = {word.casefold().strip(".") for word in newest.split()}
    held = {word.casefold().strip(".") for word in made.text.split()}
    assert 2 * len(wanted & held) >= len(wanted)
    if model is silent:
        assert made.text.endswith(newest)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(summaries=st.lists(SUMMARY, min_size=1, max_size=8), limit=st.integers(3, 60))
def test_without_a_model_what_is_left_are_the_last_sentences_in_order(summaries: list[str], limit: int) -> None:
    made = rebuild(summaries, limit_tokens=limit, count=count, compress=silent)
    if all(count(summary) <= limit for summary in summaries):
        told = [sentence for summary in summaries for sentence in sentences(summary)]
        kept = [sentence for line in made.text.splitlines() for sentence in sentences(line)]
        assert kept == told[len(told) - len(kept) :]
