"""What the memory served and gets back: how much of it is known again, and what of ordinary quoting is taken for it.

    python -m benchmarks.echo [--seed 1] [--wrong]

The demo's account is read offline (Russian, English, Chinese); contexts of all its people, recall blocks and what the
``recall_memory`` tool answers are served. Then they come back: whole with words of one's own around, in part (3 to 12
lines in a row), and cut (every line at 60 to 120 characters with an ellipsis; the whole at a length; its end from
within a line). Found: not more than a tenth of the served words is left, and every word of one's own stands. Against
that, ordinary quoting of every message of the account, in the forms that people use, and lists of the same facts and
tasks: one word taken away is a false positive. Then the time of appends with the look and without. Markdown tables.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from pkg_pipeline.adapters.postgres.ingest.echoes import PostgresServedLines
from pkg_pipeline.adapters.server import embedded
from pkg_pipeline.agents.recall_tool import recalled
from pkg_pipeline.demo import account
from pkg_pipeline.memory.message.echoes import own_words
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.settings import Settings
from pkg_pipeline.stages.ingest.echoes import own_of
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.wiring import Memory, open_memory

NOW = datetime.fromisoformat("2026-03-16T09:00:00+00:00")
OWN = {
    "en": ("Look what it says about them:", "Is the part about the 450 dollars right?"),
    "ru": ("Смотри, что тут пишут:", "Про 450 долларов правда?"),
    "zh": ("你看它是怎么说的：", "那450美元的事对吗？"),
}
DAYS = (NOW.date() - timedelta(days=800), NOW.date())
MOST_LEFT = 0.1
APPENDS = 400
LISTED = """Here is a plan for day {}:

## Morning
- **Call:** ring Anna at 9:30 about the offer
- **Draft:** write the first page
- **Check:** the
 numbers of January

## Later
- [ ] send it all
- [ ] book the room"""
QUESTIONS = ("contract", "договор", "合同", "meeting on Friday", "когда встреча", "价格", "photo", "оплата")
WORD = re.compile(r"[^\W_]+")

Said = tuple[str, str, datetime]
"""(speaker, text, sent at)"""


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


def served_by(memory: Memory) -> dict[str, list[str]]:
    """Blocks by kind; contexts leave their receipts."""
    found: dict[str, list[str]] = defaultdict(list)
    with memory.connections.connection() as connection:
        people = [row[0] for row in connection.execute("SELECT id FROM entities WHERE NOT is_self ORDER BY id")]
        threads = connection.execute("SELECT source || ':' || external_id FROM chats ORDER BY id").fetchall()
    for person in people:
        for most in (1_000, 4_000):
            found["context"].append(memory.context(person, max_tokens=most, as_of=None).block.text)
    for question in QUESTIONS:
        found["recall"].append(memory.recall.search(question, top_k=12).block.text)
        for (thread,) in threads:
            if question == QUESTIONS[0]:
                found["tool"].append(recalled(memory, thread, "what was agreed", top_k=8))
    return {kind: [text for text in texts if len(text.splitlines()) > 3] for kind, texts in found.items()}


def whole(block: str, _: random.Random) -> Iterator[tuple[str, str]]:
    yield block, block


def partial(block: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    lines = block.splitlines()
    for _ in range(3):
        size = min(len(lines), chance.randint(3, 12))
        start = chance.randrange(len(lines) - size + 1)
        part = "\n".join(lines[start : start + size])
        yield part, part


def cut(block: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    most = chance.randint(60, 120)
    short = "\n".join(line if len(line) <= most else f"{line[:most].rstrip()}…" for line in block.splitlines())
    head = block[: chance.randint(len(block) // 3, len(block) - 1)]
    tail = block[chance.randint(1, len(block) // 2) :]
    yield from ((short, short), (head, head), (tail, tail))


PASTES = {"whole": whole, "in part": partial, "cut": cut}


def quotations(talk: Sequence[Said]) -> Iterator[tuple[str, str]]:
    """(form, message) of ordinary quoting."""
    for place, (speaker, text, at) in enumerate(talk):
        yield "as it was", text
        yield "quoted", "".join(f"> {line}\n" for line in text.splitlines()) + "ok?"
        yield "with the speaker", f"{speaker}: {text}"
        yield "as a list", f"- {text}\n- {speaker}"
        yield "copied with time", f"{speaker}, [{at:%d.%m.%Y %H:%M}]\n{text}"
        yield "copied with time", f"[{at:%d.%m.%y, %H:%M:%S}] {speaker}: {text}"
        yield "as mail", f"On {at:%d %B %Y} at {at:%H:%M}, {speaker} wrote:\n> {text}\n\nI agree."
        if place:
            before = talk[place - 1]
            yield "two in a row", f"{before[0]}: {before[1]}\n{speaker}: {text}\n\n??"


def lists_of(memory: Memory) -> Iterator[tuple[str, str]]:
    """Facts and tasks in one's own lists."""
    with memory.connections.connection() as connection:
        facts = connection.execute("SELECT fact_type, value FROM entity_facts ORDER BY id").fetchall()
        items = [text for (text,) in connection.execute("SELECT text FROM items ORDER BY id")]
    for kind, value in facts:
        yield "own lists", f"- {kind.capitalize()}: {value}"
    for start in range(0, len(items), 3):
        yield "own lists", "\n".join(f"- {text}" for text in items[start : start + 3])
        yield "own lists", "\n".join(f"{number}. [ ] {text}" for number, text in enumerate(items[start : start + 3]))


