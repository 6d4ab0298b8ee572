"""Wiring of contexts in brief."""

from __future__ import annotations

from typing import Any

from pkg_pipeline.memory.context.brief import BriefInput
from pkg_pipeline.stages.reads.brief import Brief, by_rule
from pkg_pipeline.stages.reads.brief_asking import BRIEF, DEADLINE_SECONDS, TASK, BriefAsker, asked, subject_of, without
from pkg_pipeline.wiring.asking_in_reads import NOT_SET_UP, WorkInReads


class BriefWork(WorkInReads[BriefAsker]):
    """Makes briefs with the configured model; by rule offline."""

    def brief(self, source: BriefInput) -> Brief:
        """Never raises (L10)."""
        if self.is_offline:
            return by_rule(source)
        if (ask := self._asker(TASK, DEADLINE_SECONDS)) is None:
            return by_rule(source, without(NOT_SET_UP))
        return asked(source, ask)

    def _made(self, **parts: Any) -> BriefAsker:
        return BriefAsker(BRIEF, subject_of, deadline_seconds=DEADLINE_SECONDS, **parts)
