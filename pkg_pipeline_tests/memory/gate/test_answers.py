"""What the gate publishes of one item of an answer, in three languages."""

from __future__ import annotations

import pytest

from pkg_pipeline_tests.memory.gate.answers import published


@pytest.mark.parametrize(
    ("said", "quote", "is_found"),
    [
        ("Счёт пришлю завтра", "Счет пришлю завтра", True),
        ("Счет пришлю завтра", "Счёт пришлю завтра", True),
        ("Пришлю файл завтра", "Пришлю фаил завтра", False),
    ],
)
def test_a_quote_may_write_either_letter_of_one(said: str, quote: str, is_found: bool) -> None:
    assert (published("ru", f"< {said}", said, quote=quote) is not None) is is_found


@pytest.mark.parametrize(
    ("language", "said", "right", "wrong"),
    [
        (
            "ru",
            "< Вариант А по 500, вариант Б по 700. Какой? | > Берём вариант А",
            "Берут вариант А",
            "Берут вариант Б",
        ),
        ("ru", "< Вариант А или Б? | > Берём Б", "Берут вариант Б", "Берут вариант А"),
        ("en", "< Option A or option B? | > Let's take option A", "They take option A", "They take option B"),
        ("en", "< Option A or option B? | > B please", "They take option B", "They take option A"),
        ("en", "< Option A or option B? | > A deal, the bigger one", "They take option B", "They take option C"),
        ("zh", "< A方案便宜，B方案大。选哪个？ | > 选A方案", "选A方案", "选B方案"),
        ("zh", "< 方案甲便宜，方案乙大。选哪个？ | > 就用方案甲", "用方案甲", "用方案乙"),
    ],
)
def test_the_label_of_the_quoted_words_is_the_one_chosen(language: str, said: str, right: str, wrong: str) -> None:
    told = [published(language, said, text, kind="decision", owner="both") for text in (right, wrong)]
    assert [one is not None and one.text == text for one, text in zip(told, (right, wrong), strict=True)] == [
        True,
        False,
    ]


OFFERS = [
    ("en", "< Should I send the invoice tomorrow?", "Send the invoice tomorrow"),
    ("en", "< I can send the invoice tomorrow if you like", "Send the invoice tomorrow"),
    ("en", "< If you pay, I will send the keys tomorrow", "Send the keys tomorrow"),
    ("en", "< I'd love to fly to Mars", "Fly to Mars"),
    ("ru", "< Прислать счёт завтра?", "Прислать счёт завтра"),
    ("ru", "< Хотите, пришлю счёт завтра", "Прислать счёт завтра"),
    ("ru", "< Могу прислать счёт завтра", "Прислать счёт завтра"),
    ("ru", "< Если оплатите, пришлю ключи завтра", "Прислать ключи завтра"),
    ("ru", "< Мечтаю слетать на Марс", "Слетать на Марс"),
    ("zh", "< 要不要我明天发发票？", "明天发发票"),
    ("zh", "< 我可以明天发发票", "明天发发票"),
    ("zh", "< 如果你付款，我明天发钥匙", "明天发钥匙"),
]
YES = {"en": "Yes, please", "ru": "Да, давайте", "zh": "好的"}
ASKED = [
    ("en", "> When do I get the invoice? | < I can send the invoice tomorrow", "Send the invoice tomorrow"),
    ("en", "> Can you send the invoice? | < I'd love to send the invoice tomorrow", "Send the invoice tomorrow"),
    ("en", "< sending the invoice tomorrow. if you are late, just ring", "Send the invoice tomorrow"),
    ("en", "> Could you send the keys tomorrow if you have time?", "Send the keys tomorrow"),
    ("en", "> Can you send the invoice tomorrow?", "Send the invoice tomorrow"),
    ("ru", "> Когда пришлёте счёт? | < Могу прислать счёт завтра", "Прислать счёт завтра"),
    ("ru", "> Пришлёте счёт завтра?", "Прислать счёт завтра"),
    ("ru", "< Пришлю счёт завтра, хорошо?", "Прислать счёт завтра"),
    ("zh", "> 什么时候发发票？ | < 我可以明天发发票", "明天发发票"),
    ("zh", "< 我明天发发票，好吗？", "明天发发票"),
]


@pytest.mark.parametrize(("language", "said", "text"), OFFERS)
def test_what_is_only_offered_wished_or_conditional_binds_when_it_is_taken_up(
    language: str, said: str, text: str
) -> None:
    assert published(language, said, text) is None
    assert published(language, f"{said} | > {YES[language]}", text, quote=said[2:]) is not None


def test_a_wish_binds_nobody() -> None:
    assert published("zh", "< 真想飞去火星", "飞去火星") is None
    assert published("zh", "< 要是能飞去火星就好了", "飞去火星") is None


@pytest.mark.parametrize(("language", "said", "text"), ASKED)
def test_who_is_asked_and_offers_it_is_bound(language: str, said: str, text: str) -> None:
    assert published(language, said, text) is not None


