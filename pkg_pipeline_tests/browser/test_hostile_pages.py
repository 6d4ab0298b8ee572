"""The fault of that name, on the program that the other files look at: to start one takes longer than to attack it."""

from __future__ import annotations

import pytest

from faults import hostile_pages
from pkg_pipeline_tests.browser.chromium import browser
from pkg_pipeline_tests.browser.running import Dagster
from pkg_pipeline_tests.faults.test_faults import in_the_browser

pytestmark = pytest.mark.browser


def test_pages_of_others_read_and_change_nothing(dagster: Dagster) -> None:
    with browser(hostile_pages.RESOLVED) as page:
        outcome = hostile_pages.attacked(dagster, page, in_the_browser().short)
    assert outcome.is_kept, "\n".join(outcome.wrong)
    assert outcome.tries >= 1
