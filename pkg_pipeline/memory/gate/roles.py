"""Who does what: whether the one that a clause begins with is the one whom the talk says it of (B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pkg_pipeline.memory.gate.duty import has
from pkg_pipeline.memory.gate.nearest import Sentences, Spoken, clauses_of
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import find_person, is_first_name, keys, keys_of
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import word_set
from pkg_pipeline.memory.languages.scripts import HAN, is_han
from pkg_pipeline.memory.records import Person, SourceMessage

_FIRST: Final = re.compile(r"^[\s«\"“(]*([A-ZА-ЯЁ][\w'’-]+)(?:\s+([A-ZА-ЯЁ][\w'’-]+))?\s+[a-zа-яё]")
DIRECT: Final = 2


def misplaced(text: str, spoken: Sentences, people: Sequence[Person]) -> str | None:
    """The first name of ``text`` that is said to do what the talk says of somebody else, or None."""
    names = content(" ".join(person.name for person in people))
    for place, clause in enumerate(clauses_of(text)):
        subject = subject_of(clause, people, is_first=place == 0)
        if subject is None or has("receives", clause):
            continue
        name, person = subject
        near = spoken.nearest(clause, names | content(name))
        if near and not any(_is_of(name, person, one, spoken, people) for one in near):
            return name
    return None


@lru_cache(maxsize=4096)
def _nominative(name: str, word: str) -> bool:
    """Whether a word names a person without a case: as in the name, or in another short form of it."""
    if folded(word) in {folded(part) for part in name.split()}:
        return True
    return (
        is_first_name(word)
        and bool(keys(word) & keys(name.split()[0]))
        and not re.search(r"[уыеиюоь]м?$", folded(word))
    )


def subject_of(clause: str, people: Sequence[Person], *, is_first: bool = True) -> tuple[str, Person | None] | None:
    """The name that a clause begins with and whose it is (None: of somebody who takes no part); None if with none."""
    plain = clause.strip()
    if re.match(f"[{HAN}]", plain):
        for person in people:
            for name in (person.name, person.name[1:]):
                if (
                    len(name) > 1
                    and is_han(name)
                    and plain.startswith(name)
                    and not re.match("[和与、]", plain[len(name) :])
                ):
                    return name, person
        return None
    match = _FIRST.match(plain)
    if match is None:
        return None
    word = match[1]
    person = find_person(word, people)
    if person is not None:
        return (word, person) if _nominative(person.name, word) else None
    is_name = is_first_name(word) or (not is_first and folded(word) not in word_set("people", "no_names"))
    return (word, None) if is_name and not re.search(r"[уыеию]$", folded(word)) else None


def _is_of(name: str, person: Person | None, spoken: Spoken, talk: Sentences, people: Sequence[Person]) -> bool:
    """Whether a sentence may be said of this one: they wrote it, it names them, speaks to them, or they answer it."""
    message = spoken.message
    if _is_named(name, person, message):
        return True
    if has("together", spoken.text):
        return True
    if person is None:
        return any(_is_named(name, person, answer) for answer in talk.answers(spoken))
    if message.sender.entity_id == person.entity_id:
        return not (spoken.is_question and has("who", spoken.text))
    if spoken.is_question:
        answered = any(answer.sender.entity_id == person.entity_id for answer in talk.answers(spoken))
        return answered or (len(people) <= DIRECT and not has("who", spoken.text))
    if has("promise", spoken.text) or _names_another(spoken, people):
        return False
    answered = any(answer.sender.entity_id == person.entity_id for answer in talk.answers(spoken))
    return answered or (len(people) <= DIRECT and (has("ask", spoken.text) or has("you", spoken.text)))


def _names_another(spoken: Spoken, people: Sequence[Person]) -> bool:
    """Whether a sentence names somebody who takes no part."""
    words = re.findall(r"[A-ZА-ЯЁ][\w'’-]+", spoken.text)
    return any(is_first_name(word) and find_person(word, people) is None for word in words)


def _is_named(name: str, person: Person | None, message: SourceMessage) -> bool:
    if is_han(name):
        return name in message.text or (person is not None and person.name in message.text)
    wanted = keys(name) if person is None else keys(name) | keys(person.name.split()[0])
    return bool(wanted & keys_of(message.text))
