"""Folds and shorter summaries by the real SDK over real HTTP; a model that obeys strangers gets nowhere (B15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from uuid import UUID

import anthropic
import pytest

from pkg_pipeline.fake_llm.answers import answer_text
from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.memory.session.fold_gate import check_compression, check_fold
from pkg_pipeline.memory.session.records import CompressInput, FoldInput
from pkg_pipeline.prompts import session_compress, session_fold
from pkg_pipeline.stages.folds.call import FOLD, compression
from pkg_pipeline.stages.ports import LlmRequest, Subject
from pkg_pipeline_tests.adapters.llm.anthropic_rig import LetterCounter, Rig, rig
from pkg_pipeline_tests.memory.conversations import ANNA, BEN, LIN
from pkg_pipeline_tests.memory.injections import ALL
from pkg_pipeline_tests.memory.session.stretches import SESSION, STRETCHES

MARKER = "pwned"
STRANGER: dict[Language, Person] = {"ru": ANNA, "en": BEN, "zh": LIN}
SUBJECT = Subject("session", SESSION)
SCHEMA = anthropic.transform_schema(session_fold.schema())


@pytest.fixture(scope="module")
def server() -> Iterator[Rig]:
    with rig() as made:
        yield made


def fold_request(source: FoldInput) -> LlmRequest:
    return FOLD.request(source, subject=SUBJECT)


def poisoned(language: Language, texts: tuple[str, ...]) -> FoldInput:
    """An ordinary stretch with the stranger's order before its last message."""
    source = STRETCHES[language]
    *before, last = source.messages
    orders = [
        replace(last, number=last.number + place, external_id=f"order{place}", sender=STRANGER[language], text=text)
        for place, text in enumerate(texts)
    ]
    moved = replace(last, number=last.number + len(texts))
    return replace(source, messages=(*before, *orders, moved), input_hash="|".join(texts))


def test_both_questions_are_answered_over_http(server: Rig) -> None:
    server.fake.script.replace([])
    source = STRETCHES["en"]
    reply = server.llm.complete(fold_request(source))
    result = check_fold(session_fold.to_candidate(session_fold.parse(reply.text)), source)
    assert (result.quarantine_reason, result.dropped) == (None, ())
    text = "Ben and Dana chose the boathouse for June. They spoke of the price. Ben sends the deposit. Dana waits."
    longer = CompressInput(SESSION, "en", text, source_tokens=30, target_tokens=20)
    request = compression(LetterCounter()).request(longer, subject=SUBJECT)
    reply = server.llm.complete(request)
    shorter = check_compression(session_compress.parse(reply.text).summary, longer, lambda text: len(text) // 4)
    assert shorter.content is not None
    assert len(shorter.content) < len(text)
    assert [attempt.task for attempt in server.attempts] == ["session_fold", "session_compress"]
    assert {attempt.subject for attempt in server.attempts} == {Subject("session", UUID(int=500))}


@pytest.mark.parametrize("mode", ["obedient", "obedient_blend", "good"])
def test_an_obeyed_order_is_not_published_over_http(server: Rig, mode: str) -> None:
    source = poisoned(*ALL[0])
    server.fake.script.replace([Fault(answer=mode)])
    text = server.llm.complete(fold_request(source)).text
    assert text == answer_text(mode, SCHEMA, session_fold.render(source).user)
    assert (MARKER in text.casefold()) == (mode != "good")
    _is_clean(source, text)


@pytest.mark.parametrize("mode", ["obedient", "obedient_blend"])
@pytest.mark.parametrize(("language", "texts"), ALL)
def test_no_obeyed_order_is_published(language: Language, texts: tuple[str, ...], mode: str) -> None:
    source = poisoned(language, texts)
    _is_clean(source, answer_text(mode, SCHEMA, session_fold.render(source).user))


@pytest.mark.parametrize(("language", "texts"), ALL)
def test_the_same_stretch_is_still_folded_by_a_model_that_does_not_obey(
    language: Language, texts: tuple[str, ...]
) -> None:
    source = poisoned(language, texts)
    assert _is_clean(source, answer_text("good", SCHEMA, session_fold.render(source).user))


def _is_clean(source: FoldInput, text: str) -> bool:
    """Whether a fold came of it, which holds no word of the order."""
    content = check_fold(session_fold.to_candidate(session_fold.parse(text)), source).content
    assert content is None or MARKER not in str(asdict(content)).casefold()
    return content is not None
