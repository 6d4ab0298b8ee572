"""Stretches of live sessions for the tests of folds: written here, nobody's. No expectations are here."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from pkg_pipeline.memory.records import Language, Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.session.records import FoldInput, tool_speaker
from pkg_pipeline_tests.memory.conversations import EVERY as CONVERSATIONS
from pkg_pipeline_tests.memory.conversations import LIN, OWNER, START, conversation

SESSION = UUID(int=500)
ASSISTANT = Person(UUID(int=7), "Assistant", is_self=False)
USER = Person(UUID(int=8), "User", is_self=True)


def stretch(source: SummaryInput, *earlier: str) -> FoldInput:
    """A conversation as a stretch of a session."""
    return FoldInput(
        session_id=SESSION,
        chat_key=source.chat_key,
        language=source.language,
        timezone=source.timezone,
        participants=tuple(person for person in source.participants if not person.name.startswith("tool: ")),
        messages=source.messages,
        earlier=earlier,
        input_hash=source.input_hash,
        assistant_ids=frozenset({ASSISTANT.entity_id} if ASSISTANT in source.participants else ()),
    )


def thread(*said: tuple[str, str], language: Language = "en", timezone: str = "UTC") -> FoldInput:
    """An agent's thread: ``user``, ``assistant`` or ``tool: name``, and what it says."""
    people = {"user": USER, "assistant": ASSISTANT}
    rows = [(people.get(who) or tool_speaker(who.removeprefix("tool: ")), text) for who, text in said]
    return stretch(conversation(*rows, language=language, timezone=timezone))


def long_stretch(count: int = 8) -> FoldInput:
    """``count`` messages of 400 words each, none like another."""
    messages = tuple(
        SourceMessage(
            number,
            f"m{number}",
            (OWNER, LIN)[number % 2],
            START + timedelta(minutes=number),
            " ".join(f"word{number} item{place}" for place in range(200)),
        )
        for number in range(1, count + 1)
    )
    return FoldInput(SESSION, "jsonl:long", "en", "UTC", (OWNER, LIN), messages, (), f"long-{count}")


STRETCHES: dict[Language, FoldInput] = {
    "ru": stretch(CONVERSATIONS["ru"], "Анна Белова и Илья Громов говорили о складе в Твери."),
    "en": stretch(CONVERSATIONS["en"], "Ben Carter and Dana Reed looked for a place near Oxford."),
    "zh": stretch(CONVERSATIONS["zh"], "林晓和王伟谈到评审会的材料。"),
}
AGENT = thread(
    ("user", "We need to move the billing service to PostgreSQL 16. Which tables are largest?"),
    ("assistant", "I'll look at the sizes of the tables first."),
    ("tool: run_sql", '[{"table": "invoices", "rows": 4012345, "bytes": 91823}, {"table": "events", "rows": 77}]'),
    ("assistant", "The table invoices is the largest: it has 4012345 rows. The other one is small."),
    ("user", "Good. Let's go with logical replication then, and do it on 12 March. Who tells the finance team?"),
    language="en",
)
