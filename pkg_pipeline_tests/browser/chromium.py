"""A headless Chromium over its DevTools protocol: open, look, click, type, take pictures. What pages hold is not here.

Elements are found by the text they show, as a person would; the last and smallest one wins, which is the label itself,
and in a dialog the one on top. Clicks are real mouse events at its middle.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest
import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
START_SECONDS = 120
ANSWER_SECONDS = 120
WAIT_SECONDS = 180
"""For what is to come on a page: a moment where nothing else runs; a limit costs nothing where it comes."""
LOOK_SECONDS = 0.5
"""Between two looks at a page, each of which lays it out anew."""

FIND = """
(texts, selector, exact) => {
  const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 &&
      getComputedStyle(e).visibility !== 'hidden' };
  const said = e => (e.innerText || e.value || e.getAttribute('aria-label') || '').replace(/\\s+/g, ' ').trim();
  const fits = e => texts.some(t => exact ? said(e) === t : said(e).includes(t));
  const found = [...document.querySelectorAll(selector)].filter(e => shown(e) && fits(e));
  const leaves = found.filter(e => !found.some(o => o !== e && e.contains(o)));
  return leaves[leaves.length - 1];
}
"""


def executable() -> str | None:
    """The browser's path, or None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def needed() -> None:
    """Skips the test where there is no browser; under CI it fails."""
    if executable() is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium: apt-get install chromium")
        pytest.skip("NOT RUN: no Chromium on this machine; the Dagster pages were not looked at")


class PageError(AssertionError):
    """The page did not come to show what was waited for."""


class PageLeft(PageError):
    """The page was left for another one while it was asked."""


class Page:
    """One tab. Every wait has its own limit in seconds; what it waited for and what was there is in the error."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=ANSWER_SECONDS, suppress_origin=True)
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []
        """What the network did, oldest first: events of the domain Network, as they came with answers."""
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Network.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if str(answer.get("method")).startswith("Network."):
                self.events.append(answer)
            if answer.get("id") == number:
                if "error" in answer:
                    is_left = any(word in str(answer["error"]) for word in ("navigated", "context was destroyed"))
                    raise (PageLeft if is_left else PageError)(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def open(self, url: str) -> None:
        self.send("Page.navigate", url=url)

    @property
    def text(self) -> str:
        """What the page shows, with single spaces."""
        return " ".join(str(self.run("document.body ? document.body.innerText : ''")).split())

    def wait(self, *texts: str, seconds: float = WAIT_SECONDS) -> str:
        """Until all of ``texts`` are on the page; returns the page's text."""
        return self.wait_for(lambda: all(one in self.text for one in texts), " and ".join(texts), seconds=seconds)

    def wait_gone(self, text: str, *, seconds: float = WAIT_SECONDS) -> str:
        return self.wait_for(lambda: text not in self.text, f"no {text!r}", seconds=seconds)

    def wait_for(self, true: Any, what: str, *, seconds: float = WAIT_SECONDS) -> str:
        deadline = time.monotonic() + seconds
        while True:
            with suppress(PageLeft):  # on the way to the next page
                if true():
                    return self.text
            if time.monotonic() > deadline:
                shown = f"it shows: {self.text[:2000]}; it waits for: {self._unanswered()}"
                raise PageError(f"not on the page after {seconds:.0f} s: {what}; {shown}")
            time.sleep(LOOK_SECONDS)

    def _unanswered(self) -> list[str]:
        """What was asked for and has not come, by address and the begin of what was sent."""
        asked: dict[str, str] = {}
        for one in self.events:
            told, kind = one["params"], one["method"].removeprefix("Network.")
            if kind == "requestWillBeSent":
                asked[told["requestId"]] = f"{told['request']['url']} {told['request'].get('postData', '')[:80]}"
            elif kind in ("loadingFinished", "loadingFailed"):
                asked.pop(told["requestId"], None)
        return list(asked.values())

    def click(self, *texts: str, selector: str = "*", exact: bool = True, seconds: float = WAIT_SECONDS) -> None:
        """A mouse click on the element that shows one of ``texts``."""
        place = self._place(texts, selector, exact=exact, seconds=seconds)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **pressed)

    def shows(self, *texts: str, selector: str = "*", exact: bool = True) -> bool:
        return bool(self.run(f"!!({FIND})({json.dumps(texts)}, {json.dumps(selector)}, {json.dumps(exact)})"))

    def write(self, text: str, *, selector: str, seconds: float = WAIT_SECONDS) -> None:
        """Replaces what stands in the input that ``selector`` finds."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(lambda: self.run(f"!!{element}"), selector, seconds=seconds)
        self.run(f"(() => {{ const e = {element}; e.focus(); e.select(); }})()")
        self.send("Input.insertText", text=text)

    def press(self, key: str, *, code: int = 13) -> None:
        """A key; ``code`` is that of Windows, which pages look at."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, file: Path) -> None:
        """What is visible, as PNG."""
        shot = self.send("Page.captureScreenshot", format="png")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self._socket.close()

    def _place(self, texts: tuple[str, ...], selector: str, *, exact: bool, seconds: float) -> tuple[float, float]:
        find = f"({FIND})({json.dumps(texts)}, {json.dumps(selector)}, {json.dumps(exact)})"
        where = f"""(() => {{ const e = {find}; if (!e) return null; e.scrollIntoView({{block: 'nearest'}});
            const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] }})()"""
        found: list[tuple[float, float]] = []

        def stands() -> bool:
            """Found twice at the same place: nothing slides any more."""
            place = self.run(where)
            if place is None:
                found.clear()
                return False
            found.append((place[0], place[1]))
            return len(found) > 1 and found[-1] == found[-2]

        self.wait_for(stands, f"{' or '.join(texts)} to click ({selector})", seconds=seconds)
        return found[-1]


@contextmanager
def browser(*more: str, width: int = 1500, height: int = 950) -> Iterator[Page]:
    """A browser with one empty tab and a profile of its own; both are gone afterwards. ``more`` are its options."""
    program = executable()
    assert program is not None, "no Chromium"
    profile = Path(tempfile.mkdtemp(prefix="pkgt-chromium-"))
    command = [program, *OPTIONS, *more, f"--window-size={width},{height}", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = Page(_address(process, profile / "DevToolsActivePort"))
        try:
            yield page
        finally:
            page.close()
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _address(process: subprocess.Popen[bytes], file: Path) -> str:
    """The WebSocket of the tab, once the browser has written down its port."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the browser ended with {process.returncode}"
        if file.exists() and file.read_text().count("\n"):
            port = file.read_text().splitlines()[0]
            with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/json", timeout=10) as answer:
                tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(LOOK_SECONDS)
    raise AssertionError("the browser did not open its port")
