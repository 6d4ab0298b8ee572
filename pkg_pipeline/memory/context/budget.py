"""Token allotment of a context block (P6), as arithmetic over sizes.

A unit costs its own tokens plus those of its headings that are not printed yet. ``allot`` divides the budget among
tiers; ``fill`` takes units first-fit, then spends the rest in order of tiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

MOST_REFILLS = 3
"""Rounds of refilling; more than two were never needed."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One printable line; a ``key`` is printed once, by the first tier that asks.

    ``headings``: indices into ``Request.headings``, outermost first.
    """

    key: str
    tokens: int
    headings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What one tier asks for: ``units`` in order of preference, ``headings`` as token counts.

    ``reserved``: so many of the first units are taken before the budget is divided.
    """

    share: int
    units: tuple[Unit, ...]
    headings: tuple[int, ...] = ()
    reserved: int = 0

    def demand(self, taken: frozenset[str] | set[str] = frozenset()) -> int:
        """Tokens of all units whose key is not in ``taken``, with the headings they need."""
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
    """``shares`` scaled to ``total`` (P6), rounded down; the remainder goes to the first ones."""
    weight = sum(shares)
    if weight <= 0 or total <= 0:
        return [0] * len(shares)
    parts = [share * total // weight for share in shares]
    for index in range(total - sum(parts)):
        parts[index % len(parts)] += 1
    return parts


def allot(shares: Sequence[int], demands: Sequence[int], *, total: int) -> list[int]:
    """Tokens for each tier: at most its demand, together at most ``total``.

    What a tier does not need is shared among the others in proportion to their shares; a share of 0 gets only the rest.
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
    """Which units are printed within ``total`` tokens. Deterministic; earlier ``requests`` take precedence.

    A tier may also take units that an earlier one asked for and had no room for.
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
    """Tokens each tier asks for beyond earlier tiers: of all units, or of those they hold where ``filled`` is given."""
    said: set[str] = set()
    demands: list[int] = []
    for index, request in enumerate(requests):
        demands.append(request.demand(said))
        held = request.units if filled is None else (request.units[unit] for unit in filled[index].units)
        said.update(unit.key for unit in held)
    return demands


def _filled(requests: Sequence[Request], wanted: Sequence[int], *, total: int) -> list[Filled]:
    filled = [Filled() for _ in requests]
    printed: set[str] = set()
    for request, result in zip(requests, filled, strict=True):
        first = replace(request, units=request.units[: request.reserved])
        _take(first, result, printed, limit=total - sum(one.tokens for one in filled))
    reserved = [result.tokens for result in filled]
    rest = [most - own for most, own in zip(wanted, reserved, strict=True)]
    allotted = allot([request.share for request in requests], rest, total=total - sum(reserved))
    for request, result, own, limit in zip(requests, filled, reserved, allotted, strict=True):
        _take(request, result, printed, limit=own + limit)
    left = total - sum(result.tokens for result in filled)
    for request, result in zip(requests, filled, strict=True):
        before = result.tokens
        _take(request, result, printed, limit=before + left)
        left -= result.tokens - before
    return filled


def _take(request: Request, result: Filled, printed: set[str], *, limit: int) -> None:
    """Add every unit that still fits into ``limit`` tokens, repeated while a pass prints a heading."""
    while _pass(request, result, printed, limit=limit):
        pass


def _pass(request: Request, result: Filled, printed: set[str], *, limit: int) -> bool:
    """One first-fit pass; returns whether it printed a heading."""
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
