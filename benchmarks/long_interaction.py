"""What a very long interaction takes: windows, questions, seconds, megabytes, dollars (P18).

    python benchmarks/long_interaction.py [--messages N] [--models offline,paid]

One chat without a pause on an embedded PostgreSQL of its own, through the real import. Each model summarises it in a
process of its own, whose peak memory is compared with what it held before, libraries and word lists loaded. ``paid``
answers at once for 0.01 USD a question: seconds are the pipeline's own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pkg_pipeline.adapters.postgres import engine  # noqa: E402
from pkg_pipeline.adapters.postgres.migrations import migrate  # noqa: E402
from pkg_pipeline.adapters.server import embedded  # noqa: E402
from pkg_pipeline_tests.stages.summaries.summary_rig import SummaryRig  # noqa: E402

TEXTS = (
    "Shelf {0} was counted today and costs {0} EUR.",
    "Good, then we agreed on shelf {0} and pay by Friday.",
    "I will send you the list of shelf {0} tomorrow.",
    "Thanks, that helps.",
    "The weather was fine at the lake, and the children swam until the evening came.",
)


def fill(url: str, folder: Path, messages: int) -> float:
    """Imports the chat; seconds until its interaction stands."""
    rig = SummaryRig(url, folder)
    rig.say("long", [TEXTS[index % len(TEXTS)].format(index) for index in range(messages)], minutes=0.01)
    started = time.perf_counter()
    rig.load()
    rig.close()
    return time.perf_counter() - started


def summarised(url: str, folder: Path, model: str) -> dict[str, float | int | str]:
    command = [sys.executable, "-m", "pkg_pipeline_tests.stages.summaries.long_worker", url, str(folder), model]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    took = json.loads(done.stdout)
    rig = SummaryRig(url, folder)
    [(windows, cost, characters)] = rig.rows(
        "SELECT window_count, cost_usd, length(summary) FROM interaction_summaries WHERE status = 'completed'"
    )
    rig.close()
    return {
        "model": model,
        "windows": windows,
        "questions": sum(took["asked"].values()),
        "of them merges": took["asked"].get("interaction_summary_merge", 0),
        "seconds": took["seconds"],
        "growth, MB": took["growth_mb"],
        "cost, USD": float(cost),
        "summary, characters": characters,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--models", default="offline,paid")
    arguments = parser.parse_args()
    models = arguments.models.split(",")
    rows: list[dict[str, float | int | str]] = []
    with tempfile.TemporaryDirectory(prefix="pkgb-") as name:
        folder = Path(name)
        url = embedded.start(folder / "pg")
        try:
            for model in models:
                with engine.connect(url, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {model}")  # type: ignore[arg-type]
                own = engine.with_database(url, model)
                migrate.upgrade(own)
                seconds = fill(own, folder / model, arguments.messages)
                sys.stderr.write(f"{model}: {arguments.messages} messages taken in within {seconds:.0f} s\n")
                rows.append(summarised(own, folder / model, model))
        finally:
            embedded.stop(folder / "pg", mode="immediate")
    columns = list(rows[0])
    sys.stdout.write(f"One interaction of {arguments.messages} messages\n\n")
    for line in (columns, ["---"] * len(columns), *([str(value) for value in row.values()] for row in rows)):
        sys.stdout.write(f"| {' | '.join(line)} |\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
