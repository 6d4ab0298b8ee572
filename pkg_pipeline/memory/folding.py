"""What a fold is made of: its steps, what no model is shown of it, the hash of what it covers (H8, H12). Pure.

Not here: whether to fold (``triggers``), up to where (``turns``), what a fold says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pkg_pipeline.memory import message_parts, turns
from pkg_pipeline.memory.session_records import SessionMessage


def steps(messages: Sequence[SessionMessage], *, most_messages: int, most_tokens: int) -> list[int]:
    """Exclusive ends of the steps in which ``messages`` are folded, the last of them ``len(messages)``.

    A step takes whole groups of ``turns`` while both limits hold; a group over a limit is a step of its own. What the
    first steps leave is cut where it would have been: a worker may go on after another's death.
    """
    ends: list[int] = []
    count = tokens = 0
    for start, end in turns.groups(messages):
        group_tokens = sum(message.token_count for message in messages[start:end])
        if count and (count + end - start > most_messages or tokens + group_tokens > most_tokens):
            ends.append(start)
            count = tokens = 0
        count += end - start
        tokens += group_tokens
    return [*ends, len(messages)] if messages else []


def is_noise(message: SessionMessage) -> bool:
    """H12: covered by a fold, but nothing that a model could sum up: a service entry, a system message, or no letter
    and no digit in what is said.
    """
    if message.kind == "service" or message.role == "system":
        return True
    said = message.text or message_parts.text_of(message.parts or ())
    return not any(character.isalnum() for character in said)


def window_hash(messages: Sequence[SessionMessage]) -> str:
    """H8: sha256 (hex) over ``id:content_hash;`` of every message that a fold covers, noise too, in order."""
    digest = hashlib.sha256()
    for message in messages:
        digest.update(f"{message.id}:{message.content_hash};".encode())
    return digest.hexdigest()
