"""The items pass over many conversations: seconds, megabytes, kills, and what one that comes late costs (B10, B16).

    python -m benchmarks items_scale [--full]
    python benchmarks/items_scale.py [--talks 2500 5000 10000] [--chats 100] [--kills 5]

Conversations of six messages in three languages over two years, nine of ten chats direct, one a group of three; things
are promised, sent, and agreed on. The reader without a model reads them, in a process of its own whose peak memory is
compared with what it held before. The largest size is read once more, killed at even distances and begun again: the
rows must be the same. Then the first conversation of one chat comes in late: what is read anew, and what is compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, PinnedClock
from pkg_pipeline_tests import digest

START, DAYS = datetime(2024, 1, 1, 8, 0, tzinfo=UTC), 700
NOW = START + timedelta(days=DAYS + 30)
MESSAGES_EACH = 6
COMPARED = digest.LOGICAL_TABLES | digest.DERIVED_TABLES
TABLES = ("interaction_readings", "items", "item_people", "item_states", "entity_facts")

Words = dict[str, tuple[str, ...]]
SAID: tuple[Words, ...] = (
    {
        "thing": ("drawing", "contract", "invoice", "estimate", "list of rooms"),
        "promise": ("I will send you the {thing} for hall {n} by Friday.", "I'll send the {thing} for hall {n} today."),
        "kept": ("I sent you the {thing} for hall {n}.", "Here is the {thing} for hall {n}, as promised."),
        "agreed": ("Agreed, {price} EUR for the shelves of hall {n}.", "Deal: hall {n} costs {price} EUR."),
        "else": (
            "Good morning!",
            "How was the weekend at the lake?",
            "Thanks, that helps.",
            "Sounds good.",
            "See you!",
        ),
    },
    {
        "thing": ("чертёж", "договор", "счёт", "смету", "список комнат"),
        "promise": ("Пришлю {thing} по залу {n} до пятницы.", "Сегодня отправлю {thing} по залу {n}."),
        "kept": ("Отправил {thing} по залу {n}.", "Вот {thing} по залу {n}, как обещал."),
        "agreed": ("Договорились, {price} рублей за полки в зале {n}.", "Решили: зал {n} стоит {price} рублей."),
        "else": ("Доброе утро!", "Как съездили на озеро?", "Спасибо, помогло.", "Отлично звучит.", "До встречи!"),
    },
    {
        "thing": ("图纸", "合同", "发票", "预算", "房间清单"),
        "promise": ("我周五之前把{n}号厅的{thing}发给你。", "今天我会把{n}号厅的{thing}发过去。"),
        "kept": ("{n}号厅的{thing}已经发给你了。", "{n}号厅的{thing}发了,请查收。"),
        "agreed": ("说好了,{n}号厅的货架{price}欧元。", "定了:{n}号厅{price}欧元。"),
        "else": ("早上好!", "周末湖边怎么样?", "谢谢,有帮助。", "听起来不错。", "再见!"),
    },
)


def conversations(chat: int, count: int) -> Iterator[tuple[datetime, list[str]]]:
    """``count`` conversations of one chat, the same at every size: when each begins and what is said."""
    draw, words, owed = random.Random(chat), SAID[chat % len(SAID)], list[tuple[str, int]]()
    for number in range(count):
        said = [draw.choice(words["else"]) for _ in range(MESSAGES_EACH)]
        if owed and draw.random() < 0.6:
            thing, hall = owed.pop(draw.randrange(len(owed)))
            said[1] = draw.choice(words["kept"]).format(thing=thing, n=hall)
        if draw.random() < 0.5:
            owed.append((draw.choice(words["thing"]), number))
            said[3] = draw.choice(words["promise"]).format(thing=owed[-1][0], n=number)
        if draw.random() < 0.2:
            said[4] = draw.choice(words["agreed"]).format(n=number, price=draw.randrange(10, 99) * 100)
        yield START + timedelta(days=DAYS) * number / count + timedelta(minutes=chat), said


def lines(chat: int, count: int) -> Iterator[list[dict[str, Any]]]:
    """Each conversation of a chat as lines of the generic format."""
    is_group = chat % 10 == 9
    for number, (begin, said) in enumerate(conversations(chat, count)):
        yield [
            {
                "chat_id": f"c{chat}",
                "chat_kind": "group" if is_group else "direct",
                "message_id": f"{number:06}-{place}",
                "sender_id": sender,
                "sender_name": "Me" if sender == "me" else f"Person {sender}",
                "is_self": sender == "me",
                "sent_at": (begin + timedelta(minutes=5 * place)).isoformat(),
                "text": text,
            }
            for place, text in enumerate(said)
            for sender in [("me", f"p{chat}", f"q{chat}")[place % (3 if is_group else 2)]]
        ]


def write(folder: Path, talks: int, chats: int) -> tuple[Path, Path]:
    """All but the first conversation of the first chat, and that one."""
    most, late = folder / "most.jsonl", folder / "late.jsonl"
    with most.open("w", encoding="utf-8") as file:
        for chat in range(chats):
            for number, said in enumerate(lines(chat, talks // chats)):
                text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in said)
                if chat == number == 0:
                    late.write_text(text, encoding="utf-8")
                else:
                    file.write(text)
    return most, late


def opened(url: str, home: Path) -> Memory:
    settings = Settings(home=home, llm="offline", embedder="none", now=NOW)
    return Memory(settings, url=url, connections=engine.pool(url, size=4), clock=PinnedClock(NOW))


def take_in(url: str, home: Path, file: Path) -> None:
    memory = opened(url, home)
    memory.import_path(file)
    memory.build_interactions()
    memory.close()


def worker(url: str, home: Path) -> None:
    """One pass; its figures as JSON on standard output."""
    memory = opened(url, home)
    stage = memory.items
    stage.access.llm()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = time.process_time()
    report = stage.run(Billing("backfill"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory.close()
    print(json.dumps({**report.to_json(), "cpu": time.process_time() - cpu, "mb": (peak - before) / 1024}))


@dataclass(frozen=True, slots=True)
class Read:
    """A pass as its process told of it."""

    told: dict[str, Any]

    def row(self, name: str) -> str:
        told = self.told
        each = told["seconds"] / max(told["read"] + told["unchanged"], 1) * 1000
        return (
            f"| {name} | {told['read']:,} | {told['unchanged']:,} | {told['items_new']:,} | {told['seconds']:.1f}"
            f" | {each:.1f} | {told['cpu']:.1f} | {told['mb']:.0f} |"
        )


def read(url: str, home: Path, *, kill_after: float = 0.0) -> Read | None:
    """A pass in a process of its own; None if it was killed after so many seconds."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.items_scale", "--worker", url, str(home)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[1],
    )
    try:
        out, _ = process.communicate(timeout=kill_after or None)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        with engine.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE leases SET expires_at = clock_timestamp()")
        return None
    assert process.returncode == 0, "the pass failed"
    return Read(json.loads(out))