def talks_of(memory: Memory) -> list[list[Said]]:
    found: dict[str, list[Said]] = defaultdict(list)
    with memory.connections.connection() as connection:
        for chat, speaker, text, at in connection.execute(
            "SELECT m.chat_id, coalesce(e.name, '?'), m.content, m.sent_at FROM messages m"
            " LEFT JOIN entities e ON e.id = m.sender_entity_id WHERE m.content <> '' AND m.kind = 'message'"
            " ORDER BY m.chat_id, m.sent_at, m.id"
        ):
            found[str(chat)].append((speaker, text, at))
    return list(found.values())


def seconds_of_appends(memory: Memory, name: str, texts: Sequence[str]) -> float:
    begun = time.perf_counter()
    for number, text in enumerate(texts):
        one = {"id": f"{number}", "role": "user", "text": text, "sent_at": NOW.isoformat()}
        memory.sessions.append(f"bench:{name}", [(f"[{number}]", one)])
    return time.perf_counter() - begun


def appends(memory: Memory, texts: Sequence[str]) -> tuple[float, float]:
    """Milliseconds an append without the look, and with it; medians of five rounds in turn."""
    without: list[float] = []
    with_it: list[float] = []
    for turn in range(6):
        with patch("pkg_pipeline.stages.sessions.stage.own_of", lambda given, _: [None] * len(given)):
            plain = seconds_of_appends(memory, f"{turn}-{texts[0][:3]}-plain", texts)
        looked = seconds_of_appends(memory, f"{turn}-{texts[0][:3]}", texts)
        if turn:  # the first warms up
            without.append(plain)
            with_it.append(looked)
    return tuple(1_000 * statistics.median(one) / len(texts) for one in (without, with_it))  # type: ignore[return-value]


