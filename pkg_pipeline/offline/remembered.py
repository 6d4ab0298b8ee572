"""Vectors of texts asked for lately: a line is read for tasks, for facts and for a summary, but embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

import numpy as np

from pkg_pipeline.offline.line_head import MOST_CHARS, Embed
from pkg_pipeline.stages.ports import Vectors

MOST: Final = 4096
"""Texts whose vectors are kept, each of 2 KB."""


class Remembered:
    """An ``Embed`` over another that keeps the last vectors, of texts no longer than lines are read. Thread-safe."""

    def __init__(self, embed: Embed, most: int = MOST) -> None:
        self._embed, self._most = embed, most
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        distinct = list(dict.fromkeys(texts))
        with self._lock:
            known = {text: self._kept[text] for text in distinct if text in self._kept}
        new = [text for text in distinct if text not in known]
        made = self._embed(new)
        known |= {text: vector.copy() for text, vector in zip(new, made, strict=True)}
        with self._lock:
            for text in distinct:
                if len(text) <= MOST_CHARS:
                    self._kept[text] = known[text]
                    self._kept.move_to_end(text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), made.shape[1])
