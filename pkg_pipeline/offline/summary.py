"""The summary text: two to four sentences in the conversation's language, at most 200 words (P13)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.normalise import sentences, word_count
from pkg_pipeline.memory.text.speech import fluent
from pkg_pipeline.offline.centrality import Piece, coverage_order, lexrank
from pkg_pipeline.offline.heads import chance_of
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.publishing import Publishing
from pkg_pipeline.offline.reading import Reading, Sentence, count_words, terms_of
from pkg_pipeline.offline.retelling import Told, clipped, first_name, retell, runs_of, sentence_of
from pkg_pipeline.offline.weighing import has_money, is_question

MOST_WORDS = 190
"""Below the limit of 200: the gate may count hyphens differently."""
MOST_CHARACTERS = 270
"""For Chinese: the gate takes one and a half characters for a word."""
MOST_SENTENCES = 4
WORDS_AT_LEAST = 16
LEAST_LEFT = 6
WORDS_PER_ROOT = 1.85
CHINESE_FACTOR = 3.2
"""Chinese characters count as words; the same content takes more of them."""
MOST_PIECES = 7
MOST_OF_TALK = 0.4
"""Of the words of a talk at most this share."""
LEAST_OF_TALK = 0.25
"""A summary is not cut below it for the sake of the names in it."""
MEETING_PIECE_WORDS = 7
UNIT_WORDS = 45
UNIT_CHARACTERS = 80
QUESTION_GAIN = 0.6
MONEY_GAIN = 1.15
IDLE_GAIN = 0.4
OUTCOME_GAIN = 1.6
NO_NEWS = 0.3
"""What a line is worth of which nothing is known."""
FACT_SHARE = 0.5
"""How far a fact makes a line worth telling: half of them say only that somebody has a mother."""
CITED_CHANCE = 0.9
SHORTNESS_POWER = 0.6
CHAT_SHORTNESS_POWER = 0.5
CHINESE_SHORTNESS_POWER = 1.0
"""For Chinese talk from ``CHINESE_TALK_CHARACTERS`` on: 0 takes the longest pieces, 1 the densest per word."""
LONG_TALK_WORDS = 1_000
"""What is said of lines of longer talks is too unsure to be put before what they speak of."""
CHINESE_TALK_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or neighbouring fragments of one speaker."""

    sentence: Sentence
    text: str
    terms: tuple[str, ...]
    words: int


class Evidence(NamedTuple):
    """Lines of decisions and tasks, the sentences that settle or promise, and lines that tell a fact."""

    lines: frozenset[int] = frozenset()
    outcomes: frozenset[Sentence] = frozenset()
    facts: frozenset[int] = frozenset()


def most_words(language: Language) -> int:
    """Length limit in words; in Chinese in characters."""
    return MOST_CHARACTERS if language == "zh" else MOST_WORDS


def budget_words(reading: Reading) -> int:
    """Target length: grows with the square root of the input."""
    factor = CHINESE_FACTOR if reading.language == "zh" else 1.0
    return min(most_words(reading.language), round(WORDS_AT_LEAST + factor * WORDS_PER_ROOT * math.sqrt(reading.words)))


def _cleaned(sentence: Sentence, reading: Reading) -> str:
    """The words as said without greetings and answers before them; of a transcript without its hesitations."""
    is_transcript = reading.is_meeting or reading.is_fragmentary
    text = fluent(sentence.text) if is_transcript else " ".join(sentence.text.split())
    return phrases(sentence.language).prelude.sub("", text)


def units_of(reading: Reading) -> list[Unit]:
    """Sentences, or runs of one speaker's fragments of up to ``UNIT_WORDS`` words."""
    pieces: list[tuple[Sentence, str]] = []
    for _, sentence in reading.heard:
        text = _cleaned(sentence, reading)
        if pieces and reading.is_fragmentary:
            head, said = pieces[-1]
            same = reading.lines[head.line].speaker == reading.lines[sentence.line].speaker
            if same and not re.search(r"[.!?]$", said) and count_words(said + text) <= UNIT_WORDS:
                pieces[-1] = (head, f"{said.rstrip(',;:')}; {text}")
                continue
        pieces.append((sentence, text))
    return _telling([Unit(s, text, terms_of(text, s.language), count_words(text)) for s, text in pieces], reading)


def _telling(units: list[Unit], reading: Reading) -> list[Unit]:
    """Without units too short to tell anything, if there are longer ones."""
    least = MEETING_PIECE_WORDS if reading.is_meeting else 3
    own = [u for u in units if u.terms and u.sentence.language == reading.language]
    units = own or units  # a summary is in the conversation's language (B9)
    telling = [u for u in units if u.terms and u.words >= least and not (len(u.terms) <= 2 and _idles(u))]
    return telling or [u for u in units if u.terms]


def _idles(unit: Unit) -> bool:
    return phrases(unit.sentence.language).idle.search(unit.text) is not None


