"""One memory of ten million messages: what each step costs there, beside the same steps at ten thousand.

    python -m benchmarks.ten_million [--messages 10000000] [--folder FOLDER]

Messages come in parts of 100,000, each with 200 chats of its own and a week later than the one before: a part is
imported, cut into interactions and made searchable by a model that costs nothing, then comes the next. Then contexts,
recalls and a window are asked, everything is archived and vacuumed, and the newest migration goes back and forth.
With ``--folder``, which is kept, a run that was killed goes on at its part or step. Costs are processor time of this
process and of the server's, which says the same on a machine that does other work. Prints one Markdown table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.archive import SUMMARIES
from benchmarks.fresh_memory import Cost, FreeEmbedder, FreshMemory
from benchmarks.import_rate import START, write_messages
from benchmarks.searchable import BYTES, EVER
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.memory.hashing import chat_id
from pkg_pipeline.wiring import chunks as wired

SMALL = 10_000
PART = 100_000
IN_A_CHAT = 500
ASKED = 60
FIRST = 10
"""Questions that are not counted: plans and caches come into being."""
WINDOW_MESSAGES = 200
SESSION = "window"
ALLOWED = {"import": 2, "interactions": 2, "chunks with vectors": 2, "archive": 2, "vacuum": 2, "bytes a message": 1.1}
"""How many times the small memory's figure of a message is borne; of answers ``ANSWER_ALLOWED``."""
ANSWER_ALLOWED = 2


@dataclass
class Kept:
    """What is done at one size, and what it cost: seconds of wall and CPU by step, figures by name."""

    parts: int = 0
    steps: dict[str, list[float]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)


