"""What every file keeps to: length, docstrings, names, nothing of one machine, a lock that fits the project."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]
LONGEST = 350
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}
MODULES = sorted(
    path
    for folder in ("pkg_pipeline", "pkg_pipeline_tests", "benchmarks")
    for path in (REPOSITORY / folder).rglob("*.py")
)


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def tracked() -> list[Path]:
    """Files under version control, or all that look it where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    found = [REPOSITORY / name for name in listed if name]
    return [path for path in (found or MODULES) if path.is_file()]


def test_no_module_is_too_long() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_every_module_says_what_belongs_into_it() -> None:
    silent = [
        name_of(path)
        for path in MODULES
        if (text := path.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name_of(path) for path in MODULES if set(path.with_suffix("").parts[-3:]) & VAGUE] == []


def test_nothing_of_one_machine_is_tracked() -> None:
    """A path of a build machine or an address of a package registry works nowhere else."""
    places = re.compile(
        rb"(?<![\w.<])/(?:work|root)/[\w.]"
        rb"|(?:pypi|npm|registry|artifactory|nexus|packages)\.[\w-]+\.(?:org|com|io|net|internal)"
        rb"|--(?:extra-)?index-url|files\.pythonhosted"
    )
    found: dict[str, list[bytes]] = {}
    for path in tracked():
        if path == Path(__file__).resolve() or path.suffix in {".png", ".gz", ".zip", ".bin"}:
            continue
        if hits := [hit.group() for hit in places.finditer(path.read_bytes())]:
            found[name_of(path)] = hits[:3]
    assert found == {}


# ── the lock ──────────────────────────────────────────────────────────────────────────────────


def blocks() -> dict[str, str]:
    """Each pinned requirement of the lock with the lines that belong to it."""
    text = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    found = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    return {block.split()[0]: block for block in found if block.strip() and not block.startswith("#")}


def test_every_package_of_the_lock_is_pinned_and_hashed() -> None:
    assert len(blocks()) > 50
    for pin, block in blocks().items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+(\[[\w,-]+\])?==[\w.!+]+", pin), pin
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), pin
    assert "://" not in (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_fits_what_the_project_asks_for() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *project["project"]["dependencies"],
        *(one for extra in project["project"]["optional-dependencies"].values() for one in extra),
        *project["dependency-groups"]["dev"],
    ]
    pinned: dict[str, set[str]] = {}
    for pin in blocks():
        name, _, version = pin.partition("==")
        pinned.setdefault(normal(name.partition("[")[0]), set()).add(version)
    for text in wanted:
        requirement = Requirement(text)
        versions = pinned.get(normal(requirement.name), set())
        assert versions, f"{text} is not in requirements.lock"
        assert all(requirement.specifier.contains(version) for version in versions), (text, versions)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("target", ["env", "demo", "dev", "test", "check", "bench"])
def test_the_makefile_has_the_promised_targets(target: str) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE)
