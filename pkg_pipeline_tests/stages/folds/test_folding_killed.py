"""Killed with SIGKILL anywhere, and many writers and folders at once: each message is in one fold, nothing is lost."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pkg_pipeline.stages.ports import LlmRequest
from pkg_pipeline_tests.conftest import REPOSITORY
from pkg_pipeline_tests.stages.dying_worker import killed
from pkg_pipeline_tests.stages.folds.fold_rig import FoldRig, fold_llm, good_fold
from pkg_pipeline_tests.stages.folds.fold_worker import LEASE_SECONDS, PLACES, QUICK
from pkg_pipeline_tests.stages.sessions.session_rig import said

SESSIONS = [f"jsonl:{number}" for number in range(20)]
WRITERS, FOLDERS, APPENDS = 50, 8, 6
SHARED = 5
"""Threads that share a pool."""


@pytest.fixture
def rig(database_url: str) -> Iterator[FoldRig]:
    made = FoldRig(database_url)
    yield made
    made.close()


def ended(rig: FoldRig) -> list[tuple[Any, ...]]:
    names = ("message_ids", "trigger", "input_hash", "summary", "parent_summary_id", "topics", "status")
    return [tuple(fold[name] for name in names) for fold in rig.folds()]


@pytest.mark.parametrize("point", PLACES)
def test_killed_anywhere_it_goes_on_where_it_was(rig: FoldRig, point: str) -> None:
    rig.talk(50, words=3)
    killed("folds.fold_worker", rig.url, point)
    rig.wait_for_the_dead()
    assert rig.leases() == 1
    assert rig.wrong() == []  # at every moment
    rig.leases_ran_out()
    rig.fold_due(step_messages=20)
    assert [(len(fold["message_ids"]), fold["trigger"]) for fold in rig.folds()] == [
        (20, "turns"),
        (20, "turns"),
        (10, "turns"),
    ]
    assert (rig.wrong(), rig.row()["folding_to_id"], rig.leases(), rig.due()) == ([], None, 0, None)
    assert rig.row()["running_summary"].splitlines() == [fold["summary"] for fold in rig.folds()]


def test_what_comes_during_a_fold_is_looked_at_exactly_once_more(rig: FoldRig) -> None:
    rig.talk(20)
    come: list[int] = []

    def answer(request: LlmRequest) -> object:
        if not come:
            come.append(1)
            rig.talk(2, start=20)
            rig.sessions.event("jsonl:talk", "handoff")
            rig.talk(2, start=22)
            assert rig.row()["is_pending"]
        return good_fold(request)

    llm = fold_llm(answer)
    report = rig.fold_due(llm)
    assert (report.sessions, report.folds, len(llm.requests)) == (2, 2, 2)
    assert [(fold["trigger"], fold["message_count"]) for fold in rig.folds()] == [("turns", 20), ("handoff", 4)]
    assert (rig.row()["is_pending"], rig.fold_due().sessions, rig.wrong()) == (False, 0, [])


def test_without_an_event_the_look_after_it_may_say_no(rig: FoldRig) -> None:
    rig.talk(20)
    come: list[int] = []

    def answer(request: LlmRequest) -> object:
        if not come:
            come.append(1)
            rig.talk(2, start=20)
        return good_fold(request)

    report = rig.fold_due(fold_llm(answer))
    assert (report.sessions, report.folds, rig.row()["is_pending"], rig.fold_due().sessions) == (2, 1, False, 0)


def test_a_worker_whose_lease_was_taken_over_writes_nothing(rig: FoldRig) -> None:
    rig.talk(20)
    other = FoldRig(rig.url)

    def answer(request: LlmRequest) -> object:
        if not rig.folds():
            rig.leases_ran_out()
            assert other.fold_due().folds == 1
        return good_fold(request)

    report = rig.fold_due(fold_llm(answer))
    other.close()
    assert (report.folds, report.reasons, len(rig.folds())) == (0, ["another worker had taken it over"], 1)
    assert (rig.wrong(), rig.leases()) == ([], 0)


def test_fifty_writers_and_eight_folders_some_of_whom_are_killed(database_url: str) -> None:
    rigs = [FoldRig(database_url, rules=QUICK) for _ in range((WRITERS + FOLDERS) // SHARED + 1)]
    dying = [
        subprocess.Popen(
            [sys.executable, "-m", "pkg_pipeline_tests.stages.folds.fold_worker", database_url, point, "quick"],
            cwd=REPOSITORY,
        )
        for point in ("published, HWM unmoved", "decided, nothing read")
    ]
    are_written = threading.Event()
    try:
        with ThreadPoolExecutor(WRITERS + FOLDERS) as hands:
            folders = [hands.submit(_fold, rigs[number % len(rigs)], are_written) for number in range(FOLDERS)]
            writers = [hands.submit(_write, rigs[number % len(rigs)], number) for number in range(WRITERS)]
            try:
                for one in writers:
                    one.result()
            finally:  # or a writer's failure would hang instead of being shown
                are_written.set()
            folds = sum(one.result() for one in folders)
    finally:
        for process in dying:
            process.kill()
            process.wait()
    rig = rigs[0]
    rig.wait_for_the_dead()
    rig.leases_ran_out()
    folds += rig.fold_due().folds
    assert folds > len(SESSIONS)
    assert {session: rig.wrong(session) for session in SESSIONS} == {session: [] for session in SESSIONS}
    assert sum(rig.state(session).messages_since_hwm < 4 for session in SESSIONS) == len(SESSIONS)
    assert rig.value("SELECT count(*) FROM session_summaries WHERE status = 'dirty'") == 0
    assert rig.value("SELECT count(*) FROM conversation_sessions WHERE is_pending OR folding_to_id IS NOT NULL") == 0
    assert rig.value("SELECT count(*) FROM messages") == WRITERS * APPENDS * 3
    for one in rigs:
        one.close()


def _write(rig: FoldRig, writer: int) -> None:
    """Messages to one session after another; some of what was written is edited or deleted."""
    draw = random.Random(writer)
    for turn in range(APPENDS):
        session = SESSIONS[(writer + turn) % len(SESSIONS)]
        key = f"{writer}-{turn}"
        roles = ("user", "assistant", "assistant")
        said_now = [said(f"{key}-{n}", f"Writer {key} says {n}", role=role) for n, role in enumerate(roles)]
        rig.append(*said_now, session=session)
        if draw.random() < 0.3:
            changed = {"text": f"Writer {key} says otherwise", "edited_at": "2026-03-16T00:00:00Z"}
            change = draw.choice([changed, {"text": "gone", "deleted": True}])
            rig.append(said(f"{key}-1", role="assistant", **change), session=session)


def _fold(rig: FoldRig, are_written: threading.Event) -> int:
    """Until everything is written and nothing is due; what a killed one held comes free by itself."""
    folds, pause = 0, threading.Event()
    while True:
        is_last = are_written.is_set()
        folds += rig.fold_due(lease_seconds=LEASE_SECONDS).folds
        if is_last and not rig.value("SELECT count(*) FROM conversation_sessions WHERE next_due_at <= %s", rig.now):
            return folds
        pause.wait(0.02)
