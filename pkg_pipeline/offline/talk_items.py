"""The offline answer to a reading: what a talk newly asks, promises and settles, and what it says of shown items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pkg_pipeline.memory.items.records import CandidateChange, CandidateEnd, ReadingInput, ShownItem
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline import letters, line_head
from pkg_pipeline.offline.actions import find_actions
from pkg_pipeline.offline.chat_decisions import find_chat_decisions
from pkg_pipeline.offline.chat_tasks import find_chat_tasks, find_silent
from pkg_pipeline.offline.decisions import find_decisions
from pkg_pipeline.offline.facts import FoundFact, find_facts
from pkg_pipeline.offline.found import FoundAction, FoundDecision
from pkg_pipeline.offline.lasting import lasts
from pkg_pipeline.offline.line_head import Embed
from pkg_pipeline.offline.linking import SURE, Linked, link
from pkg_pipeline.offline.plain_characters import Written, plain_item, plain_talk
from pkg_pipeline.offline.reading import Reading, Sentence, read
from pkg_pipeline.offline.retelling import decided, described
from pkg_pipeline.prompts.conversation_reading import Answer, AnswerChange, AnswerEnd, AnswerFact, AnswerItem
from pkg_pipeline.stages.ports import LlmRejected

QUOTE_CHARS = 300


def read_talks(source: ReadingInput, embed: Embed) -> Answer:
    """New items and facts of each talk, and what it says of the items shown; ``embed``: vectors of the offline model.
    ``LlmRejected`` without messages.
    """
    if not source.messages:
        raise LlmRejected("the talks have no messages")
    items: list[AnswerItem] = []
    changes: list[AnswerChange] = []
    facts: list[AnswerFact] = []
    for talk in source.talks:
        of_talk = _read_talk(talk, source.shown, embed)
        items += of_talk.items
        changes += of_talk.changes
        facts += of_talk.facts
    return Answer(items=items, changes=changes, facts=facts)


def _read_talk(talk: SummaryInput, shown: Sequence[ShownItem], embed: Embed) -> Answer:
    reading, simple = read(talk), plain_talk(talk)
    told = prepared(reading if simple is talk else read(simple), embed)
    answer = items_as_written(talk, simple, told, shown, embed)
    return Answer(items=answer.items, changes=answer.changes, facts=facts_of(reading, embed))


def facts_of(reading: Reading, embed: Embed) -> list[AnswerFact]:
    """What a talk tells of people."""
    return [_fact(reading, found) for found in find_facts(reading, embed)]


def items_as_written(
    talk: SummaryInput, simple: SummaryInput, reading: Reading, shown: Sequence[ShownItem], embed: Embed
) -> Answer:
    """``items_of`` a talk in its own characters; ``reading``: of ``simple``, the talk in plain ones."""
    if simple is talk:
        return items_of(reading, shown, embed)
    return Written(talk).answer(items_of(reading, [plain_item(one) for one in shown], embed))


def items_of(reading: Reading, shown: Sequence[ShownItem], embed: Embed) -> Answer:
    """New items of a talk ``prepared``, and what it says of the items shown; without facts."""
    decisions, doubtful, actions = weighed(reading)
    either = [*decisions, *doubtful]
    linked = link(reading, shown, actions, either, embed)
    told = {i: one for i, one in enumerate(either) if i < len(decisions) or i in linked.replaces}
    return Answer(
        items=[*_items(reading, actions, told, linked), *_silent(reading, decisions)],
        changes=[_change(change) for change in linked.changes],
        facts=[],
    )


def prepared(reading: Reading, embed: Embed) -> Reading:
    """A talk with what the head says of its lines, where it is read by one: a chat, or letters."""
    if reading.is_bulletin:
        return letters.judged(reading, embed)
    return reading if reading.is_meeting else line_head.judged(reading, embed)


def found(reading: Reading) -> tuple[list[FoundDecision], list[FoundAction]]:
    """What a talk ``prepared`` holds."""
    decisions, _, actions = weighed(reading)
    return decisions, actions


def weighed(reading: Reading) -> tuple[list[FoundDecision], list[FoundDecision], list[FoundAction]]:
    """Decisions of a talk ``prepared``, doubtful ones (of chats alone), and tasks: chats are read by who answers whom,
    meetings by scores of sentences, letters line by line.
    """
    if reading.is_bulletin:
        return find_decisions(reading), [], letters.find_requests(reading)
    if reading.is_meeting:
        decisions = find_decisions(reading)
        return decisions, [], find_actions(reading, [one.sentence for one in decisions])
    decisions, doubtful = find_chat_decisions(reading)
    return decisions, doubtful, find_chat_tasks(reading, [one.sentence for one in decisions])


def _items(
    reading: Reading, actions: list[FoundAction], decisions: Mapping[int, FoundDecision], linked: Linked
) -> list[AnswerItem]:
    """New items in the order in which they are said; what only repeats a shown one is none."""
    found = [
        (one.lines[0], _decision(reading, one, linked.replaces.get(i)))
        for i, one in decisions.items()
        if i not in linked.again
    ]
    found += [
        (one.lines[0], _task(reading, one, linked.ends.get(i)))
        for i, one in enumerate(actions)
        if i not in linked.repeats
    ]
    return _once([item for _, item in sorted(found, key=lambda pair: pair[0])])


def _silent(reading: Reading, decisions: list[FoundDecision]) -> list[AnswerItem]:
    """Tasks too unlikely to be told, unless a later talk keeps them."""
    if reading.is_bulletin or reading.is_meeting:
        return []
    found = find_silent(reading, [one.sentence for one in decisions])
    return [_task(reading, one, None).model_copy(update={"silent": True}) for one in found]


def _once(items: list[AnswerItem]) -> list[AnswerItem]:
    """Each kind's words once: what is said twice in one talk is one item."""
    kept: dict[tuple[str, str], AnswerItem] = {}
    for item in items:
        kept.setdefault((item.kind, comparable(item.text)), item)
    return list(kept.values())


