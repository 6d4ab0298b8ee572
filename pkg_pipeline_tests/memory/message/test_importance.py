"""P15 and P16: every example of the table, the arithmetic, and that a batch scores as each message alone."""

from __future__ import annotations

import random
import re
import re._constants as op
import re._parser as parser
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.message import importance
from pkg_pipeline.memory.records import Score

ROWS = list(importance.rows().items())
POSITIVES = [(name, language, text) for (name, language), row in ROWS for text in row.fires]
NEGATIVES = [(name, language, text) for (name, language), row in ROWS for text in row.silent]
ALTERNATIVES = [(name, alternative) for (name, _), row in ROWS for alternative in row.patterns]
EXAMPLES = [text for _, _, text in POSITIVES + NEGATIVES]


def fires(name: str, text: str) -> bool:
    return bool(importance._fired([text])[0] & importance._BIT[name])


@cache
def compiled(alternatives: tuple[str, ...]) -> list[re.Pattern[str]]:
    return [re.compile(alternative) for alternative in alternatives]


def alone(name: str, language: str, text: str) -> bool:
    """Whether one row fires, by trying each of its alternatives at each place: slow and without the machine."""
    lowered = text.lower().replace("ё", "е").replace("’", "'").replace("\n", " ").replace("\xa0", " ")
    row = importance.rows()[name, language]
    kinds = importance._machine().kinds
    for at in range(len(lowered)):
        here = kinds[min(ord(lowered[at]), 0xFFFF)]
        before = kinds[min(ord(lowered[at - 1]), 0xFFFF)] if at else importance._OTHER
        if here == before and here in (importance._LETTER, importance._DIGIT):
            continue
        if any(pattern.match(lowered, at) for pattern in compiled(row.patterns)):
            return True
    return False


@pytest.mark.parametrize(("name", "language", "text"), POSITIVES)
def test_what_the_table_names_fires_by_its_own_row(name: str, language: str, text: str) -> None:
    assert fires(name, text)
    assert alone(name, language, text)


@pytest.mark.parametrize(("name", "language", "text"), NEGATIVES)
def test_false_friends_do_not_fire(name: str, language: str, text: str) -> None:
    assert not fires(name, text)


@pytest.mark.parametrize(("key", "row"), ROWS)
def test_each_row_has_enough_examples(key: tuple[str, str], row: Any) -> None:
    assert len(row.fires) >= 12
    assert len(row.silent) >= 10


def test_every_rule_has_every_language() -> None:
    rules = (importance.DATE, importance.AMOUNT, importance.AGREEMENT, importance.DEADLINE)
    assert set(importance.rows()) == {(rule, language) for rule in rules for language in ("ru", "en", "zh")}


def test_the_weights_are_those_of_the_specification() -> None:
    assert list(importance.WEIGHTS.items()) == [
        ("has_date", 0.3),
        ("has_amount", 0.3),
        ("has_agreement", 0.4),
        ("has_deadline", 0.3),
        ("long_message", 0.2),
        ("question", 0.1),
    ]


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("", 0.0, None),
        ("привет", 0.0, None),
        ("давай завтра", 0.3, "has_date"),  # date 0.3
        ("это 1000 рублей", 0.3, "has_amount"),  # amount 0.3
        ("договорились!", 0.4, "has_agreement"),  # agreement 0.4
        ("какой дедлайн", 0.3, "has_deadline"),  # deadline 0.3
        ("договорились, завтра", 0.7, "has_date"),  # date 0.3 + agreement 0.4: the order of the rules gives the reason
        ("пришли до 15 марта", 0.6, "has_date"),  # date 0.3 + deadline 0.3
        ("договорились: 1000 рублей", 0.7, "has_amount"),  # amount 0.3 + agreement 0.4
        ("ok, $500 tomorrow, the deadline is near", 1.0, "has_date"),  # 0.3 + 0.3 + 0.4 + 0.3 = 1.3, capped
        ("好的，没问题，500元", 0.7, "has_amount"),  # amount 0.3 + agreement 0.4
        ("x" * 300, 0.0, None),  # not longer than 300
        ("x" * 301, 0.2, "long_message"),
        ("x" * 49 + "?", 0.0, None),  # 50 characters are not longer than 50
        ("x" * 50 + "?", 0.1, None),  # a question gives no reason
        ("长" * 50 + "？", 0.1, None),
        ("x" * 300 + "?", 0.3, "long_message"),  # 0.2 + 0.1
        ("завтра " + "x" * 300, 0.5, "has_date"),  # 0.3 + 0.2
        ("?" + "👍" * 50, 0.1, None),  # characters, not UTF-16 units
    ],
)
def test_the_parts_add_up(text: str, value: float, reason: str | None) -> None:
    assert importance.score(text) == Score(value, reason)


@pytest.mark.parametrize(
    ("reason", "kept_as"),
    [
        ("has_agreement", "agreement"),
        ("has_deadline", "deadline"),
        ("has_date", "important_info"),
        ("has_amount", "important_info"),
        ("long_message", "decision"),
        (None, "decision"),
    ],
)
def test_the_reason_of_an_important_message(reason: str | None, kept_as: str) -> None:
    assert importance.important_reason(reason) == kept_as


