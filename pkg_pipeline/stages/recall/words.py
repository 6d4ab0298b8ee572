"""The terms of a question: weights, and which of them are looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pkg_pipeline.memory.recall.lexical import question_vector, rare_first
from pkg_pipeline.memory.text.name_forms import across_scripts
from pkg_pipeline.memory.text.name_links import keys_of_question
from pkg_pipeline.stages.ports import TermAnalyzer
from pkg_pipeline.stages.recall.records import QuestionFacts

NAME_WORDS = 0.3
"""Weight of a name: the ranking already weighs speakers."""
OTHER_WORDS = 0.5
"""Weight of a term only in other phrasings."""
FETCHED_CHUNKS = 2_000
"""Chunks of a scope that may share a term before more common terms are skipped."""
MOST_FETCHED_CHUNKS = 100_000
"""The same over the whole memory, which the index lists cover."""
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
        return cls(tuple(asked), tuple(term for term in others if term not in asked))

    def weighed(self, facts: QuestionFacts) -> dict[int, float]:
        others = question_vector(self.others, facts.document_frequencies, facts.chunks)
        asked = question_vector(self.asked, facts.document_frequencies, facts.chunks)
        weights = {number: OTHER_WORDS * weight for number, weight in others.items()} | asked
        return {number: NAME_WORDS * weight if number in facts.names else weight for number, weight in weights.items()}

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
