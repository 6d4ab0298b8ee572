"""What one talk newly asks, promises and settles, as the offline answer to a reading."""

from __future__ import annotations

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.prompts.conversation_reading import Answer
from pkg_pipeline_tests.offline.chats import chat, request


def read_talk(source: SummaryInput) -> Answer:
    reading = ReadingInput((source,), (), source.language, source.timezone, "hash")
    return Answer.read(OfflineLlm().complete(request(reading)).text)


def test_a_promise_and_its_end_in_the_same_talk() -> None:
    source = chat(
        ("Vera", "Can you sign the delivery note by Wednesday?"),
        ("Tom", "Sure, I'll sign it tomorrow."),
        ("Tom", "I signed the delivery note."),
        me="Tom",
    )
    (item,) = read_talk(source).items
    assert (item.kind, item.owner, item.due, item.messages) == ("task", "me", "2024-03-12", [1, 2])
    assert item.end is not None
    assert (item.end.state, item.end.messages) == ("done", [3])


def test_a_proposal_says_who_made_it_and_who_agreed() -> None:
    source = chat(("Vera", "How about 840 dollars for the batch?"), ("Tom", "Deal, 840 it is."), me="Tom")
    decisions = [item for item in read_talk(source).items if item.kind == "decision"]
    assert [(item.proposed, item.agreed) for item in decisions] == [("Vera", ["Tom"])]
