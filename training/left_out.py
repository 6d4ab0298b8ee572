"""Labelled talks as they are read by heads that did not see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from unittest.mock import patch
from uuid import UUID

from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline import day_choice, heads
from pkg_pipeline.offline import lasting as lasting_head
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, read
from training import due_days, lasting, lines
from training.conversations import FOLDS, fold_of, labelled
from training.fit import HEADS, fit_of
from training.standing import Read, as_read


@dataclass(frozen=True)
class Prepared:
    """A talk with what the head of lines says that did not see it, and the part that is left out with it."""

    reading: Reading
    fold: int


@cache
def prepared() -> Mapping[UUID, Prepared]:
    """By interaction."""
    return {
        talk.source.interaction_id: Prepared(reading, fold_of(talk))
        for talk, reading in zip(labelled(), lines.left_out(), strict=True)
    }


@cache
def _weights(fold: int) -> Mapping[str, Mapping[str, float]]:
    """Of tasks, their days and decisions, fitted without a part."""
    told = {head: fit_of(head).without(fold) for head in HEADS}
    return told | {day_choice.HEAD: due_days.without(fold), lasting_head.HEAD: lasting.without(fold)}


@contextmanager
def without(fold: int) -> Iterator[None]:
    """Tasks and decisions are found by weights that did not see a part."""
    assert 0 <= fold < FOLDS, f"{fold} is no part"
    with patch.object(heads, "weights_of", _weights(fold).__getitem__):
        yield


@cache
def read_once(source: SummaryInput) -> Read:
    """One talk, and what is found in it, by heads that did not see it."""
    known = prepared()[source.interaction_id]
    with without(known.fold):
        # talks of a course of talks have other ids for their messages
        return as_read(replace(read(plain_talk(source)), chances=known.reading.chances))
