"""How the recall benchmarks ask the memory: the only place that knows the interface of ``recall``."""

from __future__ import annotations

from datetime import date

from pkg_pipeline.wiring import Memory


def build_chunks(memory: Memory, days: tuple[date, date]) -> None:
    """Make searchable what was said in the closed range of days."""
    memory.chunks.build(days)


def ask(memory: Memory, question: str, max_tokens: int) -> tuple[str, list[str]]:
    """The text of an answer and the keys of the messages in it, best line first."""
    block = memory.recall.search(question, max_tokens=max_tokens).block
    return block.text, [key for line in block.lines for key in line.ranked.candidate.message_ids]
