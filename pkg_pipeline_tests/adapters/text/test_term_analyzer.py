"""By which terms words are found, in each script; a chunk and a question are cut alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms

ANALYZER = SnowballTerms()

TERMS = [
    # English
    ("The contracts were signed", "contract sign"),
    ("ANNA'S invoice, Anna’s INVOICES", "anna invoic anna invoic"),
    ("Don't, don’t, dont", "dont dont dont"),
    ("I'm not sure you'll come", "not sure come"),
    ("Will may not call Mark or Tom", "will may not call mark tom"),
    ("O'Brien's", "obrien"),
    # Russian
    ("Договоры подписаны, договорам нет", "договор подписа договор нет"),
    ("Ещё счёт и счета за ёлку", "счет счет елк"),
    ("за́мок", "замок"),
    ("Не звоните Тому", "не звон том"),
    # Chinese: pairs; a lone character is itself; particles alone say nothing
    ("讨论合同", "讨论 论合 合同"),
    ("我 去", "去"),
    ("用React写前端", "用 react 写前 前端"),
    ("没有", "没有"),
    ("３月15日", "3 月 15 日"),
    # Japanese, Korean, Thai
    ("東京タワー", "東京 京タ タワ ワー"),
    ("ｶﾞｷﾞ", "ガギ"),
    ("서울에서", "서울 울에 에서"),
    ("ขอบ", "ขอ อบ"),
    # other Latin: without accents, however it was typed
    ("Straße STRASSE strasse", "strass strass strass"),
    ("Übung ubung", "ubung ubung"),
    ("résumé resume re\u0301sume\u0301", "resum resum resum"),
    ("Łódź łodz Ørsted", "lodz lodz orst"),
    ("İstanbul", "istanbul"),
    # others as they are
    ("Ελλάδα", "ελλάδα"),
    ("हिन्दी", "हिन्दी"),
    ("שלום", "שלום"),
    # numbers
    ("1,500.50 and 12,345 and 3,5", "1500.50 12345 3.5"),
    ("at 10:30 on 2024-05-12", "10:30 2024 05 12"),
    ("007 10k 5G", "007 10k 5g"),
    ("+7 999 123-45-67", "7 999 123 45 67"),
    # hyphens, addresses, names of programs
    ("e-mail wi‑fi GPT-4", "e mail email wi fi wifi gpt 4 gpt4"),
    ("Санкт-Петербург", "санкт петербург"),
    ("https://www.Example.com/path_one?q=x1", "exampl com path one q x1"),
    ("mail anna@corp.io #release @boris", "mail anna corp io releas bori"),
    # nothing to find
    ("", ""),
    ("👍🏽 !!! — …", ""),
    ("the of и в 的", ""),
    ("a\x00contract\ud800word\udfff", "contract word"),
    ("con\u00adtract zero\u200bwidth", "contract zero width"),
]


@pytest.mark.parametrize(("text", "terms"), TERMS, ids=[ascii(text)[:30] for text, _ in TERMS])
def test_terms(text: str, terms: str) -> None:
    assert " ".join(ANALYZER.terms(text)) == terms


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet=st.characters()) | st.text(alphabet="aя'’-.,:1中か\u0301\u200d ", max_size=40))
def test_any_text_has_terms_or_none_the_same_each_time(text: str) -> None:
    terms = ANALYZER.terms(text)
    assert all(term and not any(letter.isspace() for letter in term) for term in terms)
    assert terms == SnowballTerms(remembered_words=1).terms(text)
    assert terms == ANALYZER.terms(text.lower()) or not text.isascii()


def test_a_word_of_a_megabyte_is_one_term_and_not_remembered() -> None:
    analyzer = SnowballTerms(remembered_words=10)
    assert analyzer.terms("x" * 1_000_000) == ["x" * 1_000_000]
    assert len(analyzer.terms("a-" * 300_000)) < 5
    assert len(analyzer.terms("1." * 300_000)) == 1


def test_threads_share_one_analyzer() -> None:
    texts = [f"contracts{'s' * (n % 7)} договорами{'и' * (n % 5)} signing{n} подписание" for n in range(400)]
    expected = [SnowballTerms().terms(text) for text in texts[:20]]
    shared = SnowballTerms(remembered_words=2)  # nearly every word goes through the stemmers
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.terms, texts))
    assert found[:20] == expected
    assert found == [ANALYZER.terms(text) for text in texts]
