"""Settings that a backup carries, so that the memory goes on elsewhere as it was: those that somebody set, and the
time zone. Not secrets, not what belongs to the machine, not which services are asked: those need keys of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.queries import query
from pkg_pipeline.settings import Settings, SettingsError, load_with_origins

KEY = "settings"
TIMEZONE = "timezone"
STAYS = frozenset(
    [
        "home",
        "now",
        "api_host",
        "api_port",
        "dagster_port",
        "minimum_free_megabytes",
        "llm",
        "embedder",
        "anthropic_base_url",
        "embedding_base_url",
        "api_base_url",
    ]
)


def keep(url: str, settings: Settings, origins: Mapping[str, str]) -> None:
    """Write them into the memory at ``url``, from where the backup takes them."""
    chosen = {
        name: json.loads(json.dumps(value, default=str))
        for name in sorted(Settings.model_fields)
        if name not in STAYS
        and (origins[name] != "default" or name == TIMEZONE)
        and not isinstance(value := getattr(settings, name), SecretStr)
    }
    with engine.connect(url, autocommit=True) as connection:
        connection.execute(query("work", "carry_setting"), {"key": KEY, "value": json.dumps(chosen)})


def carried(kept: Mapping[str, str]) -> dict[str, Any]:
    """What a backup carries, of the rows of ``installation`` in it; one by an older program its time zone only."""
    known = json.loads(kept.get(KEY, "{}"))
    found = {name: value for name, value in known.items() if name in Settings.model_fields and name not in STAYS}
    return {**found, **({TIMEZONE: kept[TIMEZONE]} if TIMEZONE in kept else {})}


def refuse_other_zone(given: Mapping[str, Any], settings: Settings, origins: Mapping[str, str]) -> None:
    """Raises SettingsError where somebody has set another time zone than the backup's."""
    zone = given.get(TIMEZONE, settings.timezone)
    if origins[TIMEZONE] != "default" and settings.timezone != zone:
        raise SettingsError(
            f"the backup was made with the time zone {zone} and its days are cut there, but {origins[TIMEZONE]} says"
            f" {settings.timezone}; nothing was changed: take that setting away, then restore"
        )


def take_over(given: Mapping[str, Any], file: Path) -> list[str]:
    """Write what nobody has set here into ``file`` (``pkg.toml``); returns the names."""
    settings, origins = load_with_origins()
    new = {
        name: value for name, value in given.items() if origins[name] == "default" and _differs(settings, name, value)
    }
    if new:
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in sorted(new.items())]
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.part")
        part.touch(mode=0o600)
        part.write_text("\n".join(["# from the backup", *lines, before]).rstrip() + "\n", encoding="utf-8")
        part.replace(file)
    return sorted(new)


def _differs(settings: Settings, name: str, value: Any) -> bool:
    return value is not None and json.loads(json.dumps(getattr(settings, name), default=str)) != value
