"""Fits the head that says how long a decision is of use (``python -m training.lasting``).

Every labelled decision of an account that the reader finds is looked at every ``STEP`` until the account ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from pkg_pipeline.offline import chat_decisions, lasting
from training import accounts, conversations, decisions, lines
from training.fit import Example, add_head, fitted
from training.talks import Label

STEP = timedelta(days=14)
HOLDS = frozenset({"stays", "pends"})


def holds(label: str, day: date) -> bool:
    """Whether a decision is of use on a day; ``label``: as of ``worlds.Label.lasts``."""
    return label in HOLDS or day <= date.fromisoformat(label)


@cache
def examples() -> tuple[Example, ...]:
    ends = {world.name: max(talk.ended_at for talk in world.talks).date() for world in accounts.load()}
    found: list[Example] = []
    for talk, reading in zip(conversations.labelled(), lines.left_out(), strict=True):
        if talk.group not in ends or reading.is_meeting or reading.is_bulletin:
            continue
        labels = [label for label in talk.labels if label.kind == "decision"]
        decided, _ = chat_decisions.find_chat_decisions(reading)
        of = decisions.matches_of(reading, decided, labels)
        for i, one in enumerate(decided):
            told = lasting.told_of(reading, one)
            fold, language = conversations.fold_of(talk), talk.language
            found += (
                Example(lasting.features(told, day), right, fold, language)
                for day, right in _days(labels[of[i]] if i in of else None, told.said, ends[talk.group])
            )
    return tuple(found)


def _days(label: Label | None, said: date, end: date) -> Iterator[tuple[date, bool]]:
    """From the end of an account back to when something was said, each with whether it was of use then; what was
    wrongly taken for a decision never was.
    """
    if label is None or (label.lasts is not None and not label.is_optional):
        while end > said:
            yield end, label is not None and label.lasts is not None and holds(label.lasts, end)
            end -= STEP


def without(fold: int) -> dict[str, float]:
    """The weights that did not see a part."""
    return fitted([one for one in examples() if one.fold != fold], {})


def main() -> None:
    add_head(lasting.HEAD, examples())


if __name__ == "__main__":
    main()
