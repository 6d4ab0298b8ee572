"""What of a stretch is speech: without code, tables, logs and the output of tools. Nothing is judged here.

Text is left out by whole lines, never changed within one, so that what stays can be quoted.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.session.fold_records import FoldInput, is_tool

CODE_SHARE: Final = 0.18
"""From this share of marks that only code, data and logs use, a line is taken for such."""

LONG_MESSAGE_WORDS: Final = 60
"""Above this on average, messages are documents, and their paragraphs are what topics recur in."""

EMPHASIS: Final = re.compile("\\*\\*|__|`|\ufeff")

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"[{}\[\]<>=;|\\/_$#@&*^~`]")
_LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s*)+")
_CODE = re.compile(
    r"^\s*(?:"
    r"\$ |>>> |\.\.\. |at \S+\(|File \"|Traceback\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|(?:import|from) [\w.]+(?: import [\w., *()]+| as \w+)?\s*$"
    r"|(?:def|class|return|const|let|var|function|public|private|SELECT|INSERT|UPDATE)\b.*[;:(){=]"
    r"|(?:for|if|elif|while|with|try|except|else)\b[^.!?]*[\[\](){}=<>_].*:\s*$|(?:try|else|finally):\s*$"
    r"|\w*_[\w.\[\]]*\s*[-+*/]?=\s*\S"
    r"|[a-z_][\w.\[\]\"']*(?:, ?[\w.]+)*\s*[-+*/]?=\s*(?:[\w.]*[(\[{\"']|[\d.]+;?\s*$|\w+;\s*$)"
    r"|[\w.]*[\w]\.\w+\(.*\)?[,;]?\s*$|\w+\([^ ]*(?:, [^)]*)?\);?\s*$"
    r"|</?[\w:-]+(?:\s[^>]*)?/?>|\|.*\|\s*$|[-=_*~]{3,}\s*$"
    r")"
)
_COMMENT = re.compile(r"^\s*(?:#|//|--|/\*|\*/|\)|\]|\})")


def spoken_part(source: FoldInput) -> SummaryInput:
    """The stretch as a conversation of those who speak; where they say nothing, with what tools put out; all of it
    where that is nothing but code. Numbers and lines stay.
    """
    conversation = source.conversation
    told = [replace(one, text=text) for one in source.messages if (text := spoken_lines(one.text))]
    said = [message for message in told if not is_tool(message.sender)]
    people = tuple(person for person in source.participants if not is_tool(person))
    if said and people:
        return replace(conversation, messages=tuple(said), participants=people)
    return replace(conversation, messages=tuple(told)) if told else conversation


def in_paragraphs(source: SummaryInput) -> SummaryInput:
    """Each paragraph as a message of its own, where messages are documents: in two of them nothing recurs."""
    words = sum(len(message.text.split()) for message in source.messages)
    if words < LONG_MESSAGE_WORDS * len(source.messages):
        return source
    pieces = tuple(
        replace(message, text=line) for message in source.messages for line in message.text.splitlines() if line.strip()
    )
    return replace(source, messages=pieces)


def spoken_lines(text: str) -> str:
    """The lines of a message that are speech, without the marks of lists and headings before them."""
    lines = _FENCED.sub("\n", text).splitlines()
    is_code = [_is_code(line) for line in lines]
    kept: list[str] = []
    for place, line in enumerate(lines):
        beside_code = any(is_code[max(0, place - 1) : place + 2])
        bare = _LEAD.sub("", line).strip()
        if bare and not is_code[place] and not (beside_code and _COMMENT.match(line)):
            kept.append(bare)
    return "\n".join(kept)


def clean(text: str) -> str:
    """Without the marks of emphasis, for what is told; quotes keep them."""
    return EMPHASIS.sub("", text)


def _is_code(line: str) -> bool:
    bare = _LEAD.sub("", line).strip()
    marks = len(_MARK.findall(EMPHASIS.sub("", bare)))
    return _CODE.match(line) is not None or marks >= max(2, CODE_SHARE * len(bare))
