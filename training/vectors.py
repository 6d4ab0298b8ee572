"""Vectors of the offline embedder, each distinct text embedded once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkg_pipeline.adapters.embedders.offline import DIMENSIONS, OfflineEmbedder
from pkg_pipeline.stages.ports import Vectors

_MODEL = OfflineEmbedder()
_KNOWN: dict[str, Vectors] = {}


def embed(texts: Sequence[str]) -> Vectors:
    unknown = {text for text in texts if text not in _KNOWN}  # a view's difference would walk through all that is known
    new = sorted(unknown, key=lambda text: (len(text), text))  # like lengths are read together
    _KNOWN.update(zip(new, _MODEL.embed(new), strict=True))
    return np.array([_KNOWN[text] for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)
