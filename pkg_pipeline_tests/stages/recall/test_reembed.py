"""B4: another model's vectors grow beside those in use; the switch leaves no gap; whatever is killed goes on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import date

import psycopg
import pytest

from pkg_pipeline.stages.ports import EmbedderUnavailable
from pkg_pipeline.stages.recall import chunk_vectors, chunks
from pkg_pipeline.stages.recall.records import SpaceMismatch
from pkg_pipeline.stages.recall.reembed import ReembedBusy, ReembedStopped, SpaceUnknown
from pkg_pipeline.wiring.chunks import ModelUnknown, space_named
from pkg_pipeline_tests.cli.processes import wait_until
from pkg_pipeline_tests.conftest import REPOSITORY
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.ingest.import_rig import line
from pkg_pipeline_tests.stages.recall.reembed_rig import NEW, OLD, ReembedRig, StubEmbedder
from pkg_pipeline_tests.stages.recall.reembed_worker import PLACES


@pytest.fixture
def rig(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReembedRig]:
    monkeypatch.setattr(chunks, "GROUP_MESSAGES", 1)
    monkeypatch.setattr(chunk_vectors, "EMBEDDED_AT_ONCE", 2)
    made = ReembedRig(database_url)
    yield made
    made.close()


def test_vectors_are_made_anew_and_searches_change_over(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    before = rig.logical()
    report = rig.work().run(NEW)
    assert (report.embedded, report.chunks, report.refused, report.switched_from) == (12, 12, 0, OLD)
    assert rig.states() == {OLD: "retired", NEW: "active"}
    assert (rig.vectors(OLD), rig.vectors(NEW), rig.gaps()) == (12, 12, [])
    kept = [row for row in rig.logical()["vectors"] if row[1] == OLD]
    assert kept == before["vectors"]
    again = StubEmbedder(NEW)
    report = rig.work(again).run(NEW)
    assert (again.calls, report.embedded, report.switched_from) == (0, 0, None)


def test_the_way_back_embeds_only_what_changed_since(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    rig.work().run(NEW)
    rig.talk(conversations=1, first=9)
    rig.daily()
    assert (rig.vectors(OLD), rig.vectors(NEW)) == (12, 15)
    back = StubEmbedder(OLD)
    report = rig.work(back).run(OLD)
    assert (len(back.texts), report.switched_from, rig.gaps()) == (3, NEW, [])
    assert rig.states() == {OLD: "active", NEW: "retired"}


def test_old_vectors_go_on_request_and_leave_nothing(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    report = rig.work().run(NEW, drop_old=True)
    assert report.dropped == {OLD: 12}
    assert rig.states() == {NEW: "active"}
    assert {row[1] for row in rig.logical()["states"]} == {"", NEW}
    with pytest.raises(SpaceMismatch, match="the one that is asked"):
        rig.work().drop(NEW)
    with pytest.raises(SpaceUnknown):
        rig.work().drop(OLD)
    rig.work().run(OLD)
    assert rig.work().drop(NEW) == 12


ADVISORY_LOCKS = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND datname = current_database()
"""


@pytest.mark.parametrize("point", PLACES)
def test_killed_anywhere_it_goes_on_and_ends_the_same(rig: ReembedRig, point: str) -> None:
    rig.talk()
    rig.daily()
    start = rig.logical()
    rig.work().run(NEW, drop_old=True)
    undisturbed = rig.logical()
    rig.work().run(OLD, drop_old=True)
    assert rig.logical() == start
    killed("recall.reembed_worker", rig.url, point)
    with psycopg.connect(rig.url) as connection:  # the server notices a moment later that its client is dead
        wait_until(lambda: connection.execute(ADVISORY_LOCKS).fetchone() == (0,))
    assert rig.gaps() == []
    assert sum(state == "active" for state in rig.states().values()) == 1
    saved = rig.vectors(NEW)
    rest = StubEmbedder(NEW)
    rig.work(rest).run(NEW, drop_old=True)
    assert rig.logical() == undisturbed
    assert len(rest.texts) == 12 - saved


