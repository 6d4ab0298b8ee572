"""The talks of the worlds with their labels, each by itself, in the form of ``talks``."""

from __future__ import annotations

from collections.abc import Sequence

from pkg_pipeline.memory.records import Language, SummaryInput
from training import worlds
from training.talks import Label, Talk


def of_worlds(language: Language, told: Sequence[worlds.World]) -> list[Talk]:
    """The talks of those worlds that are of one language; ``group``: the world. A renewal may be found again or not."""
    return [
        Talk(
            f"{world.name} {n}",
            language,
            talk,
            _labels_of(world, talk),
            group=world.name,
            kinds=_kinds(world),
            ends=_ends(world, talk),
        )
        for world in told
        if world.language == language
        for n, talk in enumerate(world.talks, 1)
    ]


def _kinds(world: worlds.World) -> frozenset[str]:
    return frozenset({"task"} if world.is_of_tasks else {"task", "decision"})


def _ends(world: worlds.World, talk: SummaryInput) -> frozenset[int]:
    ends = {key for item in world.items if item.kind == "action_item" for key in item.closed_by}
    return frozenset(message.number for message in talk.messages if message.external_id in ends)


def _labels_of(world: worlds.World, talk: SummaryInput) -> tuple[Label, ...]:
    numbers = {message.external_id: message.number for message in talk.messages}
    places = {message.external_id: one for one in world.talks for message in one.messages}
    me = talk.self_person
    labels: list[Label] = []
    for item in world.items:
        said = {numbers[one] for one in item.messages if one in numbers}
        renewed = [{numbers[one] for one in ids if one in numbers} for ids, _ in item.renewed]
        owner = "both" if item.owner is None else "me" if item.owner == me else "them"
        kind = "task" if item.kind == "action_item" else "decision"
        if said:
            begins = min(item.messages, key=lambda one: places[one].ended_at)
            is_soft = item.is_optional or begins not in numbers
            agreed = {numbers[one] for one in item.agreed_in if one in numbers}
            label = Label(kind, said, owner, item.due, is_optional=is_soft, agreed_in=agreed, lasts=item.lasts)
            labels.append(label)
        labels += [Label(kind, again, owner, is_optional=True) for again in renewed if again]
    return tuple(labels)
