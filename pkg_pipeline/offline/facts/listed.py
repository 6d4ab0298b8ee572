"""What the lists of people say of a value: somebody is listed by it (P13)."""

from __future__ import annotations

import re
from typing import Final

from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline.facts.mentions import Mention
from pkg_pipeline.offline.facts.ways import Way
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.reading import Line

_MAIL: Final = re.compile(r"[\w.+-]+@[\w.-]+")
LISTED: Final = 3
LISTED_LETTERS: Final = 5
"""Letters at the beginning of a word by which it is known in a listed name."""


def listed(mention: Mention, way: Way, line: Line) -> Named:
    """Whether somebody is listed by the value ("Coach Dino", "Linda Kerr Tube"), or the writer's mail has it."""
    if way.person is None or way.person.is_self:
        return {}
    words = [word for word in comparable(mention.value).split() if len(word) > LISTED or is_han(word)]
    parts = [word[at : at + 2] for word in words for at in range(len(word) - 1) if is_han(word)]
    keys = parts or [word[:LISTED_LETTERS] for word in words]
    mails = " ".join(_MAIL.findall(line.message.text)) if way.person == line.speaker else ""
    name = f" {comparable(way.person.name)}"
    found = {
        "listed so": any(f" {key}" in name or (is_han(key) and key in name) for key in keys),
        "the mail says so": any(key in comparable(mails) for key in keys),
    }
    return {name: 1.0 for name, holds in found.items() if holds}
