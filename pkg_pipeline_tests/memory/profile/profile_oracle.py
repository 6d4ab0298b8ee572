"""Rules of profiles, spelled out over what SQL is to agree with."""

from __future__ import annotations

from pkg_pipeline.memory.profile.rules import MEANINGFUL_MESSAGES


def is_meaningful(*, decisions: int, open_items: int, own_messages: int, their_messages: int) -> bool:
    """P22: whether an interaction was a meaningful contact."""
    spoke_both = min(own_messages, their_messages) >= MEANINGFUL_MESSAGES
    return decisions > 0 or open_items > 0 or spoke_both
