"""Whether the words that end an item speak of another thing than the item does (B16, B18)."""

from __future__ import annotations

from datetime import date
from typing import Final

from pkg_pipeline.memory.gate.amounts import amounts
from pkg_pipeline.memory.gate.calendar import blanked
from pkg_pipeline.memory.gate.progress import acknowledging, names_thing
from pkg_pipeline.memory.gate.wording import content, is_one_matter, tokens

LEAST_SUM: Final = 100


def ends_another(item: str, said_on: date, quote: str, day: date, names: frozenset[str]) -> bool:
    """Whether ``quote``, said on ``day``, does to another thing what ``item``, said on ``said_on``, is to do.

    Days, names of people (``names``: their meanings) and bare thanks are no things; a shared sum is.
    """
    mine, theirs = blanked(item, said_on), blanked(quote, day)
    if _sums(mine) & _sums(theirs) or _things(mine) & _things(theirs) - names:
        return False
    spared = names | acknowledging()
    return not is_one_matter(content(mine) - spared, content(theirs) - spared)


def _things(text: str) -> frozenset[str]:
    """The meanings of a text's words for things."""
    return frozenset(one for word, one in tokens(text) if one and names_thing(word))


def _sums(text: str) -> frozenset[float]:
    return frozenset(value for one in amounts(text).numbers for value in one.values if value >= LEAST_SUM)
