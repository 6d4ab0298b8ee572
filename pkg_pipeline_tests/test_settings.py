"""Settings: environment over file over default, each with its origin, each mistake with its place."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.settings import (
    ENVIRONMENT,
    Settings,
    SettingsError,
    load,
    load_with_origins,
    unknown_variables,
    variable_of,
)

OTHER_VALUES: dict[str, Any] = {
    "database_url": "postgresql://h/d", "api_tokens": "a:read:b", "now": "2025-01-02T03:04:05+00:00",
    "timezone": "Asia/Tokyo", "partitions_start": "2010-01-01", "llm": "offline", "llm_model": "another",
    "anthropic_api_key": "k", "anthropic_base_url": "http://x", "embedder": "none",
    "embedding_model": "m", "embedding_base_url": "http://e", "embedding_api_key": "e",
    "api_base_url": "http://g", "api_key": "g", "gap_hours": 1.5,
    "summary_min_age_days": 1.5, "summary_min_messages": 4, "summary_min_tokens": 25,
    "mass_senders": 9, "attempt_limit": 2,
    "attempt_backoff_seconds": 1.5, "lease_seconds": 9, "llm_concurrency": 2,
    "minimum_free_megabytes": 9, "llm_timeout_seconds": 7.5, "llm_window_tokens": 99_999,
    "llm_price": "1.5/7.5", "llm_unanswered_limit": 9, "talks_together": 7, "window_messages": 99,
    "live_summaries_per_day": 9, "live_usd_per_day": 9.5, "backfill_usd_per_day": 9.5, "context_tokens": 999,
    "live_profiles_per_week": 9, "backfill_older_than_days": 9, "backfill_limit": 9, "update_max_messages": 9,
    "profile_min_age_days": 9, "profile_lag_days": 9, "archive_after_days": 9, "archive_keep_months": 9,
    "deleted_revision_retention_days": 9,
    "purge_runs_after_days": 9, "failure_webhook": "http://h/x",
    "hot_days": 3, "hot_messages": 9, "warm_days": 40, "warm_summaries": 9, "permanent_share": 9, "hot_share": 9,
    "warm_share": 9, "cold_share": 9, "relevant_share": 9, "fact_confirm_confidence": 0.5,
    "fact_confirm_of_others": 0.7, "fact_confirm_by_type": "phone=0.8", "receipts": False,
    "marts": False, "recall_rewrite": True, "recall_rewrites_per_day": 9, "recall_top_k": 9,
    "api_host": "::1", "api_port": 9, "api_hosts": "memory.example", "api_workers": 3, "dagster_port": 9,
    "run_broker": "redis://:secret@queue:6379/0", "most_runs": 9,
    "dagster_hosts": "ui.example", "dagster_token": "a-token-of-the-pages",
    "session_policy": "sliding", "session_strategy": "rolling", "fold_min_messages": 9, "fold_min_tokens": 9,
    "fold_min_minutes": 9, "fold_max_messages": 19, "fold_max_tokens": 1999, "fold_max_minutes": 99, "fold_drift": 0.5,
    "fold_cooldown_seconds": 99, "fold_cooldown_messages": 9, "fold_adapt_percent": 19, "fold_short_max_messages": 29,
    "context_size": 99, "tail_keep_size": 39, "compression_window_size": 9, "compression_cooldown_sec": 9,
    "compression_hard_limit": 19, "summary_interval": 9, "max_summaries_in_context": 9, "raw_history_limit": 99,
    "fold_step_messages": 9, "fold_step_tokens": 999, "live_folds_per_day": 9, "context_window": 9999,
    "output_tokens": 999, "margin_percent": 9, "full_recent_count": 9, "enable_summary": False,
    "summary_threshold": 9, "max_summary_tokens": 999, "condensed_tool_max": 99, "max_messages_per_thread": 99,
    "backfill_batch_from_calls": 7, "live_briefs_per_day": 9, "langgraph_url": "postgresql://h/d",
    "prune_threads": True, "openai_api_key": "sk-o", "openai_base_url": "http://127.0.0.1:8080/v1",
}  # fmt: skip
"""For every field a value that is not its default."""


def home_with(folder: Path, text: str) -> dict[str, str]:
    (folder / "pkg.toml").write_text(text, encoding="utf-8")
    return {"PKG_HOME": str(folder)}


def toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def test_defaults_without_anything(tmp_path: Path) -> None:
    settings, origins = load_with_origins({"HOME": str(tmp_path), "PKG_HOME": str(tmp_path / "none")})
    assert set(origins) == set(Settings.model_fields)
    assert {name for name, origin in origins.items() if origin != "default"} == {"home"}
    assert settings.home == tmp_path / "none"
    assert not settings.home.exists()


def test_the_table_of_values_covers_every_field() -> None:
    assert set(OTHER_VALUES) == set(Settings.model_fields) - {"home", "memory"}, "these choose the file"


def test_a_named_memory_has_a_file_over_that_of_all(tmp_path: Path) -> None:
    own = home_with(tmp_path, "hot_messages = 7\nlive_usd_per_day = 2\n")
    (tmp_path / "memories" / "anna").mkdir(parents=True)
    file = tmp_path / "memories" / "anna" / "pkg.toml"
    file.write_text("live_usd_per_day = 0.25\n")
    assert load(own).live_usd_per_day == 2
    anna, origins = load_with_origins(own | {"PKG_MEMORY": "anna"})
    assert (anna.memory, anna.live_usd_per_day, anna.hot_messages) == ("anna", 0.25, 7)
    assert (origins["live_usd_per_day"], origins["hot_messages"]) == (str(file), str(tmp_path / "pkg.toml"))
    assert load(own | {"PKG_MEMORY": "anna", "PKG_LIVE_USD_PER_DAY": "3"}).live_usd_per_day == 3
    assert (anna.inbox, anna.memory_home) == (file.parent / "inbox", file.parent)
    assert (anna.dagster_home, anna.database_folder, anna.cache) == (
        *(tmp_path / name for name in ("dagster", "postgres", "cache")),
    )


@pytest.mark.parametrize("text", ["most_runs = 50", "api_tokens = 'x'", "database_url = 'postgresql://h/d'"])
def test_what_is_the_deployments_no_memory_sets(tmp_path: Path, text: str) -> None:
    (tmp_path / "memories" / "anna").mkdir(parents=True)
    (tmp_path / "memories" / "anna" / "pkg.toml").write_text(text)
    with pytest.raises(SettingsError, match=f"of one memory and cannot set {text.split()[0]}"):
        load({"PKG_HOME": str(tmp_path), "PKG_MEMORY": "anna"})
    with pytest.raises(SettingsError, match="set PKG_MEMORY"):
        load(home_with(tmp_path, "memory = 'anna'"))


@pytest.mark.parametrize("name", ["Anna", "an na", "../anna", "1a", "-a", "a.b", "a" * 32, "анна", "a:b", "a,b", "a\n"])
def test_what_is_no_name_of_a_memory(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"PKG_MEMORY: .*names no memory"):
        load({"PKG_HOME": str(tmp_path), "PKG_MEMORY": name})


@pytest.mark.parametrize("field", sorted(OTHER_VALUES))
def test_every_field_by_file_and_by_variable(tmp_path: Path, field: str) -> None:
    value, default = OTHER_VALUES[field], load({"PKG_HOME": str(tmp_path)})
    environment = home_with(tmp_path, f"{field} = {toml(value)}\n")
    settings, origins = load_with_origins(environment)
    assert getattr(settings, field) != getattr(default, field)
    assert origins[field] == str(tmp_path / "pkg.toml")
    (tmp_path / "pkg.toml").unlink()
    by_variable, origins = load_with_origins(environment | {variable_of(field): toml(value).strip("'")})
    assert getattr(by_variable, field) == getattr(settings, field)
    assert origins[field] == variable_of(field)


def test_the_environment_wins_and_an_empty_variable_is_none(tmp_path: Path) -> None:
    environment = home_with(tmp_path, "hot_days = 3\nwarm_days = 30\n")
    settings, origins = load_with_origins(environment | {"PKG_HOT_DAYS": "5", "PKG_WARM_DAYS": ""})
    assert (settings.hot_days, settings.warm_days) == (5, 30)
    assert origins["hot_days"] == "PKG_HOT_DAYS"
    assert origins["warm_days"] == str(tmp_path / "pkg.toml")


def test_dates_of_the_file_may_be_tomls_own(tmp_path: Path) -> None:
    settings = load(home_with(tmp_path, "now = 2025-01-02T03:04:05Z\npartitions_start = 2010-01-01\n"))
    assert settings.now == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_the_named_variables_are_fields() -> None:
    assert set(ENVIRONMENT.values()) <= set(Settings.model_fields)
    assert variable_of("database_url") == "DATABASE_URL"
    assert variable_of("hot_days") == "PKG_HOT_DAYS"
    assert variable_of("embedding_model") == "MEMORY_EMBEDDING_MODEL"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"PKG_TAIL_KEEP_SIZE": "75"}, ("PKG_TAIL_KEEP_SIZE", "tail_keep_size (75)", "context_size (75)")),
        ({"PKG_TAIL_KEEP_SIZE": "70"}, ("PKG_TAIL_KEEP_SIZE", "compression_window_size", "82")),
        ({"PKG_COMPRESSION_WINDOW_SIZE": "31"}, ("PKG_COMPRESSION_WINDOW_SIZE", "compression_hard_limit (30)")),
        ({"PKG_FOLD_MIN_MESSAGES": "21"}, ("PKG_FOLD_MIN_MESSAGES", "fold_max_messages (20)")),
        ({"PKG_FOLD_MIN_TOKENS": "2001"}, ("PKG_FOLD_MIN_TOKENS", "fold_max_tokens (2000)")),
        ({"PKG_RAW_HISTORY_LIMIT": "74"}, ("PKG_RAW_HISTORY_LIMIT", "context_size (75)")),
        ({"PKG_SUMMARY_INTERVAL": "101"}, ("PKG_SUMMARY_INTERVAL", "raw_history_limit (100)")),
        ({"PKG_FOLD_COOLDOWN_SECONDS": "59"}, ("PKG_FOLD_COOLDOWN_SECONDS", "60")),
        ({"PKG_SESSION_POLICY": "none"}, ("PKG_SESSION_POLICY", "hysteresis")),
    ],
)
def test_wrong_combinations_of_session_settings_are_refused_by_name(
    tmp_path: Path, given: dict[str, str], said: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as refused:
        load({"PKG_HOME": str(tmp_path), **given})
    assert [one for one in said if one not in str(refused.value)] == []


OWN_URL, OWN_KEY = {"MEMORY_EMBEDDING_BASE_URL": "http://own"}, {"MEMORY_EMBEDDING_API_KEY": "own"}
GENERAL = {"API_BASE_URL": "http://general", "API_KEY": "general"}


@pytest.mark.parametrize(
    ("variables", "kind", "url", "key"),
    [
        ({}, "offline", None, None),
        (GENERAL, "offline", "http://general", "general"),
        (OWN_URL, "openai", "http://own", None),
        (OWN_KEY, "openai", None, "own"),
        (GENERAL | OWN_URL, "openai", "http://own", "general"),
        (GENERAL | OWN_KEY, "openai", "http://general", "own"),
        (GENERAL | OWN_URL | OWN_KEY, "openai", "http://own", "own"),
        (GENERAL | {"MEMORY_EMBEDDING_BASE_URL": "", "MEMORY_EMBEDDING_API_KEY": ""}, "offline", "http://general",
         "general"),
        (OWN_URL | {"PKG_EMBEDDER": "offline"}, "offline", "http://own", None),
        (OWN_URL | {"PKG_EMBEDDER": "none"}, "none", "http://own", None),
        ({"PKG_EMBEDDER": "openai"}, "openai", None, None),
    ],
)  # fmt: skip
def test_where_embeddings_come_from(
    tmp_path: Path, variables: dict[str, str], kind: str, url: str | None, key: str | None
) -> None:
    settings, origins = load_with_origins({"PKG_HOME": str(tmp_path), **variables})
    found = settings.embedding_key_in_force
    assert (settings.embedder_kind, settings.embedding_url_in_force) == (kind, url)
    assert (found.get_secret_value() if found else None) == key
    assert {name for name in origins.values() if name != "default"} == {
        "PKG_HOME", *(name for name, value in variables.items() if value)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "variables", "words"),
    [
        ("hot_days = -1\n", {}, ("hot_days in ", "pkg.toml: ", "greater than 0")),
        ("", {"PKG_HOT_DAYS": "-1"}, ("PKG_HOT_DAYS: ",)),
        ("hot_days = 50\n", {"PKG_WARM_DAYS": "40"}, ("hot_days in ", "PKG_WARM_DAYS", "(50) must be less")),
        ("api_port = 'x'\nhot_days = 'y'\n", {}, ("api_port in ", "hot_days in ")),
        ("api_prot = 1\n", {}, ("unknown settings: api_prot (did you mean api_port?)",)),
        ("xyzzy = 1\n", {}, ("unknown settings: xyzzy",)),
        ("api_port = 1\napi_port = 2\n", {}, ("pkg.toml cannot be read",)),
        ("home = '/x'\n", {}, ("set PKG_HOME",)),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    tmp_path: Path, text: str, variables: dict[str, str], words: tuple[str, ...]
) -> None:
    with pytest.raises(SettingsError) as refused:
        load(home_with(tmp_path, text) | variables)
    for word in words:
        assert word in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "Value error" not in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "pkg.toml").write_bytes(b"llm_model = '\xff'\n")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load({"PKG_HOME": str(tmp_path)})
    with pytest.raises(SettingsError, match="not a folder"):
        load({"PKG_HOME": str(tmp_path / "pkg.toml")})
    with pytest.raises(SettingsError, match="PKG_HOME"):
        load({"PKG_HOME": "~nobody-of-that-name/x"})


def test_secrets_are_in_no_representation_and_no_error(tmp_path: Path) -> None:
    secrets = {
        "ANTHROPIC_API_KEY": "sk-hidden",
        "DATABASE_URL": "postgresql://u:hidden@h/d",
        "PKG_API_TOKENS": "hidden",
        "MEMORY_EMBEDDING_API_KEY": "sk-hidden",
        "API_KEY": "sk-hidden",
    }
    settings = load({"PKG_HOME": str(tmp_path), **secrets})
    assert "hidden" not in repr(settings) + settings.model_dump_json()
    with pytest.raises(SettingsError) as refused:
        load({"PKG_HOME": str(tmp_path), **secrets, "PKG_HOT_DAYS": "x"})
    assert "hidden" not in str(refused.value)


def test_misspelt_variables_are_found_and_our_own_are_not() -> None:
    environment = {"PKG_HOT_DAYZ": "1", "PKG_HOT_DAYS": "1", "PKG_DBT_HOST": "x", "PKG_DAGSTER_URL": "x", "PKGX": "x"}
    assert unknown_variables(environment) == ["PKG_HOT_DAYZ (did you mean PKG_HOT_DAYS?)"]


def test_numbers_of_the_file_are_read_as_written(tmp_path: Path) -> None:
    text = "".join(f"{name} = {toml(value)}\n" for name, value in OTHER_VALUES.items())
    assert tomllib.loads(text)["gap_hours"] == 1.5
    settings = load(home_with(tmp_path, text))
    assert settings.gap_hours == 1.5
    assert settings.receipts is False
