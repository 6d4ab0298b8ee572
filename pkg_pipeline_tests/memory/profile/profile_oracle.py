"""Rules of profiles, spelled out over what SQL and sums of gaps are to agree with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pkg_pipeline.memory.profile.records import Frequency
from pkg_pipeline.memory.profile.rules import MEANINGFUL_MESSAGES, frequency_of_gap, mean_gap_days


def frequency_of(starts: Sequence[datetime]) -> Frequency:
    """P21 over the starts of all interactions, in any order."""
    if not starts:
        return "rare"
    return frequency_of_gap(mean_gap_days(min(starts), max(starts), len(starts)))


def is_meaningful(*, decisions: int, open_items: int, own_messages: int, their_messages: int) -> bool:
    """P22: whether an interaction was a meaningful contact."""
    spoke_both = min(own_messages, their_messages) >= MEANINGFUL_MESSAGES
    return decisions > 0 or open_items > 0 or spoke_both
