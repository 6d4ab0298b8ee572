"""Files that nobody here wrote go through both hops: every Telegram sample, and long conversations between two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pkg_pipeline.adapters.exports.detect import open_export
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.stages.ingest.owner import SelfUnknown, resolve_self
from pkg_pipeline.stages.ingest.records import ImportReport
from pkg_pipeline.stages.ingest.stage import import_export
from pkg_pipeline_tests.digest import digest
from pkg_pipeline_tests.stages.ingest.import_rig import Rig
from pkg_pipeline_tests.stages.recount import assert_recounts

pytestmark = pytest.mark.shared


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def imported(rig: Rig, path: Path, *, rule: str | None = None) -> ImportReport:
    report = ImportReport()
    exports = open_export(path)
    try:
        selves = resolve_self(exports, rule=rule, known=rig.store.known_selves)
    except SelfUnknown:
        selves = frozenset[tuple[str, str]]()
    for export in exports:
        import_export(
            export,
            store=rig.store,
            counter=TiktokenCounter(),
            selves=selves,
            report=report,
            batch_id=uuid4(),
        )
    return report


def test_every_telegram_sample_goes_through_both_hops_twice_with_one_result(rig: Rig, shared_folder: Path) -> None:
    folder = shared_folder / "samples" / "telegram"
    if not folder.is_dir():
        pytest.skip(f"NOT RUN: there is no {folder}")
    # one sample is no JSON on purpose
    files = sorted(path for path in folder.rglob("*.json") if path.name != "tcp_error.json")
    assert len(files) >= 18
    totals = ImportReport()
    for path in files:
        report = imported(rig, path)
        rig.build()
        totals.counts += report.counts
        assert all(where and reason for _, where, reason in report.rejected)
    assert_recounts(rig)
    # none comes deleted; two exports of one chat tell by what the newer lacks
    assert rig.value("SELECT count(*) FROM messages") == totals.counts.new
    assert rig.value("SELECT count(*) FROM messages WHERE deleted_at IS NOT NULL") == totals.counts.deleted > 0
    with rig.connection() as connection:
        before = digest(connection)
    for path in reversed(files):
        imported(rig, path)
    rig.build()
    with rig.connection() as connection:
        assert digest(connection) == before


def locomo_lines(conversation: dict[str, Any], name: str) -> Iterator[str]:
    for key in [key for key in conversation if key.endswith("_date_time")]:
        session = key.removesuffix("_date_time")
        at = datetime.strptime(conversation[key], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for number, said in enumerate(conversation.get(session, ())):
            yield json.dumps(
                {
                    "chat_id": name,
                    "chat_kind": "direct",
                    "message_id": said["dia_id"],
                    "sender_id": said["speaker"],
                    "sender_name": said["speaker"],
                    "sent_at": (at + timedelta(minutes=number)).isoformat(),
                    "text": said["text"],
                }
            )


def test_long_conversations_between_two_become_their_sessions(rig: Rig, shared_folder: Path, tmp_path: Path) -> None:
    source = shared_folder / "eval" / "locomo_dev.json"
    if not source.is_file():
        pytest.skip(f"NOT RUN: there is no {source}")
    lines, sessions = list[str](), 0
    for one in json.loads(source.read_text(encoding="utf-8")):
        lines += locomo_lines(one["conversation"], one["sample_id"])
        sessions += sum(
            1 for key in one["conversation"] if key.endswith("_date_time") and one["conversation"].get(key[:-10])
        )
    path = tmp_path / "locomo.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    report = imported(rig, path, rule="none")
    assert (report.counts.new, report.rejected) == (len(lines), [])
    rig.build()
    assert rig.value("SELECT count(*) FROM interactions") == sessions
    assert rig.rows("SELECT DISTINCT is_self FROM entities") == [(False,)]
    assert_recounts(rig)
