"""Parses the response of an embeddings endpoint: floats or base64, items in any order, with or without index."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkg_pipeline.adapters.embedders.openai_errors import Refused, Transient
from pkg_pipeline.stages.ports import EmbedderMisconfigured, Vectors


@dataclass(frozen=True, slots=True)
class Answer:
    """Vectors of length 1; ``unusable`` positions are zero (no numbers, NaN or zero length)."""

    vectors: Vectors
    unusable: tuple[int, ...]


def read_answer(response: Any, *, count: int, dimensions: int | None) -> Answer:
    """Vectors in the order of the texts. Raises ``Transient`` for no answer, ``Refused`` for a wrong number of vectors
    or no usable one, ``EmbedderMisconfigured`` for other ``dimensions`` or mixed sizes.
    """
    data = getattr(response, "data", None)
    if not isinstance(data, list):
        raise Transient("a success without vectors in it (a gateway's page or a cut body)")
    rows = [_numbers(getattr(item, "embedding", None)) for item in _in_order(data, count)]
    sizes = {len(row) for row in rows if row is not None}
    if dimensions is not None:
        sizes.add(dimensions)
    if len(sizes) > 1:
        raise EmbedderMisconfigured(
            f"the model's vectors have {' and '.join(map(str, sorted(sizes)))} dimensions; one space has one size"
        )
    if not sizes:
        raise Refused("an answer without numbers")
    vectors = np.zeros((count, sizes.pop()), dtype=np.float32)
    unusable: list[int] = []
    for position, row in enumerate(rows):
        length = float(np.linalg.norm(row)) if row is not None else 0.0
        if row is None or not np.isfinite(length) or length == 0.0:
            unusable.append(position)
        else:
            vectors[position] = row / length
    if len(unusable) == count:
        raise Refused("an answer without one usable vector")
    return Answer(vectors, tuple(unusable))


def tokens_of(response: Any) -> int | None:
    """Reported tokens, None if not reported."""
    usage = getattr(response, "usage", None)
    counted = (getattr(usage, name, None) for name in ("prompt_tokens", "total_tokens"))
    return next((count for count in counted if isinstance(count, int) and count >= 0), None)


def _in_order(data: Sequence[Any], count: int) -> list[Any]:
    found = [getattr(item, "index", None) for item in data]
    indices = [index if isinstance(index, int) else None for index in found]
    if all(index is None for index in indices) and len(data) == count:
        return list(data)
    by_index = dict(zip(indices, data, strict=True))
    if len(data) != count or set(by_index) != set(range(count)):
        raise Refused(f"{count} texts, but {len(data)} vectors or others")
    return [by_index[index] for index in range(count)]


def _numbers(embedding: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """float64, so that no length overflows; None if there are no numbers."""
    try:
        if isinstance(embedding, str):
            found = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
        else:
            found = np.asarray(embedding, dtype=np.float64)
    except (binascii.Error, ValueError, TypeError):
        return None
    return found if found.ndim == 1 and found.size else None
