"""Walking JSON in pieces: the same values at any chunking, and faults told apart with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.adapters.exports.json_stream import JsonFault, JsonStream

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def stream(content: bytes, size: int = 1 << 20, **options: Any) -> JsonStream:
    return JsonStream((content[at : at + size] for at in range(0, len(content), size)), **options)


@given(st.lists(JSON, max_size=5), st.integers(1, 40), st.sampled_from([None, 1, 4]), st.booleans())
def test_elements_are_the_same_at_any_chunking(
    values: list[Any], size: int, indent: int | None, ascii_only: bool
) -> None:
    reader = stream(json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace"), size)
    read = [reader.value() for _ in reader.elements()]
    reader.expect_end()
    assert read == json.loads(json.dumps(values, ensure_ascii=ascii_only).encode("utf-8", "replace"))


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=5), st.integers(1, 40))
def test_members_can_be_taken_or_skipped(value: dict[str, Any], size: int) -> None:
    reader = stream(json.dumps(value, indent=2).encode(), size)
    kept = {}
    for position, key in enumerate(reader.members()):
        if position % 2:
            reader.skip()
        else:
            kept[key] = reader.value()
    assert kept == {key: value[key] for key in list(value)[::2]}


@pytest.mark.parametrize("content", [b'{"a": 1, "b": [true, {"c": "x\\u00e9", "d": -1.5e3}], "e": null}'])
def test_every_truncation_is_told_as_such(content: bytes) -> None:
    for cut in range(len(content)):
        with pytest.raises(JsonFault) as caught:
            stream(content[:cut], 7).value()
        assert caught.value.cut_off, cut


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"a": 1 "b": 2}', 8),
        (b'["x", oops, "yyyyyyyyyyyyyyyyyyyy"]', 6),
        (b'{"a": "\\q", "b": "yyyyyyyyyyyyyyyyyyyy"}', 7),
        (b"{'a': 1}", 1),
        (b"[1, 2}", 5),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_fault_has_its_place(content: bytes, place: int, size: int) -> None:
    fed = 0

    def chunks() -> Any:
        nonlocal fed
        for at in range(0, len(content), size):
            fed += len(content[at : at + size])
            yield content[at : at + size]

    with pytest.raises(JsonFault) as caught:
        JsonStream(chunks()).value()
    assert not caught.value.cut_off
    assert fed - caught.value.unread_bytes == place


def test_one_value_may_not_fill_the_memory() -> None:
    with pytest.raises(JsonFault, match="longer than 1,000 characters"):
        stream(b'["' + b"a" * 5_000 + b'"]', 100, max_value_characters=1_000).value()


def test_a_long_value_is_read_whole() -> None:
    text = "я" * 3_000_000
    assert stream(json.dumps([text]).encode(), 1 << 16).value() == [text]


def test_nesting_without_end_is_a_fault_and_no_crash() -> None:
    with pytest.raises(JsonFault):
        stream(b"[" * 200_000 + b"]" * 200_000).value()


def test_undecodable_bytes_and_raw_control_characters_do_not_stop_it() -> None:
    assert stream(b'\xef\xbb\xbf["a\xff\x01b"]', 1).value() == ["a\ufffd\x01b"]


def test_more_after_the_end_is_a_fault() -> None:
    reader = stream(b'{"a": 1}  {"b": 2}')
    reader.skip()
    with pytest.raises(JsonFault, match="after the end"):
        reader.expect_end()
