"""Short names and Chinese names meet what a question calls them."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.text.name_links import keys_of_name, keys_of_question


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Саша", "что обещал Александр?"),
        ("Александр Петров", "Что Саше сказали?"),
        ("Саша", "what did Sasha say?"),
        ("Саша", "What did Alexander say?"),
        ("Лёша сосед", "Когда Алексею звонили?"),
        ("Bob", "How old is Robert?"),
        ("Robert Lund", "how old is bobby?"),
        ("Екатерина", "What did Katya bring?"),
        ("邱师傅", "How much does Mr Qiu want?"),
        ("邱师傅", "Сколько взял мастер Цю?"),
        ("何女士", "Where does Ms He live?"),
        ("楼上老宋", "Куда едет старый Сун?"),
        ("小梁", "Что спросил Сяо Лян?"),
        ("小梁", "Что было у Сяо Ляна?"),
        ("何静雯", "Did Jingwen call?"),
        ("王小明", "What did Wang say?"),
    ],
)
def test_they_meet(name: str, question: str) -> None:
    assert set(keys_of_name(name)) & set(keys_of_question(question))


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("何女士", "Where does he live?"),
        ("何女士", "He lives where?"),
        ("Bob", "How old is Rita?"),
        ("Саша", "Что обещал Алексей?"),
        ("今天天气很好啊", "What is Jin doing?"),
        ("🙂", "Who is it?"),
    ],
)
def test_they_do_not_meet(name: str, question: str) -> None:
    assert not set(keys_of_name(name)) & set(keys_of_question(question))
