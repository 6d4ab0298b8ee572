"""Dagster's pages in a real browser, over a real ``pkg-pipeline dev``: what a person sees and clicks.

Clicked and typed: tabs, *Materialize…*, the range in its dialog, *Launch backfill*, *Plots*. By GraphQL is asked
whether the backfill is through before the page is looked at.

``PKG_TEST_SCREENSHOTS=folder`` takes the pictures of the docs on the way, over the bundled account.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest

from pkg_pipeline_tests.browser import running
from pkg_pipeline_tests.browser.chromium import Page, browser
from pkg_pipeline_tests.browser.conftest import CONVERSED_DAYS, Dev

pytestmark = pytest.mark.browser

SUMMARIES = "/assets/interaction_summaries"
RANGE_DAYS = 2 * CONVERSED_DAYS
"""The range has more days than anybody talked on: attempted are all of them."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The running program and the tab that looks at it."""

    dagster: running.Dagster
    page: Page
    first: date
    home: Path

    @property
    def last(self) -> date:
        return self.first + timedelta(days=RANGE_DAYS - 1)

    def open(self, path: str, *texts: str) -> str:
        self.page.open(self.dagster.address + path)
        return self.page.wait(*texts)

    def wait_for(self, true: Callable[[], object], what: str) -> None:
        """With no page open: one asks for news all the time, which is work for three processes."""
        self.page.open("about:blank")
        running.wait_for(true, what)

    def picture(self, name: str) -> None:
        if folder := os.environ.get("PKG_TEST_SCREENSHOTS"):
            self.page.picture(Path(folder) / f"{name}.png")


@pytest.fixture(scope="module")
def pages(dev: Dev) -> Iterator[Pages]:
    with browser(height=1150) as page:
        page.open(dev.dagster.opening)
        page.wait_for(lambda: page.run("location.search") == "" and "Runs" in page.text, "the pages")
        yield Pages(dev.dagster, page, dev.first, dev.home)


def test_what_a_person_sees_and_clicks(pages: Pages) -> None:
    """One instance and one order for all of it: the pages show what the steps before have done."""
    for step in (lineage, automation, imported, backfill, partitions, plots, checks, older):
        step(pages)


def lineage(pages: Pages) -> None:
    """From messages to the marts."""
    shown = pages.open(
        f"{SUMMARIES}?view=lineage&lineageScope=neighbors&lineageDepth=5",
        *("messages", "interactions", "archived_messages", "decisions", "action_items", "milestones"),
        *("coverage_daily", "llm_cost_daily", "compression"),
    )
    assert "memory" in shown
    assert "marts" in shown
    pages.picture("lineage")


def automation(pages: Pages) -> None:
    """Every schedule and sensor is listed and its switch is on."""
    asked = (
        "{ repositoriesOrError { ... on RepositoryConnection { nodes {"
        " schedules { name scheduleState { status } } sensors { name sensorState { status } } } } } }"
    )
    (repository,) = running.ask(pages.dagster, asked)["repositoriesOrError"]["nodes"]
    states = {one["name"]: one["scheduleState"]["status"] for one in repository["schedules"]}
    states |= {one["name"]: one["sensorState"]["status"] for one in repository["sensors"]}
    assert {"summaries_at_three", "marts_at_six", "inbox", "touched_chats", "due_days"} <= set(states)
    assert set(states.values()) == {"RUNNING"}
    pages.open("/automation", *states)
    switches = "[...document.querySelectorAll('input[type=checkbox]')].filter(e => e.closest('[class*=witch]'))"
    visible = f"{switches}.filter(e => e.closest('[class*=witch]').getBoundingClientRect().height > 0)"
    pages.page.wait_for(lambda: pages.page.run(f"{visible}.length") > 0, "switches")
    pages.page.wait_for(lambda: pages.page.run(f"{visible}.every(e => e.checked)"), "all switches on")
    pages.picture("automation")


def imported(pages: Pages) -> None:
    """What the import command took in is a run of each of the two assets above, on the timeline too."""
    asked = "{ assetNodes { assetKey { path } assetMaterializations(limit: 1) { runId } } }"

    def runs() -> dict[str, object]:
        nodes = running.ask(pages.dagster, asked)["assetNodes"]
        made = {one["assetKey"]["path"][0]: one["assetMaterializations"] for one in nodes}
        return {name: made[name][0]["runId"] for name in ("messages", "interactions") if made[name]}

    pages.wait_for(lambda: len(runs()) == 2, "the import is materialised")
    pages.open("/runs", "import_inbox", "build_interactions", "Success")


