"""Live sessions from Python: the shapes of the commands, by the settings in force or over an open memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pkg_pipeline
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.sessions.parsing import NothingRead
from pkg_pipeline.stages.sessions.records import SessionUnknown
from pkg_pipeline_tests.stages.reads.context_memory import NOW

KEY = "agent:python"
TURNS = [
    {"id": 1, "role": "user", "text": "Which port?", "sent_at": "2026-03-15T11:00:00Z"},
    {"id": 2, "role": "assistant", "text": "Port 8321.", "sent_at": "2026-03-15T11:00:05Z"},
    {"id": 3, "role": "user", "text": "Why?", "sent_at": "2026-03-15T11:00:09Z"},
]


@pytest.fixture
def in_force(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "PKG_HOME": str(tmp_path), "DATABASE_URL": database_url, "PKG_NOW": NOW.isoformat(), "PKG_LLM": "offline",
        "PKG_EMBEDDER": "none",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("in_force")
def test_each_call_by_the_settings_in_force() -> None:
    assert pkg_pipeline.append(KEY, [*TURNS, {"text": "nobody's"}])["rejected"][0]["where"] == "messages[3]"
    messages = pkg_pipeline.window(KEY, model_window=8000)["messages"]
    assert messages[-1]["role"] == "user"
    with pytest.raises(SessionUnknown):
        pkg_pipeline.window("agent:none")
    with pytest.raises(NothingRead):
        pkg_pipeline.append(KEY, [{"text": "nobody's"}])


def test_over_an_open_memory(database_url: str, tmp_path: Path) -> None:
    given = {"home": tmp_path, "database_url": database_url, "now": NOW, "llm": "offline", "embedder": "none"}
    with pkg_pipeline.open(Settings.model_validate(given)) as memory:
        session = pkg_pipeline.append(KEY, TURNS, memory=memory)["id"]
        assert pkg_pipeline.append(session, TURNS, memory=memory)["unchanged"] == 3
        assert pkg_pipeline.set_session(KEY, strategy="rolling", label="me", memory=memory)["label"] == "me"
        assert pkg_pipeline.event(KEY, "manual", memory=memory)["event"] == "manual"
        assert pkg_pipeline.fold(KEY, memory=memory)["messages"] == 2, "the live turn is not complete"
        shown = pkg_pipeline.window(KEY, form="openai", memory=memory)
        assert (shown["strategy"], shown["session"]) == ("rolling", KEY)


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import sys, pkg_pipeline\n"
        "assert sorted(name for name in sys.modules if name.startswith('pkg_pipeline')) == ['pkg_pipeline']\n"
        "assert 'psycopg' not in sys.modules\n"
        "assert callable(pkg_pipeline.window)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        getattr(pkg_pipeline, "nothing_of_that_name")  # noqa: B009 - a type checker knows that it is not there
