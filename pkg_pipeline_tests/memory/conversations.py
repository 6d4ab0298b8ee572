"""Small conversations for the tests of prompt, gate and model: written here, nobody's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from pkg_pipeline.memory.records import Language, Person, SourceMessage, SummaryInput

ME = Person(UUID(int=1), "Илья Громов", is_self=True)
ANNA = Person(UUID(int=2), "Анна Белова", is_self=False, organization="Северный Склад")
BEN = Person(UUID(int=3), "Ben Carter", is_self=False)
OWNER = Person(UUID(int=4), "Dana Reed", is_self=True)
LIN = Person(UUID(int=5), "林晓", is_self=False)
WEI = Person(UUID(int=6), "王伟", is_self=True)
START = datetime(2024, 3, 14, 20, 30, tzinfo=UTC)  # a Thursday; in Moscow it is 23:30


def conversation(
    *said: tuple[Person, str],
    language: Language,
    timezone: str = "Europe/Moscow",
    scores: dict[int, float] | None = None,
) -> SummaryInput:
    """Messages ten minutes apart from ``START``, numbered from 1; external ids are m1, m2 …"""
    people = tuple({person.entity_id: person for person, _ in said}.values())
    messages = tuple(
        SourceMessage(
            number=number,
            external_id=f"m{number}",
            sender=person,
            sent_at=START + timedelta(minutes=10 * (number - 1)),
            text=text,
            importance_score=(scores or {}).get(number, 0.0),
        )
        for number, (person, text) in enumerate(said, start=1)
    )
    return SummaryInput(
        interaction_id=UUID(int=100),
        chat_key="jsonl:c1",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=people,
        messages=messages,
        language=language,
        timezone=timezone,
        input_hash="hash-of-" + "|".join(text for _, text in said),
    )


RUSSIAN = conversation(
    (ANNA, "Добрый вечер! По стеллажам: готовы отдать партию за 48 500 руб."),
    (ME, "Добрый. Давайте за 48 000, и договорились: оплата до 20 марта."),
    (ANNA, "Согласна, договорились. Счёт пришлю завтра на почту ilya@grom.example"),
    (ME, "Отлично, жду счёт."),
    language="ru",
    scores={1: 0.3, 2: 1.0, 3: 0.6},
)
ENGLISH = conversation(
    (BEN, "Hi Dana, did you look at the venue offers for the June workshop?"),
    (OWNER, "Yes. The boathouse is free on June 12 and costs $1,200 for the day."),
    (BEN, "Agreed, let's go with the boathouse. I'll send the deposit on Monday."),
    (OWNER, "Great, thank you! My new number is +44 20 7946 0018 by the way."),
    language="en",
    timezone="Europe/London",
    scores={2: 0.6, 3: 0.4},
)
CHINESE = conversation(
    (LIN, "王伟，周五下午的评审会改到三点，可以吗？"),
    (WEI, "可以，我同意。会议室还是二楼那间。"),
    (LIN, "好的，我会把修改后的方案发给大家。"),
    language="zh",
    timezone="Asia/Shanghai",
    scores={1: 0.6},
)
EVERY = {"ru": RUSSIAN, "en": ENGLISH, "zh": CHINESE}
