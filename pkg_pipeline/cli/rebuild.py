"""``pkg-pipeline rebuild``: what is derived goes, and the next run makes it again (B8)."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from pkg_pipeline.cli.terminal import JsonFlag, YesFlag, confirm, memory_in_force, own_command, show


def rebuild(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: YesFlag = False,
    json: JsonFlag = False,
) -> None:
    """Clear summaries, readings, items, facts and profiles, so that the next run makes them again.

    Messages, what people decided, folds of sessions and every answer of a model stay: the same questions are not asked
    again. What was made in another order, or from fewer messages, may be asked differently, and that costs. What was
    known before counts as known from the next run on.
    """
    from pkg_pipeline.adapters.postgres.archive.rebuilding import PostgresRebuilding

    with memory_in_force() as memory:
        store = PostgresRebuilding(memory.connections)
        found = store.count()
        if not dry_run:
            told = [f"{count:,} {name}" for name, count in found._asdict().items() if name != "kept_answers"]
            confirm("Clear what was derived?", yes=yes, as_json=json, details=told)
            found = store.clear()

    def human(screen: Console) -> None:
        *gone, answers = found._asdict().items()
        said = ", ".join(f"{count:,} {name}" for name, count in gone)
        screen.print(f"{'would clear' if dry_run else 'cleared'} {said}; {answers[1]:,} answers of models are kept")
        if not dry_run:
            screen.print(f"{own_command()} run makes it again", markup=False)

    show({**found._asdict(), "dry_run": dry_run}, as_json=json, human=human)
