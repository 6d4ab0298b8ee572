"""What is said behind an interaction lengthens it as if all had been said before it was first built."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from pkg_pipeline_tests.stages.ingest.import_rig import Line, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts

BUILT = {
    "interactions": """
        SELECT id, chat_id, day, started_at, ended_at, status, message_count, token_count, important_count, language,
               first_external_id, input_hash, language_shares FROM interactions""",
    "participants": "SELECT * FROM interaction_participants",
    "belongings": """
        SELECT b.entity_id, m.external_id, b.interaction_id, b.sent_at FROM message_entities b
        JOIN messages m ON m.id = b.message_id""",
    "messages": "SELECT chat_id, external_id, interaction_id FROM message_texts",
    "days": "SELECT entity_id, day, message_count, token_count, messages_total, tokens_total FROM entity_days",
}
WORDS = ("hello", "да, Аня, давай", "我们明天再谈价格", "Bob: see `code`", "ok", "", "Cid said 400 EUR", "привет")
PEOPLE = ("ann", "bob", "cid", "аня")


def built(rig: Rig) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(rig.rows(sql), key=repr) for name, sql in BUILT.items()}


def talk(kind: str, dice: random.Random, count: int) -> list[Line]:
    """Of some days; everybody takes part from its beginning, some messages answer earlier ones."""
    people = PEOPLE if kind == "group" else PEOPLE[:2]
    minute, lines = 0.0, list[Line]()
    for number in range(count):
        minute += dice.choice((0, 0.5, 3, 100, 239, 241))
        sender = people[number] if number < len(people) else dice.choice(people)
        said = line("c", number, minute=minute, sender=sender, text=f"{dice.choice(WORDS)} {number}", chat_kind=kind)
        if number > 5 and dice.random() < 0.2:
            said["reply_to"] = str(number - dice.randrange(1, 5))
        if dice.random() < 0.1:
            said["deleted"] = True
        lines.append(said)
    return lines


def parted(lines: Sequence[Line], dice: random.Random) -> Iterator[Sequence[Line]]:
    at = 0
    while at < len(lines):
        size = dice.choice((1, 1, 2, 5))
        yield lines[at : at + size]
        at += size


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    made = Rig(database_url)
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["direct", "group"])
@pytest.mark.parametrize("seed", range(3))
def test_any_split_and_order_leaves_what_one_build_makes(rig: Rig, kind: str, seed: int) -> None:
    dice = random.Random(seed)
    lines = talk(kind, dice, 40)
    rig.take(lines)
    rig.build()
    whole = built(rig)
    rig.empty()
    later = [lines.pop(dice.randrange(len(lines))) for _ in range(6)]
    for part in [*parted(lines, dice), *parted(later, dice)]:
        rig.take(part)
        rig.build()
    assert built(rig) == whole
    assert_recounts(rig)


def test_only_what_is_new_is_read_and_the_rest_is_not_written_again(rig: Rig) -> None:
    lines = [line("c", number, minute=number, sender=PEOPLE[number % 3], chat_kind="group") for number in range(30)]
    rig.take(lines[:-1])
    rig.build()
    rows = "SELECT count(*) FROM message_entities"
    before, newest = rig.value(rows), rig.value("SELECT max(xmin::text::bigint) FROM message_entities")
    rig.take(lines[-1:])
    done = rig.build()
    assert (done.messages, done.interactions) == (1, 1)
    (touched,) = done.touched
    assert (touched.messages, touched.messages_before) == (30, 29)
    added = rig.value("SELECT count(*) FROM message_entities WHERE xmin::text::bigint > %s", newest)
    assert added == rig.value(rows) - before > 0


def test_an_answer_from_before_to_what_comes_now_has_all_read(rig: Rig) -> None:
    lines = [line("c", number, minute=number, sender=PEOPLE[number % 3], chat_kind="group") for number in range(9)]
    lines[3]["reply_to"] = "8"
    rig.take(lines[:-1])
    rig.build()
    rig.take(lines[-1:])
    done = rig.build()
    assert done.messages == 9
    assert done.touched[0].continued_after is None
    parts = built(rig)
    rig.empty()
    rig.take(lines)
    rig.build()
    assert built(rig) == parts


def test_one_that_was_built_before_shares_were_kept_has_its_texts_read_once(rig: Rig) -> None:
    lines = [line("c", number, minute=number, sender=PEOPLE[number % 2], text=WORDS[number % 3]) for number in range(9)]
    rig.take(lines[:-1])
    rig.build()
    with rig.connection() as connection:
        connection.execute("UPDATE interactions SET language_shares = NULL")
    rig.take(lines[-1:])
    rig.build()
    parts = built(rig)
    rig.empty()
    rig.take(lines)
    rig.build()
    assert built(rig) == parts
