"""Wiring of folds."""

from __future__ import annotations

from pkg_pipeline.adapters.postgres.sessions.fold_reads import PostgresFoldReads
from pkg_pipeline.adapters.postgres.sessions.folds import PostgresFoldStore
from pkg_pipeline.memory.session.triggers import FoldRules
from pkg_pipeline.session_settings import SessionSettings
from pkg_pipeline.settings import SettingsError
from pkg_pipeline.stages.folds.call import TASK
from pkg_pipeline.stages.folds.rows import FoldDeps
from pkg_pipeline.stages.folds.stage import Folding
from pkg_pipeline.stages.ports import Embedder, EmbedderMisconfigured
from pkg_pipeline.wiring.models import embedder_name, embedder_named
from pkg_pipeline.wiring.process import Process


def folding_stage(process: Process) -> Folding:
    settings, budgets = process.settings, process.budgets
    model = embedder_name(settings)
    loaded: list[Embedder] = []

    def embedder() -> Embedder:
        if not loaded:
            assert model is not None, "only where one is set up"
            try:
                loaded.append(embedder_named(model, settings))
            except SettingsError as error:
                raise EmbedderMisconfigured(str(error)) from error
        return loaded[0]

    return Folding(
        deps=FoldDeps(
            reads=PostgresFoldReads(process.connections),
            writes=PostgresFoldStore(process.connections),
            clock=process.clock,
            embedder=None if model is None else embedder,
            rules=fold_rules(settings),
            step_messages=settings.fold_step_messages,
            step_tokens=settings.fold_step_tokens,
            max_summary_tokens=settings.max_summary_tokens,
            timezone=settings.timezone,
        ),
        access=process.access,
        spent_usd=lambda lane: budgets.state(lane=lane, task=TASK).usd,
    )


def fold_rules(settings: SessionSettings) -> FoldRules:
    """H2-H6, W1, T1, L2, L9 from the settings."""
    return FoldRules(
        min_messages=settings.fold_min_messages,
        min_tokens=settings.fold_min_tokens,
        min_minutes=settings.fold_min_minutes,
        max_messages=settings.fold_max_messages,
        max_tokens=settings.fold_max_tokens,
        max_minutes=settings.fold_max_minutes,
        drift=settings.fold_drift,
        cooldown_seconds=settings.fold_cooldown_seconds,
        cooldown_messages=settings.fold_cooldown_messages,
        adapt_percent=settings.fold_adapt_percent,
        short_max_messages=settings.fold_short_max_messages,
        context_size=settings.context_size,
        tail_keep_size=settings.tail_keep_size,
        window_size=settings.compression_window_size,
        window_cooldown_seconds=settings.compression_cooldown_sec,
        hard_limit=settings.compression_hard_limit,
        interval=settings.summary_interval,
        thread_messages=settings.max_messages_per_thread,
        summaries_enabled=settings.enable_summary,
        summary_threshold=settings.summary_threshold,
    )
