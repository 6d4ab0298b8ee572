"""``pkg-pipeline doctor``: settings in force, their origin, and what is wrong."""

from __future__ import annotations

import platform
import re
import shlex
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Annotated, Any

import typer
from pydantic import SecretStr
from rich.console import Console

from pkg_pipeline.adapters import home_files
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.cli.terminal import FAILED, JsonFlag, plain, show, table
from pkg_pipeline.settings import Settings, SettingsError, load_with_origins, unknown_variables, variable_of
from pkg_pipeline.stages.ports import LlmMisconfigured
from pkg_pipeline.wiring import clock_of, database
from pkg_pipeline.wiring.models import is_own_server, price_table, provider_of
from pkg_pipeline.wiring.process import space

_LOGIN = re.compile(r"//[^/\s]*@")
PACKAGES = ("dagster", "psycopg", "anthropic", "openai", "tiktoken")


@dataclass(slots=True)
class Findings:
    """``problems`` need action, ``remarks`` do not."""

    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    problems: list[str] = field(default_factory=list[str])
    remarks: list[str] = field(default_factory=list[str])


Probe = Annotated[
    bool, typer.Option("--probe", help="Ask a model server of your own with a long prompt, too; may take a minute.")
]


def doctor(probe: Probe = False, json: JsonFlag = False) -> None:
    """Tell what is in force and what is wrong. Exit code 1 if something is."""
    findings = Findings()
    findings.facts["version"] = version("pkg-pipeline")
    findings.facts["python"] = platform.python_version()
    findings.facts["packages"] = {name: version(name) for name in PACKAGES}
    findings.remarks.extend(f"the variable {name} is not known and sets nothing" for name in unknown_variables())
    values: dict[str, dict[str, Any]] = {}
    try:
        settings, origins = load_with_origins()
    except SettingsError as error:
        findings.problems.append(str(error))
    else:
        values = {name: _value(settings, name, origins[name]) for name in origins}
        for look in (_look_at_clock, _look_at_home, _look_at_database, _look_at_models):
            look(settings, findings)
        if is_own_server(settings) and not findings.problems:
            _ask_own_server(settings, findings, is_long=probe)
    answer = {**findings.facts, "settings": values, "problems": findings.problems, "remarks": findings.remarks}
    show(answer, as_json=json, human=lambda screen: _print(screen, answer))
    if findings.problems:
        raise typer.Exit(FAILED)


def _value(settings: Settings, name: str, origin: str) -> dict[str, Any]:
    value = getattr(settings, name)
    if isinstance(value, SecretStr):
        value = "set, not shown"
    shown = value if isinstance(value, (int, float, bool, type(None))) else _without_login(str(value))
    return {"value": shown, "from": origin}


def _without_login(address: str) -> str:
    """Removes a password from the address."""
    return _LOGIN.sub("//***@", address)


def _look_at_clock(settings: Settings, findings: Findings) -> None:
    try:
        now = clock_of(settings).now()
    except SettingsError as error:
        findings.problems.append(str(error))
        return
    findings.facts["now"] = now.isoformat()
    if settings.now is not None:
        findings.remarks.append(f"the clock is pinned by {variable_of('now')}: nothing newer is ever due")


def _look_at_home(settings: Settings, findings: Findings) -> None:
    findings.facts["home"] = str(settings.home)
    before = home_files.open_to_others(settings.home)
    if before:
        home_files.make_private(settings.home)
    lax = home_files.open_to_others(settings.home)
    findings.facts["home_access"] = "others too" if lax else "this user alone"
    if closed := [str(path) for path in before if path not in lax]:
        findings.remarks.append(f"other users of this machine could read this until now: {', '.join(closed)}")
    if lax:
        said = " ".join(shlex.quote(str(path)) for path in lax)
        findings.problems.append(f"other users of this machine may read what lies in PKG_HOME: chmod go= {said}")
    room = space(settings)
    if room is not None:
        findings.facts["disk"] = room.to_json()
        if room.is_low:
            findings.problems.append(room.line)
    failed = settings.inbox / "failed"
    if failed.is_dir() and (count := sum(not path.name.endswith(".report.json") for path in failed.iterdir())):
        findings.remarks.append(f"{count} files could not be imported: {failed}")


