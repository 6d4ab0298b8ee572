"""Fold texts: which lines are speech, and the summary of a conversation with an assistant.

Code, tables, logs and tool output are left out by whole lines, so that the rest can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.gate.foreign import foreign, known
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.session.fold_gate import MAX_SENTENCES
from pkg_pipeline.memory.session.records import FoldInput, is_tool
from pkg_pipeline.offline.centrality import coverage_order, pieces_of
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Reading, Sentence
from pkg_pipeline.offline.retelling import Told, clipped, ended, first_name, runs_of, sentence_of
from pkg_pipeline.offline.summary import budget_words, fits, most_words

CODE_SHARE: Final = 0.18
"""From this share of code punctuation on, a line is code, data or a log."""

LONG_MESSAGE_WORDS: Final = 60
"""Above this mean, messages are documents and topics are counted per paragraph."""

EMPHASIS: Final = re.compile("\\*\\*|__|`|\ufeff")

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"[{}\[\]<>=;|\\/_$#@&*^~`]")
_LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s*)+")
_CODE = re.compile(
    r"^\s*(?:"
    r"\$ |>>> |\.\.\. |at \S+\(|File \"|Traceback\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|(?:import|from) [\w.]+(?: import [\w., *()]+| as \w+)?\s*$"
    r"|(?:def|class|return|const|let|var|function|public|private|SELECT|INSERT|UPDATE)\b.*[;:(){=]"
    r"|(?:for|if|elif|while|with|try|except|else)\b[^.!?]*[\[\](){}=<>_].*:\s*$|(?:try|else|finally):\s*$"
    r"|\w*_[\w.\[\]]*\s*[-+*/]?=\s*\S"
    r"|[a-z_][\w.\[\]\"']*(?:, ?[\w.]+)*\s*[-+*/]?=\s*(?:[\w.]*[(\[{\"']|[\d.]+;?\s*$|\w+;\s*$)"
    r"|[\w.]*[\w]\.\w+\(.*\)?[,;]?\s*$|\w+\([^ ]*(?:, [^)]*)?\);?\s*$"
    r"|</?[\w:-]+(?:\s[^>]*)?/?>|\|.*\|\s*$|[-=_*~]{3,}\s*$"
    r")"
)
_COMMENT = re.compile(r"^\s*(?:#|//|--|/\*|\*/|\)|\]|\})")

MOST_PIECES: Final = 9
PIECE_WORDS: Final = 45
PIECE_CHARACTERS: Final = 90
FEWEST_WORDS: Final = 4
BUDGET_SHARE: Final = 1.3
"""Length of a fold against a summary."""

POWER: Final = 0.35
ASKED_GAIN: Final = 2.5
FIRST_GAIN: Final = 1.4
LAST_GAIN: Final = 1.3
CITED_GAIN: Final = 1.5


def spoken_part(source: FoldInput) -> SummaryInput:
    """The stretch as speech; without any, tool output; else everything. Numbers and lines stay."""
    conversation = source.conversation
    told = [replace(one, text=text) for one in source.messages if (text := spoken_lines(one.text))]
    said = [message for message in told if not is_tool(message.sender)]
    people = tuple(person for person in source.participants if not is_tool(person))
    if said and people:
        return replace(conversation, messages=tuple(said), participants=people)
    return replace(conversation, messages=tuple(told)) if told else conversation


def in_paragraphs(source: SummaryInput) -> SummaryInput:
    """Each paragraph as a message of its own, if messages are documents."""
    words = sum(len(message.text.split()) for message in source.messages)
    if words < LONG_MESSAGE_WORDS * len(source.messages):
        return source
    pieces = tuple(
        replace(message, text=line) for message in source.messages for line in message.text.splitlines() if line.strip()
    )
    return replace(source, messages=pieces)


def spoken_lines(text: str) -> str:
    """The lines that are speech, without list and heading marks."""
    lines = _FENCED.sub("\n", text).splitlines()
    is_code = [_is_code(line) for line in lines]
    kept: list[str] = []
    for place, line in enumerate(lines):
        beside_code = any(is_code[max(0, place - 1) : place + 2])
        bare = _LEAD.sub("", line).strip()
        if bare and not is_code[place] and not (beside_code and _COMMENT.match(line)):
            kept.append(bare)
    return "\n".join(kept)


def clean(text: str) -> str:
    """Without emphasis marks, for telling; quotes keep them."""
    return EMPHASIS.sub("", text)


def _is_code(line: str) -> bool:
    bare = _LEAD.sub("", line).strip()
    marks = len(_MARK.findall(EMPHASIS.sub("", bare)))
    return _CODE.match(line) is not None or marks >= max(2, CODE_SHARE * len(bare))


def tell(reading: Reading, assistant_ids: frozenset[UUID], cited: Mapping[int, float]) -> str | None:
    """The summary; ``cited``: lines of evidence with scores. None where there is nothing to tell."""
    units = _units(reading, assistant_ids, cited)
    limit = PIECE_CHARACTERS if reading.language == "zh" else PIECE_WORDS
    told = [_told(sentence, reading, limit) for sentence, _ in units]
    costs = [min(sentence.words, limit) + 1 for sentence, _ in units]
    pieces = pieces_of([sentence.terms for sentence, _ in units], costs, [gain for _, gain in units])
    held = known(reading.source)

    @cache
    def is_sound(place: int) -> bool:
        return foreign(sentence_of([told[place]], reading), held) is None

    def may_stand(chosen: Sequence[int]) -> bool:
        text = _text([told[place] for place in chosen], reading)
        return fits(text, MAX_SENTENCES) and all(map(is_sound, chosen))

    budget = min(most_words(reading.language), round(BUDGET_SHARE * budget_words(reading)))
    order = coverage_order(pieces, budget=budget, at_most=MOST_PIECES, power=POWER, fits=may_stand)
    return _text([told[place] for place in sorted(order)], reading) if order else None


def nothing_told(reading: Reading) -> str:
    names = [name for person in reading.speakers[:3] if not gives_orders(name := first_name(person, reading))]
    templates = phrases(reading.language).templates
    return templates["empty"].format(who=templates["comma"].join(names) or "?")


def _units(
    reading: Reading, assistant_ids: frozenset[UUID], cited: Mapping[int, float]
) -> list[tuple[Sentence, float]]:
    last = {line.speaker: line.index for line, _ in reading.heard}
    found: list[tuple[Sentence, float]] = []
    begun: set[int] = set()
    for line, sentence in reading.heard:
        is_assistant = line.speaker.entity_id in assistant_ids
        if not _is_telling(sentence, reading, is_assistant=is_assistant):
            continue
        gain = 1.0 if is_assistant else ASKED_GAIN
        gain *= FIRST_GAIN if line.index not in begun else 1.0
        gain *= LAST_GAIN if last[line.speaker] == line.index else 1.0
        gain *= CITED_GAIN if line.index in cited else 1.0
        found.append((sentence, gain + 0.5 * line.message.importance_score))
        begun.add(line.index)
    return found


def _is_telling(sentence: Sentence, reading: Reading, *, is_assistant: bool) -> bool:
    text = clean(sentence.text).strip()
    least = 2 * FEWEST_WORDS if reading.language == "zh" else FEWEST_WORDS
    if sentence.words < least or len(sentence.terms) < 2 or sentence.language != reading.language:
        return False
    if not is_assistant:
        return phrases(sentence.language).idle.search(text) is None or len(sentence.terms) > 3
    is_statement = re.search(r"[.!?。！？…]\W*$", text) is not None
    return is_statement and not mark("offer").search(text) and not mark("assistant_opener").search(text)


def _told(sentence: Sentence, reading: Reading, limit: int) -> Told:
    text = ended(clipped(" ".join(clean(sentence.text).split()), limit), reading.language)
    return Told(first_name(reading.lines[sentence.line].speaker, reading), text, is_told=False)


def _text(told: Sequence[Told], reading: Reading) -> str:
    space = phrases(reading.language).templates["space"]
    return space.join(sentence_of(run, reading) for run in runs_of(told))
