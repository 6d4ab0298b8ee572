"""``pkg-pipeline memories``: several memories of one deployment, each a database of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pkg_pipeline.cli.terminal import JsonFlag, YesFlag, confirm, counted, plain, settings_in_force, show, table
from pkg_pipeline.place_settings import named_rightly

if TYPE_CHECKING:
    from rich.console import Console

    from pkg_pipeline.wiring.memories import MemoryRow

memories = typer.Typer(
    help="Several memories of one deployment: create, list, drop.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _name(given: str) -> str:
    try:
        return named_rightly(given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


_Name = Annotated[
    str,
    typer.Argument(
        callback=_name, metavar="NAME", help="Small letters, digits, _ and -; a letter first.", show_default=False
    ),
]


@memories.command()
def create(name: _Name, json: JsonFlag = False) -> None:
    """Make an empty memory with an inbox, a token of the API and, if you write one, a pkg.toml of its own."""
    from pkg_pipeline.adapters.home_files import TOKEN_FILE
    from pkg_pipeline.wiring import memories as deployed

    made = deployed.create(settings_in_force(), name)
    answer = {"memory": name, "home": str(made.memory_home), "token_file": str(made.memory_home / TOKEN_FILE)}
    said = f"made {name}: its folder is {answer['home']}; every command is about it with --memory {name}"
    show(answer, as_json=json, human=lambda screen: screen.print(said, markup=False))


@memories.command("list")
def list_(json: JsonFlag = False) -> None:
    """All but the deployment's own, which has no name."""
    from pkg_pipeline.wiring import memories as deployed

    found = deployed.listed(settings_in_force())
    items = [{"memory": one.memory, "bytes": one.bytes, "connections": one.connections} for one in found]
    show({"items": items, "next": None}, as_json=json, human=lambda screen: _print(screen, found))


@memories.command()
def drop(name: _Name, yes: YesFlag = False, json: JsonFlag = False) -> None:
    """Erase a memory for good: its database with Dagster's history of it, its inbox, token and settings."""
    from pkg_pipeline.adapters.postgres.memories import MemoryUnknown
    from pkg_pipeline.wiring import memories as deployed

    settings = settings_in_force()
    if name not in deployed.names(settings):
        raise MemoryUnknown(name)
    confirm(f"Erase the memory {name} for good?", yes=yes, as_json=json)
    deployed.drop(settings, name)
    show({"dropped": name}, as_json=json, human=lambda screen: screen.print(f"{name} is gone", markup=False))


def _print(screen: Console, found: Sequence[MemoryRow]) -> None:
    rows = table("memory", "MB", "connections", numbers=slice(1, None))
    for one in found:
        rows.add_row(plain(one.memory), f"{one.bytes / 1e6:,.1f}", str(one.connections))
    if found:
        screen.print(rows)
    screen.print(counted(len(found), "memory", "memories"))
