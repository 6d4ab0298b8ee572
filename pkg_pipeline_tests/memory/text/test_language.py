"""The language of texts and conversations by their letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.text.language import detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("12345 👍 !!!", "en"),
        ("hello there", "en"),
        ("привет", "ru"),
        ("你好", "zh"),
        ("привет, смотри https://example.com/a/very/long/path/with-many-letters?query=string", "ru"),
        ("好的 www.example.com/some/long/path", "zh"),
        ("看https://example.com/long/path，很好", "zh"),
        ("@somebody_with_a_long_name привет", "ru"),
        ("вот код:\n```\ndef main():\n    return some_function(argument)\n```", "ru"),
        ("запусти `python -m package.module --verbose` ещё раз", "ru"),
        ("我们用React和TypeScript写前端", "zh"),  # 7 Han × 3 = 21 against 15 Latin
        ("I met 李雷 yesterday in the park", "en"),  # 2 Han × 3 = 6 against 22 Latin
        ("поставь Docker и PostgreSQL", "en"),  # 8 Cyrillic letters against 16: by letters it is Latin
        ("пиши на long.address@example-company.com", "ru"),
        ("/start_the_bot да", "ru"),
        ("да no", "en"),  # 2 against 2: a tie
        ("правь src/components/VeryLongComponentName.tsx", "ru"),
        ("<b>жирный</b>", "ru"),
        ("[archived]", "en"),
        ("Слава Україні", "ru"),
    ],
)
def test_the_script_of_what_is_said_decides(text: str, language: str) -> None:
    assert detect([text]) == language


def test_a_pasted_article_does_not_outvote_a_conversation() -> None:
    chat = ["глянь статью, там интересно про горы и палатки"] * 20
    assert detect([*chat, "An article about mountains. " * 500]) == "ru"


def test_a_conversation_without_letters_is_english() -> None:
    assert detect([]) == "en"
    assert detect(["", "👍", "https://example.com"]) == "en"


@given(
    st.lists(st.sampled_from(["привет всем", "hello", "好的", "да", "ok", "https://a.b/c", "", "x " * 400])),
    st.randoms(use_true_random=False),
)
def test_the_order_of_messages_does_not_matter(texts: list[str], random: object) -> None:
    shuffled = list(texts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert detect(texts) == detect(shuffled)


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_a_language(text: str) -> None:
    assert detect([text]) in ("en", "ru", "zh")
