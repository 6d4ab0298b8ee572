"""The two faults of Telegram Desktop's JSON, and that no chunk boundary matters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.adapters.exports.repair import repaired


def mended(content: bytes, size: int | None = None) -> bytes:
    step = size or max(len(content), 1)
    return b"".join(repaired(content[at : at + step] for at in range(0, len(content), step)))


TABLE = [
    (rb'"a\x01b"', rb'"a\u0001b"'),
    (rb'"\x1F\x0a"', rb'"\u001F\u000a"'),
    (rb'"path C:\\x41"', rb'"path C:\\x41"'),  # a doubled backslash before x41 is somebody's text
    (rb'"\\\x01"', rb'"\\\u0001"'),
    (rb'"\n\t\"\u2028\\"', rb'"\n\t\"\u2028\\"'),
    (rb'"\xZZ"', rb'"\xZZ"'),  # not that fault: left for the parser to report
    (b'"document_id": video_files/sticker (2).webm\n', b'"document_id": "video_files/sticker (2).webm"\n'),
    (b'"document_id": stickers/a.tgs,\r\n', b'"document_id": "stickers/a.tgs",\r\n'),
    (b'"document_id": (File "x" not included)\n', rb'"document_id": "(File \"x\" not included)"' + b"\n"),
    (b'"document_id": "5368"\n', b'"document_id": "5368"\n'),
    (b'"document_id": 5368324170671202286\n', b'"document_id": 5368324170671202286\n'),
    (b'"document_id": null\n', b'"document_id": null\n'),
    (b'{"document_id":5},{"a":1}\n', b'{"document_id":5},{"a":1}\n'),
    (rb'"text": "a \"document_id\": b"' + b"\n", rb'"text": "a \"document_id\": b"' + b"\n"),
]


@pytest.mark.parametrize(("content", "expected"), TABLE)
def test_repairs(content: bytes, expected: bytes) -> None:
    assert mended(content) == expected


@pytest.mark.parametrize(("content", "expected"), TABLE)
def test_every_single_cut_gives_the_same(content: bytes, expected: bytes) -> None:
    for cut in range(len(content) + 1):
        assert b"".join(repaired([content[:cut], content[cut:]])) == expected


PIECES = st.sampled_from(
    [
        b"\\",
        b"\\x",
        b"0",
        b"1f",
        b'"',
        b'"document_id"',
        b'"document_id":',
        b" ",
        b"a/b.webm",
        b"\n",
        b"\r\n",
        b",",
        b"x",
    ]
)


@given(st.lists(PIECES, max_size=40).map(b"".join), st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_any_chunking_of_any_bytes_gives_the_same_as_the_whole(content: bytes, sizes: list[int]) -> None:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(content[at : at + size])
        at += size
    chunks.append(content[at:])
    assert b"".join(repaired(chunks)) == mended(content)


@given(st.text(), st.integers(1, 30))
def test_valid_json_passes_unchanged(text: str, size: int) -> None:
    content = json.dumps({"text": text, "document_id": text, "list": [text]}, indent=1).encode()
    assert mended(content, size) == content


def test_nothing_is_held_back_for_long() -> None:
    """An endless line after the key must not be collected in memory."""
    outputs = repaired([b'"document_id": ' + b"a" * 100, *[b"b" * 1000] * 50])
    assert len(next(outputs)) >= 1000