def report_found(memory: Memory, *, seed: int, shows_wrong: bool) -> bool:
    """Whether enough of each kind is found."""
    chance, store = random.Random(seed), PostgresServedLines(memory.connections)
    blocks = served_by(memory)
    for text in (text for kind in ("recall", "tool") for text in blocks.get(kind, [])):
        store.keep(text)
    print("| what came back | served by | language | pastes | found |\n| --- | --- | --- | ---: | ---: |")
    reached: dict[str, list[bool]] = defaultdict(list)
    for paste, make in PASTES.items():
        for kind, texts in blocks.items():
            by_language: dict[str, list[bool]] = defaultdict(list)
            for block in texts:
                language = detect([block])
                before, behind = OWN[language]
                for pasted, served in make(block, chance):
                    message = f"{before}\n\n{pasted.rstrip()}\n\n{behind}" if paste != "cut" else pasted
                    (own,) = own_of([message], store.served)
                    left = own_words(message, own)
                    kept = words(f"{before}\n{behind}") if paste != "cut" else Counter[str]()
                    rest = words(left) - kept
                    is_found = not kept - words(left) and rest.total() <= MOST_LEFT * words(served).total()
                    by_language[language].append(is_found)
                    reached[paste].append(is_found)
                    if shows_wrong and not is_found:
                        print(f"\n--- {paste}, {kind}: left\n{left}\n")
            for language, found in sorted(by_language.items()):
                print(f"| {paste} | {kind} | {language} | {len(found)} | {sum(found) / len(found):.1%} |")
    rates = {paste: sum(found) / len(found) for paste, found in reached.items()}
    print("\n| all pastes | " + " | ".join(rates) + " |\n| --- |" + " ---: |" * len(rates))
    print(f"| {sum(map(len, reached.values()))} | " + " | ".join(f"{rate:.1%}" for rate in rates.values()) + " |")
    return rates["whole"] >= 0.99 and rates["in part"] >= 0.95 and rates["cut"] >= 0.9


def report_quoting(memory: Memory, *, shows_wrong: bool) -> bool:
    """Whether few enough are taken for an echo of what was served until now."""
    store = PostgresServedLines(memory.connections)
    taken = Counter[str]()
    asked = Counter[str]()
    ordinary = [one for talk in talks_of(memory) for one in quotations(talk)] + list(lists_of(memory))
    for (form, message), own in zip(ordinary, own_of([text for _, text in ordinary], store.served), strict=True):
        asked[form] += 1
        if own is not None:
            taken[form] += 1
            if shows_wrong:
                print(f"\n--- {form}: taken for an echo\n{message}\n")
    print("\n| ordinary quoting | messages | taken for an echo |\n| --- | ---: | ---: |")
    for form, count in asked.items():
        print(f"| {form} | {count:,} | {taken[form] / count:.2%} |")
    print(f"| all | {asked.total():,} | {taken.total() / asked.total():.2%} |")
    return taken.total() / asked.total() <= 0.005


def report_appends(memory: Memory) -> None:
    said = [text for talk in talks_of(memory) for _, text, _ in talk][:APPENDS]
    listed = [LISTED.format(number) for number in range(100)]
    print("\n| appends, one message each | without, ms | with, ms | ratio |\n| --- | ---: | ---: | ---: |")
    for name, texts in {"what people said": said, "lists and headings": listed}.items():
        plain, looked = appends(memory, texts)
        print(f"| {name} | {plain:.2f} | {looked:.2f} | {looked / plain:.2f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="print what is missed or taken wrongly")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pkgb-") as name, embedded.running(Path(name) / "pg") as url:
        folder = Path(name)
        kept = {"home": folder / "home", "database_url": url, "now": NOW, "llm": "offline", "embedder": "none"}
        with open_memory(Settings.model_validate({**kept, "timezone": account.TIMEZONE})) as memory:
            for path in account.write_exports(folder / "exports", NOW):
                memory.build_interactions(memory.import_path(path).chats)
            memory.items.run(Billing("live"))
            memory.summarize(DAYS, Billing("live"))
            memory.chunks.build(DAYS)
            are_found = report_found(memory, seed=given.seed, shows_wrong=given.wrong)
            is_careful = report_quoting(memory, shows_wrong=given.wrong)
            report_appends(memory)
            return 0 if are_found and is_careful else 1


if __name__ == "__main__":
    raise SystemExit(main())
