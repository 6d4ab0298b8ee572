"""What is decided and what is imported come to the same in any order, killed at any line, and side by side (B20)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline_tests.stages.people.people_rig import CHAT, MAIL, OLEG, OTHER_RITA, RITA, Line, People, people

UNLIKE = {"entity_verdicts", "interaction_summaries", "memory_chunks", "chunk_terms"}
"""Decisions have ids of chance; a summary that was made before has an older version."""

MORE: tuple[Line, ...] = (
    ("mail", "with-rg", "rg", "2025-01-20T09:00", "Shall we meet on Monday? I will bring the keys by 24 January 2025."),
    ("chat", "club", "rita", "2025-01-21T18:00", "Oleg, did you book the place?"),
)


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[People]:
    with people(database_url, tmp_path) as made:
        made.take([*CHAT, *MAIL])
        yield made


@pytest.mark.parametrize("runs_between", [False, True])
def test_an_import_after_a_merge_is_a_merge_after_the_import(
    database_url: str, new_database: Callable[[], str], tmp_path: Path, runs_between: bool
) -> None:
    held = []
    for number, url in enumerate((database_url, new_database())):
        home = tmp_path / str(number)
        home.mkdir()
        with people(url, home) as rig:
            rig.take([*CHAT, *MAIL])
            rig.run() if runs_between else None
            if number:
                rig.take(MORE)
                rig.work.merge(RITA, OTHER_RITA)
            else:
                rig.work.merge(RITA, OTHER_RITA)
                rig.take(MORE)
            rig.run()
            held.append((rig.held(), rig.context(RITA), rig.told()))
    (first, *shown), (second, *shown_then) = held
    assert shown == shown_then
    for name in first:
        if name not in UNLIKE:
            assert first[name] == second[name], name


STEPS = st.lists(
    st.sampled_from(("merge", "merge other", "split", "rename", "alias", "undo", "import", "run")),
    min_size=1,
    max_size=6,
)


@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@example(steps=["merge", "merge other", "run"])
def test_all_undone_in_any_order_is_as_if_nothing_had_been_decided(
    new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    held = []
    for does_decide in (True, False):
        with people(new_database(), tmp_path_factory.mktemp("home")) as rig:
            rig.take([*CHAT, *MAIL])
            for step in (*steps, "undo all"):
                if step == "import":
                    rig.take(MORE)
                elif step == "run":
                    rig.run(chunks=False)
                elif does_decide:
                    _decide(rig, step)
            rig.take(MORE)
            rig.run(chunks=False)
            held.append((rig.held(), rig.told()))
    (first, told), (second, told_then) = held
    assert told == told_then
    for name in first:
        if name not in UNLIKE:
            assert first[name] == second[name], name


def _decide(rig: People, step: str) -> None:
    work = rig.work
    standing = [one for one in work.store.decisions(limit=100) if one.undone_at is None]
    if step == "merge":
        work.merge(RITA, OTHER_RITA)
    elif step == "merge other":
        work.merge(OLEG, OTHER_RITA)
    elif step == "rename":
        work.rename(OTHER_RITA, "Margarita")
    elif step == "alias":
        work.add_alias(RITA, ["Margarita", "Ritka"])
    elif step == "split":
        if len(work.store.accounts(OTHER_RITA)) > 1:
            work.split(OTHER_RITA, [str(OTHER_RITA)])
    elif step == "undo":
        if standing:
            work.undo(str(standing[-1].id))
    else:
        for one in standing:
            work.undo(str(one.id))


def test_killed_at_any_line_the_same_words_finish_it(
    database_url: str, new_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def merged(url: str, home: Path, *, die_at: int | None) -> tuple[object, int]:
        home.mkdir()
        count = 0
        whole = Statements.execute

        def dying(self: Statements, *given: object) -> object:
            nonlocal count
            count += 1
            if count == die_at:
                raise Killed
            return whole(self, *given)  # pyright: ignore[reportArgumentType]

        with people(url, home) as rig:
            rig.take([*CHAT, *MAIL])
            rig.run(chunks=False)
            with monkeypatch.context() as patched:
                patched.setattr(Statements, "execute", dying)
                with suppress(Killed):
                    rig.work.merge(RITA, OTHER_RITA)
            if die_at is not None:
                rig.work.merge(RITA, OTHER_RITA)
            shown = rig.context(RITA)
            rig.run(chunks=False)
            held = rig.held()
        return (shown, held), count

    whole, steps = merged(database_url, tmp_path / "whole", die_at=None)
    assert steps > 30
    for number in range(1, steps, max(1, steps // 6)):
        again, _ = merged(new_database(), tmp_path / str(number), die_at=number)
        assert again == whole, number


class Killed(Exception):
    """In the middle of a decision."""


def test_a_decision_and_an_import_at_the_same_time_end_both(rig: People, tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def both(work: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - told to the test
                failed.append(error)

        return threading.Thread(target=run)

    with people(rig.memory.url, tmp_path) as other:
        lines = [
            ("mail", "with-rg", "rg", f"2025-02-{day:02}T{hour:02}:00", f"I will bring part {day} on day {hour}.")
            for day in range(1, 28)
            for hour in range(8, 12)
        ]

        def decide() -> None:
            for _ in range(6):
                kept = rig.work.merge(RITA, OTHER_RITA)
                rig.work.undo(str(kept.id))

        def take() -> None:
            for at in range(0, len(lines), 18):
                other.take(lines[: at + 18])

        threads = [both(decide), both(take)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    assert not failed
    assert not any(thread.is_alive() for thread in threads)
    assert rig.rows("SELECT count(*) FROM messages WHERE sent_at >= '2025-02-01'") == [(len(lines),)]
    rig.run(chunks=False)
    assert rig.rows("SELECT count(*) FROM entities WHERE merged_into IS NOT NULL") == [(0,)]
    talked = "SELECT count(*) FROM interaction_participants WHERE entity_id = %s"
    assert rig.rows(talked, RITA) == [(2,)]
