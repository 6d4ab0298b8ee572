"""Texts made fit for a model, and grouped into requests. What is changed here changes no meaning, except a cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def sound(text: str) -> str:
    """The text as UTF-8 can carry it: halves of a character joined, lone ones replaced, no NUL."""
    if "\0" in text:
        text = text.replace("\0", " ")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, limit_chars: int) -> tuple[str, bool]:
    """At most ``limit_chars`` of the text, and whether words were lost. White space goes first: it says nothing."""
    if len(text) <= limit_chars:
        return text, False
    words = " ".join(text.split())
    return words[:limit_chars], len(words) > limit_chars


def requests_of(
    positions: Sequence[int], texts: Sequence[str], *, most_texts: int, most_chars: int
) -> Iterator[list[int]]:
    """The positions in groups of at most ``most_texts`` texts and ``most_chars`` characters; a long text goes alone."""
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