def _evidence(reading: Reading, sentence: Sentence, lines: tuple[int, ...]) -> dict[str, Any]:
    numbers = sorted(reading.lines[i].message.number for i in lines)
    return {"quote": sentence.text[:QUOTE_CHARS].rstrip(), "messages": numbers}


def _task(reading: Reading, found: FoundAction, end: CandidateEnd | None) -> AnswerItem:
    person = found.owner_person if found.owner == "them" else None
    return AnswerItem(
        kind="task",
        text=described(found.sentence, reading, found.before),
        owner="me" if found.owner == "self" else found.owner,
        who=person.name if person else None,
        due=found.due.isoformat() if found.due else None,
        importance="high" if found.due and found.probability >= SURE else "medium",
        end=None if end is None else _end(end),
        sure=found.probability,
        **_evidence(reading, found.sentence, _own_lines(found)),
    )


def _own_lines(found: FoundAction) -> tuple[int, ...]:
    """The lines of the task, without the one that ends it."""
    return tuple(line for line in found.lines if found.closing is None or line != found.closing.line)


def _end(end: CandidateEnd) -> AnswerEnd:
    return AnswerEnd(state=end.state, quote=end.quote, messages=list(end.numbers), sure=end.probability)


def _change(change: CandidateChange) -> AnswerChange:
    return AnswerChange(
        id=change.ref,
        state=change.to,
        text=change.text,
        due=change.due_date,
        quote=change.quote,
        messages=list(change.numbers),
        sure=change.probability,
    )


def _decision(reading: Reading, found: FoundDecision, replaces: str | None) -> AnswerItem:
    due, until = lasts(reading, found)
    return AnswerItem(
        kind="decision",
        text=decided(found.sentence, reading, found.before),
        owner="both",
        due=due.isoformat() if due else None,
        until=until,
        importance=found.importance,
        proposed=found.proposed_by.name if found.proposed_by else None,
        agreed=[person.name for person in found.agreed_by],
        replaces=replaces,
        sure=found.probability,
        **_evidence(reading, found.sentence, found.lines),
    )


def _fact(reading: Reading, found: FoundFact) -> AnswerFact:
    return AnswerFact(
        type="account" if found.kind == "handle" else found.kind,  # type: ignore[arg-type]
        value=found.value[:200],
        about=found.whose,
        sure=round(found.confidence, 2),
        ended=found.is_ended,
        renewed=found.replaces,
        **_evidence(reading, found.sentence, found.lines),
    )
