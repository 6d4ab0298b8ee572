"""``pkg-pipeline dev``: database, Dagster's UI and daemon, and the API, until Ctrl-C."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import fasteners
import typer
from rich.console import Console

from pkg_pipeline import wiring
from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.adapters.interruption import INTERRUPTION
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.cli.programs import commands as programs
from pkg_pipeline.cli.programs.callers import callers_of, curl_line
from pkg_pipeline.cli.programs.supervise import Program, Stopped, free_port, supervised
from pkg_pipeline.cli.terminal import DEMO_FOLDER, CommandFailed, console, own_command, settings_in_force
from pkg_pipeline.settings import Settings, load

FAKE_KEY = "local"


def dev(
    fake_llm: Annotated[
        bool, typer.Option("--fake-llm", help="Summaries by a local server that speaks the Anthropic protocol.")
    ] = False,
    api_port: Annotated[
        int | None, typer.Option("--api-port", min=0, max=65535, help="Port of the HTTP API; 0 takes a free one.")
    ] = None,
    dagster_port: Annotated[
        int | None, typer.Option("--dagster-port", min=0, max=65535, help="Port of Dagster's UI; 0 takes a free one.")
    ] = None,
) -> None:
    """Start everything and keep it running until Ctrl-C."""
    screen = console()
    INTERRUPTION.is_bounded = False  # the group of programs has its own timeouts
    settings = _with_a_memory(settings_in_force(), screen)
    with _only_one(settings.home), _runtime_folder() as folder, supervised(settings.home / "logs") as group:
        ui = free_port(
            "127.0.0.1", settings.dagster_port if dagster_port is None else dagster_port, option="--dagster-port"
        )
        port = free_port(settings.api_host, settings.api_port if api_port is None else api_port, option="--api-port")
        try:
            screen.print("starting the database …")
            with wiring.open_memory(settings, stays=True) as memory:
                url = memory.url
                wiring.reconcile(memory)
                _prepare(settings, url)
                screen.print("starting Dagster and the API …")
                chosen = _programs(settings, url=url, folder=folder, ui_port=ui, api_port=port, fake_llm=fake_llm)
                group.start(chosen, lambda program: _say_ready(screen, program))
                _say_all(screen, settings, chosen)
                group.wait()
                screen.print("stopping …")
                group.end()  # before the database is stopped
        except Stopped:
            screen.print("stopping …")
    screen.print("stopped.")


def _with_a_memory(settings: Settings, screen: Console) -> Settings:
    """The settings, or the demo's if only the demo's memory has data."""
    demo = settings.home / DEMO_FOLDER
    if settings.database_url is not None or embedded.is_initialised(settings.database_folder):
        return settings
    if not embedded.is_initialised(demo / "postgres"):
        return settings
    screen.print(
        f"{settings.home} holds no memory yet: these are the pages of the demo. Your own begins with:"
        f" {own_command()} import --help",
        markup=False,
    )
    return load({**os.environ, "PKG_HOME": str(demo), "PKG_MEMORY": ""})


def _prepare(settings: Settings, url: str) -> None:
    """Creates Dagster's tables and ends runs left by a killed ``dev``."""
    from pkg_pipeline.adapters.dagster_home import Running
    from pkg_pipeline.defs.automation import orphans

    with dagster_home.prepared(settings.dagster_home, url, Running(settings.most_runs)) as instance:
        orphans.settle(instance, code_server_is_gone=True)


def _programs(
    settings: Settings, *, url: str, folder: Path, ui_port: int, api_port: int, fake_llm: bool
) -> list[Program]:
    from pkg_pipeline.defs.automation.run_failures import LINK_VARIABLE

    environment = {**os.environ, **dagster_home.environment(settings.dagster_home, url), "PKG_HOME": str(settings.home)}
    environment.setdefault(LINK_VARIABLE, f"http://127.0.0.1:{ui_port}")
    found: list[Program] = []
    if fake_llm:
        llm = programs.fake_llm(free_port("127.0.0.1", 0, option="--fake-llm"), environment)
        found.append(llm)
        environment |= {
            "PKG_LLM": "anthropic",
            "ANTHROPIC_BASE_URL": str(llm.address),
            "ANTHROPIC_API_KEY": FAKE_KEY,
        }
    token = settings.dagster_token.get_secret_value() if settings.dagster_token else secrets.token_urlsafe(24)
    socket = folder / "code"
    file = programs.workspace(folder, socket)
    return [
        *found,
        programs.code_server(socket, environment),
        programs.webserver(file, ui_port, token, environment),
        programs.daemon(file, url, environment),
        programs.api(settings.api_host, api_port, environment),
    ]


def _say_ready(screen: Console, program: Program) -> None:
    screen.print(f"  {program.name} answers", markup=False)


def _say_all(screen: Console, settings: Settings, chosen: list[Program]) -> None:
    addresses = {program.name: program.address for program in chosen}
    lines = [
        f"Dagster  {addresses['webserver']}",
        f"API      {addresses['api']}",
        f"inbox    {settings.inbox}",
    ]
    if (secret := callers_of(settings).own_secret) is not None:
        lines.insert(2, f"         {curl_line(str(addresses['api']), secret)}")
    if "fake-llm" in addresses:
        lines.append(f"model    {addresses['fake-llm']} (local, made-up answers)")
    settings.inbox.mkdir(parents=True, exist_ok=True)
    for line in lines:
        screen.print(
            line, markup=False, soft_wrap=True
        )  # an address is for clicking or copying and must not be wrapped
    screen.print("Ctrl-C ends all.")


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Locks the home: two programs would run every schedule twice. The kernel frees a killed process's lock."""
    home.mkdir(parents=True, exist_ok=True)
    holder = home / "dev.pid"
    lock = fasteners.InterProcessLock(home / "dev.lock")
    if not lock.acquire(blocking=False):
        pid = holder.read_text(encoding="utf-8").strip() if holder.exists() else "unknown"
        raise CommandFailed(f"pkg-pipeline dev already runs on {home} (process {pid}); stop it there, or set PKG_HOME")
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


@contextmanager
def _runtime_folder() -> Iterator[Path]:
    """A short private path: a socket's path may have about a hundred characters."""
    folder = Path(tempfile.mkdtemp(prefix="pkgdev-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
