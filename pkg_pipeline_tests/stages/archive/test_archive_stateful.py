"""Any sequence of imports, edits, deletions, archiving and restoring shows the same texts as without an archive."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pkg_pipeline.stages.archive.records import RestoreScope
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import START, line

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

MESSAGES = st.integers(1, 6)
SAID = st.sampled_from(("one", "two", "", "[archived]", "ok, agreed: 300 EUR by 12 March"))
PARTS = st.sampled_from((None, [], [{"type": "text", "text": "a\u0301"}]))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.lists(st.tuples(MESSAGES, SAID, PARTS), min_size=1, max_size=4)),
        st.tuples(st.just("edit"), MESSAGES, SAID, PARTS),
        st.tuples(st.just("delete"), MESSAGES, SAID),
        st.tuples(st.just("archive"), st.sets(MESSAGES.map(str), max_size=2)),
        st.tuples(st.just("archive"), st.just(frozenset[str]())),
        st.tuples(st.just("restore"), MESSAGES),
        st.tuples(st.just("restore all")),
    ),
    min_size=3,
    max_size=14,
)
"""What happens to one account, in order. A step's place in the list is also when it happened."""


@pytest.fixture
def rig(database_url: str) -> Iterator[ArchiveRig]:
    made = ArchiveRig(database_url)
    yield made
    made.close()


def spoken(number: int, text: str, parts: Any = None, **more: Any) -> dict[str, Any]:
    # 1 to 3 and 4 to 6 are conversations of their own
    minute = number + (0 if number < 4 else 1_000)
    given = line("c1", number, minute=minute, sender=("ann", "bob")[number % 2], text=text, parts=parts, **more)
    return {key: value for key, value in given.items() if value is not None}


def imports(step: tuple[Any, ...], place: int) -> list[dict[str, Any]]:
    """The lines that a step takes in; none for what concerns the archive alone."""
    match step:
        case ("say", messages):
            return [spoken(*message) for message in messages]
        case ("edit", number, text, parts):
            return [spoken(number, text, parts, edited_at=(START + timedelta(days=1, minutes=place)).isoformat())]
        case ("delete", number, text):
            return [spoken(number, text, deleted=True)]
        case _:
            return []


def play(rig: ArchiveRig, steps: list[tuple[Any, ...]], *, with_archive: bool) -> list[list[tuple[Any, ...]]]:
    """What every reader sees after each step."""
    rig.empty()
    seen: list[list[tuple[Any, ...]]] = []
    for place, step in enumerate(steps):
        if lines := imports(step, place):
            rig.load(lines, exported_at=START + timedelta(days=2, minutes=place))
        elif with_archive and step[0] == "archive":
            rig.summarise(*step[1])
            rig.run("TRUNCATE archive_holds")
            rig.archive(JANUARY)
            assert rig.rows(LEFT_OVER, list(step[1])) == [(0,)]
        elif with_archive and step[0] == "restore all":
            rig.restore_all()
        elif with_archive and rig.rows("SELECT FROM messages WHERE external_id = %s", str(step[1])):
            rig.restore(RestoreScope(message=("jsonl", "c1", str(step[1]))))
        seen.append(rig.texts())
        assert rig.rows(UNEVEN) == []
    return seen


LEFT_OVER = """
    SELECT count(*) FROM message_texts WHERE NOT is_archived AND interaction_id IS NOT NULL AND importance_score < 0.5
    AND NOT external_id = ANY(%s) AND interaction_id IN (
        SELECT interaction_id FROM interaction_summaries WHERE status = 'completed' AND important_messages = '[]')"""
"""After a run nothing is left behind that has no reason to stay."""

UNEVEN = """
    SELECT m.external_id FROM messages m
    FULL JOIN archived_messages a ON a.month = m.archived_month AND a.message_id = m.id
    WHERE a.message_id IS NOT NULL
          AND (m.is_archived AND m.archived_at IS NOT NULL AND m.content = '[archived]' AND m.parts IS NULL) IS NOT TRUE
       OR m.is_archived AND a.message_id IS NULL
       OR a.content_hash <> encode(sha256(convert_to(a.content, 'UTF8')), 'hex')
    UNION ALL
    SELECT 'count' FROM archive_months k WHERE ROW(message_count, content_bytes) IS DISTINCT FROM (
        SELECT ROW(count(*), coalesce(sum(octet_length(content) + coalesce(octet_length(parts::text), 0)), 0)::bigint)
        FROM archived_messages a WHERE a.month = k.month)"""
"""A text is in exactly one place, its row says where, and the months count what they hold."""


@settings(
    max_examples=20,
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(STEPS)
def test_readers_see_the_same_with_and_without_an_archive(rig: ArchiveRig, steps: list[tuple[Any, ...]]) -> None:
    without = play(rig, steps, with_archive=False)
    assert play(rig, steps, with_archive=True) == without
