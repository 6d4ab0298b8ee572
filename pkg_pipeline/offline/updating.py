"""Updates and merges without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from pkg_pipeline.memory.gate.records import Tone
from pkg_pipeline.memory.records import ActionItem, Language, SummaryInput
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput
from pkg_pipeline.memory.text.normalise import comparable, sentences
from pkg_pipeline.offline.actions import HAN_VERB
from pkg_pipeline.offline.centrality import coverage_order, pieces_of
from pkg_pipeline.offline.found import roots_of
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, count_words, read, terms_of
from pkg_pipeline.offline.retelling import clipped
from pkg_pipeline.offline.summary import MOST_SENTENCES, fits, most_words
from pkg_pipeline.offline.weighing import is_question
from pkg_pipeline.prompts.interaction_summary import Answer
from pkg_pipeline.prompts.interaction_summary_merge import MergeAnswer
from pkg_pipeline.prompts.interaction_summary_update import AnswerKnown, UpdateAnswer

NEW_POINTS = 3
"""Most key points added by an update."""

BARE_TERMS = 2
"""At most this many content words: a "done" that does not say what is done."""

MERGED_POINTS = 7
SHORTNESS_POWER = 0.2
QUOTE_CHARS = 600


def answer_update(update: UpdateInput, answered: Callable[[SummaryInput], Answer]) -> UpdateAnswer:
    """Known items kept or closed, and what the new messages add; ``answered`` reads a conversation."""
    shown = answered(update.source)
    fresh = answered(replace(update.source, messages=update.new_messages))
    new = update.new_numbers
    return UpdateAnswer(
        summary=_with(update.known.summary, fresh.summary, update.source.language),
        key_points=fresh.key_points[:NEW_POINTS],
        tone=update.known.tone,
        decisions=[item for item in shown.decisions if new & {*item.message_ids}],
        action_items=[item for item in shown.action_items if new & {*item.message_ids}],
        facts=[item for item in shown.facts if new & {*item.message_ids}],
        important_message_ids=[number for number in shown.important_message_ids if number in new],
        known=_known(update),
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


def _known(update: UpdateInput) -> list[AnswerKnown]:
    reading = read(update.source)
    still_open = {
        ref: item for ref, item in update.shown.items() if isinstance(item, ActionItem) and item.status == "open"
    }
    closed: dict[str, AnswerKnown] = {}
    for line, sentence in reading.heard:
        if line.message.number not in update.new_numbers:
            continue
        for ref in _finished(sentence, line, still_open, reading):
            del still_open[ref]
            closed[ref] = AnswerKnown(
                id=ref,
                state="closed",
                closed_at=line.day.isoformat(),
                quote=sentence.text[:QUOTE_CHARS],
                message_ids=[line.message.number],
            )
    return [closed.get(ref) or AnswerKnown(id=ref, state="kept") for ref in update.shown]


def _finished(sentence: Sentence, line: Line, still_open: dict[str, ActionItem], reading: Reading) -> list[str]:
    """Open items that a sentence says are done: by recurring words, or the speaker's only one by a bare "done"."""
    said = phrases(sentence.language).done.search(sentence.text)
    if said is None or is_question(sentence.text):
        return []
    mine = {ref: item for ref, item in still_open.items() if _is_owner(item, line, reading)}
    names = {term for person in reading.source.participants for term in terms_of(person.name, sentence.language)}
    spoken = roots_of(term for term in sentence.terms if term not in names)
    verbs = HAN_VERB.findall(said.group()) if sentence.language == "zh" else []
    found = [
        ref
        for ref, item in mine.items()
        if spoken & roots_of(term for term in terms_of(item.quote, sentence.language) if term not in names)
        or any(verb in item.quote for verb in verbs)
    ]
    if not found and len(mine) == 1 and len(sentence.terms) <= BARE_TERMS:
        return list(mine)
    return found[:1]


def _is_owner(item: ActionItem, line: Line, reading: Reading) -> bool:
    if item.owner == "both":
        return True
    own = reading.source.self_person
    wanted: UUID | None = own.entity_id if item.owner == "self" and own is not None else item.owner_entity_id
    return line.speaker.entity_id == wanted if wanted is not None else not line.speaker.is_self


def answer_merge(merge: MergeInput) -> MergeAnswer:
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
    return MergeAnswer(summary=space.join(chosen), key_points=_points(merge), tone=max(tones, key=tones.count))


def _points(merge: MergeInput) -> list[str]:
    shown: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for part in merge.parts:
        for point in part.content.key_points:
            shown.setdefault(comparable(point), point)
            counts[comparable(point)] += 1
    best = {key for key, _ in counts.most_common(MERGED_POINTS)}
    return [point for key, point in shown.items() if key in best]
