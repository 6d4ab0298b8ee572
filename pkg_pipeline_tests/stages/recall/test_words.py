"""The words of a question in other languages."""

from __future__ import annotations

import pytest

from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.memory.languages import COMMON, table
from pkg_pipeline.stages.recall.words import Words, in_other_languages

ANALYZER = SnowballTerms()


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("When is the rent due?", "аренда 房租"),
        ("Сколько стоит свадьба?", "wedding 婚礼"),
        ("房东什么时候来？", "landlord хозяин"),
        ("Who repaired the roof of our neighbours?", "починить крыша соседи 屋顶 邻居"),
    ],
)
def test_everyday_words_are_also_looked_for_in_other_languages(question: str, others: str) -> None:
    found = Words.of(ANALYZER, question, ()).others
    assert {*ANALYZER.terms(others)} <= {*found}
    assert not {*ANALYZER.terms(question)} & {*found}


def test_a_word_that_is_in_no_row_has_none() -> None:
    assert in_other_languages(ANALYZER, ANALYZER.terms("Zygmunt, Бжезинский, 齐格蒙特")) == []


def test_every_row_has_a_cell_a_language_and_words_that_are_found() -> None:
    for row in table(COMMON, "lexicon")["rows"]:
        cells = row.split("|")
        assert len(cells) == 3, row
        for cell in cells:
            assert any(ANALYZER.terms(word) for word in cell.split()), row
