"""The vector of a question in the active space, or why there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pkg_pipeline.stages.ports import Embedder, EmbedderError, Vectors
from pkg_pipeline.stages.recall.records import QuestionFacts

ASKED_SHARE = 0.5
"""Weight of the original question in the search vector; its phrasings share the rest."""

Embedders = Callable[[str], Embedder | None]
"""Model of a vector space → its embedder, None if not configured."""


def embedded(embedders: Embedders, facts: QuestionFacts, queries: list[str]) -> tuple[Vectors | None, str | None]:
    """(the question's vector in the active space, None), or (None, why only keywords are used) (L10)."""
    space = facts.space
    if space is None or all(scope.chunks == 0 for scope in facts.scopes):
        return None, "nothing that was asked for has a vector yet: keywords only"
    embedder = embedders(space.model)
    if embedder is None:
        return None, f"no embedder for {space.model} is set up: keywords only"
    try:
        vectors = embedder.embed(queries)
    except EmbedderError as error:
        return None, f"the embedder failed ({error}): keywords only"
    except Exception as error:  # noqa: BLE001 - a damaged installation stops no read either; its words may be the text's
        return None, f"the embedder failed ({type(error).__name__}): keywords only"
    vector = _together(vectors)
    if vector is None:
        return None, f"{space.model} sees nothing in the question: keywords only"
    if space.dimensions is not None and len(vector) != space.dimensions:
        return None, f"{space.model} gives {len(vector)} dimensions, not {space.dimensions}: keywords only"
    return vector, None


def _together(vectors: Vectors) -> Vectors | None:
    """The unit vector of the question (first row) and its phrasings, zero vectors ignored; None if all are zero."""
    others = vectors[1:][vectors[1:].any(axis=1)]
    whole = vectors[0] if not len(others) else ASKED_SHARE * vectors[0] + (1 - ASKED_SHARE) * others.mean(axis=0)
    length = float(np.linalg.norm(whole))
    return np.asarray(whole / length, np.float32) if length > 0 else None
