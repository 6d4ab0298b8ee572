"""Settings in a backup: those set explicitly, and the time zone; no secrets, paths or service names."""

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
        "memory",
        "now",
        "api_host",
        "api_port",
        "dagster_port",
        "minimum_free_megabytes",
        "llm",
        "embedder",
        "anthropic_base_url",
        "openai_base_url",
        "embedding_base_url",
        "api_base_url",
    ]
)


def keep(url: str, settings: Settings, origins: Mapping[str, str]) -> None:
    """Store them in the memory at ``url``, for the backup."""
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
    """The settings in a backup's ``installation`` rows; an old backup has only the time zone."""
    known = json.loads(kept.get(KEY, "{}"))
    found = {name: value for name, value in known.items() if name in Settings.model_fields and name not in STAYS}
    return {**found, **({TIMEZONE: kept[TIMEZONE]} if TIMEZONE in kept else {})}


def refuse_other_zone(given: Mapping[str, Any], settings: Settings, origins: Mapping[str, str]) -> None:
    """Raises SettingsError if another time zone than the backup's is set explicitly."""
    zone = given.get(TIMEZONE, settings.timezone)
    if origins[TIMEZONE] != "default" and settings.timezone != zone:
        raise SettingsError(
            f"the backup was made with the time zone {zone} and its days are cut there, but {origins[TIMEZONE]} says"
            f" {settings.timezone}; nothing was changed: take that setting away, then restore"
        )


def take_over(given: Mapping[str, Any], file: Path) -> list[str]:
    """Write settings not set here to ``file`` (``pkg.toml``); returns their names."""
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
