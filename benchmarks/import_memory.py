"""Peak memory of import and interactions above that of a started program, by number of messages.

    python benchmarks/import_memory.py [--counts 100000,1000000] [--huge]

Each case runs in a process of its own against one embedded server; ``--huge`` adds the same counts in one single chat
without a long silence, which is the hardest case: one interaction of all messages. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(export: str, url: str, home: str) -> None:
    """Prints peak after start-up, after import and after building, in MB."""
    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.settings import Settings
    from pkg_pipeline.wiring import Memory, SystemClock

    memory = Memory(Settings(home=Path(home)), url=url, connections=engine.pool(url, size=4), clock=SystemClock())
    memory.counter.count("ready")
    peaks = [peak_megabytes()]
    begin = time.perf_counter()
    memory.import_path(Path(export))
    peaks.append(peak_megabytes())
    memory.build_interactions()
    peaks.append(peak_megabytes())
    memory.close()
    print(json.dumps({"peaks": peaks, "seconds": time.perf_counter() - begin}))


def measure(counts: list[int], *, huge: bool) -> None:
    from import_rate import write_messages
    from psycopg import sql

    from pkg_pipeline.adapters.postgres import engine
    from pkg_pipeline.adapters.postgres.migrations import migrate
    from pkg_pipeline.adapters.server import embedded

    print("| messages | chats | at start | import adds | interactions add in all | seconds |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        for number, (count, one_chat) in enumerate(
            [(count, one) for one in ([False, True] if huge else [False]) for count in counts]
        ):
            export = Path(folder) / "messages.jsonl"
            write_messages(export, count, chats=1 if one_chat else 200, one_chat=one_chat)
            with engine.connect(server, search_path="public", autocommit=True) as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(f"bench{number}")))
            url = engine.with_database(server, f"bench{number}")
            migrate.upgrade(url)
            # a fork inherits the peak of its parent, so the child is started anew by a small process
            done = subprocess.run(
                ["/bin/sh", "-c", 'exec "$0" "$@"', sys.executable, __file__, "--child", str(export), url, folder],
                check=True,
                capture_output=True,
                text=True,
            )
            found = json.loads(done.stdout.splitlines()[-1])
            start, imported, built = found["peaks"]
            print(
                f"| {count:,} | {1 if one_chat else 200} | {start:.0f} MB | {imported - start:.0f} MB"
                f" | {built - start:.0f} MB | {found['seconds']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="100000,1000000")
    parser.add_argument("--huge", action="store_true", help="also all messages in one interaction")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(*given.child)
    else:
        measure([int(count) for count in given.counts.split(",")], huge=given.huge)
