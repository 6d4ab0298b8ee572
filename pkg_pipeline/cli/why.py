"""``pkg-pipeline why ID``: from a served line back to who said it, who read it, and what that cost (B11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pkg_pipeline.adapters.postgres.reads.why import PostgresWhyReads
from pkg_pipeline.cli.terminal import CommandFailed, JsonFlag, counted, memory_in_force, show, without_controls
from pkg_pipeline.stages.reads.why import LineUnknown, line_id_of
from pkg_pipeline.stages.reads.why import why as why_of

if TYPE_CHECKING:
    from rich.console import Console


def why(
    line: Annotated[str, typer.Argument(help="Id of an item, decision or fact, or of a piece that recall shows.")],
    json: JsonFlag = False,
) -> None:
    """Where a served line comes from: quote, messages, model and prompt, gate, calls and their cost."""
    with memory_in_force() as memory:
        try:
            reads = PostgresWhyReads(memory.connections)
            found = why_of(reads, line_id_of(reads, line))
        except LineUnknown as error:
            raise CommandFailed(str(error)) from error
    show(found, as_json=json, human=lambda screen: _print(screen, found))


def _print(screen: Console, found: dict[str, Any]) -> None:
    def say(text: str) -> None:
        screen.print(without_controls(text), markup=False, highlight=False)

    say(f"{found['kind'].replace('_', ' ')}: {found['text']}")
    say(f"decided by {found['decided_by']}, {found['probability']:.2f}")
    if found["quote"]:
        say(f"quote: “{found['quote']}”")
    for one in found["messages"]:
        say(f"  {one['at'][:16]} {one['sender'] or 'unknown'}: {one['text']}  ({one['id']})")
    if (reading := found["reading"]) is None:
        say(
            "its conversation is being read anew" if found["messages"] else "no conversation says it: a person added it"
        )
        return
    say(f"read by {reading['model']}, prompt {reading['prompt_version']}, {reading['read_at'][:16]}")
    say(f"passed the gate; dropped beside it: {len(reading['gate']['dropped_beside'])}")
    for one in reading["gate"]["dropped_beside"]:
        say(f"  {one['part']}: {one['reason']}")
    say(f"{counted(len(reading['calls']), 'call')}, {reading['cost_usd']:.4f} USD")
    for call in reading["calls"]:
        say(f"  call {call['id']}, run {call['run_id'] or 'none'}: {call['outcome']}")