def backfill(pages: Pages) -> None:
    """*Materialize…*, a range of days, *Launch backfill*; then until it is green."""
    page = pages.page
    pages.open(f"{SUMMARIES}?view=partitions", "Materialize…", "Missing (")
    page.click("Materialize…", selector="button")
    page.wait("Launch backfill")
    assert not page.shows("Confirm", selector="button"), "nothing above is missing: no warning comes first"
    if page.shows("Show all partitions"):
        page.click("Show all partitions")
    page.click("Custom", selector="[role=dialog] button")
    page.write(f"[{pages.first}...{pages.last}]", selector="[role=dialog] input[type=text]")
    page.press("Enter")
    page.wait(f"{RANGE_DAYS} partitions")
    pages.picture("backfill_dialog")
    page.click("Launch backfill", selector="[role=dialog] button")
    page.wait_gone("Launch backfill")
    asked = (
        "{ partitionBackfillsOrError(limit: 5) { ... on PartitionBackfills { results { id status partitionNames } } } }"
    )

    def newest() -> dict[str, object]:
        results = running.ask(pages.dagster, asked)["partitionBackfillsOrError"]["results"]
        return results[0] if results else {}

    pages.wait_for(newest, "the backfill was asked for")
    names = newest()["partitionNames"]
    assert isinstance(names, list)
    assert (names[0], names[-1], len(names)) == (str(pages.first), str(pages.last), RANGE_DAYS)
    ended = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "COMPLETED", "FAILED", "CANCELED")
    pages.wait_for(lambda: newest()["status"] in ended, "the backfill is through")
    assert newest()["status"] == "COMPLETED_SUCCESS"
    pages.open(f"/runs/b/{newest()['id']}", "Succeeded", "100% completed", "interaction_summaries")
    pages.picture("backfill")


def partitions(pages: Pages) -> None:
    """The days of the range are green."""
    shown = pages.open(f"{SUMMARIES}?view=partitions", "Materialized (", "Failed (0)")
    made = int(shown.partition("Materialized (")[2].partition(")")[0])
    assert made >= RANGE_DAYS, shown
    page = pages.page
    page.write(f"[{pages.first}...{pages.last}]", selector="input[type=text]")
    page.press("Enter")
    page.wait(f"{RANGE_DAYS} Partitions Selected", f"Materialized ({RANGE_DAYS})", "Missing (0)")
    page.click(str(pages.first + timedelta(days=1)))
    page.wait("summarized", "compression_ratio")
    pages.picture("partitions")


def plots(pages: Pages) -> None:
    """Numbers of every day, drawn by partition."""
    pages.open(f"{SUMMARIES}?view=overview", "Metadata", "Plots", "summarized")
    pages.page.click("Plots", selector="button")
    pages.page.wait("When graphing values by partition", "compression_ratio", "tokens", "seconds")
    pages.page.wait_for(lambda: pages.page.run("document.querySelectorAll('canvas').length") >= 5, "plots")
    pages.picture("plots")


def older(pages: Pages) -> None:
    """Messages of an earlier year move the first partition back; what was green stays green."""
    asked = "{ assetNodes { assetKey { path } partitionKeys assetPartitionStatuses { ... on TimePartitionStatuses {"
    asked += " ranges { status startKey endKey } } } } }"

    def summaries() -> tuple[str, list[dict[str, str]]]:
        nodes = {one["assetKey"]["path"][0]: one for one in running.ask(pages.dagster, asked)["assetNodes"]}
        node = nodes["interaction_summaries"]
        return node["partitionKeys"][0], node["assetPartitionStatuses"]["ranges"]

    begin, green = summaries()
    long_ago = pages.first.replace(year=pages.first.year - 3, day=10)
    assert begin > str(long_ago)
    folder = pages.home / "older"
    folder.mkdir()
    running.small_talk(folder / "older.jsonl", long_ago, 2, chat="c2")
    running.take_in(pages.home, folder)
    pages.wait_for(lambda: summaries()[0] <= str(long_ago), "partitions begin earlier")
    begin, after = summaries()
    assert str(long_ago - timedelta(days=16)) < begin
    assert {(one["startKey"], one["status"]) for one in green} <= {(one["startKey"], one["status"]) for one in after}
    pages.wait_for(
        lambda: any(one["startKey"] <= str(long_ago) <= one["endKey"] for one in summaries()[1]),
        "the sensors worked off the older days",
    )
    pages.open(f"{SUMMARIES}?view=partitions", "Materialized (", "Failed (0)", begin)
    pages.picture("older")


def checks(pages: Pages) -> None:
    """The tab of checks: all were evaluated by the runs before and none failed."""
    pages.page.click("Checks", selector="a", exact=False)
    pages.page.wait("Checks (", "pending", "failed", "grounding")
    pages.page.wait_for(lambda: pages.page.text.count("Succeeded") >= 4, "checks that succeeded")
    assert "Execution history" in pages.page.text
    pages.picture("checks")
