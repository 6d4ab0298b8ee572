"""P34: what belongs to whom in a group; names in three languages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.message.attribution import named_in
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline_tests.memory.message.attribution_oracle import belonging

PEOPLE = {
    "masha": ("Маша Иванова", "@masha_iv"),
    "ivan": ("Иван Петров",),
    "sergey": ("Сергей Достоевский",),
    "ann": ("Ann Lee", "Annie"),
    "will": ("Will Smith",),
    "wang": ("王小明",),
    "ed": ("Ed Stone",),
}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Маша, ты где?", {"masha"}),
        ("скажи Маше, что всё готово", {"masha"}),
        ("у маши спроси", {"masha"}),
        ("Маш, привет", {"masha"}),
        ("машина сломалась", set()),
        ("замашки какие", set()),
        ("видел Ивана с Сергеем", {"ivan", "sergey"}),
        ("Ивановна пришла", set()),
        ("Достоевскому Сергею передай", {"sergey"}),
        ("@masha_iv глянь", {"masha"}),
        ("masha_iv глянь", set()),
        ("mail@masha_iv", set()),
        ("@Маша глянь", {"masha"}),
        ("ask ANN about it", {"ann"}),
        ("Ann's idea", {"ann"}),
        ("annual report", set()),
        ("I will do it", set()),
        ("ask Will tomorrow", {"will"}),
        ("ask will smith tomorrow", {"will"}),
        ("Smith, Will you?", {"will"}),
        ("叫王小明来", {"wang"}),
        ("小明在吗", {"wang"}),
        ("小名是什么", set()),
        ("Ed is here", set()),  # a first name of two letters does not count alone
        ("Ed Stone is here", {"ed"}),
        ("Stone Ed is here", {"ed"}),
        ("nobody at all", set()),
        ("", set()),
    ],
)
def test_who_is_named(text: str, named: set[str]) -> None:
    assert {entity for entity, indexes in named_in([text], PEOPLE).items() if len(indexes)} == named


def test_a_first_name_of_two_participants_names_neither_but_full_names_do() -> None:
    names = {1: ("Иван Петров",), 2: ("Иван Сидоров",)}
    found = named_in(["Иван, привет", "спроси Ивана Петрова", "Сидорову Ивану скажи"], names)
    assert {entity: indexes.tolist() for entity, indexes in found.items()} == {1: [1], 2: [2]}


def test_alexander_and_alexandra_share_a_form_that_names_neither() -> None:
    names = {1: ("Александр",), 2: ("Александра",)}
    found = named_in(["Александр пришёл", "Александра пришла", "с Александром", "с Александрой"], names)
    assert found[1].tolist() == [0, 2]
    assert found[2].tolist() == [3]


def test_a_given_name_of_two_people_names_neither() -> None:
    found = named_in(["小明来了", "李小明来了"], {1: ("王小明",), 2: ("李小明",)})
    assert (found[1].tolist(), found[2].tolist()) == ([], [1])


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("маша", "машу"),
        ("катя", "кать"),
        ("мария", "марии"),
        ("наталья", "натальей"),
        ("игорь", "игорю"),
        ("дмитрий", "дмитрия"),
        ("андрей", "андреем"),
        ("павел", "павла"),
        ("лев", "льву"),
        ("петр", "петром"),
        ("ольга", "ольги"),
        ("петрова", "петровой"),
        ("чайковский", "чайковского"),
        ("толстая", "толстая"),
        ("любовь", "любови"),
        ("илья", "ильи"),
    ],
)
def test_a_russian_name_is_found_in_its_cases(name: str, form: str) -> None:
    assert form in inflections(name)


@pytest.mark.parametrize("name", ["ann", "王小明", "отто", "x1"])
def test_names_that_do_not_change_have_one_form(name: str) -> None:
    assert inflections(name) == (name,)


def rule(senders: list[str | None], reply_to: list[int], texts: list[str]) -> dict[str, list[int]]:
    found = belonging(senders, np.array(reply_to, np.int64), texts, PEOPLE)
    return {entity: indexes.tolist() for entity, indexes in found.items() if len(indexes)}


def test_written_replied_and_named_belong_with_one_neighbour_each_side() -> None:
    others = ["x"] * 12
    assert rule(["ivan", *others[1:]], [-1] * 12, ["…"] * 12) == {"ivan": [0, 1]}  # written at 0
    replied = rule(["ivan", *others[1:]], [-1] * 6 + [0] + [-1] * 5, ["…"] * 12)
    assert replied == {"ivan": [0, 1, 5, 6, 7]}  # 6 replies to 0
    named = rule(["x"] * 12, [-1] * 12, ["…"] * 10 + ["спроси Машу", "…"])
    assert named == {"masha": [9, 10, 11]}


def test_a_stretch_without_messages_belongs_to_nobody() -> None:
    assert rule([], [], []) == {}
    assert set(belonging([], np.array([], np.int64), [], PEOPLE)) == set(PEOPLE)


def test_nobody_is_named_across_two_messages() -> None:
    assert named_in(["ask Ed", "Stone is here"], PEOPLE)["ed"].tolist() == []
    assert named_in(["王小", "明"], PEOPLE)["wang"].tolist() == []


@pytest.mark.parametrize(
    ("senders", "reply_to"), [(["x"], [-1, -1]), (["x", "y"], [-1]), (["x", "y"], [-1, 2]), (["x", "y"], [-2, -1])]
)
def test_arrays_that_do_not_fit_are_refused(senders: list[str], reply_to: list[int]) -> None:
    with pytest.raises(ValueError):
        belonging(senders, np.array(reply_to, np.int64), ["", ""], PEOPLE)


TEXTS = st.sampled_from(["Маша", "скажи Ивану", "hm", "@masha_iv", "小明在吗", "ask Ann Lee", "Ed", "Stone", "", "\0"])
MESSAGES = st.lists(st.tuples(st.sampled_from([None, *PEOPLE]), st.integers(-1, 30), TEXTS), max_size=20)


@given(MESSAGES)
def test_the_arrays_give_what_the_sentence_of_the_rule_says(messages: list[tuple[str | None, int, str]]) -> None:
    count = len(messages)
    senders = [sender for sender, _, _ in messages]
    texts = [text for _, _, text in messages]
    reply_to = [reply if reply < count else -1 for _, reply, _ in messages]
    expected: dict[str, set[int]] = {entity: set() for entity in PEOPLE}
    for index in range(count):
        for entity in PEOPLE:
            wrote = senders[index] == entity
            answered = reply_to[index] >= 0 and senders[reply_to[index]] == entity
            named = bool(len(named_in([texts[index]], PEOPLE)[entity]))
            if wrote or answered or named:
                expected[entity] |= {index - 1, index, index + 1} & set(range(count))
    found = belonging(senders, np.array(reply_to, np.int64), texts, PEOPLE)
    assert {entity: indexes.tolist() for entity, indexes in found.items()} == {
        entity: sorted(indexes) for entity, indexes in expected.items()
    }
