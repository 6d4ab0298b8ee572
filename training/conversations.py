"""All labelled conversations of training, each with the part that is left out with it: whole worlds, never lines."""

from __future__ import annotations

import zlib
from functools import cache

from training import accounts, worlds
from training.talks import LANGUAGES, Talk, load
from training.world_talks import of_worlds

FOLDS = 5


@cache
def labelled() -> tuple[Talk, ...]:
    """The talks, then those of the worlds and accounts, by language."""
    told = [*worlds.load(), *accounts.load()]
    return tuple(talk for language in LANGUAGES for talk in (*load(language), *of_worlds(language, told)))


def world_of(talk: Talk) -> str:
    return talk.group or f"{talk.language}/{talk.name}"


def fold_of(talk: Talk) -> int:
    """The same whatever is added later."""
    return zlib.crc32(world_of(talk).encode()) % FOLDS
