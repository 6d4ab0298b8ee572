"""Where a memory lies: the home, the database, and which of the memories that share both; a part of ``Settings``."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, SecretStr, field_validator

MEMORY_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
MEMORIES_FOLDER = "memories"

OF_THE_DEPLOYMENT = frozenset(
    [
        *("home", "memory", "database_url", "minimum_free_megabytes", "purge_runs_after_days"),
        *("api_tokens", "api_host", "api_port", "api_workers", "api_hosts"),
        *("dagster_port", "dagster_token", "dagster_hosts", "run_broker", "most_runs"),
    ]
)
"""Settings that a named memory's own file cannot change."""


def named_rightly(name: str) -> str:
    """``name``. Raises ValueError for what is no name of a memory."""
    if not MEMORY_NAME.fullmatch(name):
        raise ValueError(
            f"{name[:40]!r} names no memory: a small letter, then up to 30 small letters, digits, _ or -, such as anna"
        )
    return name


class PlaceSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    home: Path
    database_url: SecretStr | None = None
    memory: str | None = None
    """The name of one of several memories; None: the deployment's own, which needs no name."""

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("memory")
    @classmethod
    def _named_rightly(cls, value: str | None) -> str | None:
        return None if value is None else named_rightly(value)

    @property
    def memory_home(self) -> Path:
        """What belongs to this memory alone: its inbox, token and settings."""
        return self.home if self.memory is None else self.home / MEMORIES_FOLDER / self.memory

    @property
    def inbox(self) -> Path:
        return self.memory_home / "inbox"

    @property
    def cache(self) -> Path:
        """May be deleted at any time."""
        return self.home / "cache"

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"

    @property
    def database_folder(self) -> Path:
        return self.home / "postgres"
