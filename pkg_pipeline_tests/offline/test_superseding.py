"""What takes the place of an earlier decision: the trees are those of the pairs, and right on worlds left out."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pytest

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline import line_head
from pkg_pipeline.offline.agreed_terms import adds_up, fixed_by
from pkg_pipeline.offline.matters import roots_of_names
from pkg_pipeline.offline.reading import read
from pkg_pipeline.offline.superseding import replaced, trees
from pkg_pipeline.offline.talk_items import weighed
from pkg_pipeline_tests.offline.chats import EMBED, MONDAY, chat
from training import superseding
from training.boosting import begun
from training.closing_trees import fold_of
from training.newton import chance

LEFT_OUT = 0.85, 0.27
"""Precision and recall just below what was reached (docs/offline-heads.md)."""
BEGUN, SAME = 10, 0.02
"""Trees that are made again, and the mean difference of their probabilities: the heads that read the talks agree only
nearly between machines.
"""
PART = 0
"""Of the parts of the worlds that is read again."""
ALIKE, NEAR = 0.95, 0.02
"""Of its pairs; mean difference of a feature."""


@pytest.fixture(scope="module", autouse=True)
def kept() -> tuple[superseding.Pair, ...]:
    """What was last read of these very worlds."""
    found = superseding.kept()
    assert found is not None, "labelled worlds have changed: make train"
    return found


@pytest.mark.parametrize(
    ("before", "after", "differ"),
    [
        ("at 5", "5:00", False),
        ("17:30", "at 5", True),
        ("fine, 380 dollars", "then 420 dollars", True),
        ("fine, 380 dollars", "and 9000 for the roof", False),
    ],
)
def test_terms_differ_where_they_are_of_one_kind_and_not_far_off(before: str, after: str, differ: bool) -> None:
    day = date(2026, 1, 5)
    assert fixed_by(after, "en", day).differ_from(fixed_by(before, "en", day), day) is differ


@pytest.mark.parametrize(
    ("new", "old", "does"),
    [
        ("5,000 on top, so 65,000", "60,000 it is", True),
        ("65,000 for the roof", "60,000 it is", False),
        ("9,000 for the roof, 8,000 for the floor", "1,000 for the door", False),
    ],
)
def test_what_is_added_is_named_and_small(new: str, old: str, does: bool) -> None:
    day = date(2026, 1, 5)
    assert adds_up(fixed_by(new, "en", day), fixed_by(new, "en", day), fixed_by(old, "en", day)) is does


BESIDE: dict[Language, str] = {
    "en": "I water the plants on Sundays", "ru": "По воскресеньям поливаю цветы", "zh": "每周日我浇花"
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "before", "asked", "answered", "is_replaced"),
    [
        ("en", "Deal, 640 a month", "How about 670 for another year?", "Deal, 670 it is", True),
        ("en", "425 for the door then, deal", "Sorry, the wood went up. 449 for the door?", "ok, 449", True),
        ("en", "Wednesday at 3 it is", "Can't do Wednesday, make it Thursday?", "Thursday works", True),
        ("zh", "好，周三下午三点见", "改成周四行吗，周三有事", "可以，周四", True),
        ("zh", "一套3200，定了", "那个3200不行了，3500", "行，3500", True),
        ("en", "Deal, 640 a month", "And 90 for the parking?", "Deal, 90 for parking", False),
        ("en", "Wednesday at 3 it is", "Shall we see the film on Saturday?", "Saturday, I'll get tickets", False),
        ("ru", "Договорились, шкаф за 95 тысяч", "А стол за 38 сделаете?", "Хорошо, стол 38 тысяч", False),
        ("zh", "好，周三下午三点看房", "周五一起吃饭吗？", "好，周五吃饭", False),
    ],
)
def test_a_later_decision_on_one_matter_takes_the_place_of_the_earlier(
    language: Language, before: str, asked: str, answered: str, is_replaced: bool
) -> None:
    source = chat(("Anna", asked), ("Me", answered), me="Me", language=language)
    people = tuple(person.entity_id for person in source.others)
    standing = [
        ShownItem(
            ref=ref,
            id=uuid5(NAMESPACE_URL, ref),
            kind="decision",
            status="open",
            text=text,
            owner="both",
            owner_name=None,
            due_date=None,
            said_at=MONDAY - timedelta(days=6),
            quote=text,
            person_ids=people,
            said=text,
        )
        for ref, text in (("d1", before), ("d2", BESIDE[language]))
    ]
    reading = line_head.judged(read(source), EMBED)
    decisions, doubtful, _ = weighed(reading)
    found, _ = replaced(reading, standing, [*decisions, *doubtful], roots_of_names(source.participants), EMBED)
    assert set(found.values()) == ({"d1"} if is_replaced else set[str]())


def test_the_pairs_of_a_part_are_those_that_were_kept(kept: tuple[superseding.Pair, ...]) -> None:
    """After a change of what finds decisions, or of the features: ``make train``."""
    anew = superseding.read_pairs([one for one in superseding.every() if fold_of(one) == PART])
    before, now = ({(one.new, one.old): one for one in told if one.fold == PART} for told in (kept, anew))
    both = before.keys() & now.keys()
    assert len(both) >= ALIKE * max(len(before), len(now))
    assert [key for key in both if before[key].is_right != now[key].is_right] == []
    differ = [abs(before[key].features[name] - value) for key in both for name, value in now[key].features.items()]
    assert sum(differ) < NEAR * len(differ)


def test_the_trees_of_the_package_are_those_of_the_pairs(kept: tuple[superseding.Pair, ...]) -> None:
    """After a change of the labelled worlds or of the features: ``make train``."""
    rows = superseding.rows_of(kept)
    packaged, made = begun(trees(), BEGUN), begun(superseding.fit(rounds=BEGUN), BEGUN)
    assert np.abs(chance(packaged.log_odds(rows)) - chance(made.log_odds(rows))).mean() < SAME


def test_decisions_of_worlds_left_out_are_superseded_rightly() -> None:
    wrong: list[str] = []
    one = superseding.score(wrong=wrong)
    assert (one.precision, one.recall) >= (LEFT_OUT[0], 0), "\n".join(wrong)
    assert one.recall >= LEFT_OUT[1], "\n".join(wrong)
