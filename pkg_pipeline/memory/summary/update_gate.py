"""Validation of updates (P27, P28, B9): the words may draw on the new messages and on what was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pkg_pipeline.memory.gate.foreign import Known, known
from pkg_pipeline.memory.gate.records import CandidateSummary, GateResult
from pkg_pipeline.memory.records import Quarantined, SourceMessage
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import united_points


def check_update(candidate: CandidateSummary, update: UpdateInput) -> GateResult:
    """The whole content after the update, or why its text may not be published. Idempotent.

    ``dropped``: key points that failed, and how many known ones gave way to new ones.
    """
    texts = _known_texts(update)
    result = check(candidate, update.source, held=_held(update, texts), also=texts)
    if result.content is None:
        return result
    points, left_out = united_points(update.known.key_points, result.content.key_points)
    dropped = result.dropped
    if left_out:
        dropped += (Quarantined("key_points", f"{left_out} of those known before gave way to new ones"),)
    important = {m.message_id: m for m in (*update.known.important_messages, *result.content.important_messages)}
    content = replace(result.content, key_points=points, important_messages=tuple(important.values()))
    return GateResult(content, dropped, None, result.hints)


def _known_texts(update: UpdateInput) -> list[str]:
    told = update.known
    return [told.summary, *told.key_points, *(message.content for message in told.important_messages)]


def _held(update: UpdateInput, texts: Sequence[str]) -> Known:
    first = update.source.messages[0]
    spoken = tuple(SourceMessage(0, "", first.sender, first.sent_at, text) for text in texts)
    return known(replace(update.source, messages=(*update.source.messages, *spoken)))
