"""What a profile is made from: whose messages, which talks are meaningful, which facts hold; and the wired whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.profiles.stores import Material
from pkg_pipeline_tests.conftest import REPOSITORY
from pkg_pipeline_tests.memory.profile.profile_oracle import is_meaningful
from pkg_pipeline_tests.stages.profiles.profile_rig import CHAT, DEAL, FIRST, NOW, SPOKEN, WEEK, ProfileRig, profile_llm


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[ProfileRig]:
    made = ProfileRig(database_url, tmp_path)
    yield made
    made.close()


def material(rig: ProfileRig, name: str) -> Material:
    found = rig.reads.material(rig.one("SELECT id FROM entities WHERE name = %s", name), SPOKEN)
    assert found is not None
    return found


def speak(rig: ProfileRig, chat: str, day: float, senders: Sequence[str], **fields: object) -> None:
    """One message of each in turn, as often as named."""
    for index, sender in enumerate(senders):
        at = FIRST + timedelta(days=day, minutes=index)
        rig.line(chat, f"{day}-{index}", f"Words number {index} of {sender}.", at, sender, **fields)


def test_the_statement_and_the_rule_agree_on_what_is_meaningful(rig: ProfileRig) -> None:
    counts = [(3, 3), (2, 3), (3, 2), (2, 2), (9, 2), (2, 9), (4, 5), (0, 6), (6, 0)]
    for own, their in counts:
        name = f"Anna{own}{their}"
        rig.meet(name, [0])  # two of hers, one of mine: not meaningful
        speak(rig, name.lower(), 50, [name] * their + ["Me"] * own)
    rig.settle()
    for own, their in counts:
        found = material(rig, f"Anna{own}{their}").at_end.last_meaningful_at
        expected = is_meaningful(decisions=0, open_items=0, own_messages=own, their_messages=their)
        ended = FIRST + timedelta(days=50, minutes=own + their - 1)
        assert found == (ended if expected else None), (own, their)


def test_a_decision_makes_a_short_talk_meaningful(rig: ProfileRig) -> None:
    rig.meet("Anna", [0], DEAL)
    rig.meet("Anna", [60])
    rig.settle()
    found = material(rig, "Anna")
    assert found.at_end.last_meaningful_at == FIRST + timedelta(minutes=2)
    assert found.at_newest.last_meaningful_at == found.at_end.last_meaningful_at
    rig.run("UPDATE items SET is_withheld = true")
    assert material(rig, "Anna").at_end.last_meaningful_at is None


def test_whom_we_only_meet_in_groups_is_heard_there(rig: ProfileRig) -> None:
    speak(rig, "team", 0, ["Anna", "Me", "Bob"] * 2, chat_kind="group", chat_title="The workshop")
    speak(rig, "bob", 1, ["Bob", "Me", "Bob"])
    rig.settle()
    anna, bob = material(rig, "Anna"), material(rig, "Bob")
    assert (anna.is_met_in_groups, anna.groups) == (True, ("The workshop",))
    assert [one.text.split()[-1] for one in anna.said if not one.is_self] == ["Anna."] * 2
    assert {one.text.split()[-1] for one in anna.said if one.is_self} == {"Me.", "Bob."}
    assert not bob.is_met_in_groups
    assert len(bob.said) == 3


def test_the_newest_summarised_talk_has_a_meaningful_contact_of_its_own(rig: ProfileRig) -> None:
    """What was meaningful in the week itself belongs to the row, not to what the words are made of."""
    rig.meet("Anna", [0], DEAL)
    speak(rig, "anna", 104, ["Anna", "Me"] * 3)
    rig.settle()
    found = material(rig, "Anna")
    assert found.at_end.last_meaningful_at == FIRST + timedelta(days=104, minutes=5)
    assert found.at_newest.last_meaningful_at == FIRST + timedelta(minutes=2)


def test_of_a_group_only_what_belongs_to_the_person_counts(rig: ProfileRig) -> None:
    speak(rig, "team", 0, ["Anna", "Me", "Bob", "Cleo", "Cleo", "Cleo", "Cleo"], chat_kind="group")
    rig.settle()
    own = {name: material(rig, name).at_end.messages for name in ("Anna", "Cleo")}
    belongs = dict(
        rig.rows("SELECT e.name, p.message_count FROM interaction_participants p JOIN entities e ON e.id = p.entity_id")
    )
    assert own == {name: belongs[name] for name in own}
    assert own["Anna"] < 7


def test_mass_chats_do_not_count(rig: ProfileRig) -> None:
    rig.meet("Anna", [30])
    speak(rig, "crowd", 0, ["Anna", "Bob", "Cleo"] * 3, chat_kind="group")
    rig.settle()
    rig.run("UPDATE chats SET category = 'mass' WHERE external_id = 'crowd'")
    found = material(rig, "Anna")
    assert (found.at_end.interactions, found.at_end.first_started_at) == (1, FIRST + timedelta(days=30))
    assert len(found.covered) == 1
    assert [person.name for person in rig.reads.persons(SPOKEN)] == []  # first met too late, the crowd apart


def test_where_nobody_is_me_everybody_else_is_the_other_side(rig: ProfileRig) -> None:
    speak(rig, "talk", 0, ["Anna", "Me"] * 3)
    rig.settle()
    rig.run("UPDATE entities SET is_self = false")
    rig.run("UPDATE messages SET is_outgoing = false")
    rig.run("UPDATE interaction_participants SET role = 'other'")
    found = material(rig, "Anna")
    assert (found.self_person, found.at_end.last_meaningful_at) == (None, FIRST + timedelta(minutes=5))


def test_facts_are_the_confirmed_ones_that_held_then(rig: ProfileRig) -> None:
    rig.meet("Anna", [0])
    rig.settle()
    anna = rig.one("SELECT id FROM entities WHERE name = 'Anna'")
    for place, (value, status, first, last) in enumerate(
        [
            ("Riga", "confirmed", "2026-03-03", None),
            ("Oslo", "confirmed", "2026-02-01", "2026-03-03"),
            ("Rome", "confirmed", "2026-06-15", None),
            ("Bonn", "candidate", "2026-03-03", None),
        ]
    ):
        rig.run(
            "INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, valid_from, valid_to,"
            " quote, message_ids) VALUES (md5(%s)::uuid, %s, 'city', %s, 1, %s, %s, %s, 'q', '{}')",
            str(place), anna, value, status, first, last,
        )  # fmt: skip
    assert material(rig, "Anna").facts == ("city: Riga",)


def test_topics_leave_out_names_and_count_talks(rig: ProfileRig) -> None:
    for day in (0, 10, 20):
        rig.say(
            "anna", ("Anna, the kitchen shelves?", *CHAT[1:]), at=FIRST + timedelta(days=day), senders=("Anna", "Me")
        )
    rig.settle()
    rig.build()
    topics = rig.profile("Anna")["top_topics"]
    assert [(topic["name"], topic["mentions"]) for topic in topics] == [("kitchen shelves", 3)]


def test_the_wired_memory_makes_profiles_without_a_key(rig: ProfileRig) -> None:
    """Offline summaries, offline words, the settings' ages: the whole way, free of charge."""
    rig.meet("Anna", [0, 20, 40], DEAL)
    rig.load()
    rig.memory.items.run(Billing("backfill"))
    rig.memory.summarize((FIRST.date(), WEEK), Billing("backfill"))
    assert rig.memory.profiles.due_weeks() == [WEEK]
    seen: list[object] = []
    [report] = rig.memory.profiles.build_weeks([WEEK], Billing("live"), on_week=seen.append)
    assert (report.persons, report.profiled, report.cost_usd, seen) == (1, 1, 0.0, [report])
    row = rig.profile("Anna")
    assert row["model_version"].startswith("offline")
    assert row["summary"]
    assert row["key_decisions"]
    assert rig.memory.profiles.due_weeks() == []
    [again] = rig.memory.profiles.build_weeks([WEEK], Billing("live"))
    assert (again.unchanged, again.calls) == (1, 0)


