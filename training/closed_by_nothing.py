"""How many promises are told as done although nothing shows it: ``python -m training.closed_by_nothing [-v]``.

Accounts left out are read without the evidence of half of their kept promises at a time (``without_evidence``). Some of
what closes them all the same is evidence that no label names, so the figure is a little too high. ``-v``: what closes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.talk_items import items_as_written
from pkg_pipeline.prompts import conversation_reading as prompt
from training import accounts, closing_trees, left_out
from training.open_lists import matched, moments, shown_at, true_at
from training.vectors import embed
from training.whole_accounts import read_account
from training.without_evidence import Cut, cuts, reading_of
from training.worlds import World


@dataclass
class Count:
    """Promises whose evidence is gone: in all, found, told as done, as perhaps done."""

    promises: int = 0
    found: int = 0
    done: int = 0
    perhaps: int = 0

    def __str__(self) -> str:
        of = max(1, self.found) / 100
        share = f"done {self.done / of:.0f}, perhaps done {self.perhaps / of:.0f} of 100 found"
        return f"{share} ({self.done} and {self.perhaps} of {self.found}; {self.promises} promises)"


def judge(cut: Cut, counts: Mapping[str, Count], wrong: list[str]) -> None:
    def reader(source: ReadingInput) -> prompt.Answer:
        talk = source.talks[0]
        fold = left_out.prepared()[talk.interaction_id].fold
        with left_out.without(fold), closing_trees.left_out(fold):
            return items_as_written(talk, plain_talk(talk), reading_of(cut, talk), source.shown, embed)

    account = read_account(cut.world, reader)
    now = moments(account)[0]
    shown, true = shown_at(account, now), list(true_at(account, now))
    of_label = {j: shown[i] for i, j in matched(shown, true).items()}
    for j, one in enumerate(true):
        if one.label.ref not in cut.wanting or one.label.is_optional:
            continue
        found = of_label.get(j)
        status = None if found is None else found.status
        for key in (cut.world.language, "all"):
            counts[key].promises += 1
            counts[key].found += found is not None
            counts[key].done += status == "done"
            counts[key].perhaps += status == "perhaps_done"
        if found is not None and status in ("done", "perhaps_done"):
            wrong.append(f"{status} | {cut.world.name} | {found.item.states[0].text} <- {found.item.now.quote}")


def judged(of: Iterable[World]) -> tuple[Mapping[str, Count], list[str]]:
    counts = {key: Count() for key in ("all", "en", "ru", "zh")}
    wrong: list[str] = []
    for world in of:
        for cut in cuts(world):
            judge(cut, counts, wrong)
    return counts, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    counts, wrong = judged(accounts.load())
    for key, one in counts.items():
        print(f"without evidence, {key}: {one}")
    if given.verbose:
        print(*sorted(wrong), sep="\n")


if __name__ == "__main__":
    main()
