"""Several short talks in one question to a paid model: which stand together, and what its answer gives each (P13)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final
from uuid import UUID

from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.items.batches import numbered_on
from pkg_pipeline.memory.records import Quarantined, SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.gate import check
from pkg_pipeline.prompts import summary as prompt
from pkg_pipeline.stages.llm.answer_validation import NotPublishable, Question
from pkg_pipeline.stages.llm.ask import Asking, InBatch, Tally
from pkg_pipeline.stages.llm.run import OutOfBudget
from pkg_pipeline.stages.ports import LlmRefused, LlmRejected, LlmTooLong, Subject
from pkg_pipeline.stages.summaries.making import TASK, Made
from pkg_pipeline.stages.summaries.stores import Claimed

MOST_TOKENS = 6_000
"""Of talk in one question."""

SHORT_TOKENS = 1_000
"""A longer talk is asked about alone."""

Talks = tuple[SummaryInput, ...]
Content = tuple[SummaryContent, tuple[Quarantined, ...]]
Passed = Mapping[UUID, Content]
"""By interaction; what the gate refused is missing."""


def _check(text: str, talks: Talks) -> Gated[Passed]:
    """Each talk by itself; only an answer of which nothing passes is refused."""
    told = prompt.to_candidates(prompt.parse(text))
    results = {talk.interaction_id: check(told[at], talk) for at, talk in enumerate(talks, 1) if at in told}
    passed = {key: (one.content, one.dropped) for key, one in results.items() if one.content is not None}
    return Gated(passed or None, (), None if passed else "talks: none may be published")


QUESTION: Final[Question[Talks, Passed]] = Question(TASK, prompt, _check)


def may_join(one: Claimed) -> bool:
    """A short talk at its first attempt that has no summary yet."""
    is_first = one.known is None and one.parent_summary_id is None and one.attempts == 0
    return is_first and bool(one.source.messages) and one.token_count <= SHORT_TOKENS


def grouped(claimed: Iterable[Claimed], *, most: int) -> list[tuple[Claimed, ...]]:
    """Groups of two to ``most`` talks of one language, up to ``MOST_TOKENS``; talks of a chat follow each other. The
    same talks give the same groups, in whatever order they come (B8).
    """
    groups: list[list[Claimed]] = []
    size, joining = 0, filter(may_join, claimed)
    for one in sorted(joining, key=lambda one: (one.source.language, one.source.chat_key, *_when(one))):
        last = groups[-1] if groups else []
        is_next = bool(last) and last[-1].source.language == one.source.language and len(last) < most
        if is_next and size + one.token_count <= MOST_TOKENS:
            last.append(one)
            size += one.token_count
        else:
            groups.append([one])
            size = one.token_count
    return [tuple(group) for group in groups if len(group) > 1]


def in_turn(claimed: Sequence[Claimed], groups: Sequence[tuple[Claimed, ...]]) -> list[Claimed]:
    """``claimed`` so that workers begin with different groups, those of no group in between."""
    joined = {one.lease_id for group in groups for one in group}
    alone = [one for one in claimed if one.lease_id not in joined]
    return [one for one in chain.from_iterable(zip_longest(*groups, alone)) if one is not None]


def _when(one: Claimed) -> tuple[object, UUID]:
    return one.source.started_at, one.source.interaction_id


@dataclass(frozen=True, slots=True)
class Share:
    """Of the question's cost and time, for each of its talks."""

    usd: float
    seconds: float


class Together:
    """A group; the first worker that needs one of its talks asks about all and saves what passed (B6, B8).

    ``save`` publishes in one transaction: a kill leaves either the answer to replay or everything that it gave.
    """

    def __init__(self, talks: tuple[Claimed, ...], save: Callable[[Passed, Share], Mapping[UUID, Made]]) -> None:
        self.share = Share(0.0, 0.0)
        self.made: Mapping[UUID, Made] = {}
        self.is_done = False
        """False with a question that was asked: it found no model, or what it gave could not be saved."""
        self.is_in_batch = False

        self._talks, self._save = talks, save
        self._is_asked = False
        self._lock = threading.Lock()

    def ask_once(self, asking: Asking, tally: Tally) -> None:
        """Asks unless somebody did, or the run stopped; ``tally`` counts. Whatever else is wrong with the answer leaves
        the talks to be asked alone. Raises ``LlmUnavailable`` or ``LlmMisconfigured`` to the one who asks.
        """
        with self._lock:
            if self._is_asked or asking.is_over:
                return
            self._is_asked = True
            started = time.perf_counter()
            try:
                passed: Passed = self._ask(asking, tally)
            except (NotPublishable, LlmTooLong, LlmRejected, LlmRefused, OutOfBudget):
                passed = dict[UUID, Content]()
            except InBatch:
                self.is_in_batch = True
                return
            many = len(self._talks)
            self.share = Share(tally.cost_usd / many, (time.perf_counter() - started) / many)
            self.made = self._save(passed, self.share) if passed else {}
            self.is_done = True

    def _ask(self, asking: Asking, tally: Tally) -> Passed:
        subject, *also = (Subject("interaction", one.lease_id) for one in self._talks)
        talks = numbered_on(one.source for one in self._talks)
        return QUESTION.ask(talks, subject=subject, also=tuple(also), asking=asking, tally=tally)[0]
