"""What a question wants to be told, in three languages, and what answers look like."""

from __future__ import annotations

import pytest

from pkg_pipeline.memory.recall.wishes import Wish, answers, asks, names_time, says_little, sums, wishes

ASKED: dict[Wish, tuple[str, ...]] = {
    "newest": ("Where does Ida work now?", "Что сейчас с крышей?", "他们目前住在哪？", "Is the old rule still valid?"),
    "amount": ("How much did the fence cost?", "Сколько просят за гараж?", "修车花了多少钱？", "What is the rent?"),
    "number": ("What is Ida's phone number?", "Какой у врача телефон?", "老师的电话是什么？"),
    "mail": ("What is Ida's e-mail?", "Какая почта у врача?", "老师的邮箱是什么？"),
    "place": ("Where does Bo live now?", "По какому адресу дача?", "小王住哪？"),
    "work": ("Where does Ida work now?", "Кем работает Лена?", "小王在哪家公司？", "What does Bo do for a living?"),
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
    ("amount", "120 за штуку", "12 мая"),
    ("amount", "only 12.50", "at 12:50"),
    ("number", "+7 911 555-64-33", "call me at 7"),
    ("mail", "write to ida@post.example", "write to me"),
    ("place", "we moved to 4 Mill Lane", "we met at 4"),
    ("place", "теперь ул. Лесная, дом 3", "теперь 3"),
    ("place", "滨湖路66号", "六十六块"),
    ("work", "I joined a small firm", "a small dog"),
    ("work", "меня взяли в депо", "взял зонт"),
    ("work", "他跳槽了", "他跳舞"),
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


@pytest.mark.parametrize(
    ("question", "wish"),
    [
        ("on which dates is the fair now", "time"),
        ("what share of the takings is mine", "amount"),
        ("какая теперь дата выпускного", "time"),
        ("摊位一共订了几张", "amount"),
        ("面试改成哪天了", "newest"),
        ("她的店现在搬在哪里", "place"),
    ],
)
def test_a_value_is_asked_for_in_other_forms(question: str, wish: Wish) -> None:
    assert wish in wishes(question)
    assert "list" not in wishes(question)


@pytest.mark.parametrize(("wish", "right", "wrong"), LOOKS)
def test_answers_have_a_look(wish: Wish, right: str, wrong: str) -> None:
    assert answers(wish, right)
    assert not answers(wish, wrong)


def test_a_list_has_no_look_of_its_own() -> None:
    assert not answers("list", "one, two, three")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("720 and I take the rubbish", {720}),
        ("1 890 за метр, на 25 м сделаю 1 750", {1890, 1750, 25}),
        ("1,58,000 for both", {158_000}),
        ("8.95 a kilo", {8.95}),
        ("40 тыс, завтра 45k", {40_000, 45_000}),
        ("三万九太高了 3万9", {30_000, 9}),
        ("6250 续一年", {6250}),
        ("on 12 May at 10:30, 3 weeks", set()),
        ("перенесли на 25 июля, в 10", set()),
        ("七月九号 12月18号", set()),
        ("plan 2, room 4", set()),
        ("+7 981 555-77-20, 07700 900874", set()),
        ("nothing", set()),
    ],
)
def test_sums_are_no_days_hours_or_names(text: str, found: set[float]) -> None:
    assert sums(text) == found


@pytest.mark.parametrize("text", ["on Friday", "25 июля", "周六晚上", "at 5 pm", "к 18:30", "4/12", "в понедельник"])
def test_a_text_may_name_a_time(text: str) -> None:
    assert names_time(text)
    assert not names_time("we had 40 guests, было 40 гостей, 来了40人")


@pytest.mark.parametrize("text", ["how much then", "what's the price", "сколько хочешь", "换把密码锁 多少", "ok?"])
def test_a_text_may_ask(text: str) -> None:
    assert asks(text)
    assert not asks("it was 40. ясно, сорок. 四十")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lol", True),
        ("same", True),
        ("no notes", True),
        ("красиво поёт", True),
        ("哈哈哈", True),
        ("", True),
        ("43800", False),
        ("那就芍药", False),
        ("三百五", False),
        ("[photo cat.jpg]", False),
        ("ida@post.example", False),
        ("she is a nurse", False),
        ("她是我表妹的老师", False),
    ],
)
def test_a_few_words_without_a_figure_say_little(text: str, expected: bool) -> None:
    assert says_little(text) is expected
