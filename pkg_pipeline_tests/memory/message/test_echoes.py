"""What is pasted back of a served block, and what only looks like it (B14)."""

from __future__ import annotations

import re

import pytest

from pkg_pipeline.memory.message.echoes import all_prints, fingerprints, openings, own_parts, own_words

PROMISE = "I will send the signed contract by Friday, promised, and then we go on"
ENGLISH = f"""# Olga Petrova
- Position: engineer at Acme
- Phone: +49 30 123456
## Open
- To do (Olga, since 3 March 2026, until 20 March): send the signed contract to me
## The last 7 days
### Tuesday, 10 March
- 12:04 Olga Petrova: {PROMISE}
- 12:05 Me: ok
"""
RUSSIAN = """# Ольга Петрова
## Открыто
- Сделать (Ольга, с 3 марта 2026, до 20 марта): прислать мне подписанный договор
## Последние 7 дней
### вторник, 10 марта
- 12:04 Ольга Петрова: Пришлю подписанный договор до пятницы, обещаю, и тогда продолжим
"""
CHINESE = """# 王芳
## 待办
- 待办（王芳，自2026年3月3日，截至3月20日）：把签好的合同发给我
## 最近7天
### 3月10日 星期二
- 12:04 王芳：我星期五之前把签好的合同发给你，然后我们继续
"""
WINDOW = """[Conversation Summary]
They agreed on the price of the boat and on who pays the yard.
The transfer is due on Friday.
"""


def left(message: str, block: str) -> str:
    """The words of one's own, as the stages see them: the first look decides whether there is a second."""
    served = frozenset(fingerprints(block))
    if not served.intersection(openings(message)):
        return message
    return own_words(message, own_parts(message, served.intersection(all_prints(message))))


@pytest.mark.parametrize("block", [ENGLISH, RUSSIAN, CHINESE, WINDOW])
def test_a_whole_block_leaves_only_what_is_said_around_it(block: str) -> None:
    assert left(block, block) == ""
    assert left(f"See what it says:\n{block}\nIs that true?", block) == "See what it says:\nIs that true?"
    quoted = "".join(f"> {line}\n" for line in block.splitlines())
    assert left(quoted, block) == ""


@pytest.mark.parametrize("block", [ENGLISH, RUSSIAN, CHINESE])
def test_a_part_of_a_block_is_known_by_its_form_and_date(block: str) -> None:
    *_, dated = [line for line in block.splitlines() if "12:04" in line]
    assert left(dated, block) == ""
    assert left(f"{dated[: len(dated) * 3 // 4]}…", block) == ""
    assert re.search(r"[^\W\d_]{2}", left(block[: len(block) * 3 // 4], block)) is None


@pytest.mark.parametrize(
    ("message", "own"),
    [
        (PROMISE, PROMISE),
        (f"> {PROMISE}\nWhere is it?", f"> {PROMISE}\nWhere is it?"),
        (f"Olga Petrova: {PROMISE}", f"Olga Petrova: {PROMISE}"),
        (f"- {PROMISE}", f"- {PROMISE}"),
        (f"[10.03.2026 12:04] Olga Petrova: {PROMISE}", f"[10.03.2026 12:04] Olga Petrova: {PROMISE}"),
        ("- Phone: +49 30 123456", "- Phone: +49 30 123456"),
        ("12:05 Me: ok", "12:05 Me: ok"),
        ("# Olga Petrova\nsays hello", "# Olga Petrova\nsays hello"),
        (f"- 12:04 Olga Petrova: {PROMISE} (is that so?)", "(is that so?)"),
        ("- 12:04 Olga Petrova: I will send the signed contract by Monday", None),
        (f"- 12:04 Olga Petrova: {PROMISE}\n- I pay 600 EUR on Monday", "- I pay 600 EUR on Monday"),
    ],
)
def test_quotations_corrections_and_ones_own_lists_are_ones_own_words(message: str, own: str | None) -> None:
    assert left(message, ENGLISH) == (message if own is None else own)


def test_an_undated_card_is_known_by_several_lines_in_a_row() -> None:
    card = "- Position: engineer at Acme\n- Phone: +49 30 123456\n- Hobby: rowing boats\n- Family: two small sons\n"
    assert left(card, card) == ""
    assert left(card.replace("- ", ""), card) == card.replace("- ", "")
    mine = "- Phone: +49 30 123456\n- Hobby: rowing boats\n"
    assert left(mine, card) == mine


def test_a_label_of_a_window_is_an_echo_only_with_the_words_below_it() -> None:
    assert left("[Conversation Summary]\nWe met a bear in the woods.", WINDOW) == (
        "[Conversation Summary]\nWe met a bear in the woods."
    )
    assert left("They agreed on the price of the boat and on who pays the yard.", WINDOW).startswith("They agreed")


def test_fingerprints_fit_a_bigint_and_hold_no_words() -> None:
    found = fingerprints(ENGLISH)
    assert found == sorted(set(found))
    assert all(-(2**63) <= one < 2**63 for one in found)
    assert fingerprints("ok\n\n---\n") == []
