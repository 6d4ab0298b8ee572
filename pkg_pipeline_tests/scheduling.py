"""Which tests a worker runs one after the other, and which are begun first. Not the tests.

The tests of a file go to one worker, and so do files that read the same labelled talks or look at the same program:
what is read, fitted, built or started for the first of them is there for the rest. What takes long is begun first, so
that no worker is busy alone at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdist.scheduler.loadscope import LoadScopeScheduling

if TYPE_CHECKING:
    import pytest

ROOM = "pkg_pipeline_tests/"
TOGETHER = {
    # in this order: the third switches a schedule off, the last ends what all look at
    "browser/test_own_pages.py": "Dagster's pages",
    "browser/test_dagster_ui.py": "Dagster's pages",
    "browser/test_hostile_pages.py": "Dagster's pages",
    "browser/test_ending.py": "Dagster's pages",
    # four fifths of the texts of any are texts of the first
    "offline/test_heads.py": "labelled talks",
    "offline/test_open_lists.py": "labelled talks",
    "offline/test_closing_weights.py": "labelled talks",
    "offline/test_superseding.py": "labelled talks",
    "offline/test_without_evidence.py": "labelled talks",
    "offline/test_retelling.py": "labelled talks",
    "offline/test_summary_length.py": "labelled talks",
    "offline/test_fact_head.py": "labelled talks",
    "benchmarks/test_facts_truth.py": "labelled talks",
    "offline/test_told_values.py": "labelled talks",
    "memory/profile/test_relationship.py": "labelled talks",
    # the first reads it, and what was worked out of its texts is there for those that read it anew
    "stages/items/test_demo_items.py": "the demo",
    "stages/llm/test_rebuild.py": "the demo",
    "stages/summaries/test_short_talks.py": "the demo",
    "marts/test_documented_queries.py": "the demo",
    "benchmarks/test_demo_floors.py": "the demo",
    "benchmarks/test_facts_served.py": "the demo",
}
APART = ("faults/", "cli/test_interruption.py")
"""Each of their tests makes what it needs, and takes or waits long."""
FIRST = (
    *TOGETHER,
    "cli/test_interruption.py",
    "browser/",
    "cli/programs/",
    "cli/test_demo.py",
    "cli/test_deleted_words.py",
    "offline/",
    "memory/truth/",
    "stages/summaries/test_long_interactions.py",
    "stages/sessions/test_sessions_repeated.py",
    "faults/",
    "cli/",
    "marts/",
    "defs/",
)


def unit(nodeid: str) -> str:
    """The tests that go to one worker have the same."""
    file = nodeid.partition("::")[0].removeprefix(ROOM)
    return nodeid if file.startswith(APART) else TOGETHER.get(file, file)


def order(items: list[pytest.Item]) -> None:
    """In place: by ``FIRST``, else as they were."""

    def place(item: pytest.Item) -> int:
        file = item.nodeid.removeprefix(ROOM)
        return next((place for place, begin in enumerate(FIRST) if file.startswith(begin)), len(FIRST))

    items.sort(key=place)


class Scheduling(LoadScopeScheduling):
    """By ``unit``, in the order of the tests."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)  # type: ignore[arg-type]

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
