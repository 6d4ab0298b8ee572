"""Removes messages from a thread's state (L2) by the saver's ``put``. The new checkpoint's id directly follows its
parent's: a run writing meanwhile has a later id and wins.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from langgraph.checkpoint.base import CheckpointTuple, copy_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

from pkg_pipeline.adapters.langgraph.checkpoints import MESSAGES, config_of, id_of, is_delta, readable


def refusal(newest: CheckpointTuple, *, is_complete: bool, has_ids: bool) -> str | None:
    """Why nothing is removed from this thread, or None."""
    if is_delta(newest):
        return "its messages are kept as differences (DeltaChannel): taking some out would destroy the rest"
    if not is_complete:
        return "some of its messages are of a kind that is not read"
    if not has_ids:
        return "some of its messages have no id"
    if newest.pending_writes:
        return "a run of it waits or was interrupted (pending writes)"
    try:
        identity = UUID(id_of(newest))
    except ValueError:
        return "its checkpoints do not bear the ids that LangGraph gives"
    if identity.version != 6 or str(identity) != id_of(newest):
        return "its checkpoints do not bear the ids that LangGraph gives"
    return None


def remove(saver: PostgresSaver, thread_id: str, checkpoint_id: str, message_ids: frozenset[str]) -> bool:
    """Whether the messages were removed; False if ``checkpoint_id`` is not the newest state."""
    with readable():
        newest = saver.get_tuple(config_of(thread_id))
    if newest is None or id_of(newest) != checkpoint_id or newest.pending_writes:
        return False
    checkpoint = copy_checkpoint(newest.checkpoint)
    given: Any = checkpoint["channel_values"][MESSAGES]
    kept = [message for message in given if str(message.id) not in message_ids]
    before = checkpoint["channel_versions"].get(MESSAGES)
    version = saver.get_next_version(before, None)  # type: ignore[arg-type]
    checkpoint["id"] = str(UUID(int=UUID(checkpoint_id).int + 1))
    checkpoint["ts"] = datetime.now(UTC).isoformat()
    checkpoint["channel_values"][MESSAGES] = kept
    checkpoint["channel_versions"][MESSAGES] = version
    checkpoint["updated_channels"] = [MESSAGES]
    for seen in checkpoint["versions_seen"].values():
        if seen.get(MESSAGES) == before and before is not None:
            seen[MESSAGES] = version  # triggers no node
    metadata: Any = dict(newest.metadata or {})
    metadata |= {"source": "update", "step": int(metadata.get("step") or 0) + 1}
    saver.put(config_of(thread_id, checkpoint_id), checkpoint, metadata, {MESSAGES: version})
    latest = saver.get_tuple(config_of(thread_id))
    return latest is not None and id_of(latest) == checkpoint["id"]
