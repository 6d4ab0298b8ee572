"""What a question wants to be told, in three languages, and what answers look like."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.recall.wishes import Wish, answers, wishes

ASKED: dict[Wish, tuple[str, ...]] = {
    "newest": ("Where does Ida work now?", "Что сейчас с крышей?", "他们目前住在哪？", "Is the old rule still valid?"),
    "amount": ("How much did the fence cost?", "Сколько просят за гараж?", "修车花了多少钱？", "What is the rent?"),
    "contact": ("What is Ida's phone number?", "Какая почта у врача?", "老师的电话是什么？"),
    "time": ("What day is the exam?", "Во сколько поезд?", "几点开会？", "When does the shop open?"),
    "first": ("Who was asked first?", "Что обещали сначала?", "第一次见面在哪？"),
    "last": ("Whom did we choose in the end?", "На чём сошлись в итоге?", "最后选了谁？"),
    "list": ("Which tools did I lend?", "Какие книги я отдал?", "我借出了哪些工具？", "How many times did he ask?"),
    "preference": ("What does Bo like to eat?", "На что аллергия у Лены?", "小王喜欢什么颜色？"),
    "instruction": ("What was I told to do with the key?", "Что просила сделать хозяйка?", "老师有什么要求？"),
    "summary": ("What happened with the roof?", "Расскажи про ремонт", "装修的经过怎么样？"),
}
LOOKS: list[tuple[Wish, str, str]] = [
    ("amount", "it was 40 euros in all", "cheaper than last time"),
    ("amount", "三百五", "太贵了"),
    ("contact", "+7 911 555-64-33", "call me at 7"),
    ("contact", "write to ida@post.example", "write to me"),
    ("time", "on the 14th then", "soon, I hope"),
    ("preference", "у меня на орехи аллергия", "орехи в шкафу"),
    ("preference", "我不喝咖啡", "咖啡在这"),
    ("instruction", "please never park there", "the car is there"),
    ("newest", "we moved to Lund", "Lund is nice"),
]


@pytest.mark.parametrize(("wish", "question"), [(wish, one) for wish, told in ASKED.items() for one in told])
def test_a_wish_is_read(wish: Wish, question: str) -> None:
    assert wish in wishes(question)


@pytest.mark.parametrize("question", ["Who said that?", "Кто там был?", "谁来了？", "Where did Ida study?"])
def test_a_question_may_want_nothing_of_these(question: str) -> None:
    assert not wishes(question)


@pytest.mark.parametrize(("wish", "right", "wrong"), LOOKS)
def test_answers_have_a_look(wish: Wish, right: str, wrong: str) -> None:
    assert answers(wish, right)
    assert not answers(wish, wrong)


def test_a_list_has_no_look_of_its_own() -> None:
    assert not answers("list", "one, two, three")
