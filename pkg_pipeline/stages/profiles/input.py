"""Stored data → counts of a profile row, and input of its text.

Counts reach to the week's end (P22), as items do (B16); the rest of the text's input only to the newest summary: a week
without new summaries in which no item changed has the previous input, and its text is carried over (P23).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.profile import rules as rules
from pkg_pipeline.memory.profile.records import DatedSummary, ProfileAggregate, ProfileInput, Signals, Topic
from pkg_pipeline.memory.profile.rules import Week
from pkg_pipeline.memory.profile.topics import merge_topics
from pkg_pipeline.memory.records import Language, Person
from pkg_pipeline.stages.profiles import aggregation
from pkg_pipeline.stages.profiles.stores import Extent, Material

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads


@dataclass(frozen=True, slots=True)
class Prepared:
    """One person in one week; ``based_on`` and ``items`` are ids it uses."""

    aggregate: ProfileAggregate
    source: ProfileInput
    source_tokens: int
    is_dirty: bool
    based_on: tuple[UUID, ...]
    items: tuple[UUID, ...]

    @property
    def language(self) -> Language:
        return self.source.language


def prepare(
    reads: PostgresProfileReads, entity: Person, week: Week, *, profile_id: UUID, zone: ZoneInfo
) -> Prepared | None:
    """None if nothing is summarised by then."""
    material = reads.material(entity.entity_id, week)
    if material is None:
        return None
    newest = tuple(material.covered["summary_id"][: rules.MOST_SUMMARIES])
    return prepared_from(material, reads.texts(newest), entity=entity, profile_id=profile_id, zone=zone)


def prepared_from(
    material: Material,
    texts: Mapping[UUID, tuple[str, str | None]],
    *,
    entity: Person,
    profile_id: UUID,
    zone: ZoneInfo,
) -> Prepared:
    topics = _topics(material, entity)
    dated, covered = _dated(material, texts), material.covered
    source = ProfileInput(
        profile_id=profile_id,
        entity=entity,
        self_person=material.self_person,
        week=rules.week_of(material.at_newest.last_ended_at, zone),
        aggregate=rules.shortened(_aggregate(material, material.at_newest, topics)),
        summaries=dated,
        omitted_summaries=len(covered) - len(dated),
        facts=material.facts,
        language=rules.language_of(list(zip(covered["language"], covered["messages"], strict=True))),
        timezone=zone.key,
        input_hash="",
        signals=Signals(
            name=entity.name,
            said=material.said,
            groups=material.groups,
            facts=material.facts,
            organizations=(entity.organization, material.self_person and material.self_person.organization),
            is_met_in_groups=material.is_met_in_groups,
        ),
    )
    return Prepared(
        aggregate=_aggregate(material, material.at_end, topics),
        source=replace(source, input_hash=rules.words_hash(source)),
        source_tokens=int(covered["tokens"].sum()),
        is_dirty=bool(covered["is_dirty"].any()),
        based_on=tuple(covered["summary_id"]),
        items=tuple(one.id for one in (*material.decisions, *material.open_items)),
    )


def _topics(material: Material, entity: Person) -> tuple[Topic, ...]:
    people = [person.name for person in (entity, material.self_person) if person is not None]
    return merge_topics(aggregation.mentions(material.covered), besides=people)


def _dated(material: Material, texts: Mapping[UUID, tuple[str, str | None]]) -> tuple[DatedSummary, ...]:
    """Oldest first, numbered from 1, older ones shortened; erased ones left out."""
    decided: dict[UUID, list[str]] = {}
    for decision in material.decisions:
        decided.setdefault(decision.interaction_id, []).append(decision.description)
    newest_first: list[Any] = list(material.covered[material.covered["summary_id"].isin(texts.keys())].itertuples())
    shares = rules.shares([int(one.tokens) for one in newest_first])
    told = [
        rules.cut(texts[one.summary_id][0], int(one.tokens), most)
        for one, most in zip(newest_first, shares, strict=True)
    ]
    return tuple(
        DatedSummary(
            number=number,
            interaction_id=one.interaction_id,
            day=one.day,
            text=text,
            tone=texts[one.summary_id][1],
            decisions=tuple(decided.get(one.interaction_id, ())),
        )
        for number, (one, text) in enumerate(zip(newest_first[::-1], told[::-1], strict=True), 1)
    )


def _aggregate(material: Material, extent: Extent, topics: tuple[Topic, ...]) -> ProfileAggregate:
    gap = rules.mean_gap_days(extent.first_started_at, extent.last_started_at, extent.interactions)
    return ProfileAggregate(
        first_interaction_at=extent.first_started_at,
        last_interaction_at=extent.last_ended_at,
        last_meaningful_contact_at=extent.last_meaningful_at,
        total_interactions=extent.interactions,
        total_messages=extent.messages,
        summarized_interactions=len(material.covered),
        frequency=extent.frequency,
        mean_gap_days=gap,
        top_topics=topics,
        key_decisions=tuple(decision.key_decision for decision in material.decisions if decision.is_high),
        open_action_items=material.open_items,
    )
