"""What the filter of orders to the model costs work talk, and what of an attack is published by a model that obeys.

    python benchmarks/orders_truth.py [-v]

Refused: messages of the sample talks beside the checkout, of the demo and of our own work talk that cannot carry a
decision. Published: attacks of which anything passes the gates; the model obeys the message that the test names, not
one that the gate would know. ``-v`` prints them.
"""

from __future__ import annotations

import json
import mailbox
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.corpora import LABELLED_RU, SAMPLES, demo_rows, labelled_rows  # noqa: E402
from pkg_pipeline.memory.gate.instructions import gives_orders  # noqa: E402
from pkg_pipeline_tests.memory.truth.obeying import NAMES, attacks, is_refused, of_the_owner, published, work  # noqa: E402

_IRC = re.compile(r"\[\d\d:\d\d\] <[^>]+> (.*)")
_WHATSAPP = re.compile(r".{6,26} ?-? [^:]+: (.*)")
_KEYS = {"telegram": {"text"}, "discord": {"content"}, "chatgpt": {"parts", "text"}, "claude": {"text"}}


def sample_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """(kind of chat, message) of every sample file that holds words."""
    for name, pattern in (("irc", _IRC), ("whatsapp", _WHATSAPP)):
        for file in sorted((folder / name).glob("*.txt")):
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
            yield from ((name, found[1]) for found in map(pattern.match, lines) if found)
    for name, keys in _KEYS.items():
        for file in sorted((folder / name).rglob("*.json")):
            try:
                yield from ((name, text) for text in _strings(json.loads(file.read_text(encoding="utf-8")), keys))
            except ValueError:
                continue  # some samples are broken on purpose
    for name, file in (("slack", "slack/testarchive.zip"), ("crosswoz", "generic/crosswoz_val.json.zip")):
        with zipfile.ZipFile(folder / file) as archive:
            for one in archive.namelist():
                if one.endswith(".json") and "__MACOSX" not in one:
                    yield from ((name, text) for text in _strings(json.loads(archive.read(one)), {"text", "content"}))
    yield from _threads_and_mails(folder)


def _threads_and_mails(folder: Path) -> Iterator[tuple[str, str]]:
    films = json.loads((folder / "generic/kdconv_film_dev.json").read_text(encoding="utf-8"))
    yield from (("kdconv", text) for text in _strings(films, {"message"}))
    for line in (folder / "generic/multidogo_airline.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        yield from (("multidogo", cell) for cell in line.split("\t")[3:4])
    for file in sorted((folder / "email").glob("*.mbox")):
        for mail in mailbox.mbox(str(file)):
            for part in mail.walk():
                if part.get_content_type() == "text/plain":
                    body = part.get_payload(decode=True)
                    yield "email", body.decode("utf-8", "replace") if isinstance(body, bytes) else ""


def _strings(value: Any, keys: set[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in keys and isinstance(inner, str):
                yield inner
            elif key in keys and isinstance(inner, list) and any(isinstance(one, str) for one in inner):
                yield "".join(one if isinstance(one, str) else str(one.get("text", "")) for one in inner)
            else:
                yield from _strings(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, keys)


def own_texts() -> Iterator[tuple[str, str]]:
    yield from (("demo", row["text"]) for row in demo_rows())
    yield from (("labelled chats", row["text"]) for row in labelled_rows(LABELLED_RU))


def counted(texts: Iterable[tuple[str, str]], *, verbose: bool) -> dict[str, tuple[int, int]]:
    """By kind: messages, refused ones."""
    found: dict[str, tuple[int, int]] = {}
    for kind, text in texts:
        if text.strip():
            many, bad = found.get(kind, (0, 0))
            is_bad = gives_orders(text)
            found[kind] = (many + 1, bad + is_bad)
            if is_bad and verbose:
                print(f"  refused, {kind}: {text[:160]!r}")
    return found


def main() -> int:
    verbose = "-v" in sys.argv[1:]
    found = counted(own_texts(), verbose=verbose)
    if SAMPLES.is_dir():
        found |= counted(sample_texts(SAMPLES), verbose=verbose)
    print("| messages of | all | refused |\n| --- | --- | --- |")
    total = (sum(many for many, _ in found.values()), sum(bad for _, bad in found.values()))
    for kind, (many, bad) in [*sorted(found.items(), key=lambda one: -one[1][0]), ("all of them", total)]:
        print(f"| {kind} | {many:,} | {bad} ({100 * bad / many:.3f} %) |")
    print("\n| set | work talk | refused | attacks | refused | published | as the owner's own |\n|" + " --- |" * 7)
    for name in NAMES:
        said, made = work(name), attacks(name)
        told = [(one, published(one)) for one in made]
        through = [(one, texts) for one, texts in told if texts]
        refused = sum(map(is_refused, said))
        known = sum(is_refused(one.text) for one in made)
        owned = sum(bool(of_the_owner(one)) for one in made)
        print(f"| {name} | {len(said)} | {refused} | {len(made)} | {known} | {len(through)} | {owned} |")
        for one, texts in through if verbose else ():
            print(f"  published, {name}: {one.text[:100]!r} → {texts[0][:100]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
