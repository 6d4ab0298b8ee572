"""What sentence vectors tell of somebody (B19): the meaning of what both say, of how they began, and of the name.

A linear head over them, one for all languages; its weights are in ``relationship.npz``, fitted by ``make train``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from pkg_pipeline.memory.profile.records import TYPES, RelationshipType, Signals, Utterance
from pkg_pipeline.memory.profile.relationship import BEGINNING

Floats = NDArray[np.float64]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors of length 1 by text; of the offline embedder, whose space the head was fitted to."""

BEGINNING_SHARE, NAME_SHARE = 0.7, 0.7
"""How much these vectors count beside those of everything said."""
DECIMALS = 1
"""Vectors vary in their last bits between machines, the log-odds do not."""


def pooled(signals: Signals, embed: Embed) -> Floats:
    """One vector of a person: 1, means over what each side says, the same of the beginning, and the name's, or that of
    the groups where we only meet there.
    """
    name = " ".join(signals.groups) if signals.is_met_in_groups else signals.name
    said = sorted((one for one in signals.said if one.text.strip()), key=lambda one: one.at)
    texts = list(dict.fromkeys([*(one.text for one in said), name]))
    known = dict(zip(texts, embed(texts).astype(np.float64), strict=True))
    parts = [
        share * _mean(known, [one for one in some if one.is_self is side])
        for share, some in ((1.0, said), (BEGINNING_SHARE, said[:BEGINNING]))
        for side in (False, True)
    ]
    return np.concatenate([np.ones(1), *parts, NAME_SHARE * known[name]])


def _mean(known: Mapping[str, Floats], said: Sequence[Utterance]) -> Floats:
    """Of length 1, or 0."""
    whole = np.sum([known[one.text] for one in said], axis=0) if said else np.zeros_like(next(iter(known.values())))
    length = float(np.linalg.norm(whole))
    return whole / length if length > 1e-9 else whole


def log_odds(vector: Floats) -> dict[RelationshipType, float]:
    """By type, around their mean."""
    return centred(vector @ head())


def centred(odds: Floats) -> dict[RelationshipType, float]:
    middle = float(odds.mean())
    return {kind: round(float(one) - middle, DECIMALS) + 0.0 for kind, one in zip(TYPES, odds, strict=True)}


@cache
def head() -> Floats:
    with (
        files("pkg_pipeline.memory.profile").joinpath("relationship.npz").open("rb") as stream,
        np.load(stream) as found,
    ):
        return found["weights"].astype(np.float64)
