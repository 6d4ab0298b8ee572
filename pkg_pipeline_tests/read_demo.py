"""The demo's account as a memory that has read it offline, made once a test run. Not the tests."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from pkg_pipeline.demo import account
from pkg_pipeline.settings import Settings
from pkg_pipeline.wiring import Memory, open_memory
from pkg_pipeline_tests import databases

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
"""That of the labels in ``benchmarks/demo_truth.json``, too."""
NAME = "read_demo"


def made(server_url: str) -> str:
    """The name of the database."""

    def make(url: str) -> str:
        from benchmarks import demo_truth

        with tempfile.TemporaryDirectory() as folder:
            return str(len(demo_truth.read_demo(Path(folder), url, NOW)))

    databases.kept(server_url, NAME, make)
    return NAME


def opened(url: str, folder: Path, **more: object) -> AbstractContextManager[Memory]:
    """The memory at ``url`` as the demo's is, with ``more`` settings."""
    given = {
        "home": folder / "home", "database_url": url, "now": NOW, "llm": "offline", "embedder": "none",
        "timezone": account.TIMEZONE, **more,
    }  # fmt: skip
    return open_memory(Settings.model_validate(given))
