"""The terms of a question: their weights, and which of them are looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pkg_pipeline.memory.recall.lexical import question_vector, rare_first
from pkg_pipeline.memory.text.name_forms import across_scripts
from pkg_pipeline.stages.ports import TermAnalyzer
from pkg_pipeline.stages.recall.records import QuestionFacts

NAME_WORDS = 0.3
"""What a name counts among the words: whoever speaks is weighed by the ranking, this leaves who is spoken of."""
OTHER_WORDS = 0.5
"""What a word that only other phrasings have counts, against one of the question."""
FETCHED_CHUNKS = 2_000
"""So many chunks of a scope may share a word with the question before its commoner words stop bringing candidates."""
MOST_FETCHED_CHUNKS = 100_000
"""The same for the whole memory: even the lists of words that a small scope is cut out of have to be gone through."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """The terms that are searched for, each once: the question's, and those that only other phrasings of it have."""

    asked: tuple[str, ...]
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, analyzer: TermAnalyzer, question: str, phrasings: Sequence[str]) -> Words:
        asked = dict.fromkeys(analyzer.terms(question))
        others = dict.fromkeys(term for text in phrasings for term in analyzer.terms(text))
        return cls(tuple(asked), tuple(term for term in others if term not in asked))

    def weighed(self, facts: QuestionFacts) -> dict[int, float]:
        """Term number → what it counts."""
        others = question_vector(self.others, facts.document_frequencies, facts.chunks)
        asked = question_vector(self.asked, facts.document_frequencies, facts.chunks)
        weights = {number: OTHER_WORDS * weight for number, weight in others.items()} | asked
        return {number: NAME_WORDS * weight if number in facts.names else weight for number, weight in weights.items()}

    def fetched(self, facts: QuestionFacts, *, is_needed: bool) -> tuple[int, ...]:
        """Terms by which chunks are looked up. Other phrasings take the room that the question leaves.

        Terms that are too common are not looked up where the vectors bring candidates, which are scored by words too.
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
    """How many chunks of the memory the words that are looked up may have: of a small scope only its part is read."""
    scope = min((one.chunks for one in facts.scopes), default=0)
    if not scope or scope >= facts.chunks:
        return FETCHED_CHUNKS
    return min(FETCHED_CHUNKS * facts.chunks // scope, MOST_FETCHED_CHUNKS)


def foreign_names(query: str) -> list[str]:
    """What the words of a question would be as names in the other script."""
    return [key for word in _WORD.findall(query.casefold().replace("ё", "е")) for key in across_scripts(word)]
