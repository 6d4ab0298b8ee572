"""What is mended before storage, and that nothing else is."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.text.cleaning import (
    MAX_JSON_DEPTH,
    MAX_TEXT_CHARACTERS,
    REPLACEMENT,
    clean_json,
    clean_name,
    clean_text,
    clean_text_counted,
    text_refusal,
)

MARKS_OF_DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

KEPT = [
    "",
    "plain",
    "line one\nline two\r\n\ttabbed",
    "\u202eright to left\u202c and \u2066isolated\u2069",
    "family 👨\u200d👩\u200d👧\ufe0f",
    "line\u2028separator and \u00a0 no-break",
    "\x01\x1f control characters other than NUL are storable",
    "\ufffd already replaced",
    "private \ue200 use, noncharacter \uffff, astral 𝄞",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_can_be_stored_is_the_same_object(text: str) -> None:
    assert clean_text(text) is text
    assert clean_text_counted(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "clean", "replaced"),
    [
        ("a\x00b", "a\ufffdb", 1),
        ("\x00\x00", "\ufffd\ufffd", 2),
        ("half \ud83d emoji", "half \ufffd emoji", 1),
        ("other half \ude00", "other half \ufffd", 1),
        ("привет\x00 \udfff", "привет\ufffd \ufffd", 2),
    ],
)
def test_damage_becomes_the_replacement_character_and_is_counted(text: str, clean: str, replaced: int) -> None:
    assert clean_text_counted(text) == (clean, replaced)


@pytest.mark.parametrize(
    "name", ["", "Zoë", "張偉", "نيما\u200cرضا", "👨\u200d👩\u200d👧\ufe0f", "me", "a\u00a0b", "# Ann *"]
)
def test_an_ordinary_name_is_the_same(name: str) -> None:
    assert clean_name(name) == name


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("Ann\n- 12:00 me: yes", "Ann - 12:00 me: yes"),
        ("Ann\r\n\u2028\u2029\x85\t\x0b\x0cBob", "Ann Bob"),
        ("\u202eevil\u202c\u2066x\u2069\u200e\u200f\u061c", "evilx"),
        ("\x9b31mred\x1b[0m\x07\x7f", "\ufffd31mred\ufffd[0m\ufffd\ufffd"),
        ("\x00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_a_name_is_one_line_that_nothing_obeys(name: str, clean: str) -> None:
    assert clean_name(name) == clean


@given(st.text(st.characters(exclude_categories=())))
def test_a_clean_name_has_no_control_and_no_mark_of_direction(name: str) -> None:
    clean = clean_name(name)
    clean.encode()
    assert not [c for c in clean if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [c for c in clean if unicodedata.bidirectional(c) in MARKS_OF_DIRECTION]
    assert clean_name(clean) == clean


@given(st.text(st.characters(exclude_categories=())))
def test_cleaning_keeps_length_and_is_done_after_one_pass(text: str) -> None:
    clean, replaced = clean_text_counted(text)
    clean.encode()  # a lone surrogate would raise
    assert len(clean) == len(text)
    assert replaced == sum(before != after for before, after in zip(text, clean, strict=True))
    assert clean_text(clean) is clean


def test_metadata_is_cleaned_at_every_depth_and_in_keys() -> None:
    value = {"a\x00": ["x", {"b": "\ud800", "n": 1, "f": 1.5, "none": None, "t": True}], "nan": float("nan")}
    clean, replaced = clean_json(value)
    assert clean == {"a\ufffd": ["x", {"b": "\ufffd", "n": 1, "f": 1.5, "none": None, "t": True}], "nan": None}
    assert replaced == 3
    json.dumps(clean, allow_nan=False)


def test_untouched_metadata_comes_back_as_it_is() -> None:
    value = {"parts": [{"type": "text", "text": "hi"}], "n": [1, 2.5, None, False]}
    assert clean_json(value) == (value, 0)
    assert clean_json(value)[0] is value


def test_metadata_nested_without_end_is_cut_instead_of_exhausting_the_stack() -> None:
    deep: object = "core"
    for _ in range(900):
        deep = [deep]
    clean, replaced = clean_json(deep)
    assert replaced == 1
    depth = 0
    while isinstance(clean, list):
        clean, depth = clean[0], depth + 1
    assert (clean, depth) == (REPLACEMENT, MAX_JSON_DEPTH)


@pytest.mark.parametrize(
    ("length", "refused"), [(0, False), (1 << 20, False), (MAX_TEXT_CHARACTERS, False), (MAX_TEXT_CHARACTERS + 1, True)]
)
def test_only_a_text_over_the_limit_is_refused(length: int, *, refused: bool) -> None:
    reason = text_refusal("x" * length)
    assert (reason is not None) is refused
    if reason:
        assert "2,000,001" in reason
        assert "2,000,000" in reason
