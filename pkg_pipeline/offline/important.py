"""Which messages are worth keeping word for word for ever (P16): dates, sums, agreements, contacts, weighty lines."""

from __future__ import annotations

from collections.abc import Iterable

from pkg_pipeline.offline.centrality import lexrank, term_weights
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.reading import Line, Reading
from pkg_pipeline.offline.weighing import has_money, has_statistic

FRAGMENT_SHARE = 0.14
"""Of speech in fragments, this share of the lines carries what was said; each is only a piece of a sentence."""
MEETING_SHARE = 0.1
CHAT_SHARE = 0.1
LONG_TALK_WORDS = 1_000
"""In longer talks numbers and days are mentioned too often for each to be kept."""


def _concrete(line: Line) -> bool:
    return any(
        has_money(s.text) or any(d.day >= line.day for d in find_dates(s.text, s.language, line.day))
        for s in line.sentences
    )


def _weights(reading: Reading) -> list[float]:
    bags = [[t for s in line.sentences for t in s.terms] for line in reading.lines]
    weights, central = term_weights(bags), lexrank(bags)
    out: list[float] = []
    for line in reading.lines:
        terms = {t for s in line.sentences for t in s.terms}
        value = sum(weights[t] for t in terms) * (0.0 if line.is_data else 1.0)
        value *= 0.5 + float(central[line.index])
        value *= 1.0 + 0.2 * any(has_statistic(s.text) or has_money(s.text) for s in line.sentences)
        out.append(value)
    return out


def important_lines(reading: Reading, cited: Iterable[int], always: Iterable[int]) -> list[int]:
    """Indices in order: ``always``, then what items rest on and concrete lines (short talks), then the weightiest."""
    cited = set(cited)
    total = len(reading.lines)
    share = FRAGMENT_SHARE if reading.is_fragmentary else MEETING_SHARE if reading.is_meeting else CHAT_SHARE
    wanted = max(1, round(share * total))
    chosen = set(always)
    if reading.words < LONG_TALK_WORDS:
        chosen |= cited
        chosen |= {line.index for line in reading.lines if not line.is_data and _concrete(line)}
    weights = _weights(reading)
    for index in sorted(range(total), key=lambda i: (-weights[i], i)):
        if len(chosen) >= wanted:
            break
        if weights[index] > 0:
            chosen.add(index)
    return sorted(chosen)
