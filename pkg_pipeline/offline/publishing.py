"""What of an answer the gate would publish, asked before it is given (B18)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from pkg_pipeline.memory.gate.checker import Checker
from pkg_pipeline.memory.gate.foreign import known
from pkg_pipeline.memory.gate.telling import untrue_point
from pkg_pipeline.memory.gate.truth import Testimony
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Reading


class Publishing:
    """The gate's rules for sentences about one talk."""

    def __init__(self, reading: Reading) -> None:
        messages = (replace(line.message, text=line.message.text[:MAX_MESSAGE_CHARS]) for line in reading.lines)
        self._source = replace(reading.source, messages=tuple(messages))
        self._ordering = frozenset(line.message.number for line in reading.lines if line.is_data)

    @cached_property
    def _checker(self) -> Checker:
        source = self._source
        return Checker(source, held=known(source), ordering=self._ordering)

    @cached_property
    def _whole(self) -> Testimony:
        return self._checker.whole()

    def is_true(self, sentence: str) -> bool:
        """Whether a sentence in words of our own would be published as it stands."""
        return untrue_point(sentence, self._checker, self._whole) is None and self._whole.doubt(sentence) is None

    def may_quote(self, sentence: str) -> bool:
        """Whether words of the talk may be repeated: they give no orders and are of its language."""
        return self._checker.words(sentence, is_part=True) is None
