"""What one command from the shell costs: processor time of the process and of all that it starts, on the demo's memory.

    python -m benchmarks.shell_commands [--rounds 5]

The demo is made first, in a home of its own, and its server runs while the commands are measured, as under ``dev``.
The least of the rounds counts: what else the machine does only adds. Beside them stands an empty Python program.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.demo import account

PROGRAM = [sys.executable, "-c", "from pkg_pipeline.cli.app import main; main()"]
COMMANDS = (
    ["--help"],
    ["entities"],
    ["stats"],
    ["context", account.SHOWCASE],
    ["recall", "what delayed the LED modules?"],
    ["context", account.SHOWCASE, "--hint", "what delayed the LED modules?"],
)


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of processor time, of the process and its children, and seconds on the clock."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="pkgs-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PKG_")}
        environment |= {"PKG_HOME": folder}
        subprocess.run([*PROGRAM, "demo", "--json"], env=environment, check=True, stdout=subprocess.DEVNULL)
        home = Path(folder) / "demo"
        environment |= {"PKG_HOME": str(home)}
        with embedded.running(home / "postgres"):
            print("| command | processor s | clock s |\n| --- | ---: | ---: |")
            empty = [sys.executable, "-c", ""]
            for command in (empty, *([*PROGRAM, *words] for words in COMMANDS)):
                taken = [measured(command, environment) for _ in range(rounds)]
                used, took = min(one for one, _ in taken), min(one for _, one in taken)
                said = "an empty program" if command is empty else f"`{' '.join(command[len(PROGRAM) :])}`"
                print(f"| {said} | {used:.2f} | {took:.2f} |", flush=True)


if __name__ == "__main__":
    main()
