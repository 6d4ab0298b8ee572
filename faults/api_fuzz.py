"""Schemathesis against the API: every route from its own description, with the token and without one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from faults.ground import Ground
from faults.kinds import Outcome, fault
from faults.served import SECRET, served
from pkg_pipeline.api.security import OPEN_PATHS

SEED = 7
SECONDS = 900
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "allow_header_conformance", "ignored_auth",
)  # fmt: skip


def _run(address: str, folder: Path, examples: int, *more: str) -> list[dict[str, Any]]:
    """Requests with their answers, as in a HAR file; ``examples`` a route in the phase that draws at random."""
    report, har = folder / "run.json", folder / "run.har"
    options = ["--checks", ",".join(CHECKS), "--max-examples", str(examples), "--seed", str(SEED), "--no-shrink"]
    phases = ["--phases", "examples,coverage,fuzzing", "--continue-on-failure", "--suppress-health-check", "all"]
    reports = ["--report", "json,har", "--report-json-path", str(report), "--report-har-path", str(har)]
    program = str(Path(sys.executable).with_name("schemathesis"))
    done = subprocess.run(
        [program, "run", f"{address}/openapi.json", *options, *phases, *reports, *more],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"schemathesis did not run: {(done.stdout + done.stderr)[-1_000:]}")
    return json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]


def _failures(folder: Path) -> list[str]:
    told = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    found = [json.dumps(one)[:600] for one in [*told["failures"], *told["errors"]]]
    return found if told["complete"] else [*found, "schemathesis did not come to its end"]


def _fuzz(ground: Ground, tries: int, *headers: str) -> tuple[Outcome, list[tuple[str, int]]]:
    with ground.database() as url, served(ground.folder / "home", url) as server:
        entries = _run(server.address, ground.folder, tries, *headers)
    answers = [(urlsplit(one["request"]["url"]).path, int(one["response"]["status"])) for one in entries]
    outcome = Outcome(tries=len(answers), wrong=_failures(ground.folder))
    outcome.wrong.extend(f"{path} answered {status}" for path, status in answers if status >= 500)
    counted = Counter(status for _, status in answers)
    told = ", ".join(f"{counted[status]:,} × {status}" for status in sorted(counted))
    outcome.ends = f"no 5xx, each answer as described: {told}"
    return outcome, answers


HOW = "Schemathesis: the examples of every route, its parameters at and beyond their bounds, then at random"


@fault("fuzzed API with a token", how=HOW, short=2, full=100)
def with_token(ground: Ground, tries: int) -> Outcome:
    """``tries`` is the number of random requests a route; counted are all."""
    return _fuzz(ground, tries, "--header", f"Authorization: Bearer {SECRET}")[0]


@fault("fuzzed API without a token", how=HOW, short=1, full=50)
def without_token(ground: Ground, tries: int) -> Outcome:
    """As above; wrong is also any content but from the open paths."""
    outcome, answers = _fuzz(ground, tries)
    outcome.wrong.extend(
        f"{path} answered {status} without a token"
        for path, status in answers
        if path not in OPEN_PATHS and status not in (401, 421)
    )
    return outcome