def test_weeks_follow_the_memorys_time_zone(database_url: str, tmp_path: Path) -> None:
    """Saturday 23:30 in Berlin is in the week; 00:30 is not, although UTC still has Saturday."""
    rig = ProfileRig(database_url, tmp_path, timezone="Europe/Berlin")
    try:
        rig.meet("Anna", [0])
        for hour in (21.4, 22.4):
            speak(rig, f"anna{hour}", 109 - 10 / 24 + hour / 24, ["Anna", "Me"])
        rig.settle()
        rig.build(profile_llm())
        assert rig.profile("Anna")["as_of"].startswith("2026-06-20T22:00")
        assert rig.profile("Anna")["total_interactions"] == 2
    finally:
        rig.close()


def test_the_documented_questions_are_answered(rig: ProfileRig) -> None:
    """docs/profiles.md: now, the course, and what changed since a week."""
    rig.meet("Vera Orlova", [0], DEAL)
    rig.at(NOW + timedelta(days=7))
    rig.meet("Vera Orlova", [105], (*DEAL[:2], "I will bring the new keys by Monday."))
    rig.settle()
    rig.build(weeks=[WEEK - timedelta(days=7), WEEK, WEEK + timedelta(days=7)])
    blocks = (REPOSITORY / "docs" / "profiles.md").read_text(encoding="utf-8").split("```sql\n")[1:]
    now, course, changed = (rig.rows(block.partition("```")[0]) for block in blocks)
    assert [row[0] for row in now] == ["Vera Orlova"]
    assert [(row[3], row[7]) for row in course] == [(1, False), (2, False), (2, False)]
    assert [row[:3] for row in changed] == [("Vera Orlova", WEEK - timedelta(days=7), WEEK + timedelta(days=7))]
    assert changed[0][5:7] == (1, "They order 12 shelves for 300 EUR")
