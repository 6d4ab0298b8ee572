"""Folds and compressed summaries without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.session.fold_gate import MAX_TOPIC_CHARS, check_fold
from pkg_pipeline.memory.session.records import CompressInput, FoldInput
from pkg_pipeline.memory.text.normalise import sentences
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.centrality import coverage_order, pieces_of
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.facts import FoundFact, find_facts
from pkg_pipeline.offline.fold_text import clean, in_paragraphs, nothing_told, spoken_part, tell
from pkg_pipeline.offline.found import FoundDecision
from pkg_pipeline.offline.highlights import key_phrases
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, read, terms_of, words_of
from pkg_pipeline.offline.retelling import Told, clipped, described, first_name, sentence_of
from pkg_pipeline.offline.weighing import has_money, is_question
from pkg_pipeline.prompts.session_compress import Answer as CompressAnswer
from pkg_pipeline.prompts.session_fold import Answer as FoldAnswer
from pkg_pipeline.prompts.session_fold import AnswerDecision, AnswerFact, AnswerQuestion, to_candidate
from pkg_pipeline.prompts.summary import AnswerTalk

MOST_QUESTIONS: Final = 7
MOST_DECISIONS: Final = 10
TOLD_WORDS: Final = 40
TOLD_CHARS: Final = 480
QUOTE_CHARS: Final = 600
SHORT_WORDS: Final = 4
SHORT_CHARACTERS: Final = 6
"""A shorter question or choice with one content word is not understandable alone."""

COMPRESS_POWER: Final = 0.5
"""0 takes the most central sentences, 1 the densest."""

ANSWER_REACH: Final = 12
"""Messages in a group within which an answer comes."""

AIM: Final = 0.95
"""Share of the target aimed at, since tokens are estimated from characters."""

LEAD_GAIN: Final = 1.3
NUMBER_GAIN: Final = 1.25


def fold_answer(source: FoldInput, answer: Callable[[SummaryInput], AnswerTalk]) -> FoldAnswer:
    """The answer to one stretch; ``answer`` reads any conversation. Pure."""
    spoken = spoken_part(source)
    found, reading = answer(spoken), read(spoken)
    decided = find_decisions(reading)
    decisions = _decisions(reading, [_decision(reading, one) for one in decided], source.assistant_ids)
    settled = {item.quote for item in decisions}
    made = FoldAnswer(
        summary=_summary(source, reading, found, decisions),
        facts=[_fact(reading, one) for one in find_facts(reading)],
        decisions=decisions,
        open_questions=[one for one in open_questions(reading, source.assistant_ids) if one.quote not in settled],
        topics=_topics(spoken),
    )
    if check_fold(to_candidate(made), source).content is not None:
        return made
    # fallback: every stretch must be foldable
    return made.model_copy(update={"summary": nothing_told(reading)})


def compress_answer(source: CompressInput) -> CompressAnswer:
    """The most central whole sentences that fit, in order; at least one."""
    said = [(number, one) for number, text in enumerate(source.text.splitlines()) for one in sentences(text)]
    most = max(1, int(len(source.text) * AIM * source.target_tokens / max(1, source.source_tokens)))
    heads = {number: place for place, (number, _) in reversed(list(enumerate(said)))}
    gains = [
        (LEAD_GAIN if heads[number] == place else 1.0) * (NUMBER_GAIN if re.search(r"\d", sentence) else 1.0)
        for place, (number, sentence) in enumerate(said)
    ]
    bags = [terms_of(sentence, source.language) or (sentence,) for _, sentence in said]
    pieces = pieces_of(bags, [len(sentence) + 1 for _, sentence in said], gains)
    order = coverage_order(pieces, budget=most, at_most=len(pieces), power=COMPRESS_POWER, fits=lambda _: True)
    told: dict[int, list[str]] = {}
    for number, sentence in (said[place] for place in sorted(order)):
        told.setdefault(number, []).append(sentence)
    space = phrases(source.language).templates["space"]
    shortest = min((sentence for _, sentence in said), key=len)
    return CompressAnswer(summary="\n".join(space.join(one) for one in told.values()) or shortest)


def open_questions(reading: Reading, assistant_ids: frozenset[UUID] = frozenset()) -> list[AnswerQuestion]:
    """Unanswered questions in order; the last ones if there are many."""
    found: dict[str, AnswerQuestion] = {}
    for line in reading.lines:
        is_assistant = line.speaker.entity_id in assistant_ids
        for sentence in () if line.is_data else _posed(line):
            is_offer = is_assistant and mark("offer").search(sentence.text)
            if not is_offer and not _is_answered(line, sentence, reading):
                found[sentence.text.casefold()] = AnswerQuestion(
                    text=_said(sentence, line, reading),
                    quote=sentence.text[:QUOTE_CHARS],
                    message_ids=[line.message.number],
                )
    return list(found.values())[-MOST_QUESTIONS:]


def _summary(source: FoldInput, reading: Reading, found: AnswerTalk, decisions: Sequence[AnswerDecision]) -> str:
    if not source.assistant_ids:
        return clean(found.summary)
    cited = {number for item in decisions for number in item.message_ids}
    lines = {line.index: 1.0 for line in reading.lines if line.message.number in cited}
    lines |= {line: 1.0 for item in find_actions(reading) for line in item.lines}
    return tell(reading, source.assistant_ids, lines) or clean(found.summary)


def _decisions(
    reading: Reading, found: Sequence[AnswerDecision], assistant_ids: frozenset[UUID]
) -> list[AnswerDecision]:
    """Decisions without answered questions; with an assistant, only the user decides."""
    kept = [
        item.model_copy(update={"description": clean(item.description)})
        for item in found
        if not (assistant_ids and is_question(item.quote))
    ]
    quotes = {item.quote for item in kept}
    kept += [
        _decided(sentence, line, reading)
        for line, sentence in (reading.heard if assistant_ids else ())
        if line.speaker.entity_id not in assistant_ids and sentence.text not in quotes and _is_choice(sentence)
    ]
    return sorted(kept, key=lambda item: item.message_ids[0])[:MOST_DECISIONS]


def _decision(reading: Reading, found: FoundDecision) -> AnswerDecision:
    return AnswerDecision(
        description=_agreed(reading, found),
        date=found.day.isoformat(),
        importance=found.importance,
        **_evidence(reading, found.sentence, found.lines),
    )


def _fact(reading: Reading, found: FoundFact) -> AnswerFact:
    return AnswerFact(
        fact_type=found.kind,
        value=found.value[:300],
        about=found.whose,
        confidence=round(found.confidence, 2),
        **_evidence(reading, found.sentence, (found.sentence.line,)),
    )


def _evidence(reading: Reading, sentence: Sentence, lines: tuple[int, ...]) -> dict[str, Any]:
    numbers = sorted(reading.lines[i].message.number for i in lines)
    return {"quote": sentence.text[:QUOTE_CHARS], "message_ids": numbers}


def _agreed(reading: Reading, found: FoundDecision) -> str:
    description = described(found.sentence, reading)
    if not found.agreed_by:
        return description
    template = phrases(reading.language).templates["agreed_by"]
    return template.format(
        what=description.rstrip(".。"), who=", ".join(first_name(person, reading) for person in found.agreed_by)
    )


def _is_choice(sentence: Sentence) -> bool:
    if is_question(sentence.text) or not _stands_alone(sentence) or len(sentence.text) > QUOTE_CHARS:
        return False
    return mark("choice").search(sentence.text) is not None


def _decided(sentence: Sentence, line: Line, reading: Reading) -> AnswerDecision:
    is_high = has_money(sentence.text) or bool(find_dates(sentence.text, sentence.language, line.day))
    return AnswerDecision(
        description=_said(sentence, line, reading),
        date=line.day.isoformat(),
        importance="high" if is_high else "medium",
        quote=sentence.text,
        message_ids=[line.message.number],
    )


def _topics(spoken: SummaryInput) -> list[str]:
    found = key_phrases(read(in_paragraphs(spoken)))
    return [topic for one in found if (topic := clean(one).strip()) and len(topic) <= MAX_TOPIC_CHARS]


def _stands_alone(sentence: Sentence) -> bool:
    least = SHORT_CHARACTERS if sentence.language == "zh" else SHORT_WORDS
    return len(sentence.terms) > 1 or (bool(sentence.terms) and sentence.words >= least)


def _posed(line: Line) -> list[Sentence]:
    """The questions at the end of a message; earlier ones are rhetorical."""
    trailing: list[Sentence] = []
    statements = 0
    for sentence in reversed(line.sentences):
        if is_question(sentence.text):
            trailing.append(sentence)
        else:
            statements += 1
        if statements > 1:
            break
    return [one for one in reversed(trailing) if _stands_alone(one)]


def _is_answered(line: Line, asked: Sentence, reading: Reading) -> bool:
    """In a dialog the other's next message; in a group, one that names the asker or shares words."""
    is_pair = len(reading.speakers) <= 2
    name = {word for word in words_of(line.speaker.name, line.language) if len(word) > 1}
    for later in reading.lines[line.index + 1 :][: None if is_pair else ANSWER_REACH]:
        if later.speaker == line.speaker or all(is_question(sentence.text) for sentence in later.sentences):
            continue
        if is_pair or name & set(words_of(later.message.text[:400], later.language)):
            return True
        if any(set(asked.terms) & set(sentence.terms) for sentence in later.sentences):
            return True
    return False


def _said(sentence: Sentence, line: Line, reading: Reading) -> str:
    text = clipped(clean(sentence.text).strip(), TOLD_WORDS)
    told = Told(first_name(line.speaker, reading), text[0].upper() + text[1:], is_told=False)
    return sentence_of([told], reading)[:TOLD_CHARS]
