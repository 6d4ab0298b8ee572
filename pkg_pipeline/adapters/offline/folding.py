"""Folds and shorter summaries without a model: what is found as in any conversation, told without code and logs.

What is said by people and assistants is told, what tools put out only where nobody says anything. Every quote stays a
verbatim piece of its message: text is left out by whole lines, never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pkg_pipeline.adapters.offline.centrality import Piece, coverage_order, lexrank
from pkg_pipeline.adapters.offline.reading import Line, Reading, Sentence, read, terms_of, words_of
from pkg_pipeline.adapters.offline.retelling import retell, sentence_of
from pkg_pipeline.adapters.offline.weighing import is_question
from pkg_pipeline.memory.fold_gate import MAX_TOPIC_CHARS
from pkg_pipeline.memory.fold_records import CompressInput, FoldInput, is_tool
from pkg_pipeline.memory.gate_text import sentences
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.prompts.interaction_summary import Answer
from pkg_pipeline.prompts.session_compress import Answer as CompressAnswer
from pkg_pipeline.prompts.session_fold import Answer as FoldAnswer
from pkg_pipeline.prompts.session_fold import AnswerQuestion

MOST_QUESTIONS: Final = 7
QUESTION_WORDS: Final = 40
QUOTE_CHARS: Final = 600
QUESTION_TERMS: Final = 2
"""A question of fewer content words cannot be understood alone."""

ANSWER_REACH: Final = 12
"""In a group, an answer comes within this many messages or not at all."""

CODE_SHARE: Final = 0.18
"""From this share of marks that only code, data and logs use, a line is taken for such."""

AIM: Final = 0.95
"""Of the target: tokens are reckoned from characters here."""

LEAD_GAIN: Final = 1.3
NUMBER_GAIN: Final = 1.25

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE_MARK = re.compile(r"[{}\[\]<>=;|\\/_$#@&*^~`]")
_LINE_LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s*)+")
_EMPHASIS = re.compile(r"\*\*|__|`")
_LOG = re.compile(
    r"^\s*(?:\$ |>>> |\.\.\. |at \S+\(|File \"|Traceback|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b|(?:import|from|def|class|return|const|let|var|function|SELECT)\b.*[;:(){=]"
    r"|\|.*\|\s*$)"
)


def fold_answer(source: FoldInput, answer: Callable[[SummaryInput], Answer]) -> FoldAnswer:
    """The answer to one stretch. ``answer`` reads any conversation. Pure: equal inputs give equal answers."""
    spoken = spoken_part(source)
    found = answer(spoken)
    settled = {item.quote for item in found.decisions}
    return FoldAnswer(
        summary=_clean(found.summary),
        facts=found.facts,
        decisions=[item.model_copy(update={"description": _clean(item.description)}) for item in found.decisions],
        open_questions=[one for one in open_questions(read(spoken)) if one.quote not in settled],
        topics=[_clean(topic)[:MAX_TOPIC_CHARS].strip() for topic in found.key_points],
    )


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
    order = coverage_order(pieces, budget=most, at_most=len(pieces), power=1.0, fits=lambda _: True)
    if not order:
        order = [min(range(len(pieces)), key=lambda place: pieces[place].cost)]
    return CompressAnswer(summary=_paragraphs([said[place] for place in sorted(order)], source))


def spoken_part(source: FoldInput) -> SummaryInput:
    """The stretch as a conversation of those who speak: without tools, code, tables and logs; all of it where nothing
    is left then. Numbers and verbatim lines stay.
    """
    conversation = source.conversation
    told = [
        replace(message, text=text)
        for message in source.messages
        if not is_tool(message.sender) and (text := spoken_lines(message.text))
    ]
    people = tuple(person for person in source.participants if not is_tool(person))
    if told and people:
        return replace(conversation, messages=tuple(told), participants=people)
    left = [replace(message, text=text) for message in source.messages if (text := spoken_lines(message.text))]
    return replace(conversation, messages=tuple(left)) if left else conversation


def spoken_lines(text: str) -> str:
    """The lines of a message that are speech, without the marks of lists and headings before them."""
    kept: list[str] = []
    for line in _FENCED.sub("\n", text).splitlines():
        bare = _LINE_LEAD.sub("", line).strip()
        if bare and not _is_code(line):
            kept.append(bare)
    return "\n".join(kept)


def open_questions(reading: Reading) -> list[AnswerQuestion]:
    """What somebody asked and nobody else took up afterwards, in order; the last ones where there are many."""
    found: list[AnswerQuestion] = []
    for line in reading.lines:
        if line.is_data:
            continue
        found.extend(
            _asked(sentence, line, reading) for sentence in _posed(line) if not _is_answered(line, sentence, reading)
        )
    distinct = {question.quote.casefold(): question for question in found}
    return list(distinct.values())[-MOST_QUESTIONS:]


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
    return [one for one in reversed(trailing) if len(one.terms) >= QUESTION_TERMS]


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
    told = retell(sentence.text, sentence, reading, budget=QUESTION_WORDS)
    return AnswerQuestion(
        text=_clean(sentence_of([told], reading))[:480],
        quote=sentence.text[:QUOTE_CHARS],
        message_ids=[line.message.number],
    )


def _is_code(line: str) -> bool:
    bare = line.strip()
    marks = len(_CODE_MARK.findall(_EMPHASIS.sub("", _LINE_LEAD.sub("", bare))))
    return _LOG.match(line) is not None or marks >= max(2, CODE_SHARE * len(bare))


def _gain(sentence: str, central: float, is_lead: bool) -> float:
    gain = (0.4 + central) * (LEAD_GAIN if is_lead else 1.0)
    return gain * (NUMBER_GAIN if re.search(r"\d", sentence) else 1.0)


def _paragraphs(said: list[tuple[int, str]], source: CompressInput) -> str:
    space = "" if source.language == "zh" else " "
    told: dict[int, list[str]] = {}
    for number, sentence in said:
        told.setdefault(number, []).append(sentence)
    return "\n".join(space.join(one) for one in told.values())


def _clean(text: str) -> str:
    """Without the marks of emphasis, for what is told; quotes keep them."""
    return _EMPHASIS.sub("", text)
