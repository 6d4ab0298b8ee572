"""Updates and merges without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from pkg_pipeline.memory.gate.records import Tone
from pkg_pipeline.memory.records import Language, SummaryInput
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.memory.text.normalise import comparable, sentences
from pkg_pipeline.offline.centrality import coverage_order, pieces_of
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import count_words, terms_of
from pkg_pipeline.offline.retelling import clipped
from pkg_pipeline.offline.summary import MOST_SENTENCES, fits, most_words
from pkg_pipeline.prompts.summary import AnswerTalk, Words
from pkg_pipeline.prompts.summary_update import Answer

NEW_POINTS = 3
"""Most key points added by an update."""

MERGED_POINTS = 7
SHORTNESS_POWER = 0.2


def answer_update(update: UpdateInput, answered: Callable[[SummaryInput], AnswerTalk]) -> Answer:
    """What the new messages add; ``answered`` reads a conversation."""
    fresh = answered(replace(update.source, messages=update.new_messages))
    return Answer(
        summary=_with(update.known.summary, fresh.summary, update.source.language),
        points=fresh.points[:NEW_POINTS],
        tone=update.known.tone,
        important=fresh.important,
    )


def _with(known: str, fresh: str, language: Language) -> str:
    told, added = sentences(known), sentences(fresh)[:1]
    if comparable(added[0]) in {comparable(sentence) for sentence in told}:
        return known
    space = phrases(language).templates["space"]
    kept = told[: MOST_SENTENCES - 1]
    while kept and not fits(space.join((*kept, *added))):
        kept.pop()
    return space.join((*kept, *added))


def answer_merge(merge: MergeInput) -> Words:
    """One text of many: the sentences of best coverage per quarter, and the most frequent points."""
    language = merge.source.language
    told = [
        (index * MOST_SENTENCES // len(merge.parts), sentence)
        for index, part in enumerate(merge.parts)
        for sentence in sentences(part.content.summary)
    ]
    space, most = phrases(language).templates["space"], most_words(language)

    def may_stand(chosen: Sequence[int]) -> bool:
        quarters = [told[index][0] for index in chosen]
        return len({*quarters}) == len(quarters) and fits(space.join(told[index][1] for index in chosen))

    bags = [terms_of(sentence, language) for _, sentence in told]
    pieces = pieces_of(bags, [count_words(sentence) for _, sentence in told])
    order = coverage_order(pieces, budget=most, at_most=MOST_SENTENCES, power=SHORTNESS_POWER, fits=may_stand)
    chosen = [told[index][1] for index in sorted(order)] or [clipped(told[0][1], most)]
    tones: Sequence[Tone] = [part.content.tone for part in merge.parts]
    return Words(summary=space.join(chosen), points=_points(merge), tone=max(tones, key=tones.count))


def _points(merge: MergeInput) -> list[str]:
    shown: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for part in merge.parts:
        for point in part.content.key_points:
            shown.setdefault(comparable(point), point)
            counts[comparable(point)] += 1
    best = {key for key, _ in counts.most_common(MERGED_POINTS)}
    return [point for key, point in shown.items() if key in best]
