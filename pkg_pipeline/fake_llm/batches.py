"""Message batches of the local server: created, in progress for some polls, ended, read, deleted.

Results are computed at the end and shuffled, as with the real service.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pkg_pipeline.fake_llm.faults import Script
from pkg_pipeline.fake_llm.protocol import Record, Refused, check_request, error_body, message, text_of

BATCH_PATH = "/v1/messages/batches"
MAX_REQUESTS = 100_000
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


@dataclass(slots=True)
class _Batch:
    id: str
    requests: list[Record]
    created_at: datetime
    polls_left: int
    cancel_initiated_at: datetime | None = None
    ended_at: datetime | None = None
    results: list[Record] = field(default_factory=list[Record])


class Batches:
    """All batches of one server; ``polls``: how often a batch is polled before it has ended."""

    def __init__(self, script: Script, *, polls: int) -> None:
        self._script = script
        self._polls = polls
        self._lock = threading.Lock()
        self._batches: dict[str, _Batch] = {}

    def create(self, body: Any) -> Record:
        """A new batch. ``Refused`` for a bad envelope; a bad request fails in the results."""
        requests = body.get("requests") if isinstance(body, dict) else None
        if not isinstance(requests, list) or not 1 <= len(requests) <= MAX_REQUESTS:
            raise Refused(400, f"requests: 1 to {MAX_REQUESTS} are allowed")
        names = [str(request.get("custom_id")) for request in requests]
        if len(set(names)) != len(names) or not all(_CUSTOM_ID.fullmatch(name) for name in names):
            raise Refused(400, "requests: every custom_id must be unique and of [A-Za-z0-9_-], at most 64")
        with self._lock:
            number = len(self._batches) + 1
            identity = hashlib.sha256(f"{number}:{','.join(names)}".encode()).hexdigest()[:24]
            batch = _Batch(f"msgbatch_{identity}", requests, datetime.now(UTC), self._polls)
            self._batches[batch.id] = batch
            return self._shown(batch, "")

    def get(self, batch_id: str, *, base_url: str) -> Record:
        with self._lock:
            batch = self._found(batch_id)
            if batch.ended_at is None:
                if batch.polls_left <= 0 or batch.cancel_initiated_at is not None:
                    self._end(batch)
                batch.polls_left -= 1
            return self._shown(batch, base_url)

    def end_all(self) -> None:
        """As if a day had passed."""
        with self._lock:
            for batch in self._batches.values():
                if batch.ended_at is None:
                    self._end(batch)

    def listed(self, *, base_url: str, limit: int, after_id: str | None) -> Record:
        """Newest first, paged by ``limit`` and ``after_id``."""
        with self._lock:
            batches = list(reversed(self._batches.values()))
            if after_id is not None:
                ids = [batch.id for batch in batches]
                batches = batches[ids.index(after_id) + 1 :] if after_id in ids else []
            data = [self._shown(batch, base_url) for batch in batches[:limit]]
        return {
            "data": data,
            "has_more": len(batches) > limit,
            "first_id": data[0]["id"] if data else None,
            "last_id": data[-1]["id"] if data else None,
        }

    def cancel(self, batch_id: str, *, base_url: str) -> Record:
        with self._lock:
            batch = self._found(batch_id)
            if batch.ended_at is None:
                batch.cancel_initiated_at = datetime.now(UTC)
            return self._shown(batch, base_url)

    def delete(self, batch_id: str) -> Record:
        with self._lock:
            batch = self._found(batch_id)
            if batch.ended_at is None:
                raise Refused(400, "a batch in progress cannot be deleted")
            del self._batches[batch_id]
        return {"id": batch_id, "type": "message_batch_deleted"}

    def results(self, batch_id: str) -> str:
        """JSON lines. ``Refused`` before the end."""
        with self._lock:
            batch = self._found(batch_id)
            if batch.ended_at is None:
                raise Refused(404, "the batch has no results yet")
            return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in batch.results)

    def _found(self, batch_id: str) -> _Batch:
        if batch_id not in self._batches:
            raise Refused(404, "no such batch")
        return self._batches[batch_id]

    def _end(self, batch: _Batch) -> None:
        batch.ended_at = datetime.now(UTC)
        lines = [self._result(request, canceled=batch.cancel_initiated_at is not None) for request in batch.requests]
        batch.results = sorted(lines, key=lambda line: hashlib.sha256(line["custom_id"].encode()).hexdigest())

    def _result(self, request: Record, *, canceled: bool) -> Record:
        custom_id = request["custom_id"]
        if canceled:
            return {"custom_id": custom_id, "result": {"type": "canceled"}}
        try:
            params = check_request(request.get("params"))
        except Refused as refusal:
            return _errored(custom_id, refusal.status, str(refusal))
        rule = self._script.match(call=0, path=BATCH_PATH, text=f"{custom_id}\n{text_of(params)}")
        if rule.batch_result == "errored":
            return _errored(custom_id, rule.status or 500, rule.message or "internal error")
        if rule.batch_result is not None:
            return {"custom_id": custom_id, "result": {"type": rule.batch_result}}
        answer = message(params, rule)
        if "usage" in answer:
            answer["usage"]["service_tier"] = "batch"
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": answer}}

    def _shown(self, batch: _Batch, base_url: str) -> Record:
        counts = dict.fromkeys(_COUNTS, 0)
        if batch.ended_at is None:
            counts["processing"] = len(batch.requests)
        for line in batch.results:
            counts[line["result"]["type"]] += 1
        status = "ended" if batch.ended_at else "canceling" if batch.cancel_initiated_at else "in_progress"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": counts,
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + timedelta(hours=24)).isoformat(),
            "ended_at": batch.ended_at.isoformat() if batch.ended_at else None,
            "cancel_initiated_at": batch.cancel_initiated_at.isoformat() if batch.cancel_initiated_at else None,
            "archived_at": None,
            "results_url": f"{base_url}{BATCH_PATH}/{batch.id}/results" if batch.ended_at else None,
        }


def _errored(custom_id: str, status: int, text: str) -> Record:
    error = error_body(status, text, request_id=f"req_{custom_id}")
    return {"custom_id": custom_id, "result": {"type": "errored", "error": error}}
