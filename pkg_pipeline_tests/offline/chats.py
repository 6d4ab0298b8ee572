"""Builds small conversations for the tests of the offline summariser. No assertions here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.memory.items.batches import reading_input
from pkg_pipeline.memory.records import Language, Person, SourceMessage, SummaryInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.offline.talk_items import Answer as ItemsAnswer
from pkg_pipeline.offline.talk_items import read_talks
from pkg_pipeline.prompts.summary import Answer, AnswerTalk
from pkg_pipeline.stages.ports import LlmRequest

EMBED = OfflineEmbedder().embed
MONDAY = datetime(2024, 3, 11, 9, 0, tzinfo=UTC)


def chat(
    *said: tuple[str, str],
    me: str = "Me",
    language: Language = "en",
    timezone: str = "UTC",
    start: datetime = MONDAY,
    minutes: float = 1,
) -> SummaryInput:
    """One conversation: (speaker, text) pairs a minute apart, beginning on a Monday morning."""
    names = dict.fromkeys(name for name, _ in said)
    people = {name: Person(uuid5(NAMESPACE_URL, name), name, name == me) for name in names}
    messages = tuple(
        SourceMessage(n, f"x{n}", people[name], start + timedelta(minutes=minutes * (n - 1)), text)
        for n, (name, text) in enumerate(said, 1)
    )
    return SummaryInput(
        interaction_id=uuid5(NAMESPACE_URL, "test"),
        chat_key="jsonl:test",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=tuple(people.values()),
        messages=messages,
        language=language,
        timezone=timezone,
        input_hash="hash",
    )


def request(source: object) -> LlmRequest:
    return LlmRequest("interaction_summary", "v", "system", "user", {}, 1000, source)


def answered(source: SummaryInput) -> AnswerTalk:
    """The words of a talk."""
    [told] = Answer.model_validate_json(OfflineLlm(embed=EMBED).complete(request(source)).text).talks
    return told


def read_items(source: SummaryInput) -> ItemsAnswer:
    """Items and facts of a talk to which no earlier items are shown."""
    return read_talks(reading_input([source], ()), EMBED)
