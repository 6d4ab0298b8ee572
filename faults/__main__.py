"""``make faults``: causes every kind of fault and prints the table of docs/faults.md.

    python -m faults [NAME …] [--short] [--write]

Ends with 1 where something was lost, doubled or ended in another way than promised, with a line for each.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults.ground import Ground
from faults.kinds import CannotRun, Kind, Outcome, kinds
from pkg_pipeline_tests import databases

PAGE = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
HEAD = [
    "| fault | how it is caused | tries | lost | doubled | how it ends |",
    "| --- | --- | ---: | ---: | ---: | --- |",
]


def row(kind: Kind, outcome: Outcome) -> str:
    """One line of the table."""
    figures = f"{outcome.tries:,} | {outcome.lost:,} | {outcome.doubled:,}"
    return f"| {kind.name} | {kind.how} | {figures} | {outcome.ends} |"


def write(rows: list[str], commit: str) -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    told = f"Run at commit `{commit}`."
    PAGE.write_text("\n".join([head + BEGIN, *HEAD, *rows, "", told, END + tail]), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="kinds whose name has this in it; default: all")
    parser.add_argument("--short", action="store_true", help="as few tries as in CI")
    parser.add_argument("--write", action="store_true", help="put the table into docs/faults.md")
    given = parser.parse_args()
    chosen = [kind for kind in kinds() if not given.names or any(name in kind.name for name in given.names)]
    if not chosen:
        parser.error("no such kind of fault")
    if given.write and given.names:
        parser.error("--write is for the whole table")
    rows, broken = [], 0
    folder = databases.new_folder()
    try:
        url = databases.start(folder)
        for kind in chosen:
            started = time.monotonic()
            with tempfile.TemporaryDirectory(dir=folder) as place:
                try:
                    outcome = kind.attack(Ground(Path(place), url), kind.short if given.short else kind.full)
                except CannotRun as why:
                    print(f"NOT RUN: {kind.name}: {why}", file=sys.stderr, flush=True)
                    rows.append(row(kind, Outcome(ends=f"not run on this machine: {why}")))
                    continue
                except Exception as error:  # noqa: BLE001 (the other kinds are wanted all the same)
                    outcome = Outcome(ends="the attempt itself failed", wrong=[f"{type(error).__name__}: {error}"])
            rows.append(row(kind, outcome))
            print(f"{rows[-1]} {time.monotonic() - started:.0f} s", flush=True)
            broken += not outcome.is_kept
            for line in outcome.wrong:
                print(f"  WRONG {line}", file=sys.stderr, flush=True)
    finally:
        databases.remove(folder)
    if given.write:
        named = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        write(rows, named.stdout.strip())
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
