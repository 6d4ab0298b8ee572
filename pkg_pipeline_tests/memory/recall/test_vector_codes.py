"""Codes: the same bits for ever, those of the matrix they stand for, and near where the vectors are near."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pkg_pipeline.memory.recall.vector_codes import CODE_BITS, CODE_BYTES, _signs, code_text, codes, distances


def waves(count: int, dimensions: int) -> np.ndarray:
    """Vectors by whole-number arithmetic alone: the same on every machine."""
    rows, columns = np.ogrid[1 : count + 1, 1 : dimensions + 1]
    return ((rows * 7919 * columns * columns + 104_729 * columns) % 2003 - 1001).astype(np.float32) / np.float32(1024)


GOLDEN = {
    1: "716ba8f471819834",
    3: "3df0d29ce06a4b70",
    64: "a7bac5c720e10b10",
    384: "7aa9d27bb806304e",
    512: "7326150003e4fafa",
    1024: "a26dcca7c9f478cd",
    1536: "28dfd9811a6597bd",
    3072: "dc17666c6dd1afed",
}
"""Dimensions → the start of SHA-256 over the codes of five vectors. Another value makes every stored code worthless."""


@pytest.mark.parametrize("dimensions", GOLDEN)
def test_the_bits_never_change(dimensions: int) -> None:
    found = codes(waves(5, dimensions))
    assert found.shape == (5, CODE_BYTES)
    assert found.dtype == np.uint8
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == GOLDEN[dimensions]


def hadamard(size: int) -> np.ndarray:
    """The matrix itself, entry by entry: the parity of the bits that row and column share."""
    shared = np.bitwise_and.outer(np.arange(size), np.arange(size))
    return 1 - 2 * (np.bitwise_count(shared).astype(np.int64) % 2)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 64, 100, 512, 700, 1024, 1500, 2048, 3072])
def test_they_are_the_signs_of_the_matrix_times_the_flipped_vector(dimensions: int) -> None:
    size = 1 << (dimensions - 1).bit_length()
    vectors = waves(3, dimensions)
    blocks = max(1, CODE_BITS // size)
    signs = _signs(blocks, size).astype(np.int64)
    # in whole numbers: no rounding on this side, and none in float32 either for sums of so few bits
    padded = np.pad((vectors * 1024).astype(np.int64), ((0, 0), (0, size - dimensions)))
    values = np.concatenate([(padded * row) @ hadamard(size)[:CODE_BITS].T for row in signs], axis=1)
    assert (np.unpackbits(codes(vectors), axis=1) == (values > 0)).all()


def test_a_vector_has_its_code_whatever_stands_beside_it() -> None:
    vectors = waves(300, 512)
    together = codes(vectors)
    assert all((codes(vectors[one : one + 1])[0] == together[one]).all() for one in range(0, 300, 37))
    assert (codes(np.asfortranarray(vectors)) == together).all()
    assert codes(vectors[:0]).shape == (0, CODE_BYTES)


def test_zero_is_zero_and_what_is_no_number_is_refused() -> None:
    assert not codes(np.zeros((2, 512), dtype=np.float32)).any()
    assert not codes(-np.zeros((1, 512), dtype=np.float32)).any()
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            codes(np.full((1, 4), wrong, dtype=np.float32))
    for shape in ((4,), (2, 0), (1, 2, 3)):
        with pytest.raises(ValueError, match="rows of one length"):
            codes(np.zeros(shape, dtype=np.float32))


def test_text_is_what_postgres_reads() -> None:
    code = np.zeros(CODE_BYTES, dtype=np.uint8)
    code[0], code[-1] = 0b1000_0001, 1
    assert code_text(code) == "10000001" + "0" * (CODE_BITS - 9) + "1"


def test_signs_are_of_both_kinds_and_other_in_each_block() -> None:
    signs = _signs(2, 512)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.sum(axis=1)).max() < 100  # 512 throws: 4 standard deviations are 90
    assert abs(float(signs[0] @ signs[1])) < 100


@pytest.mark.parametrize("dimensions", [256, 512, 1536])
def test_the_nearest_ten_are_among_the_four_hundred_of_the_nearest_codes(dimensions: int) -> None:
    """Clusters as topics make them: 20,000 vectors around 200 centres, questions near some of them."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(200, dimensions)) / np.sqrt(dimensions)
    spread = 0.8 * rng.normal(size=(20_000, dimensions)) / np.sqrt(dimensions)
    vectors = (centres[rng.integers(200, size=20_000)] + spread).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions = vectors[:40] + (0.5 * rng.normal(size=(40, dimensions)) / np.sqrt(dimensions)).astype(np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    stored, asked = codes(vectors), codes(questions)
    found = 0
    for question, code in zip(questions, asked, strict=True):
        nearest = np.argsort(-(vectors @ question))[:10]
        looked_at = np.argsort(distances(code, stored), kind="stable")[:400]
        found += len(np.intersect1d(nearest, looked_at))
    assert found / 400 >= 0.98
