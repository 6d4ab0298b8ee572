"""The API's own pages in a real browser: they say what this is, work, and fetch nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from faults.served import SECRET, Server, served
from pkg_pipeline_tests.browser.chromium import Page, browser, needed

pytestmark = pytest.mark.browser


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    needed()
    with served(tmp_path / "home", database_url) as found:
        yield found


@pytest.fixture
def page() -> Iterator[Page]:
    needed()
    with browser() as found:
        yield found


def asked_hosts(page: Page) -> set[str | None]:
    sent = [one["params"]["request"]["url"] for one in page.events if one["method"] == "Network.requestWillBeSent"]
    return {urlsplit(url).hostname for url in sent if not url.startswith("data:")}


def test_the_pages_say_what_this_is_and_fetch_nothing_from_elsewhere(server: Server, page: Page) -> None:
    page.open(server.address)
    page.wait("pkg_pipeline", "Reference of every route")
    page.click("Reference of every route", selector="a")
    page.wait("List entities by name", "Add messages to a session", "Authorize")
    assert asked_hosts(page) == {"127.0.0.1"}
    assert page.run("document.querySelectorAll('.errors-wrapper').length") == 0
    page.click("Authorize", selector="button.authorize")
    page.write(SECRET, selector=".auth-container input")
    page.click("Authorize", selector="button.authorize.modal-btn")
    page.click("Close", selector="button.modal-btn")
    page.click("List entities by name", selector=".opblock-summary-description")
    page.click("Execute", selector="button.execute")
    page.wait_for(lambda: '"items"' in page.text, "an answer with the token")
    assert asked_hosts(page) == {"127.0.0.1"}


def test_a_page_refuses_scripts_of_others(server: Server, page: Page) -> None:
    """Neither inline nor from elsewhere: the reference may run its own only."""
    for path in ("/", "/docs"):
        page.open(server.address + path)
        page.wait("pkg_pipeline")
        page.run("{const s = document.createElement('script'); s.text = 'window.ran = 1'; document.body.append(s)}")
        assert page.run("window.ran === undefined")
        asked = "fetch('http://localhost:1/').then(() => 'sent', error => String(error))"
        assert "TypeError" in page.run(f"(async () => await {asked})()")
