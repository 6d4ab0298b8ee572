"""Frozen ``Settings`` with the origin of each value; environment and ``$PKG_HOME/pkg.toml`` are read by ``load()``."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator

from pkg_pipeline.memory.items.fact_rules import ConfirmRules, rules_by_type
from pkg_pipeline.memory.window.model_window import MODEL_WINDOW_TOKENS
from pkg_pipeline.place_settings import MEMORIES_FOLDER, MEMORY_NAME, OF_THE_DEPLOYMENT, PlaceSettings
from pkg_pipeline.session_settings import SESSION_ENVIRONMENT, SessionSettings


class SettingsError(Exception):
    """An invalid setting: which, and what it may be."""


class Settings(SessionSettings, PlaceSettings):
    """All settings. Field names are the keys of ``pkg.toml``; ``ENVIRONMENT`` maps variables."""

    api_tokens: SecretStr | None = None

    # clock and calendar
    now: datetime | None = None
    timezone: str = "UTC"
    partitions_start: date | None = None

    # language model
    llm: Literal["auto", "anthropic", "openai", "offline"] = "auto"
    llm_model: str = "claude-haiku-5-5"
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    llm_window_tokens: int = Field(
        default=MODEL_WINDOW_TOKENS, ge=16_000, description="largest prompt of the model with its answer"
    )
    llm_price: str | None = Field(
        default=None,
        pattern=r"^\d+(\.\d+)?/\d+(\.\d+)?(/\d+(\.\d+)?)?$",
        description="USD for a million tokens of llm_model: read/written, or read/written/read from the prompt cache",
    )

    # embeddings; what has no address or key of its own takes the general ones (L9)
    embedder: Literal["auto", "offline", "openai", "none"] = "auto"
    embedding_model: str = "embedding-3"
    embedding_base_url: str | None = None
    embedding_api_key: SecretStr | None = None
    api_base_url: str | None = None
    api_key: SecretStr | None = None

    # interactions: gap and eligibility (P11)
    gap_hours: float = Field(default=6, gt=0)
    summary_min_age_days: float = Field(default=7, ge=0)
    summary_min_messages: int = Field(default=3, ge=1)
    summary_min_tokens: int = Field(default=40, ge=0, description="P11, B21: shorter conversations stand as they are")
    mass_senders: int = Field(default=50, ge=1, description="P34: groups with more senders are mass")

    # attempts (P19)
    attempt_limit: int = Field(default=3, ge=1)
    attempt_backoff_seconds: float = Field(default=60, gt=0)
    lease_seconds: float = Field(default=300, gt=0)
    llm_concurrency: int = Field(default=4, ge=1, le=32)
    llm_timeout_seconds: float = Field(default=60, gt=0, description="of one call; a longer one may be charged unread")
    llm_unanswered_limit: int = Field(default=5, ge=1, description="P32: so many in a row and the lane rests an hour")
    talks_together: int = Field(default=30, ge=1, le=40, description="P13: short talks that one paid question sums up")
    window_messages: int = Field(default=500, ge=10, description="P18: longer interactions are summarised in windows")

    # budget (P12, P32)
    live_summaries_per_day: int = Field(default=20, ge=0, description="of summaries, and as many calls for readings")
    live_profiles_per_week: int = Field(default=50, ge=0)
    live_briefs_per_day: int = Field(default=50, ge=0, description="P7, P32: contexts in brief")
    live_usd_per_day: float = Field(default=1, ge=0)
    backfill_usd_per_day: float = Field(default=5, ge=0)
    backfill_older_than_days: float = Field(default=7, ge=0, description="P31")
    backfill_limit: int = Field(default=100, ge=1, description="P31: interactions in one backfill")
    backfill_batch_from_calls: int = Field(
        default=50,
        ge=0,
        description="P31: from so many calls on in message batches, if there are any; 0: never",
    )

    # increments (P27)
    update_max_messages: int = Field(default=10, ge=0, description="P27: more new messages than this: made anew")

    # profiles (P20-P22)
    profile_min_age_days: float = Field(default=90, ge=0, description="P20: since the first interaction")
    profile_lag_days: float = Field(default=7, ge=0, description="P22: from the end of an interaction to the week's")

    # archive (P24-P26)
    archive_after_days: float = Field(default=180, ge=0)
    deleted_revision_retention_days: float = Field(default=30, ge=0, description="Words of deleted messages; 0: none")
    archive_keep_months: int | None = Field(default=None, ge=1, description="P26: what is older is dropped")

    # operation
    purge_runs_after_days: float = Field(default=30, gt=0, description="Dagster's runs; the newest of a partition stay")
    failure_webhook: SecretStr | None = None
    minimum_free_megabytes: int = Field(
        default=500, ge=0, description="imports and runs need so much on the embedded database's disk; 0: no watch"
    )

    # context (P1-P6)
    context_tokens: int = Field(default=4000, ge=1)
    hot_days: float = Field(default=7, gt=0)
    hot_messages: int = Field(default=50, ge=1)
    warm_days: float = Field(default=90, gt=0)
    warm_summaries: int = Field(default=10, ge=1)
    permanent_share: int = Field(default=300, ge=0)
    hot_share: int = Field(default=2000, ge=0)
    warm_share: int = Field(default=1000, ge=0)
    cold_share: int = Field(default=300, ge=0)
    relevant_share: int = Field(default=500, ge=0)
    recall_top_k: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="L7: chunks, where neither lines nor tokens are asked; else 1,000 tokens",
    )
    fact_confirm_confidence: float = Field(default=0.9, ge=0, le=1, description="B2: of what people say of themselves")
    fact_confirm_of_others: float | None = Field(
        default=None, ge=0, le=1, description="B2: of what is said of somebody else; as much by default"
    )
    fact_confirm_by_type: str = Field(
        default="", description="B2: types with a threshold of their own: phone=0.8, family/others=never"
    )
    receipts: bool = True
    marts: bool = Field(default=True, description="runs of the command line bring the marts up to date too")

    # recall: other words for a question, asked of the language model on the live lane (B6, P32)
    recall_rewrite: bool = False
    recall_rewrites_per_day: int = Field(default=200, ge=0, description="P32")

    # Dagster's runs
    run_broker: SecretStr | None = Field(default=None, description="a Redis server, from which workers take the runs")
    most_runs: int = Field(default=3, ge=1, le=500, description="at once; with workers, as many as they can take")

    # serving
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8321, ge=0, le=65535)
    api_workers: int = Field(default=1, ge=1, le=64, description="processes that answer, each of about one core")
    api_hosts: str = Field(default="", description="Names of a proxy under which the API is asked, comma between")
    dagster_port: int = Field(default=3000, ge=0, le=65535)
    dagster_token: SecretStr | None = Field(default=None, min_length=16, description="without one, new at each start")
    dagster_hosts: str = Field(default="", description="further names of Dagster's pages, comma between: a proxy's")

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except Exception as error:
            raise ValueError(f"{value!r} is no IANA time zone, such as Europe/Berlin") from error
        return value

    @field_validator("now")
    @classmethod
    def _aware(cls, value: datetime | None) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value

    @field_validator("fact_confirm_by_type")
    @classmethod
    def _rules(cls, value: str) -> str:
        rules_by_type(value)
        return value

    @model_validator(mode="after")
    def _tiers_in_order(self) -> Settings:
        if self.hot_days >= self.warm_days:
            raise ValueError(f"hot_days ({self.hot_days:g}) must be less than warm_days ({self.warm_days:g})")
        return self

    @property
    def fact_rules(self) -> ConfirmRules:
        by_type = rules_by_type(self.fact_confirm_by_type)
        return ConfirmRules(self.fact_confirm_confidence, self.fact_confirm_of_others, by_type)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def embedder_kind(self) -> Literal["offline", "openai", "none"]:
        """``auto`` is ``openai`` if an embedding address or key is set, else ``offline``."""
        if self.embedder == "auto":
            return "openai" if self.embedding_base_url or self.embedding_api_key else "offline"
        return self.embedder

    @property
    def embedding_url_in_force(self) -> str | None:
        """L9: own address, or the general one."""
        return self.embedding_base_url or self.api_base_url

    @property
    def embedding_key_in_force(self) -> SecretStr | None:
        """L9: own key, or the general one."""
        return self.embedding_api_key or self.api_key


ENVIRONMENT: Mapping[str, str] = {
    "PKG_HOME": "home",
    "DATABASE_URL": "database_url",
    "PKG_MEMORY": "memory",
    "PKG_NOW": "now",
    "PKG_TIMEZONE": "timezone",
    "PKG_PARTITIONS_START": "partitions_start",
    "ANTHROPIC_API_KEY": "anthropic_api_key",
    "ANTHROPIC_BASE_URL": "anthropic_base_url",
    "OPENAI_API_KEY": "openai_api_key",
    "OPENAI_BASE_URL": "openai_base_url",
    "PKG_LLM": "llm",
    "PKG_LLM_MODEL": "llm_model",
    "PKG_EMBEDDER": "embedder",
    "MEMORY_EMBEDDING_MODEL": "embedding_model",
    "MEMORY_EMBEDDING_BASE_URL": "embedding_base_url",
    "MEMORY_EMBEDDING_API_KEY": "embedding_api_key",
    "MEMORY_RECALL_TOP_K": "recall_top_k",
    **SESSION_ENVIRONMENT,
    "API_BASE_URL": "api_base_url",
    "API_KEY": "api_key",
    "PKG_API_TOKENS": "api_tokens",
}
"""Variables with own names; all others are ``PKG_`` + the field in capitals."""


OTHER_PREFIXES = ("PKG_DAGSTER_URL", "PKG_DAGSTER_LINK", "PKG_DBT_", "PKG_TEST_", "PKG_CODE_", "PKG_WORKER_")
"""Variables used between parts of the program."""


def variable_of(field: str) -> str:
    return next((name for name, target in ENVIRONMENT.items() if target == field), f"PKG_{field.upper()}")


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Defaults, then ``pkg.toml``, then the environment. Raises SettingsError."""
    return load_with_origins(environ)[0]


