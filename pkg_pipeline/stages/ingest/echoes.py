"""Which parts of new messages repeat what the memory served (B14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pkg_pipeline.memory.message.echoes import all_prints, openings, own_parts
from pkg_pipeline.stages.ingest.records import Own

Served = Callable[[Iterable[int]], frozenset[int]]
"""Those of these fingerprints that lines of recently served blocks have."""


def own_of(texts: Sequence[str], served: Served) -> list[Own]:
    """For each text where the words of its sender's own are; None: all of them. Most texts ask for nothing."""
    asked = [openings(text) for text in texts]
    known = served({one for several in asked for one in several}) if any(asked) else frozenset[int]()
    hits = [text if known.intersection(several) else None for text, several in zip(texts, asked, strict=True)]
    whole = served({one for text in hits if text for one in all_prints(text)}) if any(hits) else frozenset[int]()
    return [own_parts(text, whole) if text else None for text in hits]
