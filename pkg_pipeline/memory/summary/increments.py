"""New messages in a summarised interaction (P27): update or new summary, and what an update reads."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)
from pkg_pipeline.memory.summary.reconciliation import Item

MESSAGES_BEFORE = 4
"""Known messages shown before each new one, for context."""

FIRST = "there was no summary yet"
CHANGED = "made anew: a message that it covered was edited, deleted or moved"
OTHER_VERSION = "made anew: another prompt, model or schema made the last one"
NOTHING_NEW = "made anew: nothing in it is new"
MANY_NEW = "made anew: too many new messages for an update"
FEW_NEW = "updated: few new messages"
NOT_PASSED = "made anew: no update passed"

MOST_SHOWN = {"d": 30, "a": 40, "f": 10}
"""Known items listed per kind, where there are more in all."""

KnownItem = DecisionItem | ActionItem | FactCandidate


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
    refs: Mapping[str, KnownItem] = field(compare=False)
    """Short ids (d1, a1, f1 …) → known items, in the order of ``known``."""

    @property
    def shown(self) -> Mapping[str, KnownItem]:
        """What the prompt lists: all, or the newest with open items first; others are kept."""
        if len(self.refs) <= sum(MOST_SHOWN.values()):
            return self.refs
        left = dict(MOST_SHOWN)
        shown: dict[str, KnownItem] = {}
        for ref, item in reversed([*self.refs.items()]):
            is_done = isinstance(item, ActionItem) and item.status == "closed"
            if left[ref[0]] and not is_done:
                left[ref[0]] -= 1
                shown[ref] = item
        return dict(reversed([*shown.items()]))

    @property
    def new_messages(self) -> tuple[SourceMessage, ...]:
        return tuple(message for message in self.source.messages if message.number in self.new_numbers)


def update_input(
    source: SummaryInput, known: SummaryContent, shown: Sequence[SourceMessage], new_ids: Collection[str]
) -> UpdateInput:
    """``source`` with only the ``shown`` messages; hash over all fenced words."""
    numbered = tuple(replace(message, number=number) for number, message in enumerate(shown, 1))
    words = [known.summary, *known.key_points, *(_words(item) for item in refs_of(known).values())]
    texts = [(message.external_id, hashing.content_hash(message.text)) for message in numbered]
    return UpdateInput(
        source=replace(source, messages=numbered, input_hash=hashing.input_hash(texts, "update", *words)),
        known=known,
        new_numbers=frozenset(message.number for message in numbered if message.external_id in new_ids),
        refs=refs_of(known),
    )


def refs_of(known: SummaryContent) -> dict[str, KnownItem]:
    """Short ids in order: decisions d1 …, action items a1 …, facts f1 …"""
    groups: tuple[tuple[str, Sequence[KnownItem]], ...] = (
        ("d", known.decisions),
        ("a", known.action_items),
        ("f", known.extracted_facts),
    )
    return {f"{letter}{at}": item for letter, items in groups for at, item in enumerate(items, 1)}


def joined(content: SummaryContent, adopted: Sequence[SummaryContent]) -> SummaryContent:
    """``content`` with the items of ``adopted``, summaries of joined interactions; each item once."""
    several = (content, *adopted)
    important: dict[str, ImportantMessage] = {}
    for message in (message for one in several for message in one.important_messages):
        important.setdefault(message.message_id, message)
    return replace(
        content,
        decisions=_once(item for one in several for item in one.decisions),
        action_items=_once(item for one in several for item in one.action_items),
        extracted_facts=_once(item for one in several for item in one.extracted_facts),
        important_messages=tuple(important.values()),
    )


def _once(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple({item.id: item for item in items}.values())


def _words(item: KnownItem) -> str:
    if isinstance(item, FactCandidate):
        return json.dumps([item.fact_type, item.value])
    state = item.status if isinstance(item, ActionItem) else item.importance
    return json.dumps([item.description, item.quote, state], ensure_ascii=False)
