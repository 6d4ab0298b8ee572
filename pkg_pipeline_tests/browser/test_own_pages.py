"""Dagster's pages are one person's: the printed address opens them, they ask nobody else, no other page gets in."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from faults import hostile_pages
from pkg_pipeline_tests.browser import running
from pkg_pipeline_tests.browser.chromium import Page, browser
from pkg_pipeline_tests.browser.running import Dagster

pytestmark = pytest.mark.browser
LOOPBACK = {"127.0.0.1", "localhost"}


@pytest.fixture
def page() -> Iterator[Page]:
    with browser(hostile_pages.RESOLVED) as found:
        yield found


def opened(page: Page, dagster: Dagster) -> None:
    page.open(dagster.opening)
    page.wait_for(lambda: page.run("location.search") == "" and "Automation" in page.text, "the pages")


def test_the_pages_open_by_the_printed_address_and_work_with_live_logs(dagster: Dagster, page: Page) -> None:
    page.open(f"{dagster.address}/runs")
    page.wait("pkg-pipeline dev printed")
    opened(page, dagster)
    history = page.send("Page.getNavigationHistory")["entries"]
    assert not [one for one in history if dagster.token in one["url"]]
    assert page.run("document.cookie") == ""
    page.open(f"{dagster.address}/automation")
    page.wait("summaries_at_three", "inbox")
    page.events.clear()
    ((_, launch),) = [one for one in hostile_pages.targets(dagster).writes.items() if one[0] == "launch"]
    asked = launch.replace("{ __typename }", "{ ... on LaunchRunSuccess { run { id } } }").replace(
        hostile_pages.MARK, "own"
    )
    run = running.ask(dagster, asked)["launchRun"]["run"]["id"]
    page.open(f"{dagster.address}/runs/{run}")
    page.wait("RUN_SUCCESS", seconds=running.RUN_SECONDS)
    frames = [one for one in page.events if one["method"] == "Network.webSocketFrameReceived"]
    assert any("pipelineRunLogs" in one["params"]["response"]["payloadData"] for one in frames)


def test_nothing_greets_and_nothing_but_loopback_is_asked(dagster: Dagster, page: Page) -> None:
    """On the first visit of a fresh home, over all main pages."""
    opened(page, dagster)
    for path, shown in (("/overview", "Timeline"), ("/assets", "interaction_summaries"), ("/runs", "Runs")):
        page.open(dagster.address + path)
        said = page.wait(shown)
        assert "newsletter" not in said.lower()
        assert "Join the Dagster" not in said
        assert not page.run("!!document.querySelector('[role=dialog]')")
    assert running.ask(dagster, "{ shouldShowNux }") == {"shouldShowNux": False}
    asked = [one["params"]["request"]["url"] for one in page.events if one["method"] == "Network.requestWillBeSent"]
    asked += [one["params"]["url"] for one in page.events if one["method"] == "Network.webSocketCreated"]
    assert len(asked) > 50
    assert {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))} <= LOOPBACK


def test_a_link_from_another_site_opens_the_pages_after_one_click(dagster: Dagster, page: Page) -> None:
    """With the token where the browser never was, without it where it has been: then the page that was linked."""
    for link, shown in ((dagster.opening, "Automation"), (f"{dagster.address}/automation", "summaries_at_three")):
        with hostile_pages.lured(page, dagster.address, hostile_pages.SITE):
            page.run(f"location.href = {link!r}")
            page.wait("Go on to the pages")
            page.click("Go on to the pages", selector="a")
            page.wait(shown)
            assert dagster.token not in page.run("location.href")
