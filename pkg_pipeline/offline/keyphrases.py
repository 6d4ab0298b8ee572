"""Key phrases: what a conversation is about in one to three words each, without doubles. Own TF-IDF over word runs.

YAKE was tried: it needs 0.8 s to import, gives overlapping phrases and does not know Chinese; counting runs of content
words in the messages that hold them does the same work within the first milliseconds.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading, Sentence, terms_of, words_of

MOST_PHRASES = 7
LONGEST_RUN = 3
RUN_BONUS = (1.0, 1.25, 1.3)
"""A run of two or three words that stand together says more than one word."""
ALIKE = 80
"""rapidfuzz percent from which two phrases are one."""
_JOIN = {"en": " ", "ru": " ", "zh": ""}


def _runs(sentence: Sentence) -> list[list[str]]:
    """Runs of content words that stand together without a stopword or a mark between them."""
    stop = phrases(sentence.language).stopwords
    runs: list[list[str]] = []
    for clause in re.split(r"[,.;:!?()\"«»，。；：！？、（）“”\n]+", sentence.text):
        run: list[str] = []
        for word in words_of(clause, sentence.language):
            if word in stop or len(word) < 2 or any(ch.isdigit() for ch in word):
                if run:
                    runs.append(run)
                run = []
            else:
                run.append(word)
        if run:
            runs.append(run)
    return runs


def ranked_phrases(reading: Reading, sentences: Sequence[Sentence] | None = None) -> list[tuple[str, float]]:
    """Candidate phrases with their weight, best first; names of the participants are no subject."""
    sentences = reading.sentences if sentences is None else sentences
    names = {
        t for p in reading.source.participants for language in ("en", "ru", "zh") for t in terms_of(p.name, language)
    }
    lines: dict[tuple[str, ...], set[int]] = defaultdict(set)
    shown: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        if reading.lines[sentence.line].is_data:
            continue
        for run in _runs(sentence):
            for size in range(1, LONGEST_RUN + 1):
                for start in range(len(run) - size + 1):
                    words = run[start : start + size]
                    key = terms_of(" ".join(words), sentence.language)
                    if len(key) == size and not set(key) & names:
                        lines[key].add(sentence.line)
                        shown[key][_JOIN[sentence.language].join(words)] += 1
    total = max(1, len(reading.lines))
    scored: list[tuple[str, float]] = []
    for key, where in lines.items():
        if len(key) > 1 and len(where) < 2 and total > 12:
            continue
        best = min(shown[key], key=lambda form: (-shown[key][form], form))
        rarity = math.log((total + 1) / (len(where) + 0.5)) + 0.3
        length = min(1.4, 0.7 + 0.08 * len(best) if sentence_is_spaced(best) else 0.7 + 0.2 * len(best))
        scored.append((best, math.log1p(len(where)) * rarity * RUN_BONUS[len(key) - 1] * length))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def sentence_is_spaced(text: str) -> bool:
    return not re.search(r"[\u4e00-\u9fff]", text)


def key_phrases(reading: Reading, at_most: int = MOST_PHRASES) -> list[str]:
    """One to ``at_most`` phrases, none holding or nearly equalling another; empty where nothing has content."""
    from rapidfuzz import fuzz

    kept: list[str] = []
    for phrase, _ in ranked_phrases(reading)[:200]:
        if any(phrase in other or other in phrase or fuzz.ratio(phrase, other) >= ALIKE for other in kept):
            longer = next((i for i, other in enumerate(kept) if other in phrase), None)
            if (
                longer is not None
                and phrase.count(" ") <= 2
                and not any(phrase in o or (o in phrase and o != kept[longer]) for o in kept)
            ):
                kept[longer] = phrase
            continue
        kept.append(phrase)
        if len(kept) == at_most:
            break
    return kept
