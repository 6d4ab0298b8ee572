"""How far the newest messages of a session are from what came before them (H4). Pure arithmetic over vectors."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

NEWEST: Final = 3
"""H4: so many messages are compared with the rest."""


def drift(vectors: NDArray[np.float32], *, newest: int = NEWEST) -> float:
    """1 - cosine(mean of the ``newest`` last rows, mean of the rows before them), from 0 to 2.

    ``vectors`` are (n, d), one a message since the HWM, in order. 0 where no rest exists or a mean has no length, so
    that nothing folds for lack of words. Raises ValueError for another shape or values that are not finite.
    """
    if vectors.ndim != 2 or newest < 1:
        raise ValueError(
            f"vectors are rows of one length, not of shape {vectors.shape}; newest is {newest}, at least 1"
        )
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    if len(vectors) <= newest:
        return 0.0
    now = vectors[-newest:].mean(axis=0, dtype=np.float64)
    before = vectors[:-newest].mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(now) * np.linalg.norm(before))
    if length == 0.0:
        return 0.0
    return min(2.0, max(0.0, 1.0 - float(now @ before) / length))
