"""Wiring of control runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL
from pkg_pipeline.adapters.llm import prices
from pkg_pipeline.compare.input import Read, conversations_of
from pkg_pipeline.compare.parts import Finder, Meter, MeteredLedger, MeteredLlm, NoLedger
from pkg_pipeline.compare.playing import ComparePorts, CompareSettings, Conversation, compare
from pkg_pipeline.compare.report import Compared
from pkg_pipeline.memory.hashing import chat_id_of, chat_key
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.memory.session.records import Policy, SessionMessage, Strategy
from pkg_pipeline.memory.window.model_window import window_of
from pkg_pipeline.memory.window.records import WindowRules
from pkg_pipeline.memory.window.selection import budget_of
from pkg_pipeline.stages.folds.call import COMPRESS_TASK, TASK
from pkg_pipeline.stages.folds.rows import EARLIER_SUMMARIES
from pkg_pipeline.stages.llm.ask import Asking
from pkg_pipeline.stages.llm.run import Run
from pkg_pipeline.stages.ports import Billing, Llm, LlmTask
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline.stages.window.stage import RECALLED_PIECES, SHOWN_TOPICS, SPARE_MESSAGES
from pkg_pipeline.wiring.folds import fold_rules
from pkg_pipeline.wiring.models import caps, embedder_name, embedder_named, embedder_of, price_table

if TYPE_CHECKING:
    from pkg_pipeline.wiring.memory import Memory

PAGE = 2_000


class CompareWork:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def remembered(self, session: str) -> Conversation:
        """A stored conversation, by id or chat key. Raises SessionUnknown."""
        store = self._memory.sessions.store
        try:
            chat = store.chat(chat_id_of(session))
        except ValueError as error:
            raise SessionUnknown(str(error)) from error
        if chat is None:
            raise SessionUnknown(f"no chat {session}; pkg-pipeline sessions and summaries show chat keys")
        messages: list[SessionMessage] = []
        before: int | None = None
        while page := store.messages(chat.id, before_id=before, limit=PAGE):
            messages += page
            before = page[-1].id
        messages.reverse()
        return Conversation(chat.id, chat_key(chat.source, chat.external_id), chat.source, tuple(messages))

    def exported(self, path: Path, *, format_name: str | None = None) -> Read:
        """The conversations of a file, folder or zip, longest first. Raises UnreadableExport or ValueError."""
        from pkg_pipeline.adapters.exports.detect import open_export

        found = Read()
        for export in open_export(path, format=format_name, timezone=self._memory.settings.timezone):
            read = conversations_of(export.items(), self._memory.counter)
            found.conversations += read.conversations
            found.rejected += read.rejected
        found.conversations.sort(key=lambda one: -len(one.messages))
        return found

    @property
    def is_paid(self) -> bool:
        return self._memory.llm.is_paid

    def settings(
        self,
        *,
        policy: Policy | None = None,
        strategy: Strategy | None = None,
        model_window: int | None = None,
        system_tokens: int = 0,
    ) -> CompareSettings:
        given = self._memory.settings
        chosen = policy or given.session_policy
        is_sliding = chosen == "sliding"
        return CompareSettings(
            policy=chosen,
            strategy=strategy or given.session_strategy,
            rules=fold_rules(given),
            budget=budget_of(
                window_of(asked=model_window, setting=given.context_window, own=given.llm_window_tokens),
                margin_percent=given.margin_percent,
                output_tokens=given.output_tokens,
                system_tokens=system_tokens,
            ),
            window=WindowRules(
                full_recent_count=given.full_recent_count,
                condensed_tool_max=given.condensed_tool_max,
                most_messages=given.context_size if is_sliding else given.raw_history_limit,
                limit_reason="context_size" if is_sliding else "raw_history_limit",
            ),
            timezone=given.timezone,
            most_summaries=given.max_summaries_in_context,
            most_topics=SHOWN_TOPICS,
            recent_messages=given.full_recent_count + SPARE_MESSAGES,
            recalled_tokens=given.relevant_share,
            earlier_summaries=EARLIER_SUMMARIES,
            max_summary_tokens=given.max_summary_tokens,
            step_messages=given.fold_step_messages,
            step_tokens=given.fold_step_tokens,
        )

    def play(
        self,
        conversation: Conversation,
        settings: CompareSettings,
        *,
        model: str | None = None,
        is_forecast: bool = False,
        on_turn: Callable[[int, int], object] = lambda _done, _all: None,
    ) -> Compared:
        """Both modes. ``is_forecast``: folds by the offline model at the configured one's price.

        Raises NothingToCompare, LlmMisconfigured (also for a model without a price), another LlmError, OutOfBudget.
        """
        memory = self._memory
        answering = model or memory.settings.llm_model
        llm, meter = self._offline() if is_forecast else memory.llm, Meter()
        priced_as = llm.model if llm.is_paid else memory.settings.llm_model
        table = price_table(memory.settings)
        for name in (answering, priced_as):
            prices.price_row(name, table=table)
        ports = ComparePorts(
            asking=self._asking(llm, meter, TASK),
            shortening=self._asking(llm, meter, COMPRESS_TASK),
            meter=meter,
            counter=memory.counter,
            price=_price(answering, table),
            fold_price=_price(priced_as, table),
            finder=self._finder(),
        )
        played = compare(conversation, ports=ports, settings=settings, on_turn=on_turn)
        if memory.settings.embedder_kind == "openai":
            played.warnings.append(
                "the topics' drift was not looked at: a remote embedder is not asked for a control run"
            )
        return Compared(
            conversation=conversation,
            settings=settings,
            played=played,
            model=answering,
            fold_model=llm.model,
            fold_priced_as=priced_as,
            prices=prices.TABLE_VERSION,
            counted_by=memory.counter.name,
        )

    def _asking(self, llm: Llm, meter: Meter, task: LlmTask) -> Asking:
        memory = self._memory
        if llm.is_paid:
            memory.budgets.settle_lost()
        run = Run(memory.budgets, Billing("live"), caps(memory.settings, task, "live"), task=task)
        ledger = MeteredLedger(memory.ledger, meter) if llm.is_paid else NoLedger()
        return Asking(MeteredLlm(llm, meter), ledger, memory.counter, run)

    def _finder(self) -> Finder:
        """Offline vectors only: every message is embedded."""
        settings = self._memory.settings
        embedder = embedder_of(settings) if embedder_name(settings) == OFFLINE_MODEL else None
        return Finder(embedder, pieces=RECALLED_PIECES)

    def _offline(self) -> Llm:
        from pkg_pipeline.offline.llm import OfflineLlm

        return OfflineLlm(self._memory.counter, embedder_named(OFFLINE_MODEL, self._memory.settings).embed)


def chosen(conversations: Sequence[Conversation], name: str | None) -> Conversation | None:
    """The conversation of this key, external id or title; without a name the only one."""
    if name is None:
        return conversations[0] if len(conversations) == 1 else None
    fits = [one for one in conversations if name in (one.key, one.key.partition(":")[2], one.title)]
    return fits[0] if len(fits) == 1 else None


def _price(model: str, table: Sequence[prices.PriceRow]) -> Callable[[Usage], float]:
    return lambda usage: prices.price(model, usage, table=table)
