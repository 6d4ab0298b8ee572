"""Cases through the gates: what is published of each, and whether that is what it should be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from typing import Any, cast
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.records import CandidateFact, CandidateSummary
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.records import (
    CandidateChange,
    CandidateEnd,
    CandidateItem,
    CandidateReading,
    ItemChange,
    ReadFact,
    ReadingInput,
    ReadItem,
    ShownItem,
)
from pkg_pipeline.memory.records import Attachment, Language, Person, SourceMessage, SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.memory.text.normalise import sentences as sentences_of
from pkg_pipeline_tests.memory.truth.talks import Talk
from pkg_pipeline_tests.memory.truth.variants import Case

_SPACE = UUID("6f1d5c1e-0d0e-4f55-9a5e-2d5f6f3c7a11")
_ZONES = {"ru": "Europe/Moscow", "en": "Europe/London", "zh": "Asia/Shanghai"}
_WORD = re.compile(r"\d[\d.,:]*\d|\d|[^\W\d_]+|[€$£₽%]")
_HAN = re.compile(r"\d[\d.,:]*\d|\d|[a-z]+|[^\W\d_]|[€$£₽%]", re.IGNORECASE)
_END = re.compile(r'(?P<state>\w+) \[(?P<numbers>[\d,]+)\] "(?P<quote>.+)"')
_FILE = re.compile(r" ?\{(?P<name>[^}]+)\}")
_QUOTED = re.compile(r"[«“]((?:[^«“»”]|[«“][^«“»”]*[»”])+)[»”]")
"""What is quoted, with what that quotes itself (the name of a firm)."""
_STEM = 4
_KINDS = {"action": "action_item", "decision": "decision"}


def person_id(talk: Talk, name: str) -> UUID:
    return uuid5(_SPACE, f"{talk.key}:{name}")


def source_of(talk: Talk) -> ReadingInput:
    """The talk as a reading gets it; lines a minute apart from ten o'clock on."""
    zone = ZoneInfo(_ZONES[talk.language])
    begin = datetime.fromisoformat(f"{talk.day}T10:00").replace(tzinfo=zone).astimezone(UTC)
    people = {name: Person(person_id(talk, name), name, name == talk.me) for name in (talk.me, *talk.others)}
    messages = tuple(
        SourceMessage(
            number,
            f"m{number}",
            people[who],
            begin + timedelta(minutes=number),
            _FILE.sub("", text),
            attachments=tuple(Attachment(match["name"]) for match in _FILE.finditer(text)),
        )
        for number, who, text in talk.said
    )
    summary_input = SummaryInput(
        interaction_id=uuid5(_SPACE, talk.key),
        chat_key=f"truth:{talk.key}",
        started_at=messages[0].sent_at,
        ended_at=messages[-1].sent_at,
        participants=tuple(people.values()),
        messages=messages,
        language=cast(Language, talk.language),
        timezone=zone.key,
        input_hash=talk.key,
    )
    shown = tuple(_shown(talk, row) for row in talk.shown)
    return ReadingInput((summary_input,), shown, summary_input.language, zone.key, talk.key)


def _shown(talk: Talk, row: list[str]) -> ShownItem:
    head, text, quote, said = row
    ref, kind, owner, due = head.split()
    owners = {"self": talk.me, "them": talk.others[0]}
    return ShownItem(
        ref=ref,
        id=uuid5(_SPACE, f"{talk.key}:{ref}"),
        kind=cast(Any, _KINDS[kind]),
        status="open",
        text=text,
        owner=cast(Any, owner),
        owner_name=talk.others[0] if owner == "them" else None,
        due_date=_day(due),
        said_at=datetime.fromisoformat(said).replace(hour=9, tzinfo=UTC),
        quote=quote,
        person_ids=tuple(person_id(talk, name) for name in talk.others),
        owner_entity_id=person_id(talk, owners[owner]) if owner in owners else None,
    )


