"""Fits the head of days (``python -m training.due_days``): those named around tasks that have no day of their own.

The talks beside the accounts are left out: in them a task seldom has the day of what it is for.
"""

from __future__ import annotations

from functools import cache

from pkg_pipeline.offline import chat_tasks, day_choice, due_days, duties
from training import accounts, conversations, lines
from training.fit import Example, add_head, fitted, matches_of


@cache
def examples() -> tuple[Example, ...]:
    names = {world.name for world in accounts.load()}
    found: list[Example] = []
    for talk, reading in zip(conversations.labelled(), lines.left_out(), strict=True):
        if talk.group not in names or reading.is_meeting or reading.is_bulletin:
            continue
        labels = [label for label in talk.labels if label.kind == "task"]
        every = duties.duties_of(reading)
        numbers = [{reading.lines[i].message.number for i in duties.lines_of(duty)} for duty in every]
        for i, j in matches_of(numbers, labels).items():
            duty, label = every[i], labels[j]
            before = chat_tasks.asked_before(reading, duty)
            if not label.is_optional and due_days.named_with(reading, duty, before) is None:
                found += (
                    Example(one.features, one.day == label.due, conversations.fold_of(talk), talk.language)
                    for one in day_choice.days_around(reading, duty)
                )
    return tuple(found)


def without(fold: int) -> dict[str, float]:
    """The weights that did not see a part."""
    return fitted([one for one in examples() if one.fold != fold], {})


def main() -> None:
    add_head(day_choice.HEAD, examples())


if __name__ == "__main__":
    main()
