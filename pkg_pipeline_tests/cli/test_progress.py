"""How far long work is, where there is no terminal to draw on."""

from __future__ import annotations

import io

from rich.console import Console

from pkg_pipeline.cli.progress import Lines


def test_a_line_every_ten_seconds_with_what_is_done_and_what_is_left() -> None:
    seconds = [0.0]
    written = io.StringIO()
    said = Lines(Console(file=written, width=160), now=lambda: seconds[0])
    for at, what, done, total in (
        (0, "messages", 0, 1),
        (4, "messages", 1, 1),
        (4, "interaction_summaries", 0, 1_200),
        (9, "interaction_summaries", 10, 1_200),
        (14, "interaction_summaries", 20, 1_200),
        (20, "interaction_summaries", 32, 1_200),
        (24, "interaction_summaries", 40, 1_200),
        (30, "memory_chunks", 0, 40),
        (40, "memory_chunks", 20, 40),
        (60, "memory_chunks", 41, 40),
    ):
        seconds[0] = at
        said(what, done, total)
    assert written.getvalue().splitlines() == [
        "interaction_summaries: 20 of 1,200, about 10 min left",
        "interaction_summaries: 40 of 1,200, about 10 min left",
        "memory_chunks: 20 of 40, about 10 s left",
        "memory_chunks: 41 of 41",
    ]
