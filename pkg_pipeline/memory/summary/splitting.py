"""Splits a long conversation into windows (P18); pieces of a message keep its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pkg_pipeline.memory import hashing
from pkg_pipeline.memory.records import SourceMessage, SummaryInput

SHORT_LAST_SHARE = 0.25
"""A last window below this share of a full one is evened out with the one before."""

SMALLEST_CUT_CHARACTERS = 2_000
"""Shorter messages are not cut."""

Sized = tuple[SourceMessage, int]
"""A message and the tokens it takes."""


def split_conversation(
    source: SummaryInput, *, most_messages: int, most_tokens: int, tokens: Sequence[int]
) -> tuple[SummaryInput, ...]:
    """``source`` in windows of at most ``most_messages`` messages and about ``most_tokens`` tokens (P18).

    ``tokens``: of each message's text. Windows fill from the start, so appending changes only the last; longer messages
    are cut. Each window is numbered from 1 with an input hash of its own (B8).
    """
    cut = split_messages(
        zip(source.messages, tokens, strict=True), most_messages=most_messages, most_tokens=most_tokens
    )
    groups = list(cut)
    return tuple(part_of(source, group) for group in groups) if len(groups) > 1 else (source,)


def split_messages(messages: Iterable[Sized], *, most_messages: int, most_tokens: int) -> Iterator[list[SourceMessage]]:
    """The messages of each window, as ``split_conversation``; lazy, two windows in memory."""
    before: list[Sized] = []
    last: list[Sized] = []
    filled = 0
    for piece, size in _pieces(messages, most_tokens):
        if last and (len(last) >= most_messages or filled + size > most_tokens):
            if before:
                yield [message for message, _ in before]
            before, last, filled = last, [], 0
        last.append((piece, size))
        filled += size
    ends = [before, last] if before else [last]
    if before and len(last) < SHORT_LAST_SHARE * len(before):
        ends = _evened(before, last, most_tokens)
    for group in ends:
        if group:
            yield [message for message, _ in group]


def halves(source: SummaryInput) -> tuple[SummaryInput, ...]:
    """``source`` in two windows, a single message cut in two; fewer where nothing can be cut."""
    messages = source.messages
    if len(messages) == 1:
        text = messages[0].text
        if len(text) < SMALLEST_CUT_CHARACTERS:
            return (source,)
        messages = tuple(replace(messages[0], text=part) for part in _cut(text, -(-len(text) // 2)))
    middle = -(-len(messages) // 2)
    return tuple(part_of(source, part) for part in (messages[:middle], messages[middle:]))


def part_of(source: SummaryInput, messages: Sequence[SourceMessage]) -> SummaryInput:
    """Some messages of ``source`` as a conversation."""
    texts = [(message.external_id, hashing.content_hash(message.text)) for message in messages]
    return replace(
        source,
        messages=tuple(replace(message, number=number) for number, message in enumerate(messages, 1)),
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        input_hash=hashing.input_hash(texts, "window"),
    )


def _pieces(messages: Iterable[Sized], most_tokens: int) -> Iterator[Sized]:
    for message, size in messages:
        if size <= most_tokens:
            yield message, size
            continue
        for part in _cut(message.text, max(1, len(message.text) * most_tokens // size)):
            yield replace(message, text=part), -(-size * len(part) // len(message.text))


def _cut(text: str, most_characters: int) -> list[str]:
    """Pieces that join to ``text``, cut after white space in the last fifth where there is any."""
    parts: list[str] = []
    start = 0
    while len(text) - start > most_characters:
        end = start + most_characters
        spaces = [at for at in range(end - 1, end - 1 - most_characters // 5, -1) if text[at].isspace()]
        end = spaces[0] + 1 if spaces else end
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def _evened(before: list[Sized], last: list[Sized], most_tokens: int) -> list[list[Sized]]:
    together = [*before, *last]
    middle = -(-len(together) // 2)
    even = [together[:middle], together[middle:]]
    fits = all(sum(size for _, size in group) <= most_tokens for group in even)
    return even if fits else [before, last]
