"""What the gate lets become of an item by the last of some messages."""

from __future__ import annotations

from collections.abc import Mapping

from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline_tests.memory.truth.judging import candidate_of, source_of
from pkg_pipeline_tests.memory.truth.talks import Part, Talk
from pkg_pipeline_tests.memory.truth.variants import Case

PEOPLE = {"en": ("Rory Hall", "Sam Pike"), "ru": ("Рита Холл", "Семён Пик"), "zh": ("何睿", "孙培")}


def became(items: Mapping[str, tuple[str, str, str]], row: str, to: str) -> bool:
    """Whether the last message of "ITEM STATE < said to me | > said by me" shows that an item became ``to``."""
    ref, _, said = row.split(" ", 2)
    owner, text, quote = items[ref]
    me, other = PEOPLE[ref[:2]]
    messages = [(one[2:], me if one[0] == ">" else other) for one in said.split(" | ")]
    talk = Talk(f"{ref[:2]}-c01", ref[:2], is_visible=True, me=me, others=[other], day="2026-03-03")
    talk.said = [(number, who, words) for number, (words, who) in enumerate(messages, 1)]
    talk.shown = [[f"a1 action {owner} 2026-03-05", text, quote, "2026-03-01"]]
    numbers = ",".join(str(number) for number, _, _ in talk.said)
    fields = {"ref": "a1", "to": to, "quote": messages[-1][0], "numbers": numbers, "due": "-"}
    gated = check_reading(candidate_of(Case(talk, Part("change", fields), "state", True, fields)), source_of(talk))
    return any(reading.changes for reading in gated.readings)
