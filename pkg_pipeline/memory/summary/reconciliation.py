"""Item reconciliation (P28): items keep ids and states over versions of a summary, or are reported as lost.

An item is valid while its messages exist, are unchanged since publication, and one still holds its quote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    Quarantined,
    SummaryContent,
)
from pkg_pipeline.memory.text.normalise import comparable, normalised, stems

HASH_DIGITS = 16
"""Digits of the text hash stored beside an item."""

NEAR_SHARE = 0.6
"""Least share of common content words (of the union) of equal descriptions."""

IMPORTANCE_ORDER = {"high": 0, "medium": 1, "low": 2}

Item = TypeVar("Item", DecisionItem, ActionItem, FactCandidate)
Likeness = Callable[[Item, Item], float]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """``content``: all valid items; ``lost``: the others with reasons; ``carried``: how many the new answer did not
    repeat.
    """

    content: SummaryContent
    lost: tuple[Quarantined, ...]
    carried: int


def cited_message_ids(*contents: SummaryContent) -> tuple[str, ...]:
    """External ids of all evidence in ``contents``, each once."""
    found: dict[str, None] = {}
    for content in contents:
        for item in (*content.decisions, *content.action_items, *content.extracted_facts):
            found.update(dict.fromkeys(item.message_ids))
        found.update(dict.fromkeys(message.message_id for message in content.important_messages))
    return tuple(found)


def with_text_hashes(content: SummaryContent, texts: Mapping[str, str]) -> SummaryContent:
    """``content`` with hashes of the current texts of its evidence, by external id."""

    def sealed_item(item: Item) -> Item:
        return replace(item, text_hashes=tuple(_short(texts.get(key)) for key in item.message_ids))

    return replace(
        content,
        decisions=tuple(map(sealed_item, content.decisions)),
        action_items=tuple(map(sealed_item, content.action_items)),
        extracted_facts=tuple(map(sealed_item, content.extracted_facts)),
    )


def reconcile(known: Sequence[SummaryContent], made: SummaryContent, texts: Mapping[str, str]) -> Reconciled:
    """``made`` from the whole conversation, merged with what was ``known``. Idempotent.

    ``texts``: current texts of all cited messages; a missing one is deleted. Repeated items keep the known id and
    state; others are carried over while valid, else lost.
    """
    lost: list[Quarantined] = []
    decisions = _kept([one.decisions for one in known], made.decisions, decision_likeness, _decision, texts, lost)
    actions = _kept([one.action_items for one in known], made.action_items, action_likeness, _action, texts, lost)
    facts = _kept([one.extracted_facts for one in known], made.extracted_facts, fact_likeness, _fact, texts, lost)
    content = replace(
        made,
        decisions=decisions,
        action_items=actions,
        extracted_facts=facts,
        important_messages=_important(known, made.important_messages, texts, lost),
    )
    before = {item.id for item in (*made.decisions, *made.action_items, *made.extracted_facts)}
    items = (*decisions, *actions, *facts)
    return Reconciled(content, tuple(lost), sum(item.is_carried and item.id not in before for item in items))


def with_new_items(known: SummaryContent, made: SummaryContent) -> SummaryContent:
    """``known`` unchanged, then the additions of ``made``; equal items keep the known id (P28)."""

    def united(old: Sequence[Item], new: Sequence[Item], likeness: Likeness[Item], unite: Callable[[Item, Item], Item]):
        pairs = matches(old, new, likeness)
        merged = tuple(unite(item, new[pairs[at]]) if at in pairs else item for at, item in enumerate(old))
        taken = set(pairs.values())
        return (*merged, *(item for at, item in enumerate(new) if at not in taken))

    important = {message.message_id: message for message in (*made.important_messages, *known.important_messages)}
    order = dict.fromkeys(m.message_id for m in (*known.important_messages, *made.important_messages))
    return replace(
        made,
        decisions=united(known.decisions, made.decisions, decision_likeness, _decision),
        action_items=united(known.action_items, made.action_items, action_likeness, _action),
        extracted_facts=united(known.extracted_facts, made.extracted_facts, fact_likeness, _fact),
        important_messages=tuple(important[key] for key in order),
    )


def matches(known: Sequence[Item], made: Sequence[Item], likeness: Likeness[Item]) -> dict[int, int]:
    """Index in ``known`` → index in ``made`` of the same item, one to one; equal ids first."""
    ids = {item.id: index for index, item in enumerate(made)}
    found = {at: ids[item.id] for at, item in enumerate(known) if item.id in ids}
    taken = set(found.values())
    places = _places(made)
    rated = [
        (-likeness(item, made[index]), at, index)
        for at, item in enumerate(known)
        if at not in found
        for index in sorted({index for mark in _marks(item) for index in places.get(mark, ())} - taken)
    ]
    for value, at, index in sorted(rated):
        if value < 0 and at not in found and index not in taken:
            found[at] = index
            taken.add(index)
    return found


def _places(items: Sequence[Item]) -> dict[str, list[int]]:
    """Candidate indexes by word, to avoid comparing all pairs."""
    found: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        for mark in _marks(item):
            found.setdefault(mark, []).append(index)
    return found


def _marks(item: Item) -> list[str]:
    words = item.value if isinstance(item, FactCandidate) else item.description
    return [f"says {comparable(words)}", *(f"rests on {key}" for key in item.message_ids)]


def decision_likeness(one: DecisionItem, other: DecisionItem) -> float:
    return _likeness(one, other)


def action_likeness(one: ActionItem, other: ActionItem) -> float:
    """As for decisions; other people make another item."""
    if (one.owner, one.owner_entity_id) != (other.owner, other.owner_entity_id):
        same_words = comparable(one.quote) == comparable(other.quote) and bool(
            {*one.message_ids} & {*other.message_ids}
        )
        return 0.5 * _likeness(one, other) if same_words else 0.0
    return _likeness(one, other)


def fact_likeness(one: FactCandidate, other: FactCandidate) -> float:
    """The same value about the same person, with the same type or evidence."""
    if comparable(one.value) != comparable(other.value) or one.entity_id != other.entity_id:
        return 0.0
    if comparable(one.fact_type) == comparable(other.fact_type):
        return 2.0
    return 1.0 if {*one.message_ids} & {*other.message_ids} else 0.0


def _likeness(one: DecisionItem | ActionItem, other: DecisionItem | ActionItem) -> float:
    if comparable(one.description) == comparable(other.description):
        return 3.0
    if not {*one.message_ids} & {*other.message_ids}:
        return 0.0
    mine, theirs = stems(one.description), stems(other.description)
    share = len(mine & theirs) / max(1, len(mine | theirs))
    quotes = comparable(one.quote), comparable(other.quote)
    if quotes[0] in quotes[1] or quotes[1] in quotes[0]:
        return 1.0 + share
    return share if share >= NEAR_SHARE else 0.0


def _kept(
    known: Sequence[Sequence[Item]],
    made: Sequence[Item],
    likeness: Likeness[Item],
    unite: Callable[[Item, Item], Item],
    texts: Mapping[str, str],
    lost: list[Quarantined],
) -> tuple[Item, ...]:
    before = list({item.id: item for items in known for item in items}.values())
    pairs = matches(before, made, likeness)
    result = list(made)
    for at, item in enumerate(before):
        standing, reason = _standing(item, texts)
        if at in pairs:
            again = made[pairs[at]]
            # a changed text is no evidence of the old state; the new item replaces it under the old id
            result[pairs[at]] = unite(standing, again) if standing is not None else replace(again, id=item.id)
        elif standing is not None:
            result.append(replace(standing, is_carried=True))
        else:
            lost.append(Quarantined(f"known {_KINDS[type(item)]} {item.id}", reason))
    return tuple(result)


_KINDS: Mapping[type, str] = {DecisionItem: "decision", ActionItem: "action item", FactCandidate: "fact"}


def _standing(item: Item, texts: Mapping[str, str]) -> tuple[Item | None, str]:
    """The item with its remaining evidence, or why it is lost."""
    hashes = dict(zip(item.message_ids, item.text_hashes, strict=False))
    broken = [key for key in item.message_ids if not _says_the_same(key, hashes.get(key, ""), texts)]
    if isinstance(item, ActionItem) and item.closed_by and set(broken) & set(item.closed_by):
        return _standing(reopened(item), texts)
    if broken:
        is_gone = any(key not in texts for key in broken)
        return None, f"rests on a message that {'is gone' if is_gone else 'was edited'}"
    opening = [key for key in item.message_ids if not isinstance(item, ActionItem) or key not in item.closed_by]
    if any(item.quote in texts[key] or normalised(texts[key]).find(item.quote) for key in opening):
        return item, ""
    return None, "its quote stands in none of its messages any more"


def reopened(item: ActionItem) -> ActionItem:
    hashes = dict(zip(item.message_ids, item.text_hashes, strict=False))
    left = tuple(key for key in item.message_ids if key not in item.closed_by)
    return replace(
        item,
        status="open",
        closed_at=None,
        closed_by=(),
        closed_quote="",
        message_ids=left,
        text_hashes=tuple(hashes.get(key, "") for key in left),
    )


def _says_the_same(key: str, text_hash: str, texts: Mapping[str, str]) -> bool:
    return key in texts and text_hash in ("", _short(texts[key]))


def _short(text: str | None) -> str:
    return "" if text is None else hashing.content_hash(text)[:HASH_DIGITS]


def _ids(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _decision(known: DecisionItem, again: DecisionItem) -> DecisionItem:
    return replace(
        again,
        id=known.id,
        date=min(known.date, again.date),
        importance=min(known.importance, again.importance, key=IMPORTANCE_ORDER.__getitem__),
        message_ids=_ids(known.message_ids, again.message_ids),
        text_hashes=(),
    )


def _action(known: ActionItem, again: ActionItem) -> ActionItem:
    """Open → closed is kept from either side; a mention does not reopen."""
    closed = next((item for item in (known, again) if item.status == "closed"), again)
    closed_by = closed.closed_by
    if known.status == "open" and closed.status == "closed" and not closed_by:
        closed_by = tuple(key for key in again.message_ids if key not in known.message_ids)
    return replace(
        again,
        id=known.id,
        status=closed.status,
        closed_at=closed.closed_at,
        closed_by=closed_by,
        closed_quote=closed.closed_quote,
        due_date=again.due_date or known.due_date,
        owner_entity_id=again.owner_entity_id or known.owner_entity_id,
        message_ids=_ids(known.message_ids, again.message_ids),
        text_hashes=(),
    )


def _fact(known: FactCandidate, again: FactCandidate) -> FactCandidate:
    return replace(
        again,
        id=known.id,
        confidence=max(known.confidence, again.confidence),
        message_ids=_ids(known.message_ids, again.message_ids),
        text_hashes=(),
    )


def _important(
    known: Sequence[SummaryContent],
    made: Sequence[ImportantMessage],
    texts: Mapping[str, str],
    lost: list[Quarantined],
) -> tuple[ImportantMessage, ...]:
    kept = {message.message_id: message for message in made}
    for message in (message for one in known for message in one.important_messages):
        key = message.message_id
        if key in kept:
            continue
        if texts.get(key) == message.content:
            kept[key] = message
        else:
            reason = "was edited and is not important any more" if key in texts else "is gone"
            lost.append(Quarantined(f"important message {key}", reason))
    return tuple(sorted(kept.values(), key=lambda message: (message.timestamp, message.message_id)))
