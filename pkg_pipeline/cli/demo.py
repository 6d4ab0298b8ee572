"""``pkg-pipeline demo``: the bundled conversations, offline, in a home with a clock pinned at the first run."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.cli.importing import estimate_line, import_all
from pkg_pipeline.cli.reading import found_entity, print_context
from pkg_pipeline.cli.run import RunSummary, work_off
from pkg_pipeline.cli.terminal import (
    DEMO_FOLDER,
    JsonFlag,
    counted,
    memory_in_force,
    notes,
    own_command,
    settings_in_force,
    show,
)
from pkg_pipeline.demo import account
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.reads.context import EntityContext
from pkg_pipeline.wiring.monitoring import leave_unreported

CLOCK_FILE = "clock"
EXPORTS_FOLDER = "exports"


def demo(
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the last demo and begin anew.")] = False,
    json: JsonFlag = False,
) -> None:
    """Import the bundled conversations, summarise what is due, show somebody's context."""
    asked = settings_in_force()
    home = asked.home / DEMO_FOLDER
    if fresh and home.exists():
        embedded.stop(home / "postgres")
        shutil.rmtree(home)
    settings = _settings(asked, home)
    say = notes()
    started = time.monotonic()
    if not json:
        say.print(f"[bold]1[/bold] a memory of its own in {home}, offline, clock at {settings.now:%Y-%m-%d %H:%M} UTC")
    with memory_in_force(settings) as memory:
        paths = _exports(home, settings)
        report, _ = import_all(memory, paths, format_name=None, self_rule=None, as_json=json)
        made = memory.build_interactions(report.chats)
        leave_unreported(memory, report, made)
        estimate = memory.estimate()
        if not json:
            counts = report.counts
            say.print(
                f"[bold]2[/bold] imported {counted(report.files, 'file')}: {counted(len(report.chats), 'chat')}, "
                f"{counts.new:,} messages new, {counts.updated:,} edited, {counts.unchanged:,} unchanged, "
                f"{counts.deleted:,} deleted; {counted(made.interactions, 'interaction')} made or changed"
            )
            say.print(f"[bold]3[/bold] to summarise: {estimate_line(estimate)} …")
    ran = work_off(settings)
    with memory_in_force(settings) as memory:
        answer = memory.context(found_entity(memory, account.SHOWCASE).id, max_tokens=None, as_of=None)
    whole: dict[str, Any] = {
        "home": str(home),
        "now": settings.now,
        "import": {**report.to_json(), "interactions_changed": made.interactions, "estimate": estimate.to_json()},
        "run": ran.to_json(),
        "context": answer.to_json(),
        "seconds": round(time.monotonic() - started, 2),
    }
    show(whole, as_json=json, human=lambda screen: _print(screen, ran, answer, home, time.monotonic() - started))


def _settings(asked: Settings, home: Path) -> Settings:
    """The demo's own settings: offline models and a home of its own, whatever is configured."""
    clock = home / CLOCK_FILE
    if clock.exists():
        now = datetime.fromisoformat(clock.read_text(encoding="utf-8").strip())
    else:
        now = (asked.now or datetime.now(UTC)).replace(microsecond=0)
        home.mkdir(parents=True, exist_ok=True)
        clock.write_text(now.isoformat() + "\n", encoding="utf-8")
    own = home / "pkg.toml"
    if not own.exists():
        # later commands on this home need its time zone and must not pay either
        own.write_text(f'timezone = "{account.TIMEZONE}"\nllm = "offline"\n', encoding="utf-8")
    return asked.model_copy(
        update={
            "home": home,
            "database_url": None,
            "memory": None,
            "now": now,
            "llm": "offline",
            "timezone": account.TIMEZONE,
        }
    )


def _exports(home: Path, settings: Settings) -> list[Path]:
    """Export files of the bundled account, written once."""
    folder = home / EXPORTS_FOLDER
    if not folder.exists():
        assert settings.now is not None
        part = home / f"{EXPORTS_FOLDER}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        account.write_exports(part, settings.now)
        part.rename(folder)
    return sorted(folder.iterdir())


def _print(screen: Console, ran: RunSummary, answer: EntityContext, home: Path, seconds: float) -> None:
    notes().print(f"  {ran.line()}")
    name = answer.entity_name
    notes().print(f"[bold]4[/bold] what matters about {name} before the next call, as a model or you would read it:")
    notes().print()
    print_context(screen, answer)
    screen.print()
    screen.print(f"[bold]Where to go next[/bold] (this took {seconds:.1f} s)")
    here, own = own_command(home=home), own_command()
    for line, what in (
        (f"{here} entities", "everybody in the bundled account"),
        (f"{here} context '周敏 Zhou Min'", "a supplier, in Chinese"),
        (f"{here} recall 'what delayed the LED modules?' --top-k 3", "the messages that say it, in any language"),
        (f"{here} summaries --chat telegram:user:731002245", "what was decided with Daniel Okafor, in English"),
        (f"{here} dev", "Dagster's pages and the HTTP API, until Ctrl-C; so does make dev"),
        (f"{own} import --help", "how your own conversations come in, into a memory of their own"),
    ):
        screen.print(f"  {line}", markup=False)
        screen.print(f"      {what}", style="dim", markup=False)
