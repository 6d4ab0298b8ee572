"""The tone of a conversation, by counting words that colour it (P13). No weighing of single persons."""

from __future__ import annotations

from typing import Literal

from pkg_pipeline.offline.phrases import phrases
from pkg_pipeline.offline.reading import Reading

Tone = Literal["positive", "neutral", "negative", "formal", "informal"]
FEELING_SHARE = 0.15
"""A feeling is the tone when this share of the messages shows it and it outweighs its opposite one and a half times."""
MANNER_SHARE = 0.12


def tone_of(reading: Reading) -> Tone:
    """Feelings before manners: negative, positive, formal, informal, else neutral."""
    counts = {"positive": 0, "negative": 0, "formal": 0, "informal": 0}
    for line in reading.lines:
        table = phrases(line.language)
        text = line.message.text[:2000]
        counts["positive"] += table.positive.search(text) is not None
        counts["negative"] += table.negative.search(text) is not None
        counts["formal"] += table.formal.search(text) is not None
        counts["informal"] += table.informal.search(text) is not None
    total = max(1, len(reading.lines))
    share = {name: n / total for name, n in counts.items()}
    if share["negative"] >= FEELING_SHARE and share["negative"] >= 1.5 * share["positive"]:
        return "negative"
    if share["positive"] >= 2 * FEELING_SHARE and share["positive"] >= 1.5 * share["negative"]:
        return "positive"
    if share["formal"] >= MANNER_SHARE and share["formal"] >= 1.2 * share["informal"]:
        return "formal"
    if share["informal"] >= MANNER_SHARE and share["informal"] > share["formal"]:
        return "informal"
    return "neutral"
