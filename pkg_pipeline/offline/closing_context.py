"""How probably a message keeps an open item, or promises it again, among the messages around it and the other open
items: boosted trees over features of each pair, what the weights of ``closing.json`` and the heads of lines say, and
how near the words are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from pkg_pipeline.memory.gate.progress import acknowledges, gives_up, is_plain, tells_done
from pkg_pipeline.offline.judging import Met, weights
from pkg_pipeline.offline.line_context import Floats, Trees
from pkg_pipeline.offline.line_head import DIMENSIONS, MOST_CHARS, Embed
from pkg_pipeline.offline.matters import Open
from pkg_pipeline.offline.reading import LineChance, Reading

REACH: Final = 2
"""Lines before and after that are looked at."""
UNHEARD: Final = LineChance(-3.0, -3.0, -3.0, 0.0, -3.0, 0.0)
"""What is said of a line that no head judges, as in meetings: what is said of most."""
NOTHING: Final = -9.0
"""Log-odds where there is no line or no other item."""
NO_DUE_DAY: Final = -999.0
DAYS, LATE = -6, -5
"""Columns: days since an item was said, and since it was due."""
UNLIKELY: Final = -4.0
"""Log-odds after the first trees under which no more of them are asked: nine of ten pairs, none of which the others
would close.
"""
DECIMALS: Final = 2
"""Vectors vary in their last bits between machines."""


@cache
def trees() -> Trees:
    with files("pkg_pipeline.offline").joinpath("closing.npz").open("rb") as stream, np.load(stream) as found:
        return Trees.kept(found)


def log_odds(
    reading: Reading, items: Sequence[Open], talk: Sequence[Met], embed: Embed
) -> tuple[list[list[float]], list[list[float]]]:
    """Of each pair of each message, that the message keeps the item, and that it promises it again."""
    if not any(met.pairs for met in talk):
        return [[] for _ in talk], [[] for _ in talk]
    judged = np.round(trees().log_odds(rows(reading, items, talk, weights()["kept"], embed), UNLIKELY), DECIMALS)
    ends = np.cumsum([len(met.pairs) for met in talk])[:-1]
    kept, renewed = ([part.tolist() for part in np.split(column, ends)] for column in judged.T)
    return kept, renewed


def rows(reading: Reading, items: Sequence[Open], talk: Sequence[Met], by: Mapping[str, float], embed: Embed) -> Floats:
    """What the trees see: pairs, message by message, by columns. ``by``: weights of the features of a pair."""
    chances = reading.chances or [UNHEARD] * len(reading.lines)
    lines = _vectors([line.message.text if line.sentences else "" for line in reading.lines], embed)
    near, near_said = (np.round(_vectors(texts, embed) @ lines.T, DECIMALS) for texts in _words(items))
    alone = np.full(near.shape, NOTHING)
    for met in talk:
        alone[[i for i, _ in met.pairs], met.said.line.index] = met.log_odds(by)
    elsewhere = _best_of_others(alone)
    found: list[Floats] = []
    for met in talk:
        if not met.pairs:
            continue
        place, open_now = met.said.line.index, [i for i, _ in met.pairs]
        mine = np.stack([one[open_now, place] for one in (alone, near, near_said)])
        rivals = _best_of_others(mine)
        told = _told(reading, place)
        around = [
            [
                elsewhere[i, place],
                len(open_now),
                *told,
                *_around(reading, chances, near[i], place),
                *_when(items[i], reading, place),
            ]
            for i in open_now
        ]
        found.append(np.hstack([met.x, mine.T, rivals.T, (mine - rivals).T, around]))
    return np.vstack(found)


def _best_of_others(told: Floats) -> Floats:
    """Of each entry the highest of the others in its row."""
    if told.shape[1] < 2:
        return np.full(told.shape, NOTHING)
    highest = np.partition(told, -2, axis=1)
    is_best = np.arange(told.shape[1]) == told.argmax(axis=1)[:, None]
    return np.where(is_best, highest[:, -2:-1], highest[:, -1:])


def _words(items: Sequence[Open]) -> tuple[list[str], list[str]]:
    return [one.text for one in items], [one.said for one in items]


def _vectors(texts: Sequence[str], embed: Embed) -> Floats:
    """A row each; of nothing, nothing."""
    cut = [text[:MOST_CHARS] for text in texts]
    distinct = [text for text in dict.fromkeys(cut) if text.strip()]
    known = dict(zip(distinct, embed(distinct), strict=True)) if distinct else {}
    nothing = np.zeros(DIMENSIONS, dtype=np.float32)
    return np.array([known.get(text, nothing) for text in cut], dtype=np.float64).reshape(-1, DIMENSIONS)


def _told(reading: Reading, place: int) -> list[float]:
    """What the words say whatever the item: that something was done, came, was given up, or just is so."""
    message, text = reading.source.messages[place], reading.lines[place].message.text
    sentences = [one.text for one in reading.lines[place].sentences]
    return [
        float(tells_done(text)),
        float(acknowledges(message, reading.source.messages[:place])),
        float(any(map(gives_up, sentences))),
        float(any(map(is_plain, sentences))),
    ]


def _around(reading: Reading, chances: Sequence[LineChance], near: Floats, place: int) -> list[float]:
    """What the heads say of a line and of those around it, who wrote them, and how near they are to the item."""
    lines = reading.lines
    found: list[float] = [chances[place].done, chances[place].task, chances[place].decision]
    for step in (*range(-REACH, 0), *range(1, REACH + 1)):
        other = place + step
        if 0 <= other < len(lines):
            is_own = lines[other].speaker == lines[place].speaker
            found += [chances[other].done, chances[other].task, float(is_own), near[other]]
        else:
            found += [NOTHING, NOTHING, -1.0, 0.0]
    return found


def _when(item: Open, reading: Reading, place: int) -> list[float]:
    """Days since it was said and since it was due, and how long both texts and the talk are."""
    line = reading.lines[place]
    days = (line.message.sent_at - item.said_at).total_seconds() / 86_400
    late = NO_DUE_DAY if item.due is None else float((line.day - item.due).days)
    return [days, late, len(line.message.text), len(item.text), len(reading.lines), len(reading.speakers)]
