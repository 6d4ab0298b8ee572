"""Files that came with a message: name, type and size, kept in its metadata as evidence (B16). No file is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pkg_pipeline.memory.records import Attachment

KEY: Final = "attachments"
"""In a message's metadata."""

_PLACEHOLDER: Final = re.compile(r"\s*(?:\[[^\[\]\n]+\]\s*)*")
MOST: Final = 50
MOST_NAME_CHARS: Final = 255
_FIELDS: Final = (("name", str, "a text"), ("type", str, "a text"), ("size", int, "a number of bytes"))


class WrongAttachment(ValueError):
    """An attachment is malformed; the message says which and why."""


def checked(given: Sequence[Any]) -> tuple[Attachment, ...]:
    """The ``attachments`` of a message. ``WrongAttachment`` with the number of the first malformed one."""
    if len(given) > MOST:
        raise WrongAttachment(f"{KEY} has {len(given)} entries, at most {MOST} are kept")
    found: list[Attachment] = []
    for number, one in enumerate(given):
        if not isinstance(one, dict):
            raise WrongAttachment(f"{KEY}[{number}] is not an object")
        fields = cast("dict[str, Any]", one)
        for name, kind, expected in _FIELDS:
            value = fields.get(name)
            if value is not None and (type(value) is not kind or (isinstance(value, int) and value < 0)):
                raise WrongAttachment(f"{KEY}[{number}].{name} is not {expected}")
        found.append(attachment(fields.get("name"), fields.get("type"), fields.get("size")))
    return tuple(found)


def attachment(name: str | None, kind: str | None, size: int | None) -> Attachment:
    """One line of a name, without folders."""
    shown = " ".join((name or "").replace("\\", "/").rsplit("/", 1)[-1].split())[:MOST_NAME_CHARS]
    return Attachment(shown or None, (kind or "").strip()[:MOST_NAME_CHARS] or None, size)


def to_json(attachments: Sequence[Attachment]) -> list[dict[str, Any]]:
    return [{"name": one.name, "type": one.type, "size": one.size} for one in attachments]


def from_json(stored: Sequence[Mapping[str, Any]] | None) -> tuple[Attachment, ...]:
    """From ``metadata ->> 'attachments'`` as stored."""
    return tuple(Attachment(one.get("name"), one.get("type"), one.get("size")) for one in stored or ())


def described(attachments: Sequence[Attachment]) -> str:
    """What stands for the words of a message that has none: ``[photo]``, ``[file contract.pdf]``."""
    return " ".join(f"[{_word(one)}]" for one in attachments)


def is_wordless(text: str, attachments: Sequence[Attachment]) -> bool:
    """Whether a text only stands for the files that came with it (``described``, or as an export has it)."""
    return bool(attachments) and is_placeholder(text)


def is_placeholder(text: str) -> bool:
    """Whether nobody wrote a text: it stands for a file, a contact, a place, as exports put it in brackets."""
    return _PLACEHOLDER.fullmatch(text) is not None


def _word(one: Attachment) -> str:
    kind = (one.type or "").partition("/")[0]
    word = {"image": "photo", "video": "video", "audio": "audio"}.get(kind, "file")
    return f"{word} {one.name}" if one.name else word
