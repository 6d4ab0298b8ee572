"""T8: what is folded in a session is archived like what is summarised; T6: a fold's messages are found all the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from pkg_pipeline.memory.message.archiving import MARK
from pkg_pipeline.stages.archive import stage as archive
from pkg_pipeline.stages.archive.stage import ArchiveDeps, MonthReport
from pkg_pipeline_tests.stages.archive.archive_rig import JANUARY, OLD_ENOUGH, ArchiveRig
from pkg_pipeline_tests.stages.ingest.import_rig import START, line
from pkg_pipeline_tests.stages.sessions.session_rig import CHAT, SessionRig, said


class FoldedRig(SessionRig):
    """A session whose messages are old, and an archive beside it."""

    def __init__(self, url: str) -> None:
        super().__init__(url, now=OLD_ENOUGH)
        self.archiving = ArchiveRig(url)

    def close(self) -> None:
        self.archiving.close()
        super().close()

    def talk(self, count: int = 4, *, minute: int = 0, first: int = 0, **more: Any) -> None:
        self.append(
            *(
                said(first + n, sent_at=(START + timedelta(minutes=minute + n)).isoformat(), **more)
                for n in range(count)
            )
        )
        self.build()
        self.run("UPDATE interactions SET status = 'completed'")

    def archive(self) -> MonthReport:
        deps: ArchiveDeps = self.archiving.deps()
        return archive.archive_months([JANUARY], deps=deps, params=self.archiving.archive_params())[0]

    def texts(self) -> list[str]:
        return [row[0] for row in self.rows("SELECT content FROM messages ORDER BY id")]


@pytest.fixture
def rig(database_url: str) -> Iterator[FoldedRig]:
    rig = FoldedRig(database_url)
    yield rig
    rig.close()


def test_what_is_all_folded_is_archived_without_a_summary(rig: FoldedRig) -> None:
    rig.talk(4)
    assert rig.archive().reasons == ["1 no summary"]
    fold = rig.fold(4)
    report = rig.archive()
    assert (report.interactions, report.messages, report.pending) == (1, 4, 0)
    assert rig.texts() == [MARK] * 4
    sources = rig.sessions.sources(CHAT, fold)
    assert sources is not None
    assert [(one["text"], one["archived"]) for one in sources] == [(f"user says {n}", True) for n in range(4)]
    assert rig.sessions.messages(CHAT).items[0]["text"] == "user says 3"


def test_half_a_conversation_folded_stays(rig: FoldedRig) -> None:
    rig.talk(4)
    rig.fold(3)
    report = rig.archive()
    assert (report.messages, report.reasons) == (0, ["1 no summary"])


def test_a_dirty_fold_holds_back_only_what_it_covers(rig: FoldedRig) -> None:
    rig.talk(3)
    rig.talk(3, minute=2_000, first=3)
    rig.fold(3)
    rig.fold(6, start=4)
    rig.append(said(4, "said otherwise", sent_at=(START + timedelta(minutes=2_001)).isoformat()))
    rig.build()
    rig.run("UPDATE interactions SET status = 'completed'")
    report = rig.archive()
    assert (report.interactions, report.messages, report.reasons) == (1, 3, ["1 no summary"])
    assert rig.texts()[:3] == [MARK] * 3


def test_important_messages_keep_their_text(rig: FoldedRig) -> None:
    rig.talk(3)
    rig.talk(1, minute=10, first=3, text="We agree to pay 3,000 EUR by 15 March")
    assert rig.value("SELECT max(importance_score) FROM messages") >= 0.5
    rig.fold(4)
    report = rig.archive()
    assert (report.messages, report.kept_important) == (3, 1)
    assert rig.texts() == [MARK] * 3 + ["We agree to pay 3,000 EUR by 15 March"]


def test_a_summary_that_waits_to_be_made_anew_is_waited_for(rig: FoldedRig) -> None:
    rig.talk(4)
    rig.fold(4)
    rig.archiving.summarise()
    rig.run("UPDATE interaction_summaries SET status = 'dirty', dirty_reason = 'edited'")
    report = rig.archive()
    assert (report.messages, report.reasons) == (0, ["1 dirty"])


def test_a_chat_that_is_no_session_waits_for_its_summary(rig: FoldedRig) -> None:
    rig.take([line("talk", n, minute=n) for n in range(4)])
    rig.build()
    rig.run("UPDATE interactions SET status = 'completed'")
    assert rig.archive().reasons == ["1 no summary"]
    rig.sessions.ensure(CHAT)
    assert rig.archive().reasons == ["1 no summary"]


def test_a_deleted_message_behind_the_mark_does_not_hold_back_the_rest(rig: FoldedRig) -> None:
    rig.talk(4)
    rig.append(said(3, deleted=True, sent_at=(START + timedelta(minutes=3)).isoformat()))
    rig.build()
    rig.run("UPDATE interactions SET status = 'completed'")
    rig.fold(3)
    assert rig.archive().messages == 4
