"""E-mail addresses of an answer occur in the talk, whatever script stands right beside them (B9, B15)."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.gate.foreign import Known, foreign, without_addresses

SAID = Known("合同您发我邮箱 alex@polden.example，签好就付".replace(" ", ""), frozenset())


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("把合同发到alex@polden.example", False),
        ("请发送到 alex@polden.example。", False),
        ("把合同发到boss@polden.example", True),
        ("把合同发到alex@polden.example.cn", True),
        ("把合同发到坏人@evil.cn", True),
        ("发到boss@坏.cn", True),
    ],
)
def test_words_right_before_an_address_are_no_part_of_it(text: str, is_foreign: bool) -> None:
    assert (foreign(text, SAID) is not None) == is_foreign


def test_an_address_is_of_no_language() -> None:
    assert without_addresses("把合同发到alex@polden.example").split() == ["把合同发到"]
    assert without_addresses("Смета на https://polden.example/a?b=1 и polden.example").split() == ["Смета", "на", "и"]
