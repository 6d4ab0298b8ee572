"""Candidates and their scores as a search would bring them, and a tokenizer. No expectations are here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from tiktoken import Encoding

from pkg_pipeline.adapters.text.tokens import load_encoding
from pkg_pipeline.memory.recall.records import Candidate, Ranked
from pkg_pipeline.memory.records import ContextChat

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CHAT = ContextChat("telegram", "personal:1", "direct", "Anna")
GROUP = ContextChat("slack", "C1", "group", "Boat yard")
ANNA, BORIS = UUID(int=71), UUID(int=72)


def candidate(number: int = 1, text: str | None = None, **more: Any) -> Candidate:
    """A message of Anna's, ``number`` hours after START, in an interaction of its own."""
    given: dict[str, Any] = {
        "no": number,
        "id": UUID(int=number),
        "source": "message",
        "chat": CHAT,
        "at": START + timedelta(hours=number),
        "text": f"text {number}" if text is None else text,
        "message_ids": (f"telegram:personal%3A1/{number}",),
        "lexical": 0.0,
        "similarity": None,
        "interaction_id": UUID(int=1000 + number),
        "sender_entity_id": ANNA,
        "speaker": "Anna",
    }
    return Candidate(**{**given, **more})


def derived(number: int, text: str, *message_numbers: int, source: str = "decision", **more: Any) -> Candidate:
    """A decision (or what ``source`` says) that rests on the messages of these numbers."""
    given: dict[str, Any] = {
        "source": source,
        "message_ids": tuple(f"telegram:personal%3A1/{one}" for one in message_numbers),
        "subject_id": UUID(int=5000 + number),
        "sender_entity_id": None,
        "speaker": None,
    }
    return candidate(number, text, **{**given, **more})


def in_order(*candidates: Candidate) -> list[Ranked]:
    """As if ranked so: scores 1, 0.99, …"""
    return [Ranked(one, 1 - place / 100, ()) for place, one in enumerate(candidates)]


@cache
def encoding() -> Encoding:
    """The real one, loaded once a process."""
    return load_encoding()


def count(text: str) -> int:
    return len(encoding().encode_ordinary(text))


def count_many(texts: Sequence[str]) -> list[int]:
    return [count(text) for text in texts]
