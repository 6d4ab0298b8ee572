"""The control run (T4): replays a conversation with the real policy, fold and window rules; stores only ledger rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from pkg_pipeline.compare.figures import FoldUse, TurnUse, answers
from pkg_pipeline.compare.parts import Finder, Meter
from pkg_pipeline.memory.message import turns
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.session import folding, running_summary
from pkg_pipeline.memory.session.policies import drift
from pkg_pipeline.memory.session.records import (
    FoldDecision,
    FoldTrigger,
    Policy,
    SessionMessage,
    SessionState,
    Strategy,
)
from pkg_pipeline.memory.session.triggers import FoldRules, decide
from pkg_pipeline.memory.window.records import Budget, LiveTurnTooLong, WindowHistory, WindowMessage, WindowRules
from pkg_pipeline.memory.window.rendering import prepared
from pkg_pipeline.memory.window.selection import assemble
from pkg_pipeline.stages.folds.call import compressor, make_fold
from pkg_pipeline.stages.folds.input import fold_input
from pkg_pipeline.stages.llm.answer_validation import NotPublishable
from pkg_pipeline.stages.llm.ask import Asking, Tally
from pkg_pipeline.stages.ports import TokenCounter

MOST_LOOKS: Final = 50
"""Policy evaluations between two messages."""


class NothingToCompare(ValueError):
    """The conversation has no answer, so no turn."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Live messages in order of arrival, each with ``token_count``."""

    id: UUID
    key: str
    source: str
    messages: tuple[SessionMessage, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """``timezone`` is an IANA name. For prompts: ``budget``, ``window``, ``most_*``, ``recent_messages`` (folded or
    not), ``recalled_tokens``; the others are for folds.
    """

    policy: Policy
    strategy: Strategy
    rules: FoldRules
    budget: Budget
    window: WindowRules
    timezone: str
    summary_interval: int | None = None
    most_summaries: int = 5
    most_topics: int = 20
    recent_messages: int = 20
    recalled_tokens: int = 500
    earlier_summaries: int = 3
    max_summary_tokens: int = 1000
    step_messages: int = 60
    step_tokens: int = 8000


@dataclass(frozen=True, slots=True)
class ComparePorts:
    """USD of an answer's and of a fold's usage; ``meter`` counts ``asking`` (folds) and ``shortening`` (running
    summaries).
    """

    asking: Asking
    shortening: Asking
    meter: Meter
    counter: TokenCounter
    price: Callable[[Usage], float]
    fold_price: Callable[[Usage], float]
    finder: Finder


@dataclass(slots=True)
class Played:
    """``skipped`` turns have a live turn above the budget; ``warnings`` hold no conversation text."""

    turns: list[TurnUse] = field(default_factory=list[TurnUse])
    skipped: int = 0
    warnings: list[str] = field(default_factory=list[str])


def compare(
    conversation: Conversation,
    *,
    ports: ComparePorts,
    settings: CompareSettings,
    on_turn: Callable[[int, int], object] = lambda _done, _all: None,
) -> Played:
    """Every turn in both modes; ``on_turn`` gets (done, all). Raises NothingToCompare, and the model's errors."""
    ranges = answers(conversation.messages)
    if not ranges:
        raise NothingToCompare("nothing in it answers anything: there is no turn to compare")
    player = _Player(conversation, ports, settings)
    played = Played(warnings=player.warnings)
    for number, (start, end) in enumerate(ranges, start=1):
        player.say(start)
        shown = player.prompt()
        player.say(end)
        on_turn(number, len(ranges))
        if shown is None:
            played.skipped += 1
            continue
        played.turns.append(_turn(player, shown, len(played.turns) + 1, (start, end), ports, settings))
    player.say(len(conversation.messages))
    player.settle(None)
    if player.folds and played.turns:  # what was folded behind the last prompt is paid for all the same
        last = played.turns[-1]
        played.turns[-1] = replace(last, folds=(*last.folds, *player.folds))
    if played.skipped:
        player.warn(f"{played.skipped} turns are left out: what was last said alone is more than the window takes")
    return played


def _turn(
    player: _Player,
    shown: tuple[int, int],
    number: int,
    answer: tuple[int, int],
    ports: ComparePorts,
    settings: CompareSettings,
) -> TurnUse:
    said = player.messages[answer[0] : answer[1]]
    prompt, hypothetical = (tokens + settings.budget.system for tokens in shown)
    completion = sum(message.token_count for message in said)
    folds, player.folds = tuple(player.folds), []
    return TurnUse(
        number=number,
        message_id=said[0].external_id,
        at=said[0].sent_at,
        prompt_tokens=prompt,
        hypothetical_tokens=hypothetical,
        completion_tokens=completion,
        usd=ports.price(Usage(prompt, completion, estimated=True)),
        hypothetical_usd=ports.price(Usage(hypothetical, completion, estimated=True)),
        folds=folds,
    )


class _Player:
    def __init__(self, conversation: Conversation, ports: ComparePorts, settings: CompareSettings) -> None:
        self.messages = conversation.messages
        self.folds: list[FoldUse] = []
        self.warnings: list[str] = []
        self._conversation, self._ports, self._settings = conversation, ports, settings
        self._said = self._folded = 0  # how many messages, from the front
        self._running = ""
        self._summaries: list[str] = []
        self._topics: dict[str, int] = {}
        self._state = SessionState(
            conversation.id, settings.policy, settings.strategy, summary_interval=settings.summary_interval
        )

    def warn(self, said: str) -> None:
        if said not in self.warnings:
            self.warnings.append(said)

    def say(self, end: int) -> None:
        """Append the messages before ``end``, folding in between when due."""
        while self._said < end:
            message = self.messages[self._said]
            self.settle(message.sent_at)
            state = self._state
            self._state = replace(
                state,
                last_message_id=message.id,
                message_count=state.message_count + 1,
                token_count=state.token_count + message.token_count,
                messages_since_hwm=state.messages_since_hwm + 1,
                tokens_since_hwm=state.tokens_since_hwm + message.token_count,
                first_since_at=state.first_since_at or message.sent_at,
                last_message_at=message.sent_at,
                messages_since_fold=state.messages_since_fold + 1,
                messages_since_look=state.messages_since_look + 1,
            )
            self._said += 1

    def settle(self, until: datetime | None) -> None:
        """Fold what is due before ``until``; None: the end of the conversation."""
        now = self._state.last_message_at
        for _ in range(MOST_LOOKS):
            if now is None:
                return
            decision = self._decide(now)
            if decision.is_fold and decision.trigger is not None:
                if not self._fold(decision.trigger, keep_tail=decision.keep_tail, now=now):
                    return  # nothing before the live turn: the next message may complete it
                continue
            due = decision.due_at
            if due is None or until is None or not now < due <= until:
                return
            now = due

    def _decide(self, now: datetime) -> FoldDecision:
        finder, rules, source = self._ports.finder, self._settings.rules, self._conversation.source
        first = decide(self._state, rules, now=now, has_embedder=finder.has_embedder, source=source)
        if not first.needs_drift:
            return first
        distance = drift(finder.vectors(self.messages[self._folded : self._said]))
        self._state = replace(self._state, messages_since_look=0)
        return decide(self._state, rules, now=now, drift=distance, has_embedder=True, source=source)

    def _fold(self, trigger: FoldTrigger, *, keep_tail: int, now: datetime) -> bool:
        """Fold complete turns in steps; False if there are none."""
        since = self.messages[self._folded : self._said]
        covered = since[: turns.cutoff(since, keep_tail=keep_tail)]
        settings, start = self._settings, 0
        for end in folding.steps(covered, most_messages=settings.step_messages, most_tokens=settings.step_tokens):
            self._ports.meter.reset()
            try:
                self._fold_step(covered[start:end])
            except NotPublishable as failure:
                self.warn(f"a fold was left out: {failure.problem}")
                self._book(trigger, 0)
                return False
            self._book(trigger, end - start)
            self._move(covered[start:end], now)
            start = end
        return start > 0

    def _fold_step(self, covered: Sequence[SessionMessage]) -> None:
        asking, settings, session = self._ports.asking, self._settings, self._conversation
        earlier = self._summaries[-settings.earlier_summaries :]
        source = fold_input(session.id, session.key, covered, earlier=earlier, timezone=settings.timezone)
        if not source.messages:
            return  # nothing but noise: covered, and nothing said of it
        content, _ = make_fold(source, asking=asking, tally=Tally())
        self._running = running_summary.append(
            self._running,
            content.summary,
            limit_tokens=settings.max_summary_tokens,
            count=self._ports.counter.count,
            compress=compressor(session.id, source.language, asking=self._ports.shortening, tally=Tally()),
        ).text
        self._summaries.append(content.summary)
        for topic in content.topics:
            self._topics[topic] = self._topics.get(topic, 0) + 1

    def _book(self, trigger: FoldTrigger, messages: int) -> None:
        used = self._ports.meter.used
        self.folds.append(
            FoldUse(
                trigger=trigger,
                messages=messages,
                calls=len(used),
                input_tokens=sum(one.input_tokens + one.cache_read_tokens + one.cache_write_tokens for one in used),
                output_tokens=sum(one.output_tokens for one in used),
                usd=sum(self._ports.fold_price(one) for one in used),
            )
        )

    def _move(self, covered: Sequence[SessionMessage], now: datetime) -> None:
        """Advance the HWM and counters (H10)."""
        self._folded += len(covered)
        rest = self.messages[self._folded : self._said]
        self._state = replace(
            self._state,
            hwm_message_id=covered[-1].id,
            messages_since_hwm=len(rest),
            tokens_since_hwm=sum(message.token_count for message in rest),
            first_since_at=rest[0].sent_at if rest else None,
            messages_since_fold=0,
            messages_since_look=0,
            last_fold_at=now,
        )

    def prompt(self) -> tuple[int, int] | None:
        """(window tokens, tokens of all messages); None if the live turn exceeds the budget."""
        settings = self._settings
        first = max(0, min(self._folded, self._said - settings.recent_messages))
        shown = self.messages[first : self._said]
        folded, is_told = self.messages[: self._folded], settings.strategy != "retrieval"
        topics = sorted(self._topics, key=lambda topic: -self._topics[topic])
        history = WindowHistory(
            messages=tuple(_window_message(one, place < self._folded) for place, one in enumerate(shown, start=first)),
            summaries=tuple(self._summaries[-settings.most_summaries :]) if is_told else (),
            running=self._running if is_told else "",
            topics=tuple(topics[: settings.most_topics]),
            recalled=self._recalled(shown, folded) if settings.strategy != "rolling" and folded else (),
        )
        try:
            window = assemble(history, settings.budget, settings.window, self._ports.counter.count_many)
        except LiveTurnTooLong:
            return None
        return window.tokens, self._state.token_count

    def _recalled(self, shown: Sequence[SessionMessage], folded: Sequence[SessionMessage]) -> tuple[str, ...]:
        """The best pieces that fit and are not shown anyway."""
        pieces = self._ports.finder.find(shown, folded[: max(0, self._said - len(shown))])
        left, found = self._settings.recalled_tokens, list[str]()
        for piece, tokens in zip(pieces, self._ports.counter.count_many(pieces), strict=True):
            if tokens <= left:
                found.append(piece)
                left -= tokens
        return tuple(found)


def _window_message(message: SessionMessage, is_folded: bool) -> WindowMessage:
    found = WindowMessage(
        key=message.external_id,
        role=message.role,
        text=message.text,
        parts=message.parts,
        sender_name=message.sender_name,
        is_self=message.is_self,
        is_folded=is_folded,
        tokens=message.token_count,
    )
    return prepared(found, "anthropic")
