"""What was recalled for a live question, kept for the calls that an agent makes while it works on that question.

Between two of them only messages are added that no fold covers, and recall brings none of those. Where the folded part
is another (a fold, a deletion, an edit), or half a minute has passed, it is searched for again.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from pkg_pipeline.stages.window.records import Recalled, Recaller, RecallQuestion

KEPT_SECONDS = 30.0
"""Less than a sensor's tick away: what is made searchable meanwhile is found by the next question at the latest."""

KEPT_QUESTIONS = 256


class RememberedRecall:
    """Implements ``Recaller`` over another one. Safe to share between threads; an answer with a warning is not kept."""

    def __init__(self, recall: Recaller, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._recall, self._monotonic = recall, monotonic
        self._kept: OrderedDict[tuple[object, ...], tuple[float, Recalled]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, question: RecallQuestion) -> Recalled:
        key = (question.session_id, question.query, question.folded)
        now = self._monotonic()
        with self._lock:
            found = self._kept.get(key)
        if found is not None and now - found[0] < KEPT_SECONDS:
            return found[1]
        answer = self._recall(question)
        if not answer.warnings:
            with self._lock:
                self._kept[key] = (now, answer)
                self._kept.move_to_end(key)
                while len(self._kept) > KEPT_QUESTIONS:
                    self._kept.popitem(last=False)
        return answer