def load_with_origins(environ: Mapping[str, str] | None = None) -> tuple[Settings, dict[str, str]]:
    """The settings, and field → origin of its value (for ``doctor``)."""
    environ = os.environ if environ is None else environ
    try:
        home = Path(environ.get("PKG_HOME") or Path.home() / ".local" / "share" / "pkg-pipeline").expanduser()
    except RuntimeError as error:
        raise SettingsError(f"PKG_HOME: {error}") from error
    values: dict[str, Any] = {"home": home}
    origins = dict.fromkeys(Settings.model_fields, "default")
    files = [home / "pkg.toml", *_of_named(home, environ.get("PKG_MEMORY"))]
    for file in files:
        for field, value in _from_file(file, is_named=file != files[0]).items():
            values[field], origins[field] = value, str(file)
    for field in Settings.model_fields:
        name = variable_of(field)
        if environ.get(name):
            values[field], origins[field] = environ[name], name
    try:
        return Settings.model_validate(values), origins
    except ValidationError as error:
        raise SettingsError(_one_line(error, origins)) from error


def _of_named(home: Path, name: str | None) -> list[Path]:
    """The file of a named memory, which goes over the deployment's. A wrong name is told by its setting."""
    return [home / MEMORIES_FOLDER / name / "pkg.toml"] if name and MEMORY_NAME.fullmatch(name) else []


