"""Which key points are one topic and which are not, whatever order they come in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.profile.topics import MOST_TEXTS, TopicMention, merge_topics

START = datetime(2025, 1, 1, tzinfo=UTC)


def said(*texts: str) -> list[TopicMention]:
    """Each in a talk of its own, a day apart."""
    return [TopicMention(text, START + timedelta(days=day)) for day, text in enumerate(texts)]


def counted(*texts: str, besides: tuple[str, ...] = ()) -> dict[str, int]:
    return {topic.name: topic.mentions for topic in merge_topics(said(*texts), besides=besides)}


ONE_TOPIC = [
    (("Contract", "contracts", "the contract", "CONTRACT"), "case, plural, article"),
    (("price list", "price lists", "Price Lists"), "inflection"),
    (("meeting room", "rooms for meetings"), "gerund and plural, in another order"),
    (("договор", "Договора", "договору", "договором"), "cases"),
    (("поставка стеллажей", "поставки стеллажей", "поставок стеллажи"), "cases with a fleeting vowel"),
    (("счёт на оплату", "счет на оплату", "счета на оплату"), "ё is е"),
    (("合同续签", "续签合同"), "the same characters in another order"),
    (("评审会", "评审会时间"), "one said of the other with a word more"),
    (("set up Docker", "настройка докера"), "a name in two scripts"),
    (("visit to Expo", "Expo"), "a name with and without more"),
    (("Review with Yulia", "встреча с Юлией", "встреча с Юлия"), "a person's name over scripts and cases"),
    (("order 48213", "Order 48213", "orders 48213"), "a number that names something"),
    (("Contract", "контракты", "контрактом"), "a cognate in two scripts"),
    (("React 迁移", "React 的迁移"), "a Latin name in Chinese"),
]


@pytest.mark.parametrize(("texts", "_why"), ONE_TOPIC, ids=[why for _, why in ONE_TOPIC])
def test_these_are_one_topic(texts: tuple[str, ...], _why: str) -> None:
    assert list(counted(*texts).values()) == [len(texts)]


FALSE_FRIENDS = [
    ("contract", "contact"),
    ("policy", "police"),
    ("price", "prize"),
    ("news", "new office"),
    ("invoice", "involvement"),
    ("стол", "столица"),
    ("страх", "страховка"),
    ("договор поставки", "разговор о поездке"),
    ("мост", "Most wanted list"),
    ("суд", "судно"),
    ("magazine", "магазины"),
    ("供货合同", "租房合同"),
    ("大学", "大学生"),
    ("上海", "海上"),
    ("2024", "2025 budget"),
    ("New York trip", "New office lease"),
]


@pytest.mark.parametrize("texts", FALSE_FRIENDS, ids=" / ".join)
def test_these_stay_apart(texts: tuple[str, str]) -> None:
    assert all(mentions == 1 for mentions in counted(*texts).values())


def test_a_statement_is_the_run_that_others_share() -> None:
    found = counted(
        "Anna will send the deposit on Monday for the boathouse",
        "Ben asked what the boathouse costs and who else wants it",
        "boathouse",
        besides=("Anna Smith", "Ben"),
    )
    assert found["boathouse"] == 3


def test_a_chinese_statement_is_cut_into_what_it_names() -> None:
    found = counted(
        "双方同意把评审会改到周五下午三点",
        "大家讨论了评审会的时间安排和名单",
        "王伟确认评审会在二楼",
        besides=("王伟",),
    )
    assert found == {"评审会": 3}


def test_who_took_part_is_no_topic() -> None:
    assert counted("Анна Белова", "договор с Анной", "звонок Анне", besides=("Анна Белова",)) == {
        "договор": 1,
        "звонок": 1,
    }


def test_the_commonest_spelling_names_it_and_the_newest_mention_dates_it() -> None:
    (topic,) = merge_topics(said("Docker", "docker", "Docker", "докер"))
    assert (topic.name, topic.mentions, topic.last_at) == ("Docker", 4, START + timedelta(days=3))


def test_two_key_points_of_one_talk_are_one_mention() -> None:
    assert merge_topics([TopicMention("rent", START), TopicMention("the rent", START)])[0].mentions == 1


def test_the_most_mentioned_come_first_and_the_newer_of_equals() -> None:
    found = merge_topics(said("garden", "boat", "cinema", "boats"), limit=2)
    assert [topic.name for topic in found] == ["boat", "cinema"]


@pytest.mark.parametrize("texts", [(), ("",), (" ", "…"), ("и", "the of"), ("12", "2024"), ("\u200b",)])
def test_nothing_to_say_is_no_topic(texts: tuple[str, ...]) -> None:
    assert merge_topics(said(*texts)) == ()


def test_only_the_newest_key_points_are_looked_at() -> None:
    old = [TopicMention("ancient matter", START)]
    new = [TopicMention(f"subject{number}x", START + timedelta(days=1)) for number in range(MOST_TEXTS)]
    assert "ancient matter" not in {topic.name for topic in merge_topics([*old, *new], limit=MOST_TEXTS + 1)}


PIECES = st.sampled_from(
    [
        *("договор", "договора", "цена", "Docker", "докер", "Юлия", "Юлией", "contract", "contracts", "price", "list"),
        *("the", "合同", "续签", "评审会", "React", "48213", "—", ",", "."),
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=9).map(" ".join) | st.text(max_size=25)
MENTIONS = st.lists(
    st.builds(TopicMention, TEXTS, st.integers(0, 5).map(lambda day: START + timedelta(days=day))), max_size=14
)


@settings(max_examples=80, derandomize=True, deadline=None)
@given(data=st.data(), mentions=MENTIONS)
def test_order_changes_nothing_and_counts_hold(data: st.DataObject, mentions: list[TopicMention]) -> None:
    found = merge_topics(mentions)
    assert merge_topics(data.draw(st.permutations(mentions))) == found
    assert len(found) <= 10
    assert len({topic.name for topic in found}) == len(found)
    for topic in found:
        assert 1 <= topic.mentions <= len({mention.at for mention in mentions})
        assert topic.last_at in {mention.at for mention in mentions}
        assert topic.name.strip()
