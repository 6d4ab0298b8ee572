"""What a message says of a promise, whichever: that it was kept, comes later, was called off."""

from __future__ import annotations

from functools import lru_cache

from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.deeds import deeds_done
from pkg_pipeline.offline.phrases import mark

CLAIMS = (
    "finished",
    "received",
    "thanks",
    "yes",
    "not_yet",
    "later",
    "cancelled",
    "postponed",
    "all",
    "there",
    "praise",
    "sorry",
    "partly",
)
TELLS_DONE = frozenset({"finished", "received", "thanks"})
AFFIRMED_CLAIMS = frozenset({"finished", "received", "there", "praise"})


@lru_cache(maxsize=4096)
def claims(text: str) -> frozenset[str]:
    """What a text says of a promise, whichever: finished, received, not yet …"""
    plainly = affirmed(text)
    return frozenset(
        name
        for name in CLAIMS
        if in_any("offline", "closing", name).search(plainly if name in AFFIRMED_CLAIMS else text)
    )


def reminds(text: str) -> bool:
    """Whether words only say that something was due, which keeps nothing: "the deposit was due on Monday"."""
    rest = mark("overdue").sub(" ", text)
    return rest != text and not (TELLS_DONE & claims(rest) or deeds_done(affirmed(rest)))


def affirmed(text: str) -> str:
    """A text without what it denies: "not sent" is not "sent"."""
    return in_any("offline", "closing", "negated").sub(" ", text)
