"""Folds and shorter summaries without a model: what is found as in any conversation, told without code and logs.

What is speech in a stretch is ``fold_reading``'s, how a talk with an assistant is told ``fold_telling``'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.gate.normalise import sentences
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.session.fold_gate import MAX_TOPIC_CHARS, check_fold
from pkg_pipeline.memory.session.fold_records import CompressInput, FoldInput
from pkg_pipeline.offline.centrality import Piece, coverage_order, lexrank
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.fold_reading import clean, in_paragraphs, spoken_part
from pkg_pipeline.offline.fold_telling import OFFER, nothing_told, tell
from pkg_pipeline.offline.keyphrases import key_phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, read, terms_of, words_of
from pkg_pipeline.offline.retelling import Told, clipped, first_name, sentence_of
from pkg_pipeline.offline.weighing import has_money, is_question
from pkg_pipeline.prompts.interaction_summary import Answer, AnswerDecision
from pkg_pipeline.prompts.session_compress import Answer as CompressAnswer
from pkg_pipeline.prompts.session_fold import Answer as FoldAnswer
from pkg_pipeline.prompts.session_fold import AnswerQuestion, to_candidate

MOST_QUESTIONS: Final = 7
MOST_DECISIONS: Final = 10
TOLD_WORDS: Final = 40
TOLD_CHARS: Final = 480
QUOTE_CHARS: Final = 600
SHORT_WORDS: Final = 4
SHORT_CHARACTERS: Final = 6
"""A question or choice of fewer words (Chinese: characters) and a single content word cannot be understood alone."""

COMPRESS_POWER: Final = 0.5
"""0 takes the most telling sentences, 1 the densest."""

ANSWER_REACH: Final = 12
"""In a group, an answer comes within this many messages or not at all."""

AIM: Final = 0.95
"""Of the target: tokens are reckoned from characters here."""

LEAD_GAIN: Final = 1.3
NUMBER_GAIN: Final = 1.25

_CHOICE = re.compile(
    r"\b(?:let'?s (?:go with|use|keep|take|stick|call)|go with\b|we(?:'ll| will) (?:use|go with|keep|take)"
    r"|i(?:'ll| will) (?:take|go with)|i(?:'ve| have)? (?:decided|chosen|chose)|decided (?:to|on)|settled on|agreed:)"
    r"|\b(?:давай(?:те)? (?:возьм|использ|оставим|сделаем|на\b|через\b)|договорились|решено|решил[аи]?\b"
    r"|выбираю|выбрали|остановимся на|берём|берем)|就这么定|就用|就选|决定|选择|说定",
    re.IGNORECASE,
)
"""How somebody who talks with an assistant settles something; nobody has to agree."""


def fold_answer(source: FoldInput, answer: Callable[[SummaryInput], Answer]) -> FoldAnswer:
    """The answer to one stretch. ``answer`` reads any conversation. Pure: equal inputs give equal answers."""
    spoken = spoken_part(source)
    found, reading = answer(spoken), read(spoken)
    decisions = _decisions(reading, found.decisions, source.assistant_ids)
    settled = {item.quote for item in decisions}
    made = FoldAnswer(
        summary=_summary(source, reading, found, decisions),
        facts=found.facts,
        decisions=decisions,
        open_questions=[one for one in open_questions(reading, source.assistant_ids) if one.quote not in settled],
        topics=_topics(spoken),
    )
    if check_fold(to_candidate(made), source).content is not None:
        return made
    # whatever stands in a stretch, a session has to go on: it is folded with a summary that says next to nothing
    return made.model_copy(update={"summary": nothing_told(reading)})


def compress_answer(source: CompressInput) -> CompressAnswer:
    """The most telling whole sentences that fit, in their order; at least one."""
    paragraphs = [(number, text) for number, text in enumerate(source.text.splitlines()) if text.strip()]
    said = [(number, sentence) for number, text in paragraphs for sentence in sentences(text)]
    bags = [terms_of(sentence, source.language) for _, sentence in said]
    central = lexrank(bags)
    most = max(1, int(len(source.text) * AIM * source.target_tokens / max(1, source.source_tokens)))
    heads = {number: place for place, (number, _) in reversed(list(enumerate(said)))}
    pieces = [
        Piece(bag or (sentence,), len(sentence) + 1, _gain(sentence, float(central[place]), heads[number] == place))
        for place, ((number, sentence), bag) in enumerate(zip(said, bags, strict=True))
    ]
    order = coverage_order(pieces, budget=most, at_most=len(pieces), power=COMPRESS_POWER, fits=lambda _: True)
    if not order:
        order = [min(range(len(pieces)), key=lambda place: pieces[place].cost)]
    return CompressAnswer(summary=_paragraphs([said[place] for place in sorted(order)], source))


def open_questions(reading: Reading, assistant_ids: frozenset[UUID] = frozenset()) -> list[AnswerQuestion]:
    """What somebody asked and nobody else took up afterwards, in order; the last ones where there are many."""
    found: dict[str, AnswerQuestion] = {}
    for line in reading.lines:
        if line.is_data:
            continue
        for sentence in _posed(line):
            is_offer = line.speaker.entity_id in assistant_ids and OFFER.search(sentence.text)
            if not is_offer and not _is_answered(line, sentence, reading):
                found[sentence.text.casefold()] = _asked(sentence, line, reading)
    return list(found.values())[-MOST_QUESTIONS:]


def _summary(source: FoldInput, reading: Reading, found: Answer, decisions: Sequence[AnswerDecision]) -> str:
    if not source.assistant_ids:
        return clean(found.summary)
    cited = {number for item in (*decisions, *found.action_items) for number in item.message_ids}
    lines = {line.index: 1.0 for line in reading.lines if line.message.number in cited}
    return tell(reading, source.assistant_ids, lines) or clean(found.summary)


def _decisions(
    reading: Reading, found: Sequence[AnswerDecision], assistant_ids: frozenset[UUID]
) -> list[AnswerDecision]:
    """Those found; with an assistant, whoever asks decides alone, and a question that it answers settles nothing."""
    kept = [_cleaned(item) for item in found if not (assistant_ids and is_question(item.quote))]
    quotes = {item.quote for item in kept}
    for line in reading.lines if assistant_ids else ():
        if line.is_data or line.speaker.entity_id in assistant_ids:
            continue
        kept.extend(
            _decided(sentence, line, reading)
            for sentence in line.sentences
            if sentence.text not in quotes and _is_choice(sentence)
        )
    return sorted(kept, key=lambda item: item.message_ids[0])[:MOST_DECISIONS]


def _is_choice(sentence: Sentence) -> bool:
    if is_question(sentence.text) or not _stands_alone(sentence) or len(sentence.text) > QUOTE_CHARS:
        return False
    return _CHOICE.search(sentence.text) is not None


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


def _cleaned(item: AnswerDecision) -> AnswerDecision:
    return item.model_copy(update={"description": clean(item.description)})


def _stands_alone(sentence: Sentence) -> bool:
    least = SHORT_CHARACTERS if sentence.language == "zh" else SHORT_WORDS
    return len(sentence.terms) > 1 or (bool(sentence.terms) and sentence.words >= least)


def _posed(line: Line) -> list[Sentence]:
    """The questions that a message leaves with its reader: those it goes on from are rhetorical."""
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
    """Between two, whatever the other says next; among several, what names the asker or speaks of the matter."""
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


def _asked(sentence: Sentence, line: Line, reading: Reading) -> AnswerQuestion:
    return AnswerQuestion(
        text=_said(sentence, line, reading),
        quote=sentence.text[:QUOTE_CHARS],
        message_ids=[line.message.number],
    )


def _said(sentence: Sentence, line: Line, reading: Reading) -> str:
    """As it was said, behind the speaker's name."""
    text = clipped(clean(sentence.text).strip(), TOLD_WORDS)
    told = Told(first_name(line.speaker, reading), text[0].upper() + text[1:], is_told=False)
    return sentence_of([told], reading)[:TOLD_CHARS]


def _gain(sentence: str, central: float, is_lead: bool) -> float:
    gain = (0.4 + central) * (LEAD_GAIN if is_lead else 1.0)
    return gain * (NUMBER_GAIN if re.search(r"\d", sentence) else 1.0)


def _paragraphs(said: list[tuple[int, str]], source: CompressInput) -> str:
    space = "" if source.language == "zh" else " "
    told: dict[int, list[str]] = {}
    for number, sentence in said:
        told.setdefault(number, []).append(sentence)
    return "\n".join(space.join(one) for one in told.values())
