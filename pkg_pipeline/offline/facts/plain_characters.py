"""Talk in traditional characters is read in plain ones; what is found is given back as it was written (P13)."""

from __future__ import annotations

from dataclasses import replace

from pkg_pipeline.offline.facts.found import FoundFact
from pkg_pipeline.offline.plain_characters import plain, plain_person
from pkg_pipeline.offline.reading import Line, Reading


def plain_reading(reading: Reading) -> Reading:
    """A reading in plain characters, place by place the same; itself where there are no others."""
    people = {one.entity_id: plain_person(one) for one in reading.source.participants}
    lines: list[Line] = []
    for line in reading.lines:
        message, speaker = line.message, line.message.sender
        sender = people.get(speaker.entity_id) or plain_person(speaker)
        said = replace(message, sender=sender, text=plain(message.text))
        sentences = tuple(replace(one, text=plain(one.text)) for one in line.sentences)
        lines.append(replace(line, message=said, sentences=sentences))
    if all(one.message == line.message for one, line in zip(lines, reading.lines, strict=True)):
        return reading
    return Reading(replace(reading.source, participants=tuple(people.values())), tuple(lines))


def as_written(fact: FoundFact, reading: Reading) -> FoundFact:
    """A fact of the plain reading in the characters of the reading itself."""
    people = {one.entity_id: one for line in reading.lines for one in (line.speaker,)}
    people |= {one.entity_id: one for one in reading.source.participants}
    texts = [reading.lines[index].message.text for index in reversed(fact.lines)]
    return replace(
        fact,
        value=_written(fact.value, texts),
        about=fact.about and people.get(fact.about.entity_id, fact.about),
        name=fact.name and _written(fact.name, texts),
        sentence=reading.lines[fact.sentence.line].sentences[fact.sentence.place],
    )


def _written(words: str, texts: list[str]) -> str:
    """Words as they stand in the first of the texts that has them; without, as they are."""
    for text in texts:
        if (place := plain(text).find(words)) >= 0:
            return text[place : place + len(words)]
    return words
