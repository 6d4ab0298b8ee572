"""Key phrases, tone, and important messages of a conversation.

YAKE was rejected: 0.8 s to import, overlapping phrases, no Chinese.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Literal

from pkg_pipeline.memory.text.language_data import LANGUAGES
from pkg_pipeline.offline import transcripts
from pkg_pipeline.offline.centrality import lexrank, term_weights
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, terms_of, words_of
from pkg_pipeline.offline.weighing import has_money

MOST_PHRASES = 7
WORDS_A_PHRASE = 24
CHARACTERS_A_PHRASE = 40
"""A short talk has fewer phrases: one for so many words, in Chinese characters."""
MOST_RANKED = 200
LONGEST_RUN = 3
RUN_BONUS = (1.0, 1.25, 1.3)
"""By number of words in a run."""
ALIKE = 80
"""rapidfuzz percent of equal phrases."""

Tone = Literal["positive", "neutral", "negative", "formal", "informal"]
FEELING_SHARE = 0.15
"""Share of messages that makes a feeling the tone, if 1.5 times its opposite."""
MANNER_SHARE = 0.12

FRAGMENT_SHARE = 0.14
"""Share of lines kept of fragmentary speech."""
WHOLE_SHARE = 0.1
LONG_TALK_WORDS = 1_000
"""In longer talks numbers and days do not make a line important."""

_CLAUSE_END = re.compile(r"[,.;:!?()\"«»，。；：！？、（）“”\n]+")


def _runs(sentence: Sentence) -> list[list[str]]:
    stop = phrases(sentence.language).stopwords
    runs: list[list[str]] = []
    for clause in _CLAUSE_END.split(sentence.text):
        runs.append([])
        for word in words_of(clause, sentence.language):
            if word in stop or len(word) < 2 or any(ch.isdigit() for ch in word):
                runs.append([])
            else:
                runs[-1].append(word)
    return [run for run in runs if run]


def ranked_phrases(reading: Reading) -> list[tuple[str, float]]:
    """Candidate phrases with weights, best first, without participants' names."""
    names = {term for p in reading.source.participants for lang in LANGUAGES for term in terms_of(p.name, lang)}
    lines: dict[tuple[str, ...], set[int]] = defaultdict(set)
    shown: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for _, sentence in reading.heard:
        space = phrases(sentence.language).templates["space"]
        for run in _runs(sentence):
            for size in range(1, LONGEST_RUN + 1):
                for start in range(len(run) - size + 1):
                    words = run[start : start + size]
                    key = terms_of(" ".join(words), sentence.language)
                    if len(key) == size and not set(key) & names:
                        lines[key].add(sentence.line)
                        shown[key][space.join(words)] += 1
    total = max(1, len(reading.lines))
    scored: list[tuple[str, float]] = []
    for key, where in lines.items():
        if len(key) > 1 and len(where) < 2 and total > 12:
            continue
        best = min(shown[key], key=lambda form: (-shown[key][form], form))
        rarity = math.log((total + 1) / (len(where) + 0.5)) + 0.3
        length = min(1.4, 0.7 + (0.2 if re.search(r"[\u4e00-\u9fff]", best) else 0.08) * len(best))
        scored.append((best, math.log1p(len(where)) * rarity * RUN_BONUS[len(key) - 1] * length))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def key_phrases(reading: Reading, is_true: Callable[[str], bool] = lambda _: True) -> list[str]:
    """Up to ``MOST_PHRASES``, in short talks true ones, without near duplicates; empty without content."""
    from rapidfuzz import fuzz

    if reading.words >= LONG_TALK_WORDS:  # there the gate is asked once, after the answer
        is_true = bool

    each = CHARACTERS_A_PHRASE if reading.language == "zh" else WORDS_A_PHRASE
    most = min(MOST_PHRASES, max(1, reading.words // each))
    kept: list[str] = []
    for phrase, _ in ranked_phrases(reading)[:MOST_RANKED]:
        if not any(phrase in other or other in phrase or fuzz.ratio(phrase, other) >= ALIKE for other in kept):
            kept += [phrase] if is_true(phrase) else []
            if len(kept) == most:
                break
            continue
        place = next((i for i, other in enumerate(kept) if other in phrase), None)
        if place is not None and phrase.count(" ") <= 2:
            rest = [other for other in kept if other != kept[place]]
            is_new = phrase not in kept[place] and not any(phrase in other or other in phrase for other in rest)
            if is_new and is_true(phrase):
                kept[place] = phrase
    return kept


def tone_of(reading: Reading) -> Tone:
    """By counting words (P13): negative, positive, formal, informal, in this order."""
    counts: Counter[str] = Counter()
    for line in reading.lines:
        table, text = phrases(line.language), line.message.text[:2000]
        colours = {"positive": table.positive, "negative": table.negative}
        colours |= {"formal": table.formal, "informal": table.informal}
        counts.update(name for name, words in colours.items() if words.search(text))
    share = {name: counts[name] / max(1, len(reading.lines)) for name in ("positive", "negative", "formal", "informal")}
    if share["negative"] >= FEELING_SHARE and share["negative"] >= 1.5 * share["positive"]:
        return "negative"
    if share["positive"] >= 2 * FEELING_SHARE and share["positive"] >= 1.5 * share["negative"]:
        return "positive"
    if share["formal"] >= MANNER_SHARE and share["formal"] >= 1.2 * share["informal"]:
        return "formal"
    return "informal" if share["informal"] >= MANNER_SHARE and share["informal"] > share["formal"] else "neutral"


def _concrete(line: Line) -> bool:
    return any(
        has_money(s.text) or any(d.day >= line.day for d in find_dates(s.text, s.language, line.day))
        for s in line.sentences
    )


def weights_of(reading: Reading) -> list[float]:
    bags = [[t for s in line.sentences for t in s.terms] for line in reading.lines]
    weights, central = term_weights(bags), lexrank(bags)
    out: list[float] = []
    for line, bag in zip(reading.lines, bags, strict=True):
        value = math.fsum(weights[term] for term in set(bag)) * (0.0 if line.is_data else 1.0)
        value *= 0.5 + float(central[line.index])
        value *= 1.0 + 0.2 * any(mark("statistic").search(s.text) or has_money(s.text) for s in line.sentences)
        out.append(value)
    return out


def important_lines(reading: Reading, cited: Iterable[int], always: Iterable[int]) -> list[int]:
    """Indices in order (P16): ``always``, evidence and concrete lines (short talks), then the weightiest."""
    weights, share = weights_of(reading), FRAGMENT_SHARE if reading.is_fragmentary else WHOLE_SHARE
    if reading.is_transcript:
        weights, share = transcripts.importance(reading, weights), transcripts.SHARE
    wanted = max(1, round(share * len(reading.lines)))
    chosen = set(always)
    if reading.words < LONG_TALK_WORDS:
        chosen |= {*cited, *(line.index for line in reading.lines if not line.is_data and _concrete(line))}
    for index in sorted(range(len(weights)), key=lambda i: (-weights[i], i)):
        if len(chosen) >= wanted:
            break
        if weights[index] > 0:
            chosen.add(index)
    return sorted(chosen)
