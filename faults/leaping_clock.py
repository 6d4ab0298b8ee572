"""The memory's clock leaps forward and back, between and within hops, as a machine's does that is set right."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from faults import hops
from faults.ground import Ground, tables
from faults.kinds import Outcome, fault
from faults.two_workers import left_behind, paid_twice
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.wiring import PinnedClock

SEED = 20_261_122
STEPS = [timedelta(minutes=5), timedelta(hours=1), timedelta(days=1)]
LEAPS = [timedelta(), *STEPS, *(-step for step in STEPS)]
STEADY = hops.NOW + timedelta(days=3)
"""The middle of a week: which weeks are over, and so have profiles, is for the clock to say."""
UNDATED, TURNS, EDITED = "jsonl:undated", 12, "Said otherwise."
"""A session whose turns come without a time: theirs is the clock's."""
NOBODY = "http://127.0.0.1:9"


@dataclass(slots=True)
class LeapingClock:
    """Some way before or after ``STEADY``, at each look another."""

    chance: random.Random
    leaps: list[timedelta] = field(default_factory=lambda: LEAPS)

    def now(self) -> datetime:
        return STEADY + self.chance.choice(self.leaps)


def undated_turns() -> list[tuple[str, Any]]:
    return [
        (f"turn {number}", {"id": f"u{number}", "role": "user", "content": f"Said without a time: {number}."})
        for number in range(TURNS)
    ]


def _go_through(url: str, ground: Ground, base_url: str, chance: random.Random | None) -> None:
    """Every hop; each look at the clock shows another time, unless there is no ``chance``."""
    for work in hops.HOPS.values():
        with hops.opened(url, ground.folder, base_url) as memory:
            memory.clock = PinnedClock(STEADY) if chance is None else LeapingClock(chance)
            work(memory)


def _append_undated(url: str, ground: Ground, chance: random.Random, outcome: Outcome, *, at: str) -> None:
    """Turns one by one, all again as a client does that has lost the answers, and an edit after the clock went back."""
    with hops.opened(url, ground.folder, NOBODY) as memory:
        memory.clock = LeapingClock(chance)
        for turn in undated_turns():
            memory.sessions.append(UNDATED, [turn])
        first = _said(url)
        for _ in range(2):
            memory.sessions.append(UNDATED, undated_turns())
        outcome.compare({"undated": first}, {"undated": _said(url)}, at=f"{at}, appended again")
        memory.clock = LeapingClock(chance, [-timedelta(days=2)])
        place, turn = undated_turns()[3]
        memory.sessions.append(UNDATED, [(place, {**turn, "content": EDITED})])
    expected = [(key, sent_at, EDITED if key == turn["id"] else text) for key, sent_at, text in first]
    outcome.compare({"undated": expected}, {"undated": _said(url)}, at=f"{at}, edited")
    if [key for key, _, _ in first] != [turn["id"] for _, turn in undated_turns()]:
        outcome.wrong.append(f"{at}: the turns stand in another order than they were said: {first}")


def _said(url: str) -> list[tuple[Any, ...]]:
    """What the session without times holds, in its order."""
    with engine.connect(url) as connection:
        return connection.execute(
            "SELECT m.external_id, m.sent_at, m.content FROM messages m JOIN chats c ON c.id = m.chat_id"
            " WHERE c.source || ':' || c.external_id = %s ORDER BY m.id",
            (UNDATED,),
        ).fetchall()


@fault(
    "clock forward and back",
    how="the memory's clock is some way off at each look, by five minutes, an hour or a day, before or behind; turns"
    " with and without times of their own; then it is set right",
    short=2,
    full=20,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """A try goes through every hop under a leaping clock, then once more under a steady one."""
    outcome = Outcome(ends="tables equal to those of a steady clock, times of messages kept, no question asked twice")
    hops.write_export(ground.folder)
    with ground.database() as url, FakeAnthropic() as fake:
        for _ in range(2):
            _go_through(url, ground, fake.url, None)
        expected = tables(url)
    for number in range(tries):
        chance, at = random.Random(SEED + number), f"try {number}"
        with ground.database() as url, FakeAnthropic() as fake:
            _go_through(url, ground, fake.url, chance)
            _go_through(url, ground, fake.url, None)
            outcome.tries += 1
            outcome.compare(expected, tables(url), at=at)
            outcome.doubled += paid_twice(fake)
            outcome.wrong += left_behind(url, at=at)
        with ground.database() as url:
            _append_undated(url, ground, chance, outcome, at=at)
    return outcome