def test_what_comes_in_meanwhile_is_caught_up_with_before_the_switch(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    seen: list[list[object]] = []

    def meanwhile(call: int) -> None:
        if call == 3:
            rig.talk(conversations=2, first=20)
            rig.take(
                [line("c1", "0-1", minute=1, sender="bob", text="said otherwise", edited_at="2026-02-01T00:00:00Z")]
            )
            rig.build()
            rig.daily()
        seen.append([rig.gaps(), rig.states()])

    rig.work(StubEmbedder(NEW, meanwhile)).run(NEW)
    assert all(one == [[], {OLD: "active", NEW: "building"}] for one in seen)
    assert rig.gaps() == []
    assert (rig.vectors(OLD), rig.vectors(NEW)) == (18, 18)


def test_the_asset_works_beside_it_and_no_search_misses_anything(rig: ReembedRig) -> None:
    rig.talk(conversations=6)
    rig.daily()
    done = threading.Event()
    missed: list[object] = []

    def look() -> None:
        # in one statement: the space that is asked, and what of the first conversations has no vector there
        while not done.is_set():
            missed.extend(rig.gaps()[:1])

    def write() -> None:
        for first in range(30, 36):
            rig.talk(conversations=1, chat=f"d{first}", first=first)

    threads = [threading.Thread(target=look), threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    rig.work().run(NEW)
    rig.work().run(OLD)
    rig.work().run(NEW)
    threads[1].join()
    done.set()
    threads[0].join()
    known = {row[0] for row in rig.rows("SELECT id FROM memory_chunks c WHERE at < '2026-01-20'")}
    assert known.isdisjoint(missed)
    rig.daily()
    assert rig.gaps() == []


def test_an_embedder_that_fails_ends_it_and_tells_how_far_it_is(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()

    def out_of_order(call: int) -> None:
        if call == 4:
            raise EmbedderUnavailable("the service does not answer")

    with pytest.raises(ReembedStopped, match=r"no vectors from stub:new: the service does not answer$") as stopped:
        rig.work(StubEmbedder(NEW, out_of_order)).run(NEW)
    assert stopped.value.total == 12
    assert 0 < stopped.value.done == rig.vectors(NEW) < 12
    assert rig.states() == {OLD: "active", NEW: "building"}
    rest = StubEmbedder(NEW)
    rig.work(rest).run(NEW)
    assert len(rest.texts) == 12 - stopped.value.done


def test_refused_texts_do_not_hold_it_up_and_are_not_asked_for_again(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    picky = StubEmbedder(NEW, refuses="bob says 2-1")  # which each of its conversation's three is embedded with
    report = rig.work(picky).run(NEW)
    assert (report.refused, report.embedded) == (3, 9)
    assert len(rig.gaps()) == 3
    again = StubEmbedder(OLD)
    rig.work(again).run(OLD)
    assert (again.calls, rig.gaps()) == (0, [])


def test_vectors_that_are_lost_are_made_again(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    rig.rows("DELETE FROM chunk_embeddings WHERE chunk_no %% 5 = 0 RETURNING 1")
    lost = len(rig.gaps())
    again = StubEmbedder(OLD)
    rig.work(again).run(OLD)
    assert (len(again.texts), rig.gaps()) == (lost, [])


def test_two_at_once_do_not_get_in_each_others_way(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    refused: list[str] = []

    def second(call: int) -> None:
        if call == 2:
            for start in (lambda: rig.work().run(NEW), lambda: rig.work().drop(NEW)):
                with pytest.raises(ReembedBusy) as busy:
                    start()
                refused.append(str(busy.value))

    rig.work(StubEmbedder(NEW, second)).run(NEW)
    assert len(refused) == 2
    assert rig.states()[NEW] == "active"


def test_without_any_vectors_yet_the_first_model_is_asked_at_once(rig: ReembedRig) -> None:
    assert rig.work().run(NEW).chunks == 0
    rig.talk()
    report = rig.work().run(NEW)
    assert (report.embedded, report.switched_from, rig.gaps()) == (12, None, [])


def test_a_forecast_says_what_there_is_to_do_and_writes_nothing(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    rig.talk(conversations=1, chat="c2")
    before = rig.logical()
    found = rig.work().forecast(NEW)
    assert (found.chunks, found.unread, found.is_switch) == (12, 1, True)
    read = StubEmbedder(NEW)
    assert rig.logical() == before
    rig.work(read).run(NEW)
    tokens = sum(rig.memory.counter.count_many(read.texts[:12]))
    assert found.tokens == pytest.approx(tokens, rel=0.4)
    found = rig.work().forecast(NEW)
    assert (found.chunks, found.tokens, found.is_switch) == (0, 0, False)


def test_the_marks_of_days_are_left_to_the_asset(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    rig.talk(conversations=1, first=9)
    marks = "SELECT partition_key FROM dirty_partitions WHERE asset = 'memory_chunks' ORDER BY 1"
    before = rig.rows(marks)
    rig.work().run(NEW)
    assert rig.rows(marks) == before
    rig.daily()
    assert rig.gaps() == []


@pytest.mark.parametrize(
    ("given", "space"),
    [
        ("offline", "offline:use-multilingual-3"),
        ("offline:use-multilingual-3", "offline:use-multilingual-3"),
        ("openai:embedding-3", "openai:embedding-3"),
        (" embedding-3 ", "openai:embedding-3"),
        ("nomic-embed-text:latest", "openai:nomic-embed-text:latest"),
        ("org/model", "openai:org/model"),
        ("offline:other", None),
        ("openai:", None),
        ("", None),
        ("none", None),
        ("two words", None),
    ],
)
def test_how_a_model_may_be_named(given: str, space: str | None) -> None:
    if space is None:
        with pytest.raises(ModelUnknown, match="is no known model"):
            space_named(given)
    else:
        assert space_named(given) == space


def test_the_questions_of_the_documentation_have_answers(rig: ReembedRig) -> None:
    rig.talk()
    rig.daily()
    page = (REPOSITORY / "docs" / "embeddings.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    complete, near, scopes = (rig.rows(one) for one in block.split(";")[:3])
    assert complete == [(OLD, "active", 12, 12)]
    assert len(near) == 5
    assert {row[:2] for row in scopes} == {("everything", 12), ("jsonl:c1", 12), ("Ann", 12), ("Bob", 12)}


def test_days_of_what_there_is(rig: ReembedRig) -> None:
    assert rig.spaces.days() is None
    rig.talk(conversations=3)
    assert rig.spaces.days() == (date(2026, 1, 10), date(2026, 1, 12))
