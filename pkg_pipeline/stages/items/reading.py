"""One question about talks: asked, checked, and what it says of each of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pkg_pipeline.memory.gate.records import Gated
from pkg_pipeline.memory.items.batches import carried_on, circle_of, joined, reading_input
from pkg_pipeline.memory.items.gate import check_reading
from pkg_pipeline.memory.items.matching import settle
from pkg_pipeline.memory.items.records import GatedReading, ReadingInput, ShownItem, TalkReading
from pkg_pipeline.memory.items.shown import shown_hash
from pkg_pipeline.memory.records import Quarantined, SummaryInput
from pkg_pipeline.memory.summary.splitting import halves, part_of, split_messages
from pkg_pipeline.prompts import conversation_reading as prompt
from pkg_pipeline.stages.items.report import ItemsReport
from pkg_pipeline.stages.items.stores import Due, DueTalk, Pass, ReadingRow, Saved
from pkg_pipeline.stages.llm.answer_validation import MOST_TOLD, NotPublishable, Question, failure_of, retry_ladder
from pkg_pipeline.stages.llm.ask import Asking, Tally, worst_tokenizer
from pkg_pipeline.stages.llm.leased_work import WorkRules
from pkg_pipeline.stages.llm.run import OutOfBudget
from pkg_pipeline.stages.ports import LlmTask, LlmTooLong, LlmUnavailable, Subject

if TYPE_CHECKING:
    from pkg_pipeline.adapters.postgres.items.store import ItemWork, PostgresItemStore

TASK: Final[LlmTask] = "conversation_reading"

PROMPT_ROOM_TOKENS = 6_000
"""Reserved for instructions, schema and what is shown."""

LINE_TOKENS = 11
"""Around each message in the prompt."""

Readings = tuple[TalkReading, ...]
Answered = tuple[Readings, tuple[Quarantined, ...]]


def _check(text: str, source: ReadingInput, *, is_measured: bool = False) -> Gated[GatedReading]:
    gated = check_reading(prompt.to_candidate(prompt.parse(text)), source, is_measured=is_measured)
    return Gated(gated, gated.dropped, None, gated.hints)


READING: Final[Question[ReadingInput, GatedReading]] = Question(TASK, prompt, _check)
OFFLINE_READING: Final[Question[ReadingInput, GatedReading]] = replace(READING, check=partial(_check, is_measured=True))


class TalkReader:
    """Asks about talks; ``tally`` counts. Raises one of ``NOTHING_PASSED`` after the ladder (P19)."""

    def __init__(self, store: PostgresItemStore, asking: Asking, tally: Tally, *, window_messages: int) -> None:
        self._store, self._asking, self._tally = store, asking, tally
        self._window_messages = window_messages

    def together(self, talks: Sequence[SummaryInput], shown: Sequence[ShownItem]) -> Answered:
        """Several short talks in one question."""
        source = reading_input(talks, shown)

        def smaller(_: str | None, last: Exception) -> Answered:
            raise last

        return retry_ladder(lambda problem: self._ask(source, problem), smaller=smaller)

    def alone(self, due: DueTalk, talk: SummaryInput, shown: Sequence[ShownItem]) -> Answered:
        """One talk, a long one in windows: later ones are shown what earlier ones found."""
        readings: list[TalkReading] = []
        dropped: list[Quarantined] = []
        for window in self._windows(due, talk):
            found, out = self._rungs(window, shown)
            readings += found
            dropped += out
            for reading in found:
                shown = carried_on(shown, reading, due.people)
        if not readings:
            return (TalkReading(due.id),), ()
        return (joined(readings),), tuple(dropped)

    def _rungs(self, window: SummaryInput, shown: Sequence[ShownItem]) -> Answered:
        def in_halves(problem: str | None, last: Exception) -> Answered:
            parts = halves(window)
            if len(parts) < 2:
                raise last
            known, found, dropped = shown, list[TalkReading](), list[Quarantined]()
            for part in parts:
                (reading,), out = self._ask(reading_input([part], known), problem)
                known = carried_on(known, reading)
                found.append(reading)
                dropped += out
            return tuple(found), tuple(dropped)

        source = reading_input([window], shown)
        return retry_ladder(lambda problem: self._ask(source, problem), smaller=in_halves)

    def _ask(self, source: ReadingInput, problem: str | None) -> Answered:
        """What an answer tells; once more, told the faults, where a paid one lost something that it may mend (B18)."""
        best = self._once(source, problem)
        if problem is None and best.mendable and self._asking.llm.is_paid:
            try:
                again = self._once(source, "; ".join(best.mendable[:MOST_TOLD]))
            except (NotPublishable, LlmTooLong, LlmUnavailable, OutOfBudget):
                again = best
            best = max(best, again, key=lambda one: one.size)
        return best.readings, best.dropped

    def _once(self, source: ReadingInput, problem: str | None) -> GatedReading:
        subject, *also = (Subject("interaction", talk.interaction_id) for talk in source.talks)
        asking, tally = self._asking, self._tally
        question = READING if asking.llm.is_paid else OFFLINE_READING
        content, _ = question.ask(
            source, subject=subject, also=tuple(also), asking=asking, tally=tally, problem=problem
        )
        return content

    def _windows(self, due: DueTalk, talk: SummaryInput) -> Iterator[SummaryInput]:
        """The talk whole if it fits, else window after window."""
        llm = self._asking.llm
        whole = int(llm.window_tokens / worst_tokenizer(self._asking.calibration))
        room = whole - prompt.MAX_OUTPUT_TOKENS - PROMPT_ROOM_TOKENS
        most_tokens = max(1_000, room)
        most_messages = self._window_messages if llm.is_paid else max(self._window_messages, len(talk.messages))
        fits = len(talk.messages) <= most_messages and due.token_count + LINE_TOKENS * due.message_count <= most_tokens
        if talk.messages and fits:
            yield talk
            return
        pages = iter([list(talk.messages)]) if talk.messages else self._store.pages(talk, due.chat_id)
        sized = (
            (message, size + LINE_TOKENS)
            for page in pages
            for message, size in zip(page, self._asking.counter.count_many([one.text for one in page]), strict=True)
        )
        for group in split_messages(sized, most_messages=most_messages, most_tokens=most_tokens):
            yield part_of(talk, group)


@dataclass(slots=True)
class PassParts:
    """What a pass works with. ``blocked``: people of talks that wait for another try; later talks wait for them."""

    store: PostgresItemStore
    held: Pass
    due: Due
    asking: Asking
    report: ItemsReport
    on_progress: Callable[[ItemsReport], None]
    work: WorkRules
    window_messages: int
    blocked: set[UUID] = field(default_factory=set[UUID])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """What was given up under another prompt or model is due again; conversations moved or vanished."""
        self.store.revive(self.due)
        with self.store.work(self.held) as work:
            self.report.add(work.catch_up())

    def reader(self, tally: Tally) -> TalkReader:
        return TalkReader(self.store, self.asking, tally, window_messages=self.window_messages)

    def may_read(self, talk: DueTalk) -> bool:
        """False for a talk that is put off or waits for one; then later ones wait, too."""
        with self.lock:
            if talk.is_waiting or talk.circle & self.blocked:
                self.blocked |= talk.circle
                return False
            return True

    def keep(
        self,
        work: ItemWork,
        talk: DueTalk,
        reading: TalkReading,
        shown: Sequence[ShownItem],
        *,
        dropped: tuple[Quarantined, ...] = (),
        same: dict[UUID, UUID] | None = None,
        cost_usd: float = 0.0,
    ) -> Saved:
        """Save one reading. ``same``: ids that became others' so far in this answer; this talk's are added."""
        settled, now = settle(reading, shown, same)
        if same is not None:
            same.update(now)
        saved = work.save(ReadingRow(talk, settled, shown_hash(shown), dropped, cost_usd), self.due)
        with self.lock:
            self.report.read += 1
            self.report.add(saved)
        return saved

    def failed(self, work: ItemWork, talks: Sequence[DueTalk], error: Exception, tally: Tally) -> None:
        """Record why nothing was read."""
        failure = failure_of(
            error,
            run=self.asking.run,
            attempts=max(talk.attempts for talk in talks),
            deferrals=max(talk.deferrals for talk in talks),
            backoff_seconds=self.work.backoff_seconds,
            tally=tally,
        )
        given_up = work.fail(talks, failure, self.due)
        with self.lock:
            self.report.failed += given_up
            self.report.deferred += len(talks) - given_up
            self.report.add_reason(failure.error)
            if not given_up:
                self.blocked |= circle_of(talks)

    def count(self, tally: Tally) -> None:
        with self.lock:
            self.report.calls += tally.calls
            self.report.input_tokens += tally.input_tokens
            self.report.output_tokens += tally.output_tokens
            self.report.cost_usd += tally.cost_usd
