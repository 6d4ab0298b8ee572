"""Wiring of question rewriting."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pkg_pipeline.adapters.postgres.ingest.spoken_languages import spoken_languages
from pkg_pipeline.memory.records import Language
from pkg_pipeline.stages.recall.rewriting import DEADLINE_SECONDS, OFFLINE, TASK, Asker, Rewritten, rewritten
from pkg_pipeline.wiring.asking_in_reads import NOT_SET_UP, WorkInReads

LEAST_SHARE = 0.02
"""Share of messages from which on a language is asked for."""


class RewritingWork(WorkInReads[Asker]):
    """Rephrases questions with the configured model."""

    _languages: tuple[date, tuple[Language, ...]] | None = None

    def rewritten(self, question: str, asked_at: datetime) -> Rewritten:
        """``question``, then up to three phrasings, or why there are none. Never raises (L10)."""
        if self.is_offline:
            return Rewritten((question,), OFFLINE)
        if (ask := self._asker(TASK, DEADLINE_SECONDS)) is None:
            return Rewritten((question,), NOT_SET_UP)
        return rewritten(question, asked_at=asked_at, zone=self._settings.zone, ask=ask)

    def _made(self, **parts: Any) -> Asker:
        return Asker(languages=self._spoken, **parts)

    def _spoken(self, day: date) -> tuple[Language, ...]:
        """The memory's languages; cached per day because they are part of the replay key."""
        known = self._languages
        if known is None or known[0] != day:
            known = self._languages = (day, spoken_languages(self._connections, least_share=LEAST_SHARE))
        return known[1]
