"""What summaries tell of what talks hold: ``python -m training.summaries``, by heads that did not see the talks.

A labelled line is told when most of its words are; counted where a summary is made.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from unittest.mock import patch

from pkg_pipeline.memory.records import Language, SummaryInput
from pkg_pipeline.offline import llm
from pkg_pipeline.offline.plain_characters import plain_talk
from pkg_pipeline.offline.reading import Reading, count_words, read, terms_of
from training import accounts, left_out
from training.vectors import embed
from training.worlds import World

LEAST_WORDS = 30
"""Shorter talks have no summary, more or less."""
TOLD = 0.6
"""Share of a line's words."""

Kind = str


def summary_of(talk: SummaryInput) -> str:
    known = left_out.prepared()[talk.interaction_id]

    def prepared(reading: Reading, _: object) -> Reading:
        return replace(reading, chances=known.reading.chances)

    with left_out.without(known.fold), patch.object(llm, "prepared", prepared):
        return llm.answer(plain_talk(talk), embed).summary


def is_told(line: str, summary: str, language: Language) -> bool:
    said = set(terms_of(line, language))
    return len(said & set(terms_of(summary, language))) >= TOLD * max(1, len(said))


def counts_of(worlds: Iterable[World]) -> Counter[str]:
    """By kind how many labelled matters there are and how many are told; words of talks and of summaries."""
    found = Counter[str]()
    for world in worlds:
        labels = _labels(world)
        for talk in world.talks:
            if (words := read(talk).words) < LEAST_WORDS:
                continue
            summary = summary_of(talk)
            told = defaultdict[tuple[Kind, str], bool](bool)
            for message in talk.messages:
                for label in labels[message.external_id]:
                    told[label] |= is_told(message.text, summary, world.language)
            found.update(kind for kind, _ in told)
            found.update(f"{kind} told" for (kind, _), yes in told.items() if yes)
            found.update({"words": words, "summary words": count_words(summary)})
    return found


def _labels(world: World) -> defaultdict[str, set[tuple[Kind, str]]]:
    """What each message says, by its id."""
    says = defaultdict[str, set[tuple[Kind, str]]](set)
    for label in world.items:
        if label.is_optional:
            continue
        for message in set(label.messages) - label.agreed_in:
            says[message].add((label.kind, label.ref))
        for message in label.closed_by:
            says[message].add(("done", label.ref))
    for fact in world.facts:
        says[fact.message].add(("fact", f"{fact.who} {fact.type} {fact.value}"))
    return says


def main() -> None:
    for language in ("en", "ru", "zh"):
        found = counts_of(world for world in accounts.load() if world.language == language)
        shares = (f"{kind} {found[f'{kind} told'] / found[kind]:.2f}" for kind in KINDS)
        print(f"{language}: {', '.join(shares)}; {found['summary words'] / found['words']:.2f} of the words")


KINDS: tuple[Kind, ...] = ("action_item", "decision", "done", "fact")

if __name__ == "__main__":
    main()
