"""What the profile of one person takes without its words: everything counted, the topics merged, the prompt's input.

    .venv/bin/python -m benchmarks.profile_aggregation [--sizes 1000 10000] [--rounds N]

One embedded database; in it a person for each size, with so many summarised interactions of six messages over five
years, and one of the largest size whose talks were never meaningful, so that the search for the last meaningful one
goes through all of them. Beside them, in the same rounds, a read of one profile by its primary key. Processor time is
that of this process and the server together, which a busy machine distorts less.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg.types.json import Jsonb

from benchmarks.context_latency import cpu_seconds
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.postgres.profiles.reads import PostgresProfileReads
from pkg_pipeline.adapters.postgres.profiles.store import PostgresProfileStore
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.memory.hashing import profile_id
from pkg_pipeline.memory.profile import rules as rules
from pkg_pipeline.memory.profile.records import ProfileContent
from pkg_pipeline.memory.records import Person
from pkg_pipeline.stages.profiles.input import Prepared, prepare
from pkg_pipeline.stages.profiles.stores import ProfilePrompt, ProfileRow, Words

TARGET_SECONDS = 1.0
SQL = Path(__file__).with_suffix(".sql")
ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 6, 21, 4, tzinfo=UTC)
WEEK = rules.week(date(2026, 6, 14), ZONE, lag_days=7, min_age_days=90)
SUBJECTS = ("offer", "shelves", "contract", "lake", "trip", "invoice", "budget", "kitchen", "school", "garden", "boat")
VERBS = ("settled", "moved", "checked", "asked", "ordered", "compared", "measured", "painted")
OTHERS = 400
"""Persons beside them, with 25 interactions each."""


def fill(connection: engine.Connection, name: str, count: int, *, spoken: bool = True) -> None:
    """A person with ``count`` talks. Not ``spoken``: one message of mine each, no decision, no item."""
    draw = random.Random(7)
    points = [_key_points(draw) for _ in range(500)]
    parameters = {"name": name, "count": count, "spoken": spoken, "points": Jsonb(points)}
    with connection.transaction():
        for statement in SQL.read_text(encoding="utf-8").split(";\n"):
            connection.execute(statement, parameters)  # type: ignore[arg-type]


def _key_points(draw: random.Random) -> list[str]:
    return [
        f"{draw.choice(SUBJECTS)} for the {draw.choice(SUBJECTS)} number {draw.randrange(400)} was {draw.choice(VERBS)}"
        for _ in range(5)
    ]


def person(connection: engine.Connection, name: str) -> Person:
    found = connection.execute("SELECT md5(%s)::uuid", (name,)).fetchone()
    assert found is not None
    return Person(found[0], name, is_self=False)


def save(store: PostgresProfileStore, entity: Person, made: Prepared) -> UUID:
    key = profile_id(entity.entity_id, WEEK.key)
    [claimed] = store.claim([(key, entity)], holder="benchmark", lease_seconds=60)
    words = Words(
        ProfileContent("friend", "They know each other well.", "Since 2021.", ()),
        (),
        12,
        0.0,
        0.0,
        is_carried_over=False,
    )
    row = ProfileRow(
        profile_id=key,
        entity_id=entity.entity_id,
        week=WEEK,
        aggregate=made.aggregate,
        words=words,
        input_hash=made.source.input_hash,
        prompt=ProfilePrompt("p/1", "offline", 1),
        language=made.language,
        source_tokens=made.source_tokens,
        is_dirty=made.is_dirty,
        based_on=made.based_on,
        items=made.items,
    )
    store.save(row, token=claimed.token)
    return entity.entity_id


def _cpu(postmaster: int) -> float:
    return time.process_time() + cpu_seconds(postmaster)


def measure(url: str, postmaster: int, sizes: list[int], rounds: int) -> bool:
    connections = engine.pool(url, size=2)
    reads, store = PostgresProfileReads(connections, timezone=ZONE.key), PostgresProfileStore(connections)
    with engine.connect(url, autocommit=True) as connection:
        for number in range(OTHERS):
            fill(connection, f"Other {number}", 25)
        for size in sizes:
            fill(connection, f"Person {size}", size)
        fill(connection, "Silent", max(sizes), spoken=False)
        connection.execute("VACUUM ANALYZE")
        people = {f"{size:,} interactions": person(connection, f"Person {size}") for size in sizes}
        people[f"{max(sizes):,}, never meaningful"] = person(connection, "Silent")

        def one(entity: Person) -> Prepared:
            key = profile_id(entity.entity_id, WEEK.key)
            made = prepare(reads, entity, WEEK, profile_id=key, zone=ZONE)
            assert made is not None
            return made

        def read_one() -> object:
            return connection.execute(
                "SELECT * FROM pkg.entity_relationship_profiles WHERE entity_id = %s AND week = %s",
                (stored, WEEK.sunday),
            ).fetchone()

        kinds: dict[str, Callable[[], object]] = {}
        for label, entity in people.items():
            kinds[f"{label}: all"] = lambda entity=entity: one(entity)
            kinds[f"{label}: SQL alone"] = lambda entity=entity: reads.material(entity.entity_id, WEEK)
        stored = save(store, people[f"{min(sizes):,} interactions"], one(people[f"{min(sizes):,} interactions"]))
        kinds["a profile by its primary key"] = read_one
        kinds["the list of persons of the week"] = lambda: reads.persons(WEEK)
        times: dict[str, list[float]] = {label: [] for label in kinds}
        cpu = dict.fromkeys(kinds, 0.0)
        for turn in range(-1, rounds):
            for label, ask in kinds.items():
                used, started = _cpu(postmaster), time.perf_counter()
                ask()
                if turn >= 0:
                    times[label].append(time.perf_counter() - started)
                    cpu[label] += (_cpu(postmaster) - used) / rounds
        totals = one(people[f"{max(sizes):,} interactions"]).aggregate
    connections.close()
    print("| | median ms | worst ms | processor ms |\n| --- | ---: | ---: | ---: |")
    for label, values in times.items():
        median, worst = statistics.median(values) * 1000, max(values) * 1000
        print(f"| {label} | {median:.1f} | {worst:.1f} | {cpu[label] * 1000:.0f} |")
    worst = max(statistics.median(values) for label, values in times.items() if label.endswith("all"))
    print(f"\n{totals.total_interactions:,} interactions, {len(totals.key_decisions):,} key decisions.", end=" ")
    print(f"At most {TARGET_SECONDS:.1f} s: {worst:.2f} s")
    return worst <= TARGET_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pkgb-"))
    try:
        url = embedded.start(folder)
        migrate.upgrade(url)
        postmaster = int(next(folder.rglob("postmaster.pid")).read_text().split()[0])
        return 0 if measure(url, postmaster, options.sizes, options.rounds) else 1
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
