"""Validation of updates (P27, P28, B9): no known item is lost.

Changing or closing an item needs a quote from a new message, else it stays and the log says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.foreign import Known, known
from pkg_pipeline.memory.gate.instructions import ordering_numbers
from pkg_pipeline.memory.gate.items import parse_date
from pkg_pipeline.memory.gate.records import CandidateKnown, CandidateUpdate, GateResult
from pkg_pipeline.memory.records import (
    ActionItem,
    DecisionItem,
    FactCandidate,
    SourceMessage,
    SummaryContent,
)
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.memory.summary.increments import KnownItem, UpdateInput
from pkg_pipeline.memory.summary.merging import united_points
from pkg_pipeline.memory.summary.reconciliation import Item, with_new_items


def check_update(candidate: CandidateUpdate, update: UpdateInput) -> GateResult:
    """The whole content after the update, or why its text may not be published. Idempotent.

    ``dropped``: new items that failed, known items answered wrongly or not at all, key points beyond the limit.
    """
    held = _held(update)
    result = check(candidate.summary, update.source, held=held)
    if result.content is None:
        return result
    checker = Checker(update.source, held=held, ordering=ordering_numbers(update.source.messages))
    log = DropLog(list(result.dropped))
    new = _resting_on_new(result.content, update, log)
    content = with_new_items(_known(candidate, update, checker, log), new)
    points, left_out = united_points(update.known.key_points, new.key_points)
    if left_out:
        log.note("key_points", f"{left_out} of those known before gave way to new ones")
    return GateResult(replace(content, key_points=points), tuple(log.entries), None)


def _held(update: UpdateInput) -> Known:
    content = update.known
    items = (*content.decisions, *content.action_items)
    texts = [
        content.summary,
        *content.key_points,
        *(item.description for item in items),
        *(item.quote for item in (*items, *content.extracted_facts)),
        *(f"{fact.fact_type} {fact.value}" for fact in content.extracted_facts),
        *(message.content for message in content.important_messages),
    ]
    first = update.source.messages[0]
    spoken = tuple(SourceMessage(0, "", first.sender, first.sent_at, text) for text in texts)
    return known(replace(update.source, messages=(*update.source.messages, *spoken)))


def _resting_on_new(content: SummaryContent, update: UpdateInput, log: DropLog) -> SummaryContent:
    """Without items whose evidence is only known messages."""
    new = {message.external_id for message in update.new_messages}

    def fresh(items: tuple[Item, ...], name: str) -> tuple[Item, ...]:
        kept = tuple(item for item in items if new & {*item.message_ids})
        for _ in range(len(items) - len(kept)):
            log.note(name, "rests on no new message")
        return kept

    return replace(
        content,
        decisions=fresh(content.decisions, "decisions"),
        action_items=fresh(content.action_items, "action_items"),
        extracted_facts=fresh(content.extracted_facts, "facts"),
    )


def _known(candidate: CandidateUpdate, update: UpdateInput, checker: Checker, log: DropLog) -> SummaryContent:
    answers = _answers(candidate, update, log)
    decisions: list[DecisionItem] = []
    actions: list[ActionItem] = []
    facts: list[FactCandidate] = []
    shown = update.shown
    for ref, item in update.refs.items():
        said = answers.get(ref)
        is_done = isinstance(item, ActionItem) and item.status == "closed"
        if said is None and ref in shown and not is_done:
            log.note(f"known.{ref}", "was not answered; it is kept")
        match item:
            case DecisionItem():
                decisions.append(_decision(item, said, update, checker, log))
            case ActionItem():
                actions.append(_action(item, said, update, checker, log))
            case FactCandidate():
                if said is not None and said.state != "kept":
                    log.note(f"known.{ref}", "is a fact; it is kept, and what is new about it is a fact of its own")
                facts.append(item)
    return replace(update.known, decisions=tuple(decisions), action_items=tuple(actions), extracted_facts=tuple(facts))


def _answers(candidate: CandidateUpdate, update: UpdateInput, log: DropLog) -> Mapping[str, CandidateKnown]:
    found: dict[str, CandidateKnown] = {}
    for index, said in enumerate(candidate.known):
        if said.ref not in update.refs:
            log.note(f"known[{index}]", "names no known item")
        elif said.ref in found:
            log.note(f"known[{index}]", "is answered twice; the first answer counts")
        else:
            found[said.ref] = said
    return found


def _decision(
    item: DecisionItem, said: CandidateKnown | None, update: UpdateInput, checker: Checker, log: DropLog
) -> DecisionItem:
    if said is None or said.state == "kept":
        return item
    part = f"known.{said.ref}"
    if said.state == "closed":
        log.note(part, "is a decision; only action items are closed")
        return item
    evidence = _evidence(said, part, update, checker, log)
    if evidence is None:
        return item
    return replace(
        item,
        description=_description(item, said, part, evidence, checker, log),
        importance=said.importance or item.importance,
        message_ids=_with(item, evidence),
    )


def _action(
    item: ActionItem, said: CandidateKnown | None, update: UpdateInput, checker: Checker, log: DropLog
) -> ActionItem:
    if said is None or said.state == "kept":
        return item
    part = f"known.{said.ref}"
    if item.status == "closed":
        log.note(part, "was closed before; it is kept")
        return item
    evidence = _evidence(said, part, update, checker, log)
    if evidence is None:
        return item
    if said.state == "closed":
        closed = parse_date(said.closed_at)
        day = checker.local_date(evidence.messages[-1])
        return replace(
            item,
            status="closed",
            closed_at=closed if closed is not None and closed <= checker.last_date else day,
            closed_by=tuple(key for key in evidence.ids if key not in item.message_ids),
            closed_quote=evidence.quote,
            message_ids=_with(item, evidence),
        )
    due = parse_date(said.due_date)
    return replace(
        item,
        description=_description(item, said, part, evidence, checker, log),
        due_date=due or item.due_date,
        message_ids=_with(item, evidence),
    )


def _evidence(said: CandidateKnown, part: str, update: UpdateInput, checker: Checker, log: DropLog) -> Evidence | None:
    numbers = [number for number in said.numbers if number in update.new_numbers]
    if not numbers:
        return log.note(part, f"is {said.state} without a new message; it is kept")
    found = checker.evidence(numbers, said.quote)
    if isinstance(found, str):
        return log.note(part, f"{found}; it is kept as it was")
    return found


def _description(
    item: KnownItem, said: CandidateKnown, part: str, evidence: Evidence, checker: Checker, log: DropLog
) -> str:
    assert not isinstance(item, FactCandidate), "a fact has no description"
    if said.description is None or not said.description.strip():
        return item.description
    if (reason := checker.follows(said.description, evidence, item.description, item.quote)) is not None:
        log.note(f"{part}.description", reason)
        return item.description
    return said.description.strip()


def _with(item: DecisionItem | ActionItem, evidence: Evidence) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*item.message_ids, *evidence.ids)))
