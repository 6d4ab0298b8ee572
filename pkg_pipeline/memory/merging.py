"""How one becomes parts and parts become one: windows of a long interaction, and their summaries merged (P18, P28).

Pure: no message is left out, what is said twice becomes one, nothing known is lost, and every item keeps its evidence.
Making the windows' summaries is the stage's business, checking them the gate's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.gate_text import fold, sentences, word_count
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    ImportantMessage,
    SourceMessage,
    SummaryContent,
    SummaryInput,
)

MAX_KEY_POINTS = 15
"""P13: at most this many are kept over all windows."""

MAX_WORDS = 200
"""P13."""

SHORT_LAST_SHARE = 0.25
"""A last window below this share of a full one evens out with the one before: three messages say too little."""

SMALLEST_CUT_CHARACTERS = 2_000
"""A single message shorter than this is not cut in two."""

_IMPORTANCE = {"high": 0, "medium": 1, "low": 2}

_Item = TypeVar("_Item", DecisionItem, ActionItem, FactCandidate)
_Part = TypeVar("_Part")
_Sized = tuple[SourceMessage, int]


def windows(
    source: SummaryInput, *, most_messages: int, most_tokens: int, tokens: Sequence[int]
) -> tuple[SummaryInput, ...]:
    """``source`` in windows of at most ``most_messages`` messages and about ``most_tokens`` tokens (P18).

    ``tokens`` are those of each message's text. Windows are filled from the start, so that a message more at the end
    changes only the last of them; a message longer than a window is cut into pieces that all bear its id. Each
    window's messages are numbered from 1, and its input hash is made from its own texts, so that its answer can be
    replayed whatever happens to the others (B8).
    """
    groups: list[list[_Sized]] = []
    filled = 0
    for piece, size in _pieces(source.messages, tokens, most_tokens):
        if not groups or len(groups[-1]) >= most_messages or filled + size > most_tokens:
            groups.append([])
            filled = 0
        groups[-1].append((piece, size))
        filled += size
    if len(groups) < 2:
        return (source,)
    if len(groups[-1]) < SHORT_LAST_SHARE * len(groups[-2]):
        groups[-2:] = _evened(groups[-2], groups[-1], most_tokens)
    return tuple(_window(source, [piece for piece, _ in group]) for group in groups)


def halves(source: SummaryInput) -> tuple[SummaryInput, ...]:
    """``source`` in two windows; a single long message is cut in two. Fewer than two where nothing can be cut."""
    messages = source.messages
    if len(messages) == 1:
        text = messages[0].text
        if len(text) < SMALLEST_CUT_CHARACTERS:
            return (source,)
        messages = tuple(replace(messages[0], text=part) for part in _cut(text, -(-len(text) // 2)))
    middle = -(-len(messages) // 2)
    return tuple(_window(source, part) for part in (messages[:middle], messages[middle:]))


def merge_windows(parts: Sequence[SummaryContent], source: SummaryInput) -> SummaryContent:
    """One content from those of consecutive windows of ``source``; needs at least one.

    Text and key points take from all windows in turn, first ones first, while 200 words and 15 points last, and stand
    in the order of the conversation. An action item closed in a later window is closed.
    """
    if len(parts) == 1:
        return parts[0]
    tones = [part.tone for part in parts]
    return SummaryContent(
        summary=_joined([part.summary for part in parts], "" if source.language == "zh" else " "),
        key_points=_points([part.key_points for part in parts]),
        tone=max(parts, key=lambda part: tones.count(part.tone)).tone,
        decisions=_united([part.decisions for part in parts], _decision_key, _same_decision),
        action_items=_united([part.action_items for part in parts], _action_key, _later_state),
        extracted_facts=_united([part.extracted_facts for part in parts], _fact_key, _same_fact),
        important_messages=_important(parts, source),
    )


def _pieces(messages: Sequence[SourceMessage], tokens: Sequence[int], most_tokens: int) -> list[_Sized]:
    found: list[_Sized] = []
    for message, size in zip(messages, tokens, strict=True):
        if size <= most_tokens:
            found.append((message, size))
            continue
        parts = _cut(message.text, max(1, len(message.text) * most_tokens // size))
        found += [(replace(message, text=part), -(-size * len(part) // len(message.text))) for part in parts]
    return found


def _cut(text: str, most_characters: int) -> list[str]:
    """Pieces that joined give ``text`` again, cut after white space where the last fifth of a piece has any."""
    parts: list[str] = []
    start = 0
    while len(text) - start > most_characters:
        end = start + most_characters
        spaces = [at for at in range(end - 1, end - 1 - most_characters // 5, -1) if text[at].isspace()]
        end = spaces[0] + 1 if spaces else end
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _evened(before: list[_Sized], last: list[_Sized], most_tokens: int) -> list[list[_Sized]]:
    together = [*before, *last]
    middle = -(-len(together) // 2)
    even = [together[:middle], together[middle:]]
    fits = all(sum(size for _, size in group) <= most_tokens for group in even)
    return even if fits else [before, last]


def _window(source: SummaryInput, messages: Sequence[SourceMessage]) -> SummaryInput:
    texts = [(message.external_id, hashing.content_hash(message.text)) for message in messages]
    return replace(
        source,
        messages=tuple(replace(message, number=number) for number, message in enumerate(messages, 1)),
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        input_hash=hashing.input_hash(texts, "window"),
    )


def _in_turn(parts: Sequence[Sequence[_Part]], fits: Callable[[_Part], bool]) -> list[_Part]:
    """Firsts of all parts, then seconds …, those that ``fits`` lets in, in the order of the parts."""
    chosen: set[tuple[int, int]] = set()
    for depth in range(max((len(part) for part in parts), default=0)):
        chosen |= {(index, depth) for index, part in enumerate(parts) if depth < len(part) and fits(part[depth])}
    return [parts[index][depth] for index, depth in sorted(chosen)]


def _joined(texts: Sequence[str], space: str) -> str:
    words = 0
    seen: set[str] = set()

    def fits(sentence: str) -> bool:
        nonlocal words
        count = word_count(sentence)
        key = fold(sentence).text
        if key in seen or words + count > MAX_WORDS:
            return False
        seen.add(key)
        words += count
        return True

    return space.join(sentence.strip() for sentence in _in_turn([sentences(text) for text in texts], fits))


def _points(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    seen: set[str] = set()

    def fits(point: str) -> bool:
        key = fold(point).text
        if key in seen or len(seen) == MAX_KEY_POINTS:
            return False
        seen.add(key)
        return True

    return tuple(_in_turn(parts, fits))


def _united(
    parts: Sequence[Sequence[_Item]], key_of: Callable[[_Item], Hashable], merge: Callable[[_Item, _Item], _Item]
) -> tuple[_Item, ...]:
    kept: dict[Hashable, _Item] = {}
    for part in parts:
        for item in part:
            key = key_of(item)
            if key in kept:
                ids = tuple(dict.fromkeys((*kept[key].message_ids, *item.message_ids)))
                kept[key] = replace(merge(kept[key], item), message_ids=ids)
            else:
                kept[key] = item
    return tuple(kept.values())


def _decision_key(item: DecisionItem) -> Hashable:
    return fold(item.description).text


def _action_key(item: ActionItem) -> Hashable:
    return (fold(item.description).text, item.owner, item.owner_entity_id)


def _fact_key(item: FactCandidate) -> Hashable:
    return (fold(item.fact_type).text, fold(item.value).text, item.entity_id)


def _same_decision(earlier: DecisionItem, later: DecisionItem) -> DecisionItem:
    return replace(
        earlier,
        date=min(earlier.date, later.date),
        importance=min(earlier.importance, later.importance, key=_IMPORTANCE.__getitem__),
    )


def _later_state(earlier: ActionItem, later: ActionItem) -> ActionItem:
    closed = next((item for item in (earlier, later) if item.status == "closed"), later)
    return replace(
        earlier,
        status=closed.status,
        closed_at=closed.closed_at,
        due_date=later.due_date or earlier.due_date,
    )


def _same_fact(earlier: FactCandidate, later: FactCandidate) -> FactCandidate:
    return replace(earlier, confidence=max(earlier.confidence, later.confidence))


def _important(parts: Sequence[SummaryContent], source: SummaryInput) -> tuple[ImportantMessage, ...]:
    """Each once, with its whole text where a window held only a piece of it (P16)."""
    chosen: dict[str, ImportantMessage] = {}
    for part in parts:
        for message in part.important_messages:
            chosen.setdefault(message.message_id, message)
    texts = {message.external_id: message.text for message in source.messages}
    return tuple(replace(message, content=texts.get(key, message.content)) for key, message in chosen.items())