class Run:
    """One size: its folder with the server, and what was done there before."""

    def __init__(self, folder: Path, messages: int) -> None:
        self.folder, self.messages = folder, messages
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "done.json"
        self.kept = Kept(**json.loads(self._file.read_text())) if self._file.exists() else Kept()

    def keep(self) -> None:
        made = self._file.with_suffix(".new")
        made.write_text(json.dumps(asdict(self.kept)))
        made.replace(self._file)

    def go(self) -> Kept:
        with embedded.running(self.folder / "pg") as server:
            made = FreshMemory(self.folder, server)
            try:
                while self.kept.parts * PART < self.messages:
                    self._part(made, self.kept.parts)
                for name, step in (
                    ("size", self._size), ("answers", self._answers), ("window", self._window),
                    ("archive", self._archive), ("vacuum", self._vacuum), ("migration", self._migration),
                ):  # fmt: skip
                    if name not in self.kept.done:
                        step(made)
                        self.kept.done.append(name)
                        self.keep()
                        print(f"{self.messages:,}: {name}", flush=True)
            finally:
                made.memory.close()
        return self.kept

    def _cost(self, made: FreshMemory, step: str, work: Callable[[], object]) -> None:
        with made.costing() as cost:
            work()
        (one,) = cost
        before = self.kept.steps.get(step, [0.0, 0.0])
        self.kept.steps[step] = [before[0] + one.wall, before[1] + one.cpu]

    def _part(self, made: FreshMemory, part: int) -> None:
        """Each step is told as done with all of the part: one that was killed begins anew and finds what it made."""
        count = min(PART, self.messages - part * PART)
        export = self.folder / "part.jsonl"
        name, start = f"{part}-", START + timedelta(days=7 * part)
        write_messages(export, count, chats=max(1, count // IN_A_CHAT), seed=part, part=name, start=start)
        before = dict(self.kept.steps)
        self._cost(made, "import", lambda: made.memory.import_path(export, self_rule="none"))
        self._cost(made, "interactions", made.memory.build_interactions)
        self._cost(made, "chunks with vectors", lambda: made.memory.chunks.build(_days(made)))
        cpu = sum(took[1] - before.get(step, [0, 0])[1] for step, took in self.kept.steps.items())
        self.kept.figures["the last 100,000: CPU µs a message until found"] = cpu / count * 1e6
        self.kept.parts += 1
        self.keep()
        print(f"{self.messages:,}: part {self.kept.parts}, {cpu / count * 1e6:.0f} µs a message", flush=True)

    def _size(self, made: FreshMemory) -> None:
        self.kept.figures["bytes a message"] = made.value(BYTES) / self.messages

    def _answers(self, made: FreshMemory) -> None:
        with made.memory.connections.connection() as connection:
            connection.execute("ANALYZE")
            people = [row[0] for row in connection.execute(
                "SELECT id FROM entities WHERE NOT is_self ORDER BY id LIMIT %s", (ASKED,))]  # fmt: skip
            said = [row[0] for row in connection.execute(
                "SELECT content FROM messages WHERE length(content) > 20 ORDER BY hashint8(id) LIMIT %s", (ASKED,)
            )]  # fmt: skip
        questions = [" ".join(text.split()[:6]) for text in said]
        recall, context = made.memory.recall.search, made.memory.context

        def whose(number: int) -> UUID:
            return people[number % len(people)]

        self._ask(made, "context of a person", lambda number: context(whose(number)))
        self._ask(made, "recall of a person", lambda number: recall(questions[number], entity_id=whose(number)))
        self._ask(made, "recall of everything", lambda number: recall(questions[number]))

    def _ask(self, made: FreshMemory, name: str, ask: Callable[[int], object]) -> None:
        for number in range(FIRST):
            ask(number)
        costs: list[Cost] = []
        for number in range(ASKED):
            with made.costing() as cost:
                ask(number)
            costs += cost
        self.kept.figures[f"{name}: ms p50"] = statistics.median(one.wall for one in costs) * 1e3
        self.kept.figures[f"{name}: CPU ms"] = statistics.mean(one.cpu for one in costs) * 1e3

    def _window(self, made: FreshMemory) -> None:
        said: list[tuple[str, dict[str, Any]]] = [
            ("", {"id": str(number), "sender_id": "me", "text": f"what about order {number} and its price"})
            for number in range(WINDOW_MESSAGES)
        ]
        made.memory.sessions.append(f"jsonl:{SESSION}", said)
        session = chat_id("jsonl", SESSION)
        self._ask(made, "window", lambda _: made.memory.windows.window(session, model_window=8_000))

    def _archive(self, made: FreshMemory) -> None:
        with engine.connect(made.url, autocommit=True) as connection:
            connection.execute("UPDATE interactions SET status = 'completed'")
            connection.execute(SUMMARIES.encode())
            connection.execute("TRUNCATE dirty_partitions")
        archive = made.memory.archive

        def all_months() -> None:
            self.kept.figures["archived"] = sum(one.messages for one in archive.archive_months(archive.due_months()))

        self._cost(made, "archive", all_months)

    def _vacuum(self, made: FreshMemory) -> None:
        def vacuum() -> None:
            with made.memory.connections.connection() as connection:
                connection.execute("VACUUM ANALYZE")

        self._cost(made, "vacuum", vacuum)

    def _migration(self, made: FreshMemory) -> None:
        head = int(migrate.head())
        self._cost(made, f"migration {head:04} back", lambda: migrate.downgrade(made.url, f"{head - 1:04}"))
        self._cost(made, f"migration {head:04} forth", lambda: migrate.upgrade(made.url))


def _days(made: FreshMemory) -> tuple[date, date]:
    with made.memory.connections.connection() as connection:
        days = connection.execute(EVER).fetchone()
    assert days is not None
    return days


def report(small: Run, big: Run) -> None:
    print(f"\n| | {small.messages:,} | {big.messages:,} | ratio | borne |\n| --- | ---: | ---: | ---: | ---: |")
    for step in big.kept.steps:
        (least, few), (wall, many) = small.kept.steps[step], big.kept.steps[step]
        if step.startswith("migration"):
            print(f"| {step}, seconds | {least:.2f} | {wall:.2f} | | |")
            continue
        of = [one.kept.figures["archived"] if step == "archive" else one.messages for one in (small, big)]
        cells = few / of[0] * 1e6, many / of[1] * 1e6
        _row(f"{step}: CPU µs a message ({wall / 3600:.2f} h in all)", *cells, ALLOWED[step])
    for name, many in big.kept.figures.items():
        if name != "archived":
            _row(name, small.kept.figures[name], many, ALLOWED.get(name, ANSWER_ALLOWED))


def _row(name: str, few: float, many: float, allowed: float) -> None:
    ratio = many / few
    print(f"| {name} | {few:,.1f} | {many:,.1f} | {ratio:.2f} | {'yes' if ratio <= allowed else 'no'}, {allowed:g} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="kept, and gone on with where it is there")
    given = parser.parse_args()
    free = FreeEmbedder("offline:free")
    wired.embedder_named = lambda *_: free
    wired.embedder_name = lambda _: free.model
    with tempfile.TemporaryDirectory(prefix="pkgb-") as made:
        folder = given.folder or Path(made)
        runs = [Run(folder / str(size), size) for size in (SMALL, given.messages)]
        for one in runs:
            one.go()
        report(*runs)


if __name__ == "__main__":
    main()