def _look_at_database(settings: Settings, findings: Findings) -> None:
    kind = "embedded" if settings.database_url is None else "given"
    facts: dict[str, Any] = {"kind": kind}
    findings.facts["database"] = facts
    if kind == "embedded" and not embedded.is_initialised(settings.database_folder):
        findings.remarks.append("there is no database yet; `pkg-pipeline init` or any other command makes it")
        return
    try:
        with database(settings) as url, engine.connect(url) as connection:
            engine.require(connection)
            facts["server"] = connection.info.parameter_status("server_version")
            facts["revision"], facts["head"] = migrate.current(url), migrate.head()
            facts["pgvector"] = engine.value(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            facts["bytes"] = engine.value(connection, "SELECT pg_database_size(current_database())")
            _look_at_zone(settings, connection, findings)
    except (engine.DatabaseUnavailable, embedded.EmbeddedError) as error:
        findings.problems.append(str(error))
        return
    if facts["revision"] != facts["head"]:
        findings.problems.append(
            f"the tables are at revision {facts['revision']}, the program at {facts['head']}: pkg-pipeline db upgrade"
        )


def _look_at_zone(settings: Settings, connection: engine.Connection, findings: Findings) -> None:
    """The zone of the settings must be the one the memory was made with."""
    if engine.value(connection, "SELECT to_regclass('installation')") is None:
        return
    made = engine.value(connection, "SELECT value FROM installation WHERE key = 'timezone'")
    if made is not None and made != settings.timezone:
        findings.problems.append(
            f"{variable_of('timezone')} is {settings.timezone}, but this memory was made with {made}: set it back,"
            " or begin a new PKG_HOME"
        )


def _look_at_models(settings: Settings, findings: Findings) -> None:
    from pkg_pipeline.adapters.text.tokens import TiktokenCounter, TokenTableMissing

    try:
        counter = TiktokenCounter()
        counter.count("ready")
        findings.facts["tokenizer"] = counter.name
    except TokenTableMissing as error:
        findings.problems.append(str(error))
    provider = provider_of(settings)
    endpoint = provider.endpoint(settings)
    texts = "the text of conversations that are summarised"
    leaves = "nothing" if endpoint is None else f"{texts}, to {_without_login(endpoint)}"
    findings.facts["llm"] = {"kind": provider.name, "model": provider.model(settings), "leaves_the_machine": leaves}
    if not provider.is_paid:
        if settings.llm == "auto":
            unused = {"anthropic": settings.anthropic_base_url, "openai": settings.openai_base_url}
            findings.remarks.extend(
                f"{name.upper()}_BASE_URL is set, but without a key everything stays offline: PKG_LLM={name} asks it"
                for name, address in unused.items()
                if address is not None
            )
        return
    if (missing := provider.missing(settings)) is not None:
        findings.problems.append(f"PKG_LLM is {provider.name} but {missing} is not set")
    try:
        from pkg_pipeline.adapters.llm.prices import price_row

        rate = price_row(settings.llm_model, table=price_table(settings)).rate
        findings.facts["llm"] |= {
            "window_tokens": settings.llm_window_tokens,
            "timeout_seconds": settings.llm_timeout_seconds,
            "message_batches": _batches(settings),
            "usd_per_million_in": rate.input,
            "usd_per_million_out": rate.output,
        }
    except LlmMisconfigured as error:
        findings.problems.append(str(error))


def _batches(settings: Settings) -> str:
    if provider_of(settings).batches is None:
        return "none: its protocol has no batches"
    calls = settings.backfill_batch_from_calls
    used = f"for backfills of {calls:,} calls and more" if calls else "only for backfill --batch"
    return used if settings.anthropic_base_url is None else f"{used}, if the server has them"


def _ask_own_server(settings: Settings, findings: Findings, *, is_long: bool) -> None:
    """What costs nothing is asked: whether it answers, in the JSON asked for, and reads a long prompt whole."""
    from pkg_pipeline.adapters.text.tokens import TiktokenCounter
    from pkg_pipeline.wiring.probing import probe

    found = probe(settings, TiktokenCounter(), is_long=is_long)
    findings.facts["llm"]["probe"] = found.to_json()
    if found.problem is not None:
        findings.problems.append(f"the model server cannot be used: {found.problem}")
    elif not is_long:
        findings.remarks.append("whether the model server reads long prompts whole is tried by doctor --probe")


def _print(screen: Console, answer: dict[str, Any]) -> None:
    screen.print(f"[bold]pkg_pipeline {answer['version']}[/bold] on Python {answer['python']}")
    for name in ("home", "home_access", "now", "tokenizer"):
        if name in answer:
            screen.print(f"{name.replace('_', ' '):<11} {plain(answer[name])}")
    for name in ("disk", "database", "llm"):
        if name in answer:
            screen.print(f"{name:<11} " + ", ".join(f"{key} {plain(value)}" for key, value in answer[name].items()))
    rows = table("setting", "value", "from")
    for name, entry in answer["settings"].items():
        value = "" if entry["value"] is None else plain(entry["value"])
        rows.add_row(name, value, plain(entry["from"]), style="dim" if entry["from"] == "default" else None)
    if answer["settings"]:
        screen.print(rows)
    for remark in answer["remarks"]:
        screen.print(f"[yellow]note[/yellow]  {plain(remark)}")
    for problem in answer["problems"]:
        screen.print(f"[red]wrong[/red] {plain(problem)}")
    if not answer["problems"]:
        screen.print("[green]nothing is wrong[/green]")
