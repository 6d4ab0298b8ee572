"""Cleans texts for a model and groups them into requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def sound(text: str) -> str:
    """Valid UTF-8: surrogate pairs joined, lone ones replaced, NUL removed."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, limit_chars: int) -> tuple[str, bool]:
    """At most ``limit_chars`` of the text, and whether words were lost. White space is dropped first."""
    if len(text) <= limit_chars:
        return text, False
    words = " ".join(text.split())
    return words[:limit_chars], len(words) > limit_chars


def requests_of(
    positions: Sequence[int], texts: Sequence[str], *, most_texts: int, most_chars: int
) -> Iterator[list[int]]:
    """Positions in groups of at most ``most_texts`` texts and ``most_chars`` characters; a longer text alone."""
    group: list[int] = []
    chars = 0
    for position in positions:
        if group and (len(group) >= most_texts or chars + len(texts[position]) > most_chars):
            yield group
            group, chars = [], 0
        group.append(position)
        chars += len(texts[position])
    if group:
        yield group
