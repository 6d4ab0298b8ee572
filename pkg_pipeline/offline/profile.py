"""The worded part of a profile by rule (B1, P21), from counts and the summaries' own words.

Every sentence is checked by the gate's rules before use.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.telling import MIN_WORDS
from pkg_pipeline.memory.profile.gate import (
    MAX_MILESTONES,
    MAX_SUMMARY_SENTENCES,
    MAX_SUMMARY_WORDS,
    publishable,
)
from pkg_pipeline.memory.profile.records import DatedSummary, ProfileInput, RelationshipType
from pkg_pipeline.memory.profile.relationship import UNKNOWN, guess
from pkg_pipeline.memory.profile.relationship_vectors import Embed
from pkg_pipeline.memory.text.language_data import table
from pkg_pipeline.memory.text.normalise import comparable, script_share, sentences, word_count
from pkg_pipeline.memory.text.phrases import phrases as printed
from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import count_words
from pkg_pipeline.offline.retelling import clipped
from pkg_pipeline.prompts.relationship_profile import Answer, AnswerMilestone

TOPICS_NAMED = 6
FEWEST_TOPICS = 3
"""One or two words say nothing of a relationship ("honestly, birthday")."""
FEW_TALKS = 6
"""In so many, what one talk mentions is no topic of the relationship."""
PHASE_WORDS = 14
TITLE_WORDS = 12
CHINESE_FACTOR = 1.5
"""The gate counts two thirds of a word per Chinese character, this module one."""
FEW_WORDS = 3
"""Shorter first sentences ("Deal!") are told with the next one."""
MOST_PHASES = 6
MOST_QUARTERS = 5
"""More quarters are told by years."""
LONG_SILENCE_DAYS = 60
SILENCE_TIMES_MEAN = 3.0
"""A milestone is a silence this many times the mean gap."""

_INNER_END = re.compile(r"[.!?…。！？]+[\"'»”」』)]*(?=\s|$)|[。！？]+")


def profile_answer(source: ProfileInput, embed: Embed | None = None) -> Answer:
    """The worded part of one profile. Pure; passes the gate. ``embed``: the type is told from vectors too."""
    told = _Telling(source)
    return Answer(
        relationship_type=_relationship(source, embed),
        summary=told.summary(),
        timeline=told.timeline(),
        milestones=told.milestones(),
    )


def _relationship(source: ProfileInput, embed: Embed | None) -> RelationshipType:
    return UNKNOWN if source.signals is None else guess(source.signals, ZoneInfo(source.timezone), embed).type


class _Telling:
    def __init__(self, source: ProfileInput) -> None:
        self.source = source
        self.table = table("offline", source.language, "profile")
        self.words = self.table["templates"]
        self.zone = ZoneInfo(source.timezone)
        allowed = publishable(source)
        self.told_from = tuple(
            one for one in source.summaries if not gives_orders("\n".join((one.text, *one.decisions)))
        )
        """Texts that give orders are counted, but nothing is told from them (B15)."""
        self.may_say: Callable[[str], bool] = allowed.part
        self.may_stand: Callable[[str], bool] = allowed.whole

    def summary(self) -> str:
        """What is talked about; since when, how often, what was decided and is open stands beside it."""
        text = self._about() or ""
        is_fit = len(sentences(text)) <= MAX_SUMMARY_SENTENCES and MIN_WORDS <= word_count(text) <= MAX_SUMMARY_WORDS
        return text if is_fit and self.may_stand(text) else self._least()

    def timeline(self) -> str:
        counted = self.source.aggregate
        name, first = self._plain(self.source.entity.name), self._day(counted.first_interaction_at)
        parts = [self.words["met"].format(name=name, first=first)]
        parts += self._phases()
        text = self._joined([part for part in parts if self.may_say(part)])
        return text if word_count(text) >= MIN_WORDS and self.may_stand(text) else self._least()

    def milestones(self) -> list[AnswerMilestone]:
        """Return after a long silence, first and newest HIGH decisions."""
        made = sorted(self.source.aggregate.key_decisions, key=lambda one: (one.decided_on, str(one.id)))
        by_interaction = {summary.interaction_id: summary for summary in self.told_from}
        found = [self._return()]
        found += [
            self._milestone(by_interaction[one.interaction_id], one.description, importance="high")
            for one in [*made[:1], *reversed(made[1:])]
            if one.interaction_id in by_interaction
        ]
        whole = [one for one in found if one is not None and self.may_stand(one.title)]
        sound = {(one.date, comparable(one.title)): one for one in reversed(whole)}
        return list(reversed(sound.values()))[:MAX_MILESTONES]

    def _about(self) -> str | None:
        person, counted = self.source.entity, self.source.aggregate
        name = self._plain(person.name)
        said, named = None, list[str]()
        for topic in counted.top_topics:
            shown = self._plain(topic.name)
            text = self.words["about"].format(name=name, topics=self.words["and"].join([*named, shown]))
            if len(named) == TOPICS_NAMED or (topic.mentions == 1 and counted.total_interactions >= FEW_TALKS):
                break
            if shown and self.may_say(shown) and self.may_say(text):
                said = text
                named.append(shown)
        return said if len(named) >= FEWEST_TOPICS else None

    def _least(self) -> str:
        counted, said = self.source.aggregate, printed(self.source.language).conversations_only
        text = said.format(count=counted.total_interactions, first=self._day(counted.first_interaction_at))
        if self.may_stand(text):
            return text
        # as it stands in the input: it may be the only words shared with that
        first = counted.first_interaction_at.astimezone(self.zone).date().isoformat()
        return said.format(count=counted.total_interactions, first=first)

    def _phases(self) -> list[str]:
        """The most telling event of each quarter, or year; older ones together."""
        quarters = {self._quarter(summary.day) for summary in self.told_from}
        by_quarter = len(quarters) <= MOST_QUARTERS
        phases: dict[tuple[int, int], list[DatedSummary]] = defaultdict(list)
        for summary in self.told_from:
            year, quarter = self._quarter(summary.day)
            phases[(year, quarter if by_quarter else 0)].append(summary)
        ordered = sorted(phases)
        older, shown = ordered[:-MOST_PHASES], ordered[-MOST_PHASES:]
        told: list[str] = []
        if older and (what := self._gist([one for key in older for one in phases[key]])):
            told.append(self.words["earlier"].format(year=older[-1][0], what=what))
        for year, quarter in shown:
            if what := self._gist(phases[(year, quarter)]):
                form = "quarter" if by_quarter else "year"
                told.append(self.words[form].format(year=year, quarter=quarter, what=what))
        return told

    @staticmethod
    def _quarter(day: date) -> tuple[int, int]:
        return day.year, (day.month - 1) // 3 + 1

    def _gist(self, summaries: Sequence[DatedSummary]) -> str | None:
        """The newest HIGH decision, else the newest decision, else the longest talk's topic."""
        of_these = {summary.interaction_id for summary in summaries}
        high = [made for made in self.source.aggregate.key_decisions if made.interaction_id in of_these]
        high.sort(key=lambda made: (made.decided_on, str(made.id)), reverse=True)
        texts = [made.description for made in high]
        texts += [text for summary in reversed(summaries) for text in reversed(summary.decisions)]
        longest = sorted(summaries, key=lambda summary: (-len(summary.text), summary.number))
        texts += [summary.text for summary in longest]
        return next((what for text in texts if (what := self._told(text, PHASE_WORDS)) is not None), None)

    def _return(self) -> AnswerMilestone | None:
        """The longest silence, only if every conversation is in the input."""
        counted, given = self.source.aggregate, self.source.summaries
        if len(given) != counted.total_interactions or len(given) < 3:
            return None
        before, after = max(pairwise(given), key=lambda pair: ((pair[1].day - pair[0].day).days, -pair[0].number))
        days = (after.day - before.day).days
        if days < LONG_SILENCE_DAYS or days < SILENCE_TIMES_MEAN * (counted.mean_gap_days or 0.0):
            return None
        return self._milestone(after, after.text, "again", days=days)

    def _milestone(
        self,
        summary: DatedSummary,
        text: str,
        form: str | None = None,
        *,
        importance: Literal["high", "medium"] = "medium",
        **places: int,
    ) -> AnswerMilestone | None:
        what = self._told(text, TITLE_WORDS)
        if what is None or summary not in self.told_from:
            return None
        title = what if form is None else self.words[form].format(what=what, **places)
        return AnswerMilestone(
            date=summary.day.isoformat(), title=title, importance=importance, summary_numbers=[summary.number]
        )

    def _told(self, text: str, words: int) -> str | None:
        """The beginning of a text as part of a sentence; None if the gate refuses it."""
        budget = round(words * CHINESE_FACTOR) if self.source.language == "zh" else words
        first = next(iter(sentences(text)), "")
        whole = self._plain(first if count_words(first) >= FEW_WORDS else text)
        shown = clipped(whole, budget)
        return shown if shown and self._is_own_language(shown) and self.may_say(shown) else None

    def _joined(self, parts: Sequence[str]) -> str:
        templates = phrases(self.source.language).templates
        return templates["space"].join(part.replace(f"…{templates['stop']}", "…") for part in parts)

    def _plain(self, text: str) -> str:
        between = "；" if self.source.language == "zh" else "; "
        joined = _INNER_END.sub(between, " ".join(text.split()))
        return re.sub(r"\s*([;；])\s*(?:[;；]\s*)*", between, joined).strip(" ;；.。,，:：")

    def _is_own_language(self, text: str) -> bool:
        return script_share(text, self.source.language) >= 0.5

    def _day(self, moment: datetime) -> str:
        return self._said(moment.astimezone(self.zone).date())

    def _said(self, day: date) -> str:
        return printed(self.source.language).day(day)