def _from_file(file: Path, *, is_named: bool = False) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            found = tomllib.load(stream)
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise SettingsError(f"PKG_HOME: {file.parent} is not a folder") from error
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file} cannot be read: it is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    if "home" in found:
        raise SettingsError(f"{file} lies in the home and cannot move it; remove home there and set PKG_HOME")
    if "memory" in found or (is_named and OF_THE_DEPLOYMENT & set(found)):
        said = ", ".join(sorted(OF_THE_DEPLOYMENT & set(found)))
        raise SettingsError(f"{file} is of one memory and cannot set {said}" if is_named else f"{file}: set PKG_MEMORY")
    if unknown := sorted(set(found) - set(Settings.model_fields)):
        named = ", ".join(f"{name}{nearest(name, Settings.model_fields)}" for name in unknown)
        raise SettingsError(f"{file} has unknown settings: {named}")
    return found


def nearest(name: str, known: Iterable[str]) -> str:
    """`` (did you mean X?)`` for a misspelt name, or ""."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """Variables with our prefix that set nothing, each with a suggestion."""
    environ = os.environ if environ is None else environ
    known = [variable_of(field) for field in Settings.model_fields]
    return [
        f"{name}{nearest(name, known)}"
        for name in sorted(environ)
        if name.startswith("PKG_") and name not in known and not name.startswith(OTHER_PREFIXES)
    ]


def _one_line(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems: list[str] = []
    for problem in error.errors(include_url=False, include_input=False):
        said = problem["msg"].removeprefix("Value error, ")
        # a rule over several settings belongs to all named in its message
        fields = [str(problem["loc"][0])] if problem["loc"] else re.findall(r"\w+", said)
        places = [_place(field, origins[field]) for field in fields if field in origins]
        problems.append(f"{', '.join(places)}: {said}")
    return "; ".join(problems)


def _place(field: str, origin: str) -> str:
    """Where to change it: the variable, or the file with its key."""
    if origin == "default":
        return variable_of(field)
    return origin if origin == variable_of(field) else f"{field} in {origin}"
