"""``make bench``: every benchmark in turn, their tables on standard output.

    python -m benchmarks [NAME …] [--full]

Without ``--full`` the sizes are small enough for a few minutes on two cores; with it they are those of docs/figures.md.
What is judged against public data looks for it beside the checkout; where it is not, only our own labels are used.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXTRACTION_DATA = HERE.parent.parent / "shared" / "eval" / "extraction"

QUICK: dict[str, list[str]] = {
    "import_rate": ["--messages", "50000"],
    "import_memory": ["--counts", "20000,100000"],
    "small_chats": ["--chats", "5000"],
    "searchable": ["--rounds", "10", "--messages", "20000"],
    "ten_million": ["--messages", "100000"],
    "context_latency": ["--sizes", "10000", "100000", "--requests", "500"],
    "recall_latency": ["--sizes", "10000", "50000", "--requests", "60"],
    "shell_commands": [],
    "summary_overhead": [],
    "long_interaction": ["--messages", "10000"],
    "profile_aggregation": ["--sizes", "1000", "10000"],
    "items_scale": ["--talks", "250", "500", "1000", "--chats", "20", "--kills", "3"],
    "orchestration": ["--days", "120"],
    "run_workers": ["--workers", "1", "2", "--days", "4", "--talks", "4"],
    "many_memories": ["--memories", "20", "--schemas", "10"],
    "monitoring": ["--interactions", "50000"],
    "extraction_quality": [],
    "gate_truth": [],
    "orders_truth": [],
    "facts_truth": [],
    "facts_served": [],
    "judged_accounts": [],
    "demo_truth": [],
    "desk": [],
    "prompts": [],
    "embedding": ["--texts", "1000"],
    "reembedding": ["--chunks", "10000", "--texts", "1000"],
    "recall_languages": [],
    "recall_everywhere": [],
    "recall_left_out": [],
    "echo": [],
    "context_lengths": [],
    "sessions_append": ["--requests", "20", "--rounds", "1"],
    "api_workers": ["--requests", "10", "--rounds", "1", "--messages", "20000"],
    "sessions_window": ["--sizes", "100", "1000", "10000", "--requests", "100"],
    "sessions_sensor": ["--sessions", "20000", "--due", "0", "50", "20000"],
    "sessions_savings": ["--most", "150", "--turns", "150", "--every", "3"],
    "year": ["--days", "60"],
    "archive": ["--messages", "20000", "--interactions", "100000"],
}
FULL: dict[str, list[str]] = {
    **QUICK,
    "import_rate": ["--messages", "200000"],
    "import_memory": ["--counts", "100000,1000000", "--huge"],
    "small_chats": [],
    "searchable": [],
    "ten_million": [],
    "context_latency": ["--sizes", "10000", "1000000", "--requests", "2000"],
    "long_interaction": ["--messages", "100000"],
    "items_scale": [],
    "embedding": ["--texts", "4000"],
    "recall_latency": ["--sizes", "10000", "1000000"],
    "reembedding": ["--chunks", "100000", "--texts", "3000"],
    "orchestration": ["--days", "731"],
    "run_workers": ["--workers", "1", "2", "4", "8"],
    "many_memories": [],
    "monitoring": ["--interactions", "1000000"],
    "sessions_append": [],
    "api_workers": [],
    "sessions_window": [],
    "sessions_sensor": [],
    "sessions_savings": [],
    "year": ["--days", "365", "--plot", "docs/figures/year.png"],
    "archive": ["--messages", "200000", "--interactions", "1000000"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(QUICK)}; default: all")
    parser.add_argument("--full", action="store_true", help="the sizes of docs/figures.md")
    given = parser.parse_args()
    chosen = FULL if given.full else QUICK
    if unknown := set(given.names) - set(chosen):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed: list[str] = []
    for name in given.names or chosen:
        options = chosen[name]
        if name == "extraction_quality" and EXTRACTION_DATA.is_dir():
            options = [str(EXTRACTION_DATA)]
        print(f"\n## {name}\n", flush=True)
        command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{name}", *options]
        if subprocess.run(command, cwd=HERE.parent, check=False).returncode != 0:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
