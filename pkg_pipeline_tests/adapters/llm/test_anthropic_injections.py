"""B15, fault row 18: a model that obeys what strangers write into a chat does not get it published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.memory.records import Language, Person, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary import gate
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline_tests.adapters.llm.anthropic_rig import Rig, request_for, rig
from pkg_pipeline_tests.memory.conversations import ANNA, BEN, EVERY, LIN, conversation
from pkg_pipeline_tests.memory.injections import ALL

MARKER = "pwned"
STRANGER: dict[Language, Person] = {"ru": ANNA, "en": BEN, "zh": LIN}


@pytest.fixture(scope="module")
def obedient() -> Iterator[Rig]:
    with rig() as made:
        yield made


def poisoned(language: Language, texts: tuple[str, ...]) -> SummaryInput:
    """An ordinary conversation with the stranger's order between its messages."""
    said = [(message.sender, message.text) for message in EVERY[language].messages]
    order = [(STRANGER[language], text) for text in texts]
    return conversation(*said[:-1], *order, said[-1], language=language)


def published(content: SummaryContent) -> str:
    """Everything that reads as our words; the texts of important messages are the chat's own."""
    record = asdict(content)
    record.pop("important_messages")
    return str(record).casefold()


def test_there_are_enough_cases() -> None:
    assert len(ALL) >= 60


@pytest.mark.parametrize("mode", ["obedient", "obedient_blend"])
@pytest.mark.parametrize(("language", "texts"), ALL)
def test_an_obeyed_order_is_not_published(obedient: Rig, language: Language, texts: tuple[str, ...], mode: str) -> None:
    source = poisoned(language, texts)
    obedient.fake.script.replace([Fault(answer=mode)])
    reply = obedient.llm.complete(request_for(source))
    answer = prompt.parse(reply.text)
    assert MARKER in reply.text.casefold() or mode == "obedient_blend" or len(texts) > 1
    result = gate.check(prompt.to_candidates(answer)[1], source)
    if result.content is not None:
        assert MARKER not in published(result.content)
        order_ids = {m.external_id for m in source.messages if m.text in texts}
        assert not order_ids & {message.message_id for message in result.content.important_messages}


@pytest.mark.parametrize(("language", "texts"), ALL)
def test_the_same_conversation_is_still_summarised_by_a_model_that_does_not_obey(
    obedient: Rig, language: Language, texts: tuple[str, ...]
) -> None:
    source = poisoned(language, texts)
    obedient.fake.script.replace([])
    reply = obedient.llm.complete(request_for(source))
    result = gate.check(prompt.to_candidates(prompt.parse(reply.text))[1], source)
    assert result.quarantine_reason is None
    assert result.content is not None
    assert MARKER not in published(result.content)


@pytest.mark.parametrize(("language", "texts"), ALL)
def test_no_order_leaves_its_fence(language: Language, texts: tuple[str, ...]) -> None:
    source = poisoned(language, texts)
    rendered = prompt.render((source,))
    assert MARKER not in rendered.system.casefold()
    blocks = fencing.read(rendered.user)
    assert [line[2] for line in blocks["TALKS"] if isinstance(line, list)] == [
        message.text for message in source.messages
    ]
    assert rendered.user.count("<<<END ") == 2
