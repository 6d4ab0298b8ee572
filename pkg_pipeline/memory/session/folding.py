"""Steps of folding, noise, the hash of what a fold covers (H8, H12), merging of partial folds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import accumulate, zip_longest
from typing import TypeVar

from pkg_pipeline.memory.message import blocks as message_parts
from pkg_pipeline.memory.message import turns
from pkg_pipeline.memory.session.fold_gate import MAX_SENTENCES, MAX_TOPICS, same_question
from pkg_pipeline.memory.session.records import FoldContent, FoldInput, SessionMessage
from pkg_pipeline.memory.summary.gate import MAX_WORDS, same_decision, same_fact
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count

_Item = TypeVar("_Item")


def steps(messages: Sequence[SessionMessage], *, most_messages: int, most_tokens: int) -> list[int]:
    """Exclusive ends of the steps in which ``messages`` are folded; the last is ``len(messages)``.

    A step takes whole groups of ``turns`` within both limits; a larger group is a step of its own. It prefers to end
    before a user's turn in its second half. Repeating it after some steps gives the same remaining ends.
    """
    found = turns.groups(messages)
    tokens = [0, *accumulate(message.token_count for message in messages)]
    ends: list[int] = []
    first = 0
    while first < len(found):
        start = found[first][0]
        last = first
        while last + 1 < len(found) and _fits(start, found[last + 1][1], tokens, most_messages, most_tokens):
            last += 1
        if last + 1 < len(found):
            half = (start + found[last][1]) / 2
            begins = (at for at in range(last + 1, first, -1) if turns.begins_turn(messages, found[at][0]))
            at = next(begins, None)
            last = at - 1 if at is not None and found[at][0] >= half else last
        ends.append(found[last][1])
        first = last + 1
    return ends


def _fits(start: int, end: int, tokens: Sequence[int], most_messages: int, most_tokens: int) -> bool:
    return end - start <= most_messages and tokens[end] - tokens[start] <= most_tokens


def is_noise(message: SessionMessage) -> bool:
    """H12: covered by a fold but not summarised: service entries, system messages, messages without letter or digit."""
    if message.kind == "service" or message.role == "system":
        return True
    if message_parts.call_ids(message.parts):
        return False
    said = message.text or message_parts.text_of(message.parts or ())
    return not any(character.isalnum() for character in said)


def window_hash(messages: Sequence[SessionMessage]) -> str:
    """H8: sha256 (hex) over ``id:content_hash;`` of every covered message, noise included, in order."""
    digest = hashlib.sha256()
    for message in messages:
        digest.update(f"{message.id}:{message.content_hash};".encode())
    return digest.hexdigest()


def merge_folds(parts: Sequence[FoldContent], source: FoldInput) -> FoldContent:
    """One content from those of consecutive parts of ``source``; at least one.

    Summaries are joined and cut to an answer's limits; each item is kept once.
    """
    if len(parts) == 1:
        return parts[0]
    return FoldContent(
        summary=_joined([part.summary for part in parts], "" if source.language == "zh" else " "),
        facts=_once([fact for part in parts for fact in part.facts], same_fact),
        decisions=_once([made for part in parts for made in part.decisions], same_decision),
        open_questions=_once([asked for part in parts for asked in part.open_questions], same_question),
        topics=_topics([part.topics for part in parts]),
    )


def _joined(texts: Sequence[str], space: str) -> str:
    """Whole sentences of all parts in turn, at least each part's first."""
    told = [sentences(text) for text in texts]
    chosen = {(part, 0) for part in range(len(told)) if told[part]}
    words = sum(word_count(told[part][0]) for part, _ in chosen)
    for depth in range(1, max(map(len, told))):
        for part, said in enumerate(told):
            if depth >= len(said) or (part, depth - 1) not in chosen:
                continue
            count = word_count(said[depth])
            if len(chosen) < MAX_SENTENCES and words + count <= MAX_WORDS:
                chosen.add((part, depth))
                words += count
    return space.join(told[part][place] for part, place in sorted(chosen))


def _once(items: Sequence[_Item], unite: Callable[[_Item, _Item], _Item | None]) -> tuple[_Item, ...]:
    """Items without duplicates; ``unite`` gives the union of two, or None if they differ."""
    kept: list[_Item] = []
    for item in items:
        for index, earlier in enumerate(kept):
            union = unite(earlier, item)
            if union is not None:
                kept[index] = union
                break
        else:
            kept.append(item)
    return tuple(kept)


def _topics(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for row in zip_longest(*parts):
        for topic in row:
            if topic is not None and len(kept) < MAX_TOPICS:
                kept.setdefault(comparable(topic), topic)
    return tuple(kept.values())