def rows_of(url: str) -> str:
    with engine.connect(url) as connection:
        found = digest.tables(connection, {name: COMPARED[name] for name in TABLES})
    return hashlib.sha256(repr(found).encode()).hexdigest()


def measure(sizes: list[int], *, chats: int, kills: int) -> None:
    print("| conversations | read | compared | items | seconds | ms each | own CPU seconds | MB above start-up |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="pkgb-") as name, embedded.running(Path(name) / "pg") as server:
        home = Path(name)

        def database(of: str) -> str:
            with engine.connect(server, search_path="public", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {of}")  # type: ignore[arg-type]
            migrate.upgrade(url := engine.with_database(server, of))
            return url

        for size in sizes:
            most, late = write(home, size, chats)
            url = database(f"b{size}")
            take_in(url, home, most)
            done = read(url, home)
            assert done is not None
            print(done.row(f"{size:,}"), flush=True)
            if size == max(sizes):
                killed(database("killed"), home, most, done, rows_of(url), kills)
            take_in(url, home, late)
            after = read(url, home)
            assert after is not None
            print(after.row(f"of {size:,} the first of one chat comes late"), flush=True)
            if size == max(sizes):
                whole = database("whole")
                take_in(whole, home, most)
                take_in(whole, home, late)
                read(whole, home)
                print(f"\nthe rows are those of one pass over all: {'yes' if rows_of(whole) == rows_of(url) else 'NO'}")


def killed(url: str, home: Path, file: Path, done: Read, expected: str, kills: int) -> None:
    """The same once more, killed so many times and begun again."""
    take_in(url, home, file)
    died = sum(read(url, home, kill_after=1 + done.told["seconds"] / (kills + 1)) is None for _ in range(kills))
    last = read(url, home)
    assert last is not None
    same = "the same rows" if rows_of(url) == expected else "OTHER ROWS"
    print(last.row(f"the last pass after {died} kills: {same}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talks", type=int, nargs="+", default=[2_500, 5_000, 10_000])
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--worker", nargs=2, metavar=("URL", "HOME"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(given.worker[0], Path(given.worker[1]))
    else:
        measure(given.talks, chats=given.chats, kills=given.kills)


if __name__ == "__main__":
    main()
