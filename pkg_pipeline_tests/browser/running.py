"""``pkg-pipeline dev`` as a person starts it, on a home with conversations, and what its GraphQL says."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.cli.processes import COMMAND, OURS

START_SECONDS = 600
END_SECONDS = 120
LOOK_SECONDS = 2
RUN_SECONDS = 600
"""Until a run has come through queue, code server and a process of its own, or a sensor has looked: seconds where
nothing else runs, five minutes where twenty others do.
"""


@dataclass(frozen=True, slots=True)
class Dagster:
    """Dagster's pages: their ``address`` and the ``token`` that opens them; the address of the ``api`` beside them;
    the ``process`` that printed them.
    """

    address: str
    token: str
    api: str
    process: subprocess.Popen[str] | None = None

    @property
    def opening(self) -> str:
        """What ``dev`` prints."""
        return f"{self.address}/?token={self.token}"


def printed(said: str) -> Dagster:
    """The addresses in what ``dev`` said."""
    found = re.search(r"Dagster +(http://\S+)/\?token=(\S+)", said)
    api = re.search(r"API +(http://\S+)", said)
    assert found is not None, said
    assert api is not None, said
    return Dagster(found[1], found[2], api[1])


@contextmanager
def home() -> Iterator[Path]:
    """A short path: the server's socket lies in it."""
    folder = Path(tempfile.mkdtemp(prefix="pkgt-"))
    try:
        yield folder
    finally:
        if embedded.is_initialised(folder / "postgres"):
            embedded.stop(folder / "postgres", mode="immediate")
        shutil.rmtree(folder, ignore_errors=True)


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "PKG_HOME": str(home), "PKG_LLM": "offline", "PYTHONUNBUFFERED": "1"}


def take_in(home: Path, path: Path) -> None:
    """The import command, on the files of ``path``."""
    files = sorted(str(file) for file in path.iterdir()) if path.is_dir() else [str(path)]
    for file in files:
        done = subprocess.run(
            [*COMMAND, "import", file], env=environment(home), capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def dev(home: Path, **more: str) -> Iterator[Dagster]:
    """Everything up, with ``more`` variables; yields where Dagster's pages are."""
    process = subprocess.Popen(
        [*COMMAND, "dev", "--dagster-port", "0", "--api-port", "0"],
        env=environment(home) | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(START_SECONDS, process.terminate)
    guard.start()
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if "Ctrl-C ends all" in line:
                break
        guard.cancel()
        yield replace(printed(said), process=process)
    finally:
        guard.cancel()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def ask(dagster: Dagster, query: str) -> Any:
    """The data of a GraphQL answer."""
    body = json.dumps({"query": query}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {dagster.token}"}
    request = Request(f"{dagster.address}/graphql", data=body, headers=headers)
    with build_opener(ProxyHandler({})).open(request, timeout=60) as answer:
        said = json.load(answer)
    assert "errors" not in said, said
    return said["data"]


def wait_for(true: Any, what: str, *, seconds: float = RUN_SECONDS) -> None:
    """Looks every ``LOOK_SECONDS``: runs take some, and each answer about partitions is work for two processes."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not after {seconds:.0f} s: {what}"
        time.sleep(LOOK_SECONDS)


def small_talk(file: Path, first: date, days: int, *, chat: str = "c1") -> Path:
    """A direct chat of six messages on each of ``days`` days, in the generic format."""
    texts = (
        ("Me", "Hello, shall we agree on the price of the boat?"),
        ("Olga Petrova", "We agreed on {sum} USD, the deadline is the 20th."),
        ("Me", "Good. I will send the contract by Friday."),
        ("Olga Petrova", "Please send it to the yard as well, they need it before the 7th."),
        ("Me", "Done, and I paid the deposit of 500 USD today."),
        ("Olga Petrova", "Thank you, confirmed!"),
    )
    lines: list[str] = []
    for number in range(days):
        for place, (sender, text) in enumerate(texts):
            message = {
                "chat_id": chat,
                "message_id": f"{number}-{place}",
                "sender_id": sender.casefold().replace(" ", "."),
                "sender_name": sender,
                "is_self": sender == "Me",
                "sent_at": f"{first + timedelta(days=number)}T10:{place:02}:00+00:00",
                "text": text.format(sum=4000 + number),
                "chat_kind": "direct",
            }
            lines.append(json.dumps(message))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
