"""Validation of folds (B9, B15, T7) and of compressed summaries (L3).

A bad summary quarantines the whole answer, a bad item is dropped with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.checker import LANGUAGE_SHARE, Checker, DropLog, label_pattern
from pkg_pipeline.memory.gate.foreign import Known, foreign, known, known_stems
from pkg_pipeline.memory.gate.instructions import gives_orders, ordering_numbers
from pkg_pipeline.memory.gate.items import check_decision, check_fact
from pkg_pipeline.memory.gate.records import CandidateFact
from pkg_pipeline.memory.gate.telling import true_text
from pkg_pipeline.memory.gate.truth import Fault, Testimony
from pkg_pipeline.memory.records import DecisionItem, FactCandidate, Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.session.records import (
    CandidateFold,
    CandidateQuestion,
    CompressGateResult,
    CompressInput,
    FoldContent,
    FoldGateResult,
    FoldInput,
    OpenQuestion,
    is_tool,
)
from pkg_pipeline.memory.summary.gate import MAX_WORDS, checked, merged, same_decision, same_fact
from pkg_pipeline.memory.text.normalise import comparable, script_share, stems, word_count

MAX_SENTENCES: Final = 6
"""What our own writers keep to; a longer answer is no fault."""
MAX_TOPICS: Final = 7
MAX_TOPIC_CHARS: Final = 60
"""A topic is a name, not a statement."""

MAX_QUESTION_CHARS: Final = 500

OVER_TARGET: Final = 1.2
"""A compressed text may exceed its target by this factor."""

KEPT_SHARE: Final = 0.3
"""Least share of its content words that occurs in the text it compresses."""

_LABEL: Final = re.compile(r"(?:^|(?<=[.!?…;。！？；])\s*)(\w[\w .'-]{0,40}?)\s?[:：]", re.MULTILINE)
"""Labels of speakers."""

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_NOBODY: Final = Person(UUID(int=0), "", is_self=False)


def check_fold(candidate: CandidateFold, source: FoldInput) -> FoldGateResult:
    """The publishable part of an answer about ``source``, or the reason for its quarantine.

    Words may come from the earlier summaries too; evidence only from the messages.
    """
    checker = checker_of(source)
    log = DropLog()
    talked_of = known_stems(source.messages) | stems(" ".join(person.name for person in _speakers(source)))
    whole = checker.whole(source.earlier)
    summary = true_text(
        candidate.summary,
        "summary",
        checker,
        whole,
        log,
        most_words=MAX_WORDS,
        talked_of=talked_of,
        may_be_unshown=True,
    )
    if isinstance(summary, Fault):
        return FoldGateResult(None, tuple(log.entries), f"summary: {summary.reason}", tuple(log.hints))
    decisions = merged(checked(candidate.decisions, "decisions", check_decision, checker, log), same_decision, log)
    content = FoldContent(
        summary=summary,
        facts=merged(checked(candidate.facts, "facts", _check_fact, checker, log), same_fact, log),
        decisions=decisions,
        open_questions=_open(
            merged(
                checked(candidate.open_questions, "open_questions", _check_question, checker, log),
                same_question,
                log,
            ),
            decisions,
            log,
        ),
        topics=_topics(candidate.topics, checker, log),
    )
    return FoldGateResult(content, tuple(log.entries), None, tuple(log.hints))


def checker_of(source: FoldInput) -> Checker:
    """The messages prepared for validation; words may come from the earlier summaries too."""
    conversation = source.conversation
    return Checker(conversation, held=_held(source), ordering=ordering_numbers(conversation.messages))


def same_question(first: OpenQuestion, second: OpenQuestion) -> OpenQuestion | None:
    """The union of two questions with the same words, else None."""
    if comparable(first.text) != comparable(second.text):
        return None
    return replace(first, message_ids=tuple(dict.fromkeys((*first.message_ids, *second.message_ids))))


def check_compression(text: str, source: CompressInput, count: Callable[[str], int]) -> CompressGateResult:
    """``text`` if it may replace ``source.text``: short enough, same language, nothing new. ``count`` counts tokens."""
    reason = _compression_reason(text, source, count)
    if reason is not None:
        return CompressGateResult(None, (), reason)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return CompressGateResult("\n".join(line for line in lines if line), (), None)


def _compression_reason(text: str, source: CompressInput, count: Callable[[str], int]) -> str | None:
    if word_count(text) == 0:
        return "summary: is empty or says nothing"
    tokens, most = count(text), int(source.target_tokens * OVER_TARGET)
    if tokens > most:
        return f"summary: has {tokens} tokens, at most {most} are allowed"
    held = _known_of(source)
    if (found := foreign(text, held)) is not None:
        return f"summary: {found}"
    spoken = Testimony([_message_of(source)], (), ZoneInfo("UTC"))
    if (fault := spoken.figures(text)) is not None:
        return f"summary: {fault.reason}"
    labels = label_pattern(_LABEL.findall(source.text))
    if gives_orders(labels.sub(r"\1", text) if labels else text):
        return "summary: gives orders to its reader"
    if script_share(text, source.language) < LANGUAGE_SHARE <= script_share(source.text, source.language):
        return "summary: is not in the language of what it shortens"
    content = stems(text)
    if len(content & held.stems) < KEPT_SHARE * len(content):
        return "summary: has almost no word in common with what it shortens"
    return None


def _held(source: FoldInput) -> Known:
    conversation = source.conversation
    first = conversation.messages[0]
    spoken = tuple(SourceMessage(0, "", first.sender, first.sent_at, text) for text in source.earlier)
    people = tuple(_speakers(source))
    return known(replace(conversation, messages=(*conversation.messages, *spoken), participants=people))


def _message_of(source: CompressInput) -> SourceMessage:
    return SourceMessage(1, "", _NOBODY, _EPOCH, source.text)


def _known_of(source: CompressInput) -> Known:
    return known(
        SummaryInput(
            interaction_id=source.session_id,
            chat_key="",
            started_at=_EPOCH,
            ended_at=_EPOCH,
            participants=(),
            messages=(_message_of(source),),
            language=source.language,
            timezone="UTC",
            input_hash="",
        )
    )


def _check_fact(item: CandidateFact, part: str, checker: Checker, log: DropLog) -> FactCandidate | None:
    """As ``check_fact``, without facts about tools."""
    is_about_tool = any(item.about == p.name and is_tool(p) for p in _speakers(checker.source))
    return check_fact(replace(item, about=None) if is_about_tool else item, part, checker, log)


def _speakers(source: FoldInput | SummaryInput) -> list[Person]:
    return list(dict.fromkeys((*source.participants, *(message.sender for message in source.messages))))


def _check_question(item: CandidateQuestion, part: str, checker: Checker, log: DropLog) -> OpenQuestion | None:
    evidence = checker.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return log.note(part, evidence)
    if len(item.text) > MAX_QUESTION_CHARS:
        return log.note(part, "is too long")
    if (fault := checker.untrue(item.text, evidence)) is not None:
        return log.note(part, *fault)
    return OpenQuestion(
        id=checker.item_id("open_question", evidence, item.text),
        text=" ".join(item.text.split()),
        quote=evidence.quote,
        message_ids=evidence.ids,
    )


def _open(
    questions: Sequence[OpenQuestion], decisions: Sequence[DecisionItem], log: DropLog
) -> tuple[OpenQuestion, ...]:
    """Without questions whose quote is a decision's evidence."""
    kept: list[OpenQuestion] = []
    for question in questions:
        said = comparable(question.quote)
        if any(said in comparable(decision.quote) for decision in decisions):
            log.note("open_questions", "is settled by one of the decisions")
        else:
            kept.append(question)
    return tuple(kept)


def _topics(topics: Sequence[str], checker: Checker, log: DropLog) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for index, topic in enumerate(topics):
        if (reason := _topic_reason(topic, checker)) is not None:
            log.note(f"topics[{index}]", reason)
        elif len(kept) < MAX_TOPICS:
            kept.setdefault(comparable(topic), " ".join(topic.split()))
    return tuple(kept.values())


def _topic_reason(topic: str, checker: Checker) -> str | None:
    if len(topic) > MAX_TOPIC_CHARS or any(mark in topic for mark in "\n[]{}"):
        return "is no short name"
    content = stems(topic)
    if content and not content & checker.held.stems:
        return "has no word in common with the conversation"
    if not any(map(str.isalnum, topic)):
        return "is empty"
    if (reason := foreign(topic, checker.held)) is not None:
        return reason
    if gives_orders(topic) or checker.echoes_orders(topic):
        return "gives orders to its reader"
    return None
