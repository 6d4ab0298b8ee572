"""A context in brief by the model (P7): the same block on the same day is asked about once, for the ledger keeps the
answer (B8). Whatever fails, there is a brief, with a warning (L10).
"""

from __future__ import annotations

from typing import Final

from pkg_pipeline.memory.context.brief import BriefInput, BriefParts, chosen, completed
from pkg_pipeline.memory.context.brief_gate import check_brief
from pkg_pipeline.prompts import context_brief as prompt
from pkg_pipeline.stages.llm import answer_validation
from pkg_pipeline.stages.llm.asking_in_reads import ReadAsker, reason_of
from pkg_pipeline.stages.ports import LlmTask, Subject
from pkg_pipeline.stages.reads.brief import Brief, by_rule

TASK: Final[LlmTask] = "context_brief"

BRIEF: Final[answer_validation.Question[BriefInput, BriefParts]] = answer_validation.Question(
    TASK, prompt, lambda text, source: check_brief(prompt.to_candidate(prompt.parse(text)), source)
)

DEADLINE_SECONDS: Final = 30.0
"""The longest a read waits: a brief is asked for, and takes a model some seconds."""

BriefAsker = ReadAsker[BriefInput, BriefParts]


def subject_of(source: BriefInput) -> Subject:
    """Whom a brief is about: forgetting them, or a talk that they were in, forgets the answer (B3)."""
    return Subject("brief", source.person.entity_id)


def asked(source: BriefInput, ask: BriefAsker) -> Brief:
    """The model's brief; never raises (L10). What it left empty or lost whole is told by the block's own lines."""
    if ask.is_offline or not source.lines:
        return by_rule(source)
    try:
        parts = ask.answer(source)
    except Exception as error:  # noqa: BLE001 - a read is never stopped by what was to make it better (L10)
        return by_rule(source, without(reason_of(error)))
    return Brief(source.language, completed(parts, chosen(source)), ask.model, prompt.VERSION)


def without(reason: str) -> str:
    return f"the brief is chosen from the context's own lines: {reason}"