def _gains(reading: Reading, units: Sequence[Unit], found: Evidence) -> list[float]:
    """What each unit is worth: how central it is, and in short talks how probably it is news."""
    central = lexrank([u.terms for u in units])
    gains: list[float] = []
    for i, unit in enumerate(units):
        gain = 0.4 + float(central[i]) + 0.5 * reading.lines[unit.sentence.line].message.importance_score
        gain *= QUESTION_GAIN if is_question(unit.text) else 1.0
        gain *= IDLE_GAIN if _idles(unit) else 1.0
        gain *= MONEY_GAIN if has_money(unit.text) else 1.0
        if reading.words < LONG_TALK_WORDS:
            gain *= NO_NEWS + _news(reading, unit.sentence.line, found)
            gain *= OUTCOME_GAIN if unit.sentence in found.outcomes else 1.0
        gains.append(gain)
    return gains


def _news(reading: Reading, line: int, found: Evidence) -> float:
    """How probably a line says a task, a decision, something done or a fact of somebody."""
    none = 1 - FACT_SHARE * (line in found.facts)
    if not reading.chances:
        return 1 - none * (1 - CITED_CHANCE * (line in found.lines))
    said = reading.chances[line]
    return 1 - none * math.prod(1 - chance_of(one) for one in (said.task, said.decision, said.done))


def _listed(items: Sequence[str], templates: Mapping[str, str]) -> str:
    return templates["and"].join([templates["comma"].join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def _names(reading: Reading) -> str:
    templates, names = phrases(reading.language).templates, [first_name(p, reading) for p in reading.speakers]
    if len(names) <= 4:
        return _listed(names, templates) or "?"
    return templates["others"].format(who=templates["comma"].join(names[:3]))


def overview(reading: Reading, topics: Sequence[str]) -> str:
    templates = phrases(reading.language).templates
    text = templates["discussed"].format(who=_names(reading), topics=_listed(topics, templates))
    return text[0].upper() + text[1:]


def summarise(reading: Reading, topics: Sequence[str], found: Evidence, publishing: Publishing) -> str:
    """The summary, never empty: what was settled and promised (``found``), then what is said most."""
    units = units_of(reading)
    if not units:
        return phrases(reading.language).templates["empty"].format(who=_names(reading))
    budget = min(budget_words(reading), round(MOST_OF_TALK * reading.words))
    parts: list[str] = []
    at_most = MOST_SENTENCES
    if reading.is_meeting and topics and publishing.is_true(opening := overview(reading, topics)):
        parts.append(opening)
        at_most -= 1
    left = max(LEAST_LEFT, budget - count_words(" ".join(parts)))
    limit = _piece_limit(reading, left)
    told = [retell(u.text, u.sentence, reading, budget=limit) for u in units]

    @cache
    def sound(i: int) -> bool:
        """Whether the gate would publish a piece; what is untrue in the third person is quoted."""
        if told[i].is_told and not publishing.is_true(told[i].text):
            told[i] = retell(units[i].text, units[i].sentence, reading, budget=limit, as_said=True)
        return publishing.may_quote(sentence_of([told[i]], reading))

    gains = _gains(reading, units, found)
    pieces = [Piece(u.terms, min(u.words, limit) + 1, gain) for u, gain in zip(units, gains, strict=True)]
    order = coverage_order(
        pieces,
        budget=left,
        at_most=MOST_PIECES,
        power=_power(reading),
        fits=lambda chosen: len(runs_of([told[i] for i in chosen])) <= at_most and all(map(sound, chosen)),
    )
    outcomes = {i for i in order if units[i].sentence in found.outcomes}
    order = within_share(order, outcomes, told, reading)
    if not order:
        order = [min(range(len(units)), key=lambda i: (not sound(i), pieces[i].cost))]
    parts += _sentences(order, told, reading)
    return _joined(parts, reading)


def _sentences(chosen: Sequence[int], told: Sequence[Told], reading: Reading) -> list[str]:
    return [sentence_of(run, reading) for run in runs_of([told[i] for i in sorted(chosen)])]


def within_share(chosen: Sequence[int], spared: Collection[int], told: Sequence[Told], reading: Reading) -> list[int]:
    """Without what was chosen last, ``spared`` apart, where the names before the pieces make them too long for the talk
    and enough is left.
    """
    kept = list(chosen)
    for i in reversed(chosen):
        less = [one for one in kept if one != i]
        if i in spared or words_of(less, told, reading) < LEAST_OF_TALK * reading.words:
            continue
        if words_of(kept, told, reading) <= MOST_OF_TALK * reading.words:
            break
        kept = less
    return kept


def words_of(chosen: Sequence[int], told: Sequence[Told], reading: Reading) -> int:
    """Of what is told, with the names before it."""
    return count_words(" ".join(_sentences(chosen, told, reading)))


def _power(reading: Reading) -> float:
    if reading.language == "zh" and reading.words >= CHINESE_TALK_CHARACTERS:
        return CHINESE_SHORTNESS_POWER
    return SHORTNESS_POWER if reading.is_meeting else CHAT_SHORTNESS_POWER


def _piece_limit(reading: Reading, left: int) -> int:
    if reading.language == "zh":
        return UNIT_CHARACTERS
    return UNIT_WORDS if reading.is_meeting else max(LEAST_LEFT, round(left * 0.8))


def fits(text: str, sentences_at_most: int = MOST_SENTENCES) -> bool:
    return word_count(text) <= MOST_WORDS and len(sentences(text)) <= sentences_at_most


def _joined(parts: list[str], reading: Reading) -> str:
    space = phrases(reading.language).templates["space"]
    while len(parts) > 1 and not fits(space.join(parts)):
        parts = parts[:-1]
    return clipped(space.join(parts), most_words(reading.language))