def _day(text: str) -> date | None:
    return None if text == "-" else date.fromisoformat(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


def _optional(text: str) -> str | None:
    return None if text == "-" else text


def candidate_of(case: Case) -> CandidateReading:
    """An answer with the case's part alone. ``ValueError``: it is a sentence of a summary."""
    given, numbers = case.fields, _numbers(case.fields["numbers"])
    if case.part.what == "item":
        end = _END.fullmatch(given.get("end", ""))
        item = CandidateItem(
            kind=cast(Any, _KINDS[given["kind"]]),
            text=given["text"],
            owner=cast(Any, given["owner"]),
            quote=given["quote"],
            numbers=numbers,
            owner_name=_optional(given["owner_name"]),
            due_date=_optional(given["due"]),
            proposed_by=given.get("proposed"),
            agreed_by=tuple(one for one in given.get("agreed", "").split(",") if one),
            end=end and CandidateEnd(cast(Any, end["state"]), end["quote"], _numbers(end["numbers"])),
            replaces=given.get("replaces"),
        )
        return CandidateReading(items=(item,))
    if case.part.what == "change":
        change = CandidateChange(given["ref"], cast(Any, given["to"]), given["quote"], numbers, _optional(given["due"]))
        return CandidateReading(changes=(change,))
    fact = CandidateFact(given["type"], given["text"], 0.9, given["quote"], numbers, given["about"])
    return CandidateReading(facts=(fact,))


def is_well(case: Case) -> bool:
    """A right case comes out whole; of a wrong one, what is wrong does not come out."""
    if case.part.what == "summary":
        return _summary_is_well(case)
    gated = check_reading(candidate_of(case), source_of(case.talk))
    items = [item for reading in gated.readings for item in reading.items]
    changes = [change for reading in gated.readings for change in reading.changes]
    facts = [fact for reading in gated.readings for fact in reading.facts]
    if case.part.what == "item":
        return _item_is_well(case, items, changes)
    if case.part.what == "change":
        return _change_is_well(case, changes)
    return _fact_is_well(case, facts)


def _item_is_well(case: Case, items: list[ReadItem], changes: list[ItemChange]) -> bool:
    given = case.fields
    end = _END.fullmatch(given.get("end", ""))
    if case.part.fault is not None:
        return not items
    if case.is_right:
        ended = end is None or any(change.to == end["state"] for change in changes)
        return ended and any(_is_same(item, case) for item in items)
    changed = {name for name, value in given.items() if case.base.get(name) != value}
    if "text" in changed:
        return not any(not _is_as_said(item, case) and _still_says(item.text, given["text"], case) for item in items)
    if "owner" in changed:
        return not any(item.owner == given["owner"] for item in items)
    if "due" in changed:
        return not any(item.due_date == _day(given["due"]) for item in items)
    if "proposed" in changed:
        return not any(item.proposed_by == person_id(case.talk, given["proposed"]) for item in items)
    assert changed == {"end"}, case.name
    return not any(change.to in {"done", "perhaps_done"} for change in changes)


def _is_same(item: ReadItem, case: Case) -> bool:
    given = case.fields
    return (
        (_plain(item.text) == _plain(given["text"]) or _is_as_said(item, case))
        and item.kind == _KINDS[given["kind"]]
        and item.owner == given["owner"]
        and item.due_date == _day(given["due"])
    )


def _is_as_said(item: ReadItem, case: Case) -> bool:
    """Whether an item is told in the words of its messages alone, each behind its writer."""
    quoted = re.findall(r"[«“]([^«“»”]+)[»”]", item.text)
    told = [" ".join(part.split()) for one in quoted for part in one.split(" … ")]
    said = [" ".join(text.split()) for _, _, text in case.talk.said]
    return bool(told) and all(any(one in text for text in said) for one in told)


def _change_is_well(case: Case, changes: list[ItemChange]) -> bool:
    given = case.fields
    same = [change for change in changes if change.to == given["to"]]
    if case.part.fault is not None or (not case.is_right and given["to"] != case.base["to"]):
        return not any(change.to in {given["to"], "perhaps_done"} for change in changes)
    said = any(change.due_date == _day(given["due"]) for change in same)
    return said == case.is_right


def _fact_is_well(case: Case, facts: list[ReadFact]) -> bool:
    taking_part = (case.talk.me, *case.talk.others)
    about = case.fields["about"]
    if about not in taking_part and case.base["about"] in taking_part and case.is_right:
        about = case.base["about"]  # another form of the name
    them = [
        fact
        for fact in facts
        if (fact.entity_id == person_id(case.talk, about) if about in taking_part else fact.about_name == about)
    ]
    if case.is_right:  # another form of the value is as right
        return bool(them)
    return not any(_plain(fact.value) == _plain(case.fields["text"]) for fact in them)


def _summary_is_well(case: Case) -> bool:
    source = source_of(case.talk).talks[0]
    sentences = [part.fields["text"] for part in case.talk.parts if part.what == "summary"]
    joint = "" if case.talk.language == "zh" else " "
    told = joint.join(case.fields["text"] if one == case.base["text"] else one for one in sentences)
    told += joint + joint.join(_retold(case)) if "retold" in case.fields else ""
    content = check(CandidateSummary(told, (case.talk.said[0][2],), "neutral"), source).content
    published = "" if content is None else content.summary
    if _plain(case.fields["text"]) in _plain(published if case.is_right else _QUOTED.sub(" ", published)):
        return case.is_right
    if not case.is_right or content is None:
        return not case.is_right
    told = sentences_of(case.fields["text"])
    if len(told) == 1:
        return _is_quoted(published, case.base["text"], case)
    return all(_plain(one) in _plain(published) or _is_quoted(published, one, case) for one in told)


def _is_quoted(published: str, sentence: str, case: Case) -> bool:
    """Whether a summary quotes what a sentence retells: a third of its words, in any form (their first letters)."""
    pattern = _HAN if case.talk.language == "zh" else _WORD
    words = {word[:_STEM] for word in pattern.findall(sentence.casefold())}
    quoted = " ".join(_QUOTED.findall(published)).casefold()
    return len(words & {word[:_STEM] for word in pattern.findall(quoted)}) >= len(words) / 3


def _retold(case: Case) -> list[str]:
    """A sentence for each message, in its own words."""
    marks = {"ru": "{}: «{}».", "en": "{}: “{}”.", "zh": "{}：“{}”。"}[case.talk.language]
    return [marks.format(who, text.rstrip(".。!?！？")) for _, who, text in case.talk.said]


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _still_says(published: str, wrong: str, case: Case) -> bool:
    """Whether what is published still holds the words that make ``wrong`` differ from the right text."""
    if _plain(published) == _plain(wrong):
        return True
    pattern = _HAN if case.talk.language == "zh" else _WORD
    right, now = pattern.findall(case.base["text"].casefold()), pattern.findall(wrong.casefold())
    put_in = [
        now[start:end]
        for tag, _, _, start, end in SequenceMatcher(None, right, now, autojunk=False).get_opcodes()
        if tag in {"insert", "replace"}
    ]
    words = pattern.findall(published.casefold())
    return bool(put_in) and all(_holds(words, chunk) for chunk in put_in)


def _holds(words: list[str], chunk: Iterable[str]) -> bool:
    wanted = list(chunk)
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))
