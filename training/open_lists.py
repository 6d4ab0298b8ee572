"""How right the list of open items is on accounts left out: ``python -m training.open_lists [-v]``.

Every account is read as a user's is, by heads that did not see it. At its end, and every ``STEP`` before, what the list
shows as open is compared with what the labels leave open; what a label leaves open long after it was due or said
(``FORGOTTEN``, not the list's own rule) counts as lapsed. Closings and superseded decisions are those at the end.
``-v``: what is wrong, by class, with how often it was shown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import product

from pkg_pipeline.memory.items.records import Item, ItemStatus
from training import accounts, superseding
from training.closing import Score
from training.lasting import holds
from training.matching import one_to_one
from training.whole_accounts import Account, is_past, read_account, spoken_of, status_of
from training.worlds import Label, World

STEP = timedelta(days=14)
FORGOTTEN = timedelta(days=30), timedelta(days=60)
AFTER = timedelta(hours=1)
"""After the last talk of an account its end is looked at."""
MEASURES = (
    "open at the end",
    "open every two weeks",
    "in force at the end",
    "in force every two weeks",
    "tasks",
    "closed of all",
    "closed of found",
    "superseded",
)


@dataclass(frozen=True)
class Shown:
    item: Item
    status: ItemStatus
    messages: frozenset[str]


@dataclass(frozen=True)
class Truth:
    """A label as it stands at a moment."""

    label: Label
    status: ItemStatus
    messages: frozenset[str]


@dataclass
class Figures:
    """Scores by measure and language, and how often what is wrong was shown, by class and words."""

    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    wrong: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, measure: str, language: str, *, right: int = 0, shown: int = 0, labelled: int = 0) -> None:
        for key in (language, "all"):
            self.scores.setdefault((measure, key), Score()).add(Score(right, shown, labelled))


def moments(account: Account) -> list[datetime]:
    """The end of an account, then every ``STEP`` back to its first talk."""
    ends = [talk.ended_at for talk in account.world.talks]
    found = [max(ends) + AFTER]
    while found[-1] - STEP > min(ends):
        found.append(found[-1] - STEP)
    return found


def shown_at(account: Account, now: datetime) -> list[Shown]:
    return [Shown(item, status_of(item, now), spoken_of(item)) for item in account.items_at(now).values()]


def true_at(account: Account, now: datetime) -> Iterator[Truth]:
    for label in account.world.items:
        if min(account.said_at[key] for key in label.messages) <= now:
            status, said = _status(account, label, now)
            yield Truth(label, status, said)


def _status(account: Account, label: Label, now: datetime) -> tuple[ItemStatus, frozenset[str]]:
    def so_far(keys: Sequence[str] | frozenset[str]) -> frozenset[str]:
        return frozenset(key for key in keys if account.said_at[key] <= now)

    renewed = [(so_far(keys), day) for keys, day in label.renewed if so_far(keys)]
    said = so_far(label.messages).union(*(keys for keys, _ in renewed))
    later = next((one for one in account.world.items if one.ref == label.superseded_by), None)
    if so_far(label.closed_by):
        return "done", said
    if so_far(label.cancelled_by):
        return "cancelled", said
    if later is not None and so_far(later.messages):
        return "superseded", said
    due = next((day for _, day in reversed(renewed) if day is not None), label.due)
    last = max(account.said_at[key] for key in said)
    is_gone = label.kind == "action_item" and is_past(due, last, now, since_due=FORGOTTEN[0], since_said=FORGOTTEN[1])
    return "lapsed" if is_gone else "open", said


def matched(shown: Sequence[Shown], true: Sequence[Truth]) -> dict[int, int]:
    """By place of a shown item that of its label: of one kind, sharing messages, one to one, the likest first."""
    return one_to_one(
        ((one.status == label.status) / 2 + len(both) / len(one.messages | label.messages), i, j)
        for (i, one), (j, label) in product(enumerate(shown), enumerate(true))
        if one.item.kind == label.label.kind and (both := one.messages & label.messages)
    )


def judge(account: Account, figures: Figures) -> None:
    for number, now in enumerate(moments(account)):
        shown, true = shown_at(account, now), list(true_at(account, now))
        pairs = matched(shown, true)
        of_label = {j: shown[i] for i, j in pairs.items()}
        measures = ["open every two weeks", *(["open at the end"] if number == 0 else [])]
        for i, one in enumerate(shown):
            truth = true[pairs[i]] if i in pairs else None
            is_soft = truth is not None and truth.label.is_optional
            if one.item.kind == "action_item" and one.status == "open" and not is_soft:
                is_right = truth is not None and truth.status == "open"
                for measure in measures:
                    figures.add(measure, account.world.language, right=is_right, shown=1)
                if not is_right:
                    figures.wrong[_class(one, truth, true), account.world.name, one.item.now.text] += 1
        for j, label in enumerate(true):
            if label.label.kind == "action_item" and label.status == "open" and not label.label.is_optional:
                for measure in measures:
                    figures.add(measure, account.world.language, labelled=1)
                if (status := of_label[j].status if j in of_label else "not found") != "open":
                    figures.wrong[f"missed: {status}", account.world.name, label.label.text] += 1
        _judge_force(account, now.date(), number == 0, shown, true, pairs, figures)
        if number == 0:
            _judge_end(account, shown, true, pairs, figures)


def _judge_force(
    account: Account,
    today: date,
    is_end: bool,
    shown: Sequence[Shown],
    true: Sequence[Truth],
    pairs: Mapping[int, int],
    figures: Figures,
) -> None:
    """Decisions that are told as in force beside those that are of use to who talks to these people next."""
    language = account.world.language
    measures = ["in force every two weeks", *(["in force at the end"] if is_end else [])]

    def is_in_force(truth: Truth) -> bool:
        lasts = truth.label.lasts
        return truth.status == "open" and lasts is not None and holds(lasts, today)

    for i, one in enumerate(shown):
        truth = true[pairs[i]] if i in pairs else None
        is_soft = truth is not None and truth.label.is_optional
        if one.item.kind == "decision" and one.status == "open" and not is_soft:
            right = truth is not None and is_in_force(truth)
            for measure in measures:
                figures.add(measure, language, right=right, shown=1)
    for truth in true:
        if truth.label.kind == "decision" and not truth.label.is_optional and is_in_force(truth):
            for measure in measures:
                figures.add(measure, language, labelled=1)


def _class(one: Shown, truth: Truth | None, true: Sequence[Truth]) -> str:
    if truth is not None:
        return truth.status
    near = [label for label in true if label.messages & one.messages]
    tasks = [label for label in near if label.label.kind == "action_item"]
    return f"twin of one {tasks[0].status}" if tasks else "a decision" if near else "no task"


def _judge_end(
    account: Account, shown: Sequence[Shown], true: Sequence[Truth], pairs: Mapping[int, int], figures: Figures
) -> None:
    language = account.world.language
    for i, one in enumerate(shown):
        truth = true[pairs[i]] if i in pairs else None
        if truth is not None and truth.label.is_optional:
            continue
        is_right = truth is not None and truth.status == one.status
        if one.item.kind == "action_item":
            figures.add("tasks", language, right=truth is not None, shown=1)
        if one.status == "done" and truth is not None:
            figures.add("closed of all", language, right=is_right, shown=1)
            figures.add("closed of found", language, right=is_right, shown=1)
        if one.status == "superseded":
            figures.add("superseded", language, right=is_right, shown=1)
        if not is_right and (one.status == "superseded" or (one.status == "done" and truth is not None)):
            words = f"{one.item.states[0].text} <- {one.item.now.quote}"
            figures.wrong[
                f"{one.status}, though {truth.status if truth else 'no item'}", account.world.name, words
            ] += 1
    of_label = {j: shown[i] for i, j in pairs.items()}
    for j, label in enumerate(true):
        if not label.label.is_optional:
            _judge_label(account, label, of_label.get(j), figures)


def _judge_label(account: Account, label: Truth, found: Shown | None, figures: Figures) -> None:
    language, is_task = account.world.language, label.label.kind == "action_item"
    wanted = "done" if is_task else "superseded"
    if is_task:
        figures.add("tasks", language, labelled=1)
    if label.status != wanted:
        return
    if is_task:
        figures.add("closed of all", language, labelled=1)
        figures.add("closed of found", language, labelled=found is not None)
    else:
        figures.add("superseded", language, labelled=1)
    if found is None or found.status != wanted:
        by = " / ".join(account.world.text_of[key] for key in sorted(label.label.closed_by))
        words = label.label.text if found is None else found.item.states[0].text
        figures.wrong[
            f"not {wanted}, {found.status if found else 'not found'}", account.world.name, f"{words} <- {by}"
        ] += 1


def judged(of: Iterable[World]) -> Figures:
    figures = Figures()
    for world in of:
        judge(read_account(world, superseding.read_unseen), figures)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    figures = judged(accounts.load())
    for measure, language in product(MEASURES, ("all", "en", "ru", "zh")):
        one = figures.scores.get((measure, language), Score())
        size = f"{one.right} of {one.closed}, {one.kept}"
        print(f"{measure}, {language}: P {100 * one.precision:.0f} R {100 * one.recall:.0f} ({size})")
    classes = Counter[str]()
    for (kind, _, _), times in figures.wrong.items():
        classes[kind] += times
    print("wrong:", ", ".join(f"{kind} {times}" for kind, times in classes.most_common()))
    if given.verbose:
        for (kind, world, words), times in sorted(figures.wrong.items(), key=lambda one: (one[0][0], -one[1])):
            print(times, kind, world, words, sep=" | ")


if __name__ == "__main__":
    main()
