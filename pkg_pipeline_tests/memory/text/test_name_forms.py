"""Names across scripts: what a question in one script and a name in the other have in common."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.text.name_forms import across_scripts, inflections


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("marina", "марина"),
        ("марина", "marina"),
        ("anna", "анна"),
        ("alexey", "алексей"),
        ("yulia", "юлия"),
        ("дениела", "deniel"),
        ("олегом", "олег"),
    ],
)
def test_a_name_is_known_in_the_other_script(asked: str, name: str) -> None:
    keys = {key for form in inflections(name) for key in across_scripts(form)}
    assert keys & set(across_scripts(asked))


@pytest.mark.parametrize("word", ["я", "ян", "li", "周敏", "7"])
def test_what_is_too_short_or_in_no_alphabet_has_no_key_that_others_share(word: str) -> None:
    assert all(len(key) > 3 for key in across_scripts(word))
