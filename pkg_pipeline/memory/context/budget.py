"""Who gets how many tokens of a context block (P6), as arithmetic over sizes. No text, no counting of tokens here.

A tier asks for units in the order in which it wants them; each costs its own tokens plus those of the headings above
it that are not printed yet. ``allot`` fills shares like connected vessels: a tier that asks for less than its share
gives the rest to the others in proportion to theirs. ``fill`` then takes units first-fit within each allotment and, at
the end, spends what is left over on whatever still fits, in the order of the tiers. So the sum never exceeds the
budget, everything is in when everything fits, and nothing stays out that the remainder could hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_REFILLS = 3
"""Each one only gives a later tier more of what earlier ones could not hold; more than two were never needed."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One printable line. ``key`` names what it says: the same key is never printed twice, whichever tier asks first.

    ``headings`` are the headings it stands under, outermost first, as indices into ``Request.headings``.
    """

    key: str
    tokens: int
    headings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What one tier asks for. ``units`` in order of preference; ``headings`` are token counts of its titles."""

    share: int
    units: tuple[Unit, ...]
    headings: tuple[int, ...] = ()

    def demand(self, taken: frozenset[str] | set[str] = frozenset()) -> int:
        """Tokens of everything asked for, without units whose key is in ``taken`` and with the headings they need."""
        wanted = [unit for unit in self.units if unit.key not in taken]
        needed = {heading for unit in wanted for heading in unit.headings}
        return sum(unit.tokens for unit in wanted) + sum(self.headings[heading] for heading in needed)


@dataclass(slots=True)
class Filled:
    """What one tier got: indices into ``Request.units`` in the order taken, the headings they need, tokens of both."""

    units: list[int] = field(default_factory=list[int])
    headings: set[int] = field(default_factory=set[int])
    tokens: int = 0


def scaled(shares: Sequence[int], *, total: int) -> list[int]:
    """``shares`` scaled to ``total`` (P6); rounding down loses less than one token a share, given to the first ones."""
    weight = sum(shares)
    if weight <= 0 or total <= 0:
        return [0] * len(shares)
    parts = [share * total // weight for share in shares]
    for index in range(total - sum(parts)):
        parts[index % len(parts)] += 1
    return parts


def allot(shares: Sequence[int], demands: Sequence[int], *, total: int) -> list[int]:
    """Tokens for each tier: at most its demand, together at most ``total``.

    A tier whose demand is below its part of what is left is satisfied first; the rest is shared again among the
    others in proportion to their shares, until all of them want more than their part. A tier with share 0 gets what
    nobody with a share wants, in order.
    """
    granted = [0] * len(shares)
    open_tiers = [index for index, share in enumerate(shares) if share > 0 and demands[index] > 0]
    left = max(total, 0)
    while open_tiers:
        parts = dict(zip(open_tiers, scaled([shares[index] for index in open_tiers], total=left), strict=True))
        content = [index for index in open_tiers if demands[index] <= parts[index]]
        if not content:
            for index in open_tiers:
                granted[index] = parts[index]
            return granted
        for index in content:
            granted[index] = demands[index]
            left -= demands[index]
            open_tiers.remove(index)
    for index, share in enumerate(shares):
        if share <= 0:
            granted[index] = min(demands[index], left)
            left -= granted[index]
    return granted


def fill(requests: Sequence[Request], *, total: int) -> list[Filled]:
    """Which units are printed within ``total`` tokens. Deterministic; the order of ``requests`` is their precedence.

    A tier may ask for what an earlier one asked for too and could not hold: then it is filled again, with the tokens
    for that counted as its own.
    """
    wanted = demands(requests)
    filled = _filled(requests, wanted, total=total)
    for _ in range(MOST_REFILLS):
        unsaid = demands(requests, filled)
        if unsaid == wanted:
            break
        wanted = unsaid
        filled = _filled(requests, wanted, total=total)
    return filled


def demands(requests: Sequence[Request], filled: Sequence[Filled] | None = None) -> list[int]:
    """What each tier asks for beyond what an earlier one says already: all it asks for, or what it holds of that."""
    said: set[str] = set()
    demands: list[int] = []
    for index, request in enumerate(requests):
        demands.append(request.demand(said))
        held = request.units if filled is None else (request.units[unit] for unit in filled[index].units)
        said.update(unit.key for unit in held)
    return demands


def _filled(requests: Sequence[Request], wanted: Sequence[int], *, total: int) -> list[Filled]:
    """First-fit within each tier's allotment, then what is left over on whatever still fits."""
    filled = [Filled() for _ in requests]
    allotted = allot([request.share for request in requests], wanted, total=total)
    printed: set[str] = set()
    for request, result, limit in zip(requests, filled, allotted, strict=True):
        _take(request, result, printed, limit=limit)
    left = total - sum(result.tokens for result in filled)
    for request, result in zip(requests, filled, strict=True):
        before = result.tokens
        _take(request, result, printed, limit=before + left)
        left -= result.tokens - before
    return filled


def _take(request: Request, result: Filled, printed: set[str], *, limit: int) -> None:
    """Add to ``result`` every unit that still fits into ``limit`` tokens of this tier, in order of preference.

    Once more from the start after a pass that printed a heading: what was too dear with its heading may fit without.
    """
    while _pass(request, result, printed, limit=limit):
        pass


def _pass(request: Request, result: Filled, printed: set[str], *, limit: int) -> bool:
    """One first-fit pass; whether it printed a heading."""
    headings = len(result.headings)
    for index, unit in enumerate(request.units):
        if unit.key in printed:
            continue
        new = [heading for heading in unit.headings if heading not in result.headings]
        cost = unit.tokens + sum(request.headings[heading] for heading in new)
        if result.tokens + cost <= limit:
            printed.add(unit.key)
            result.units.append(index)
            result.headings.update(new)
            result.tokens += cost
    return len(result.headings) > headings
