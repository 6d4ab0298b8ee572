"""The terms of a question: weights, and which of them are looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from pkg_pipeline.memory.languages import COMMON, table
from pkg_pipeline.memory.recall.lexical import question_vector, rare_first, term_number
from pkg_pipeline.memory.text.name_forms import across_scripts
from pkg_pipeline.memory.text.name_links import keys_of_question
from pkg_pipeline.stages.ports import TermAnalyzer
from pkg_pipeline.stages.recall.records import QuestionFacts

NAME_WORDS = 0.3
"""Weight of a name: the ranking already weighs speakers."""
OTHER_WORDS = 0.5
"""Weight of a term only in other phrasings or languages."""
FETCHED_CHUNKS = 2_000
"""Chunks of a scope that may share a term before more common terms are skipped."""
MOST_FETCHED_CHUNKS = 100_000
"""The same over the whole memory, which the index lists cover."""
REMEMBERED_TERMS = 4_096
BEGINNINGS = (2, 3)
"""Letters that a term shares with its word for certain."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """The question's terms, and those only in other phrasings, each once."""

    asked: tuple[str, ...]
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, analyzer: TermAnalyzer, question: str, phrasings: Sequence[str]) -> Words:
        asked = dict.fromkeys(analyzer.terms(question))
        others = dict.fromkeys(term for text in phrasings for term in analyzer.terms(text))
        others |= dict.fromkeys(in_other_languages(analyzer, tuple(asked)))
        return cls(tuple(asked), tuple(term for term in others if term not in asked))

    def weighed(self, facts: QuestionFacts) -> dict[int, float]:
        others = question_vector(self.others, facts.document_frequencies, facts.chunks)
        asked = question_vector(self.asked, facts.document_frequencies, facts.chunks)
        weights = {number: OTHER_WORDS * weight for number, weight in others.items()} | asked
        return {number: NAME_WORDS * weight if number in facts.names else weight for number, weight in weights.items()}

    def is_foreign(self, facts: QuestionFacts) -> bool:
        """Whether none of the question's own words occurs."""
        return facts.document_frequencies.keys().isdisjoint(map(term_number, self.asked))

    def fetched(self, facts: QuestionFacts, *, is_needed: bool) -> tuple[int, ...]:
        """Terms to look up, rare ones first; those of other phrasings if there is room.

        None if the terms are too common and vectors bring candidates anyway (``is_needed`` False).
        """
        limit = _fetch_limit(facts)
        asked = rare_first(self.asked, facts.document_frequencies, limit=limit)
        if asked.chunks > limit and not is_needed:
            return ()
        room = limit - asked.chunks
        if not self.others or asked.left_out or room <= 0:
            return asked.terms
        others = rare_first(self.others, facts.document_frequencies, limit=room)
        return tuple(dict.fromkeys((*asked.terms, *(others.terms if others.chunks <= room else ()))))


def in_other_languages(analyzer: TermAnalyzer, terms: Sequence[str]) -> list[str]:
    """The terms that say the same in other languages (``languages/common/lexicon.toml``)."""
    asked = frozenset(terms)
    return [
        other for term in terms for word, others in _translated(analyzer, term) if word <= asked for other in others
    ]


@lru_cache(maxsize=REMEMBERED_TERMS)
def _translated(analyzer: TermAnalyzer, term: str) -> tuple[tuple[frozenset[str], tuple[str, ...]], ...]:
    """Of each word that begins with this term: all its terms, and those of its row in other languages."""
    found: list[tuple[frozenset[str], tuple[str, ...]]] = []
    for word, row, cell in _lexicon().get(term[: BEGINNINGS[-1]], ()):
        terms = analyzer.terms(word)
        if terms[:1] == [term]:
            others = " ".join(other for other in row if other is not cell)
            found.append((frozenset(terms), tuple(dict.fromkeys(analyzer.terms(others)))))
    return tuple(found)


@cache
def _lexicon() -> dict[str, list[tuple[str, tuple[str, ...], str]]]:
    """By the beginning of a word: the word, its row and its cell of the row."""
    found: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}
    for line in table(COMMON, "lexicon")["rows"]:
        row = tuple(line.replace("ё", "е").split("|"))
        for cell in row:
            for word in cell.split():
                for begun in {word[:length] for length in BEGINNINGS}:
                    found.setdefault(begun, []).append((word, row, cell))
    return found


def _fetch_limit(facts: QuestionFacts) -> int:
    """Limit over the whole memory: a small scope reads only its share."""
    scope = min((one.chunks for one in facts.scopes), default=0)
    if not scope or scope >= facts.chunks:
        return FETCHED_CHUNKS
    return min(FETCHED_CHUNKS * facts.chunks // scope, MOST_FETCHED_CHUNKS)


def foreign_names(query: str) -> list[str]:
    """The words of a question as names in the other script, and as short or foreign ones."""
    words = _WORD.findall(query.casefold().replace("ё", "е"))
    return [*(key for word in words for key in across_scripts(word)), *keys_of_question(query)]
