"""Summarises all that is due in a process of its own and tells what that took: ``python -m … URL FOLDER MODEL``.

``MODEL`` is ``offline`` or ``paid``; a third word ``die:N`` kills the process when it asks its N-th question.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

from pkg_pipeline.offline.llm import OfflineLlm
from pkg_pipeline.stages.ports import Llm, LlmReply, LlmRequest
from pkg_pipeline_tests.memory.conversations import EVERY
from pkg_pipeline_tests.stages.summaries.summary_rig import ScriptedLlm, SummaryRig, good_answer

USD_PER_CALL = 0.01


class Counting:
    """A model that keeps no request: what it is asked about must not stay in memory."""

    def __init__(self, inner: Llm, *, dies_at: int = 0) -> None:
        self._inner, self._dies_at = inner, dies_at
        self.asked: dict[str, int] = {}
        self.longest = 0
        self.model, self.is_paid, self.window_tokens, self.price = (
            inner.model, inner.is_paid, inner.window_tokens, inner.price,
        )  # fmt: skip

    def complete(self, request: LlmRequest) -> LlmReply:
        self.asked[request.task] = self.asked.get(request.task, 0) + 1
        if sum(self.asked.values()) == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if request.task == "interaction_summary":
            self.longest = max(self.longest, len(request.payload.messages))
        reply = self._inner.complete(request)
        if isinstance(self._inner, ScriptedLlm):
            self._inner.requests.clear()
        return reply


def paid(request: LlmRequest) -> object:
    """Of each window; the merged text names the first part."""
    return good_answer(request.payload)


def peak_mb(*, anew: bool = False) -> float:
    """The most memory this process held, since it began or since it was asked ``anew``.

    ``ru_maxrss`` alone would not do: a child inherits its parent's peak, and growth below that would not show.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if anew:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main(url: str, folder: str, model: str, dies: str = "die:0") -> None:
    rig = SummaryRig(url, Path(folder))
    inner: Llm = OfflineLlm() if model == "offline" else ScriptedLlm(paid, usd_per_call=USD_PER_CALL)
    for source in EVERY.values():  # word lists and libraries are loaded before anything is measured
        inner.complete(LlmRequest("interaction_summary", "warm", "system", "user", {}, 10, source))
    llm = Counting(inner, dies_at=int(dies.partition(":")[2]))
    before, started = peak_mb(anew=True), time.perf_counter()
    reports = rig.summarize(llm)
    took = {
        "summarized": sum(report.summarized for report in reports),
        "asked": llm.asked,
        "longest": llm.longest,
        "growth_mb": round(peak_mb() - before, 1),
        "seconds": round(time.perf_counter() - started, 1),
    }
    sys.stdout.write(json.dumps(took))


if __name__ == "__main__":
    main(*sys.argv[1:])
