"""What becomes of answers written by hand in place of a model's: parts that the gate kept out, and the contexts' lines.

    python -m benchmarks desk [NAME …]

Of each person of ``pkg_pipeline_tests/desk``: every part that was not published as it was written, with its reason and
what stood there; the context without its talks; what the lists have wrong by the demo's labels.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import psycopg

from benchmarks.demo_truth import judge
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.desk.answered_by_hand import PEOPLE, Desk, Person, person
from pkg_pipeline_tests.desk.reading import labels_of, read

PLACE = re.compile(r"(?P<list>\w+)\[(?P<at>\d+)\]")
TALK_LINES = re.compile(r"(### |- \d\d:\d\d )")


def written(who: Person, part: str) -> str:
    """What stood at ``part``; of several readings what may have."""
    if not (place := PLACE.match(part)) or place["list"] not in {"items", "facts", "milestones"}:
        return ""
    lists = [answer.get(place["list"], []) for answer in [who.profile, *(one["answer"] for one in who.readings)]]
    stood = [held[at] for held in lists if (at := int(place["at"])) < len(held)]
    return " or ".join(str(one.get("text") or one.get("value") or one.get("title")) for one in stood)


def show(who: Person, url: str, folder: Path) -> None:
    with FakeAnthropic() as server:
        server.script = Desk(who)
        found = read(who, url, server.url, folder)
    print(f"\n### {who.name}\n\n{len(found.kept_out)} parts not as written, {len(found.dropped)} whole ones lost:")
    print(*(f"- {one.day} {one.part}: {one.reason} <- {written(who, one.part)}" for one in found.kept_out), sep="\n")
    lines = [line for line in found.block.text.splitlines() if not TALK_LINES.match(line)]
    print("\nthe context without its talks:\n", *lines, sep="\n")
    print("\nwrong by the labels:", *judge(found.items, labels_of(who.chats)).wrong, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PEOPLE))
    with tempfile.TemporaryDirectory(prefix="pkgb-") as folder, embedded.running(Path(folder) / "pg") as server:
        for name in parser.parse_args().names or PEOPLE:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
            show(person(name), engine.with_database(server, name), Path(folder) / name)


if __name__ == "__main__":
    main()