@pytest.mark.parametrize(
    ("language", "said", "text"),
    [
        ("en", "< I could do it for 500", "The price is 500"),
        ("ru", "< Могу сделать за 500", "Цена 500"),
        ("zh", "< 我可以500做", "价格是500"),
    ],
)
def test_an_offer_is_a_decision_when_it_is_taken_up(language: str, said: str, text: str) -> None:
    assert published(language, said, text, kind="decision", owner="both") is None
    taken = f"{said} | > {YES[language]}"
    assert published(language, taken, text, kind="decision", owner="both", quote=said[2:]) is not None


@pytest.mark.parametrize(
    ("language", "said", "text", "quote"),
    [
        ("ru", "< Счёт я не пришлю завтра", "Прислать счёт завтра", "… пришлю завтра"),
        ("en", "< I will not send the invoice tomorrow", "Send the invoice tomorrow", "send the invoice tomorrow"),
        ("en", "< I won't send the invoice tomorrow", "Send the invoice tomorrow", "… send the invoice tomorrow"),
        ("zh", "< 我明天不发发票", "明天发发票", "…发发票"),
    ],
)
def test_a_quote_that_leaves_out_the_no_is_read_with_it(language: str, said: str, text: str, quote: str) -> None:
    assert published(language, said, text, quote=quote) is None


@pytest.mark.parametrize(
    ("language", "said", "right", "wrong"),
    [
        ("en", "< We don't paint the door, only the walls", "The door is not painted", "The walls are not painted"),
        ("en", "< Only the walls, we don't paint the door", "They don't paint the door", "They don't paint the walls"),
        ("en", "< We don't paint the big door, only the small one", "The big door is not painted", "No small one"),
        ("ru", "< Дверь не красим, только стены", "Дверь не красят", "Стены не красят"),
        ("ru", "< Не красим дверь, а только стены", "Дверь не красят", "Стены не красят"),
        ("zh", "< 门不刷，只刷墙", "门不刷", "墙不刷"),
    ],
)
def test_a_denial_reaches_up_to_only(language: str, said: str, right: str, wrong: str) -> None:
    whole = said[2:]
    told = [
        published(language, f"{said} | > {YES[language]}", text, kind="decision", owner="both", quote=whole)
        for text in (right, wrong)
    ]
    assert [one is not None and one.text == text for one, text in zip(told, (right, wrong), strict=True)] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("language", "said", "text", "owner"),
    [
        ("ru", "< Договор пришлю в пятницу | > Хорошо", "Прислать договор в пятницу", "them"),
        ("ru", "> Договор пришлю в пятницу | < Хорошо", "Прислать договор в пятницу", "self"),
        ("ru", "< Я приду в пятницу | > Я тоже", "Прийти в пятницу", "both"),
        ("ru", "< Встретимся в пятницу | > Хорошо", "Встретиться в пятницу", "both"),
        ("en", "< I'll send the contract on Friday | > Good", "Send the contract on Friday", "them"),
        ("en", "< I'll bring wine on Friday, can you bring cheese? | > Ok", "Bring wine and cheese", "both"),
        ("en", "< I'll come on Friday | > So will I", "Come on Friday", "both"),
        ("zh", "< 我周五发合同 | > 好", "周五发合同", "them"),
        ("zh", "< 我周五来 | > 我也来", "周五来", "both"),
    ],
)
def test_what_one_promises_alone_is_not_of_both(language: str, said: str, text: str, owner: str) -> None:
    item = published(language, said, text, owner="both", quote=said.split(" | ")[0][2:])
    assert item is not None
    assert item.owner == owner


@pytest.mark.parametrize(
    ("language", "said", "right", "wrong"),
    [
        ("ru", "> Договорились, платежи 600, 500, 500", "Платежи 600, 500, 500", "Платежи 500, 600, 500"),
        ("en", "> Agreed, payments of $600, $500 and $500", "Payments of 600, 500, 500", "Payments of 500, 600, 500"),
        ("zh", "> 同意，分三次付600、500、500", "分三次付600、500、500", "分三次付500、600、500"),
        ("ru", "> Договорились, бюджет 400–450 тысяч", "Бюджет до 450 тысяч", "Бюджет до 400 тысяч"),
        ("ru", "> Договорились, бюджет 400–450 тысяч", "Бюджет от 400 тысяч", "Бюджет от 450 тысяч"),
        ("en", "> Agreed, the budget is 400–450k", "The budget is up to 450k", "The budget is up to 400k"),
    ],
)
def test_numbers_keep_their_order_and_their_end_of_a_range(language: str, said: str, right: str, wrong: str) -> None:
    told = [published(language, said, text, kind="decision", owner="both") for text in (right, wrong)]
    assert [one is not None and one.text == text for one, text in zip(told, (right, wrong), strict=True)] == [
        True,
        False,
    ]
