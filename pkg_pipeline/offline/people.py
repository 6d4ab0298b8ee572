"""Finding participants by the forms in which chats name them: first names, @handles, Russian cases. No guessing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.reading import Line

_ENDINGS = "аяоеиуыйьюё"


@lru_cache(maxsize=2048)
def _forms(name: str) -> re.Pattern[str] | None:
    """A pattern for a name: whole, by its first word, with Russian case endings, or the Chinese given name."""
    parts = [p for p in re.split(r"[\s,.()]+", name) if len(p) > 1]
    if not parts:
        return None
    forms: list[str] = [re.escape(name)]
    for part in parts[:2]:
        if re.fullmatch(r"[\u4e00-\u9fff]{2,4}", part):
            forms += [re.escape(part)] + ([re.escape(part[1:])] if len(part) == 3 else [])
        elif re.fullmatch(r"[а-яёА-ЯЁ-]+", part):
            stem = part.rstrip(_ENDINGS) if len(part) > 3 else part[:-1] if part[-1] in _ENDINGS else part
            forms.append(rf"(?<!\w){re.escape(stem)}(?:[{_ENDINGS}]|ом|ем|ой|ей|ою|ев|ов)?(?!\w)")
        elif len(part) > 2 or part == parts[0]:
            forms.append(rf"(?<!\w){re.escape(part)}(?:'s)?(?!\w)")
    return re.compile("|".join(forms), re.IGNORECASE)


def _found(text: str, person: Person) -> re.Match[str] | None:
    pattern = _forms(person.name)
    return pattern.search(text) if pattern else None


def named_in(text: str, people: Sequence[Person]) -> Person | None:
    """The participant named first in a text."""
    hits = [(m.start(), i) for i, person in enumerate(people) if (m := _found(text, person))]
    return people[min(hits)[1]] if hits else None


def vocative(line: Line, people: Sequence[Person]) -> Person | None:
    """Who is called by name: ``@name``, a name at the beginning or end of a sentence, or set off by a comma."""
    for sentence in line.sentences:
        for person in people:
            m = _found(sentence.text, person)
            if m is None:
                continue
            before, after = sentence.text[: m.start()].strip(), sentence.text[m.end() :].strip()
            if before.endswith(("@", ",", "，")) or after.startswith(
                (",", "，", ":", "：", "!", "！", "?", "？", "—", "-")
            ):
                return person
            if not before or not after:
                return person
    return None
