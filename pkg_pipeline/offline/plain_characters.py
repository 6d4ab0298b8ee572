"""Talk in traditional characters is read in simplified ones; what is found is given back as it was written."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

from pkg_pipeline.memory.items.records import ShownItem
from pkg_pipeline.memory.records import Person, SummaryInput
from pkg_pipeline.prompts.conversation_reading import Answer, AnswerChange, AnswerItem

_HAN = re.compile(r"[\u3400-\u9fff]")
_MORE = str.maketrans({"妳": "你"})
"""What OpenCC leaves, since it is a word of its own."""


@cache
def _converter():
    from opencc import OpenCC

    return OpenCC("tw2s")


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The text in simplified characters, place by place the same."""
    if not _HAN.search(text):
        return text
    made = _converter().convert(text)
    if len(made) != len(text):
        made = "".join(_converter().convert(one) if _HAN.match(one) else one for one in text)
    return made.translate(_MORE)


def plain_talk(talk: SummaryInput) -> SummaryInput:
    """A talk in simplified characters; itself where it has no others."""
    messages = tuple(replace(one, text=plain(one.text), sender=plain_person(one.sender)) for one in talk.messages)
    if messages == talk.messages:
        return talk
    return replace(talk, messages=messages, participants=tuple(map(plain_person, talk.participants)))


def plain_person(person: Person) -> Person:
    """With names in simplified characters."""
    return replace(person, name=plain(person.name), other_names=tuple(map(plain, person.other_names)))


def plain_item(item: ShownItem) -> ShownItem:
    return replace(item, text=plain(item.text), said=plain(item.said), quote=plain(item.quote))


class Written:
    """Gives what was found in a plain talk back in the characters of the talk itself."""

    def __init__(self, talk: SummaryInput) -> None:
        people = {one.entity_id: one.name for one in (*talk.participants, *(said.sender for said in talk.messages))}
        self._written = "\0".join((*(one.text for one in talk.messages), *people.values()))
        self._plain = plain(self._written)

    def answer(self, answer: Answer) -> Answer:
        return Answer(
            items=[self._item(one) for one in answer.items],
            changes=[self._change(one) for one in answer.changes],
            facts=answer.facts,
        )

    def words(self, words: str) -> str:
        """Piece by piece the longest that the talk has; what it has not, as it is."""
        pieces: list[str] = []
        at = 0
        while at < len(words):
            size, place = 1, self._plain.find(words[at])
            while place >= 0 and at + size < len(words):
                more = self._plain.find(words[at : at + size + 1], place)
                if more < 0:
                    break
                size, place = size + 1, more
            pieces.append(words[at] if place < 0 else self._written[place : place + size])
            at += size
        return "".join(pieces)

    def _item(self, item: AnswerItem) -> AnswerItem:
        end = None if item.end is None else item.end.model_copy(update={"quote": self.words(item.end.quote)})
        names = {key: name and self.words(name) for key, name in (("who", item.who), ("proposed", item.proposed))}
        agreed = [self.words(name) for name in item.agreed]
        told = {"text": self.words(item.text), "quote": self.words(item.quote)}
        return item.model_copy(update={**told, **names, "agreed": agreed, "end": end})

    def _change(self, change: AnswerChange) -> AnswerChange:
        text = change.text and self.words(change.text)
        return change.model_copy(update={"text": text, "quote": self.words(change.quote)})
