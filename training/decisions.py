"""How rightly the decisions of chats are stated, by a head of lines that did not see the talk:
``python -m training.decisions``.

A decision is right if the words that tell of it are of a message that states it; one that stands beside it and only
shares a message with it is wrong. Each label counts once.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from pkg_pipeline.offline.chat_decisions import THRESHOLD, find_chat_decisions
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.reading import Reading
from training import conversations, lines
from training.matching import one_to_one, tally
from training.talks import LANGUAGES, Label, Talk


def matches_of(reading: Reading, found: list[FoundDecision], labels: list[Label]) -> dict[int, int]:
    """The label of each decision by place, one to one: one whose own line states it first, then the more probable."""

    def numbers(places: set[int]) -> set[int]:
        return {reading.lines[place].message.number for place in places}

    told = [numbers({s.line for s in (one.sentence, one.before) if s is not None}) for one in found]
    own = [numbers({one.lines[0]}) for one in found]
    return one_to_one(
        (bool(own[i] & label.stated) + one.probability, i, j)
        for i, one in enumerate(found)
        for j, label in enumerate(labels)
        if told[i] & label.stated
    )


def _counted(talk: Talk, reading: Reading) -> Counter[str]:
    labels = [one for one in talk.labels if one.kind == "decision"]
    found, _ = find_chat_decisions(reading)
    return tally(len(found), matches_of(reading, found, labels), labels)


@cache
def counts() -> dict[str, Counter[str]]:
    """Of each language: ``labelled``, ``told`` and ``right``."""
    found = {language: Counter[str]() for language in LANGUAGES}
    for talk, reading in zip(conversations.labelled(), lines.left_out(), strict=True):
        if "decision" in talk.kinds and not (reading.is_meeting or reading.is_bulletin):
            found[talk.language].update(_counted(talk, reading))
    return found


def shares(of: Counter[str]) -> tuple[float, float]:
    """Precision and recall, 0 to 1."""
    return of["right"] / max(1, of["told"]), of["right"] / max(1, of["labelled"])


def main() -> None:
    for language, one in {**counts(), "all": sum(counts().values(), Counter())}.items():
        print(f"{language}: P {shares(one)[0]:.3f} R {shares(one)[1]:.3f} from {THRESHOLD}, {dict(one)}")


if __name__ == "__main__":
    main()
