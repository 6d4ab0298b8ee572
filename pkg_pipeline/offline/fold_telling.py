"""The summary text of a stretch in which an assistant takes part: who said what, in order, two to six sentences.

Assistants answer in documents; what is told of them is how they begin and what their answers have in common, and of
those who ask, what they ask. Talks between people are told by ``summary``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.gate.foreign import foreign, known
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.normalise import sentences, word_count
from pkg_pipeline.memory.session.fold_gate import MAX_SENTENCES
from pkg_pipeline.offline.centrality import Piece, coverage_order, lexrank
from pkg_pipeline.offline.fold_reading import clean
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading, Sentence
from pkg_pipeline.offline.retelling import Told, clipped, first_name, sentence_of
from pkg_pipeline.offline.summary import MOST_CHARACTERS, MOST_WORDS, budget_words

MOST_PIECES: Final = 9
PIECE_WORDS: Final = 45
PIECE_CHARACTERS: Final = 90
FEWEST_WORDS: Final = 4
BUDGET_SHARE: Final = 1.3
"""A fold stands for its messages: it may say a little more than a summary that stands beside them."""

POWER: Final = 0.35
ASKED_GAIN: Final = 2.5
FIRST_GAIN: Final = 1.4
LAST_GAIN: Final = 1.3
CITED_GAIN: Final = 1.5

OFFER: Final = re.compile(
    r"\b(?:would you like|do you want me|should i (?:also )?(?:show|write|help|explain|elaborate)|shall i|let me know"
    r"|feel free|can i help|any (?:other )?questions|happy to help|hope (?:this|that) helps|need (?:further|more) help"
    r")\b"
    r"|хотите,? чтобы|хочешь,? чтобы|если (?:нужно|хотите|хочешь|возникнут|остались)|дайте знать|дай знать|обращайтесь"
    r"|是否需要|需要我|如果你(?:需要|想)|请告诉我|随时",
    re.IGNORECASE,
)
"""What an assistant closes with; it says nothing of the matter and expects no answer."""

_OPENER = re.compile(
    r"^(?:sure|certainly|of course|absolutely|great|good (?:question|idea)|excellent|you'?re (?:right|welcome)|i'?ll\b"
    r"|i(?:'d| would) (?:be|love)|i apologi[sz]e|i see|here(?:'s| is| are)|below (?:is|are)|thanks?|okay|ok\b|let'?s\b"
    r"|конечно|разумеется|отличн|хорош|спасибо|вот\b|понял|давайте|当然|好的|没问题|谢谢|以下是|很好)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Unit:
    sentence: Sentence
    text: str
    gain: float


def tell(reading: Reading, assistant_ids: frozenset[UUID], cited: Mapping[int, float]) -> str | None:
    """The summary; ``cited`` are lines that something extracted rests on. None where nothing can be told."""
    units = _units(reading, assistant_ids, cited)
    if not units:
        return None
    limit = PIECE_CHARACTERS if reading.language == "zh" else PIECE_WORDS
    told = [_told(unit, reading, limit) for unit in units]
    central = lexrank([unit.sentence.terms for unit in units])
    pieces = [
        Piece(unit.sentence.terms, min(unit.sentence.words, limit) + 1, unit.gain * (0.4 + float(central[place])))
        for place, unit in enumerate(units)
    ]
    held = known(reading.source)
    most = MOST_CHARACTERS if reading.language == "zh" else MOST_WORDS

    @cache
    def is_sound(place: int) -> bool:
        return foreign(sentence_of([told[place]], reading), held) is None

    def fits(chosen: Sequence[int]) -> bool:
        text = _text([told[place] for place in chosen], reading)
        is_short = len(sentences(text)) <= MAX_SENTENCES and word_count(text) <= MOST_WORDS
        return is_short and all(map(is_sound, chosen))

    budget = min(most, round(BUDGET_SHARE * budget_words(reading)))
    order = coverage_order(pieces, budget=budget, at_most=MOST_PIECES, power=POWER, fits=fits)
    return _text([told[place] for place in sorted(order)], reading) if order else None


def nothing_told(reading: Reading) -> str:
    """That something was said and by whom, of a stretch of which nothing else can be published."""
    names = [name for person in reading.speakers[:3] if not gives_orders(name := first_name(person, reading))]
    who = ("、" if reading.language == "zh" else ", ").join(names) or "?"
    return phrases(reading.language).templates["empty"].format(who=who)


def _units(reading: Reading, assistant_ids: frozenset[UUID], cited: Mapping[int, float]) -> list[_Unit]:
    last = {line.speaker: line.index for line in reading.lines if line.sentences and not line.is_data}
    least = 2 * FEWEST_WORDS if reading.language == "zh" else FEWEST_WORDS
    found: list[_Unit] = []
    for line in reading.lines:
        if line.is_data:
            continue
        is_assistant = line.speaker.entity_id in assistant_ids
        is_first = True
        for sentence in line.sentences:
            if not _is_telling(sentence, reading, least, is_assistant=is_assistant):
                continue
            gain = 1.0 if is_assistant else ASKED_GAIN
            gain *= FIRST_GAIN if is_first else 1.0
            gain *= LAST_GAIN if last.get(line.speaker) == line.index else 1.0
            gain *= CITED_GAIN if line.index in cited else 1.0
            found.append(_Unit(sentence, clean(sentence.text), gain + 0.5 * line.message.importance_score))
            is_first = False
    return found


def _is_telling(sentence: Sentence, reading: Reading, least: int, *, is_assistant: bool) -> bool:
    text = clean(sentence.text).strip()
    if sentence.words < least or len(sentence.terms) < 2 or sentence.language != reading.language:
        return False
    if not is_assistant:
        return phrases(sentence.language).idle.search(text) is None or len(sentence.terms) > 3
    is_statement = re.search(r"[.!?。！？…]\W*$", text) is not None
    return is_statement and not OFFER.search(text) and not _OPENER.search(text)


def _told(unit: _Unit, reading: Reading, limit: int) -> Told:
    text = clipped(" ".join(unit.text.split()), limit).strip(" ,，;；、-–—")
    text = text[0].upper() + text[1:]
    ended = text if re.search(r"[.!?。！？…]$", text) else text + ("。" if reading.language == "zh" else ".")
    return Told(first_name(reading.lines[unit.sentence.line].speaker, reading), ended, is_told=False)


def _text(told: Sequence[Told], reading: Reading) -> str:
    runs: list[list[Told]] = []
    for piece in told:
        if runs and runs[-1][-1].speaker == piece.speaker:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return ("" if reading.language == "zh" else " ").join(sentence_of(run, reading) for run in runs)