@pytest.mark.parametrize(
    "text",
    ["ДОГОВОРИЛИСЬ", "Договорённость", "договоренность", "в\nпонедельник", "1\u00a0500\u00a0₽", "that’s settled"],
)
def test_case_yo_line_ends_and_typographic_signs_do_not_matter(text: str) -> None:
    assert importance.score(text).value >= 0.3


MESSAGE = st.one_of(
    st.sampled_from(EXAMPLES),
    st.text(st.characters(codec=None), max_size=80),
    st.lists(
        st.sampled_from(
            [
                "до",
                "15",
                "марта",
                "5",
                "к",
                "руб",
                "в",
                "понедельник",
                "by",
                "Friday",
                "ok,",
                "deal",
                "明天",
                "前",
                ".",
                "\0",
                " ",
                "\n",
                "İ",
                "ẞ",
                "?",
            ]
        ),
        max_size=12,
    ).map("".join),
    st.sampled_from(["x" * 301, "?" * 51, "до", "15 марта", "в ", " понедельник", "周五", "前", "by", "not", "deal"]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MESSAGE, max_size=12))
def test_a_batch_scores_as_each_message_alone(texts: list[str]) -> None:
    batch = importance.score_many(texts)
    assert list(batch) == [importance.score(text) for text in texts]
    for index, text in enumerate(texts):
        single = importance.score_many([text])
        assert batch.values[index].tobytes() == single.values[0].tobytes()
        assert batch.reasons[index] == single.reasons[0]


@settings(max_examples=150, deadline=None)
@given(MESSAGE)
def test_the_prefilter_loses_no_match(text: str) -> None:
    for name in importance._PATTERN_RULES:
        assert fires(name, text) == any(alone(name, language, text) for language in ("ru", "en", "zh"))


def test_no_match_crosses_from_one_message_to_the_next() -> None:
    halves = [
        "встреча в",
        "понедельник",
        "15",
        "марта",
        "by",
        "Friday",
        "500",
        "рублей",
        "好的",
        "没问题",
        "周五",
        "前",
    ]
    assert [score.value for score in importance.score_many(halves)] == [importance.score(half).value for half in halves]
    assert importance.score_many(["в", "понедельник"]).values.tolist() == [0, 0]


def test_batches_are_cut_without_a_seam() -> None:
    texts = random.Random(1).choices(EXAMPLES, k=400) * (1 + importance._BATCH_CHARACTERS // 8000)
    scores = importance.score_many(texts)
    assert scores.values.tolist() == np.tile(importance.score_many(texts[:400]).values, len(texts) // 400).tolist()


def test_an_empty_batch_is_empty() -> None:
    scores = importance.score_many([])
    assert len(scores) == 0
    assert scores.values.dtype == np.float32


def test_every_combination_of_rules_has_its_value_and_reason() -> None:
    values, reasons = importance._verdicts()
    for mask in range(64):
        names = [name for position, name in enumerate(importance.WEIGHTS) if mask >> position & 1]
        tenths = min(10, sum(round(importance.WEIGHTS[name] * 10) for name in names))
        assert values[mask] == np.float32(tenths / 10)
        assert importance.REASONS[reasons[mask]] == next((name for name in names if name != "question"), None)


def walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    for code, argument in tree:
        yield code, argument
        stack = [argument]
        while stack:
            part = stack.pop()
            if isinstance(part, parser.SubPattern):
                yield from walk(part)
            elif isinstance(part, (list, tuple)):
                stack.extend(part)


FORBIDDEN_CATEGORIES = (op.CATEGORY_NOT_DIGIT, op.CATEGORY_NOT_SPACE, op.CATEGORY_NOT_WORD)


@pytest.mark.parametrize(("name", "alternative"), ALTERNATIVES)
def test_no_pattern_can_match_the_separator_or_run_on(name: str, alternative: str) -> None:
    """This is why a match stays inside its message, and why a long text of digits or spaces is not slow."""
    for code, argument in walk(parser.parse(alternative)):
        assert code not in (op.ANY, op.NOT_LITERAL)
        if code is op.IN:
            assert (op.NEGATE, None) not in argument
            assert not any(kind is op.CATEGORY and value in FORBIDDEN_CATEGORIES for kind, value in argument)
        if code is op.AT:
            assert argument is op.AT_BOUNDARY
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            assert argument[1] <= 12


@pytest.mark.parametrize(("name", "alternative"), ALTERNATIVES)
def test_every_alternative_says_how_it_begins(name: str, alternative: str) -> None:
    assert len(importance.head(alternative)) <= 4


@pytest.mark.parametrize("alternative", ["[ab]c", "(?:a|b)", r"\w+", "", "a?b"])
def test_an_alternative_without_a_beginning_is_refused(alternative: str) -> None:
    with pytest.raises(ValueError, match="must begin with"):
        importance.head(alternative)


@pytest.mark.parametrize(
    "piece", ["1", "1 ", "1.", "1,000 ", "до ", "в ", "by the ", "好", "一", "周", "$", "not ", "15.03"]
)
def test_no_text_is_slow(piece: str) -> None:
    """Time must grow with the length and not faster: half a second is a hundred times what it takes."""
    text = piece * (30_000 // len(piece))
    began = time.process_time()
    importance.score(text)
    assert time.process_time() - began < 0.5
