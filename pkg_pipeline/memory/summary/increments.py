"""New messages in a summarised interaction (P27): update or new summary, and what an update reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SourceMessage, SummaryContent, SummaryInput

MESSAGES_BEFORE = 4
"""Known messages shown before each new one, for context."""

FIRST = "there was no summary yet"
CHANGED = "made anew: a message that it covered was edited, deleted or moved"
OTHER_VERSION = "made anew: another prompt, model or schema made the last one"
NOTHING_NEW = "made anew: nothing in it is new"
MANY_NEW = "made anew: too many new messages for an update"
FEW_NEW = "updated: few new messages"
NOT_PASSED = "made anew: no update passed"


@dataclass(frozen=True, slots=True)
class KnownSummary:
    """The published summary.

    ``message_ids``: external ids it was made from; ``input_hash``: of their texts.
    """

    id: UUID
    content: SummaryContent
    message_ids: tuple[str, ...]
    input_hash: str
    prompt_version: str
    model: str
    schema_version: int
    is_dirty: bool


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of prompts, model and schema that count as current (B5)."""

    prompts: frozenset[str]
    model: str
    schema: int


@dataclass(frozen=True, slots=True)
class Plan:
    """``new_ids``: messages the summary lacks; ``shown_ids``: those an update shows, in order."""

    method: Literal["whole", "update"]
    reason: str
    new_ids: tuple[str, ...] = ()
    shown_ids: tuple[str, ...] = ()


def plan(known: KnownSummary | None, texts: Iterable[tuple[str, str]], *, most_new: int, versions: Versions) -> Plan:
    """P27. ``texts``: (external id, content hash) of all live messages in order, consumed only if needed. ``most_new``:
    most new messages of an update.
    """
    if known is None:
        return Plan("whole", FIRST)
    if (known.prompt_version not in versions.prompts) or (known.model, known.schema_version) != (
        versions.model,
        versions.schema,
    ):
        return Plan("whole", OTHER_VERSION)
    if known.is_dirty:
        return Plan("whole", CHANGED)
    return _compared(known, texts, most_new)


def _compared(known: KnownSummary, texts: Iterable[tuple[str, str]], most_new: int) -> Plan:
    covered = frozenset(known.message_ids)
    new: list[str] = []
    shown: dict[str, None] = {}
    recent: list[str] = []

    def still_covered() -> Iterable[tuple[str, str]]:
        for key, text_hash in texts:
            if key in covered:
                yield key, text_hash
            elif len(new) <= most_new:
                new.append(key)
                shown.update(dict.fromkeys((*recent, key)))
            recent[:] = [*recent[1 - MESSAGES_BEFORE :], key]

    if hashing.input_hash(still_covered()) != known.input_hash:
        return Plan("whole", CHANGED)
    if not new:
        return Plan("whole", NOTHING_NEW)
    if len(new) > most_new:
        return Plan("whole", MANY_NEW)
    return Plan("update", FEW_NEW, tuple(new), tuple(shown))


@dataclass(frozen=True, slots=True)
class UpdateInput:
    """Everything an update is made from: ``source`` with the shown messages, ``known`` content, ``new_numbers``."""

    source: SummaryInput
    known: SummaryContent
    new_numbers: frozenset[int]

    @property
    def new_messages(self) -> tuple[SourceMessage, ...]:
        return tuple(message for message in self.source.messages if message.number in self.new_numbers)


def update_input(
    source: SummaryInput, known: SummaryContent, shown: Sequence[SourceMessage], new_ids: Collection[str]
) -> UpdateInput:
    """``source`` with only the ``shown`` messages; hash over all fenced words."""
    numbered = tuple(replace(message, number=number) for number, message in enumerate(shown, 1))
    texts = [(message.external_id, hashing.content_hash(message.text)) for message in numbered]
    words = (known.summary, *known.key_points)
    return UpdateInput(
        source=replace(source, messages=numbered, input_hash=hashing.input_hash(texts, "update", *words)),
        known=known,
        new_numbers=frozenset(message.number for message in numbered if message.external_id in new_ids),
    )
