"""What the gates stop of wrong answers and what they hit of right ones, by kind and by language.

    python -m benchmarks gate_truth [--all] [--list]

At the end stand the two halves of the audit, whose talks and code of faults share nothing with the gates.

The cases are those of ``pkg_pipeline_tests/memory/truth``: talks written for it, with right answers, their rewordings
and their faults. Texts are printed of the visible third only; ``--all`` prints those of the hidden ones, too, and is
not for whoever works on the gates.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable

from pkg_pipeline_tests.memory.truth.audit.sets import HALVES, audited
from pkg_pipeline_tests.memory.truth.judging import is_well
from pkg_pipeline_tests.memory.truth.variants import Case, cases

LANGUAGES = ("ru", "en", "zh")


def table(failed: list[Case], every: list[Case], kind_of: Callable[[Case], str]) -> None:
    """A line for each kind: of how many, how many went wrong, in percent, by language, and of the hidden talks."""
    counts = Counter((kind_of(case), case.talk.language) for case in every)
    wrong = Counter((kind_of(case), case.talk.language) for case in failed)
    kinds = [kind for kind, _ in Counter(kind_of(case) for case in every).most_common()]
    for kind in [*kinds, "all"]:
        mine = [key for key in counts if kind in {key[0], "all"}]
        many, bad = sum(counts[key] for key in mine), sum(wrong[key] for key in mine)
        cells = [
            f"{sum(wrong[key] for key in mine if key[1] == one)}/{sum(counts[key] for key in mine if key[1] == one)}"
            for one in LANGUAGES
        ]
        hidden = [
            sum(not case.talk.is_visible and kind in (kind_of(case), "all") for case in chosen)
            for chosen in (failed, every)
        ]
        print(f"| {kind} | {bad}/{many} | {100 * bad / many:.1f} | {' | '.join(cells)} | {hidden[0]}/{hidden[1]} |")


def show(title: str, failed: list[Case], every: list[Case]) -> None:
    print(f"\n### {title}\n\n| kind | of all | % | {' | '.join(LANGUAGES)} | hidden |\n|{'---|' * 7}")
    table(failed, every, lambda case: case.kind)
    print(f"\n| part | of all | % | {' | '.join(LANGUAGES)} | hidden |\n|{'---|' * 7}")
    table(failed, every, lambda case: case.part.what)
    hidden = [case for case in every if not case.talk.is_visible]
    lost = [case for case in failed if not case.talk.is_visible]
    print(f"\nof the hidden two thirds: {len(lost)}/{len(hidden)}, {100 * len(lost) / len(hidden):.1f} %")


def audit() -> None:
    for half in HALVES:
        every = audited(half)
        failed = [case for case in every if not is_well(case)]
        for is_right in (False, True):
            print(f"\n### Audit, {half} half: {'right answers hit' if is_right else 'wrong answers published'}\n")
            print(f"| kind | of all | % | {' | '.join(LANGUAGES)} | all |\n|{'---|' * 7}")
            lost, mine = ([case for case in some if case.is_right == is_right] for some in (failed, every))
            table(lost, mine, lambda case: case.kind)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--all", action="store_true", help="print the hidden cases, too")
    parser.add_argument("--list", action="store_true", help="print what went wrong")
    given = parser.parse_args()
    every = cases()
    failed = [case for case in every if not is_well(case)]
    show(
        "Wrong answers that were published",
        [case for case in failed if not case.is_right],
        [case for case in every if not case.is_right],
    )
    show(
        "Right answers that were hit",
        [case for case in failed if case.is_right],
        [case for case in every if case.is_right],
    )
    audit()
    for case in failed if given.list or given.all else []:
        if given.all or case.talk.is_visible:
            changed = {k: v for k, v in case.fields.items() if case.base.get(k) != v} or {"text": case.base.get("text")}
            print("RIGHT HIT" if case.is_right else "PUBLISHED", case.name, changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
