"""Assembles a context block from the rows read (P1–P4, P6, P8, P10, P33)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from pkg_pipeline.memory.context import budget
from pkg_pipeline.memory.context.card import head
from pkg_pipeline.memory.context.filling import Printed, fill_rest
from pkg_pipeline.memory.context.records import (
    TIERS,
    Block,
    BlockItem,
    BlockRules,
    BlockTier,
    ContextRows,
    LeftOut,
)
from pkg_pipeline.memory.context.relevance import CountMany
from pkg_pipeline.memory.context.rendering import SECTIONS, Line, LineRenderer, Place, with_mark
from pkg_pipeline.memory.context.tiers import bare, tier_lines, words_of
from pkg_pipeline.memory.records import Language, Tier
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.memory.text.lines import bullet, fit
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.phrases import phrases

LARGEST_PART_OF_TIER = 2
"""A single line may take at most 1/2 of its tier's share where not everything fits; the rest is cut off."""

UNCUT_PART = 3
"""The relationship is printed whole, and before all else, where it takes at most 1/3 of the budget; so are the first
open tasks, of which nobody doubts, as far as a third of it goes.
"""

SMALLEST_CUT_TOKENS = 24
"""Lines are not cut below this many tokens."""

UNCUT_TASK_TOKENS = 80
"""An open task of at most so many stands whole or not at all: cut, it does not say what is to be done."""


@dataclass(slots=True)
class _Wish:
    """The lines of one tier in order of preference, with their token counts."""

    tier: Tier
    share: int
    lines: list[Line]
    tokens: list[int]
    reserved: int = 0


def assemble(rows: ContextRows, rules: BlockRules, count_many: CountMany) -> Block:
    """The block of at most ``rules.max_tokens`` tokens; the same rows and rules give the same bytes.

    ``count_many`` counts printed lines, newline included. The caller counts the finished text once more (P6).
    """
    renderer = renderer_of(rows, rules)
    left_out = list(rows.left_out)
    lines = tier_lines(rows, rules, renderer, left_out, count_many)

    def count(text: str) -> int:
        return count_many([text])[0]

    heading = _head(rows, rules, renderer, count)
    head_tokens = sum(count_many(heading))
    total = rules.max_tokens - head_tokens
    wishes = [
        _Wish(tier, rules.shares[tier], lines[tier], count_many([bullet(line.text) for line in lines[tier]]))
        for tier in TIERS
    ]
    for wish in wishes:
        _reserve(wish, total)
    headings = [_headings(wish.lines) for wish in wishes]
    sizes = [count_many(list(own.values())) for own in headings]
    asked = [_request(wish, own, size) for wish, own, size in zip(wishes, headings, sizes, strict=True)]
    originals: dict[str, tuple[Line, int]] = {}
    if not _all_fit(asked, total):
        originals = _cut_long_lines(wishes, total, count)
        asked = [_request(wish, own, size) for wish, own, size in zip(wishes, headings, sizes, strict=True)]
    filled = budget.fill(asked, total=total)
    _give_back(wishes, filled, originals, total - sum(result.tokens for result in filled), count)
    whole = _fill_rest(wishes, filled, rows, renderer, total - sum(result.tokens for result in filled), count_many)
    if _take_back(wishes, filled, rows, whole, count):
        whole |= _fill_rest(wishes, filled, rows, renderer, total - sum(result.tokens for result in filled), count_many)
    left_out = [entry for entry in left_out if entry.id not in _covered(rows, whole)]
    return _block(heading, head_tokens, wishes, filled, left_out, rules)


def _reserve(wish: _Wish, total: int) -> None:
    """Put what must be told first: the relationship, then open tasks, each as far as a third of the budget goes."""
    most = total // UNCUT_PART
    lines = list(zip(wish.lines, wish.tokens, strict=True))
    about = [one for one in lines[:1] if one[0].kind == "profile" and one[1] <= most]
    tasks: list[tuple[Line, int]] = []
    for line, tokens in lines:
        most -= tokens if line.is_to_do else 0
        tasks += [(line, tokens)] if line.is_to_do and most >= 0 else []
    first = [*about, *tasks]
    keys = {line.key for line, _ in first}
    lines = [*first, *(one for one in lines if one[0].key not in keys)]
    wish.lines, wish.tokens = [line for line, _ in lines], [tokens for _, tokens in lines]
    wish.reserved = len(first)


def language_of(rows: ContextRows) -> Language:
    """The language that a block is printed in."""
    return rows.entity.language or detect(
        [message.text for message in rows.hot] or [summary.text for summary in rows.summaries] or [rows.entity.name]
    )


def renderer_of(rows: ContextRows, rules: BlockRules) -> LineRenderer:
    services = {message.chat.source for message in rows.hot if message.chat.kind == "direct"}
    return LineRenderer(rules, rows.entity, names_dialogs=len(services) > 1, words=phrases(language_of(rows)))


def _head(rows: ContextRows, rules: BlockRules, renderer: LineRenderer, count: Callable[[str], int]) -> list[str]:
    """The two head lines; cut to fit, or empty, where the budget is too small for them."""
    lines = head(rows, rules, renderer.words)
    if count(lines[0]) + count(lines[1]) <= rules.max_tokens:
        return lines
    name = fit(named(renderer.entity.name), limit=rules.max_tokens, count=count, printed="# {}\n".format)
    return [f"# {name}\n"] if name else []


def _headings(lines: list[Line]) -> dict[str, str]:
    return {key: text for line in lines for key, text in line.headings}


def _request(wish: _Wish, headings: dict[str, str], sizes: list[int]) -> budget.Request:
    index = {key: position for position, key in enumerate(headings)}
    units = tuple(
        budget.Unit(line.key, tokens, tuple(index[key] for key, _ in line.headings))
        for line, tokens in zip(wish.lines, wish.tokens, strict=True)
    )
    return budget.Request(wish.share, units, tuple(sizes), wish.reserved)


def _all_fit(requests: list[budget.Request], total: int) -> bool:
    return sum(budget.demands(requests)) <= total


def _cut_long_lines(wishes: list[_Wish], total: int, count: Callable[[str], int]) -> dict[str, tuple[Line, int]]:
    """Shorten lines that exceed their part of the tier; returns the originals by key."""
    originals: dict[str, tuple[Line, int]] = {}
    for wish, part in zip(wishes, budget.scaled([wish.share for wish in wishes], total=total), strict=True):
        limit = max(part // LARGEST_PART_OF_TIER, SMALLEST_CUT_TOKENS)
        for index, (line, tokens) in enumerate(zip(wish.lines, wish.tokens, strict=True)):
            is_task = line.kind == "action_item" and tokens <= UNCUT_TASK_TOKENS
            if tokens > limit and index >= wish.reserved and not is_task:
                text = fit(line.text, limit=limit, count=count)
                if text is not None:
                    originals.setdefault(f"{wish.tier} {line.key}", (line, tokens))
                    wish.lines[index] = _marked_short(line, text)
                    wish.tokens[index] = count(bullet(text))
    return originals


def _give_back(
    wishes: list[_Wish],
    filled: list[budget.Filled],
    originals: dict[str, tuple[Line, int]],
    left: int,
    count: Callable[[str], int],
) -> None:
    for wish, result in zip(wishes, filled, strict=True):
        for index in result.units:
            original = originals.get(f"{wish.tier} {wish.lines[index].key}")
            if original is None or left <= 0:
                continue
            line, tokens = original
            limit = wish.tokens[index] + left
            text = line.text if tokens <= limit else fit(line.text, limit=limit, count=count)
            if text is None:
                continue
            longer = tokens if text == line.text else count(bullet(text))
            if longer > wish.tokens[index]:
                left -= longer - wish.tokens[index]
                result.tokens += longer - wish.tokens[index]
                wish.tokens[index] = longer
                wish.lines[index] = line if text == line.text else _marked_short(line, text)


def _fill_rest(
    wishes: list[_Wish],
    filled: list[budget.Filled],
    rows: ContextRows,
    renderer: LineRenderer,
    left: int,
    count_many: CountMany,
) -> frozenset[UUID]:
    """Let the warm tier take what is left; returns the conversations printed whole."""
    warm = TIERS.index("warm")
    wish, result = wishes[warm], filled[warm]
    taken = {wishes[place].lines[index].key for place, one in enumerate(filled) if place != warm for index in one.units}
    room = Printed(count_many)
    room.add(wish.lines[index] for index in result.units)
    whole = fill_rest(room, rows, renderer, limit=result.tokens + left, elsewhere=frozenset(taken))
    told = {f"told {talk}" for talk in whole}
    missing = [
        line for line in wish.lines if line.key not in room.lines and told.isdisjoint(key for key, _ in line.headings)
    ]
    shown = list(room.lines.values())
    wishes[warm] = _Wish("warm", wish.share, [*(line for line, _ in shown), *missing], [])
    filled[warm] = budget.Filled(list(range(len(shown))), tokens=room.tokens)
    return whole


def _stands_in(rows: ContextRows, whole: frozenset[UUID], decisions: frozenset[str]) -> frozenset[str]:
    """Those of some decisions whose very words stand in a conversation that is printed whole."""
    told = [one for one in rows.decisions if str(one.id) in decisions and one.interaction_id in whole]
    talks = {one.interaction_id for one in told}
    said = {talk: bare("".join(one.text for one in rows.whole[talk].messages)) for talk in talks}
    return frozenset(str(one.id) for one in told if any(words in said[one.interaction_id] for words in words_of(one)))


def _take_back(
    wishes: list[_Wish],
    filled: list[budget.Filled],
    rows: ContextRows,
    whole: frozenset[UUID],
    count: Callable[[str], int],
) -> bool:
    """Earlier decisions that stand in a conversation printed whole are not said again; whether there were any."""
    cold = TIERS.index("cold")
    wish, result = wishes[cold], filled[cold]
    older = {place: line.id for place, line in enumerate(wish.lines) if line.section == "decisions"}
    if older.keys().isdisjoint(result.units):
        return False
    said = _stands_in(rows, whole, frozenset(older.values()))
    again = {place for place, line_id in older.items() if line_id in said}
    if again.isdisjoint(result.units):
        return False
    before = _headings([wish.lines[place] for place in result.units])
    kept = [place for place in range(len(wish.lines)) if place not in again]
    units = [kept.index(place) for place in result.units if place not in again]
    gone = sum(wish.tokens[place] for place in result.units if place in again)
    wish.lines, wish.tokens = [wish.lines[place] for place in kept], [wish.tokens[place] for place in kept]
    after = _headings([wish.lines[place] for place in units])
    gone += sum(count(title) for key, title in before.items() if key not in after)
    filled[cold] = budget.Filled(units, tokens=result.tokens - gone)
    return True


def _covered(rows: ContextRows, whole: frozenset[UUID]) -> set[str]:
    """Ids of what is told by conversations that are printed whole."""
    told = [one.id for one in rows.summaries if one.interaction_id in whole]
    decided = [one.id for one in rows.decisions if one.interaction_id in whole and one.importance != "high"]
    return {str(key) for key in (*whole, *told, *decided)}


def _marked_short(line: Line, text: str) -> Line:
    return replace(line, text=text, marks=with_mark(line.marks, "shortened"))


def _block(
    head: list[str],
    head_tokens: int,
    wishes: list[_Wish],
    filled: list[budget.Filled],
    left_out: list[LeftOut],
    rules: BlockRules,
) -> Block:
    tiers: list[BlockTier] = []
    everything: list[Line] = []
    for wish, result in zip(wishes, filled, strict=True):
        lines = sorted((wish.lines[index] for index in result.units), key=_order)
        tokens = result.tokens + (head_tokens if wish.tier == "permanent" else 0)
        tiers.append(BlockTier(wish.tier, tokens, tuple(item_of(line) for line in lines)))
        everything += lines
    keys = {line.key for line in everything}
    shown = {line.id for line in everything}
    left_out = [entry for entry in left_out if entry.id not in shown]
    for wish, result in zip(wishes, filled, strict=True):
        taken = set(result.units)
        for index, line in enumerate(wish.lines):
            if index in taken and "shortened" in line.marks:
                left_out.append(LeftOut(line.kind, line.id, "shortened"))
            elif line.key not in keys:
                left_out.append(LeftOut(line.kind, line.id, "budget"))
                keys.add(line.key)
    tokens = sum(tier.tokens for tier in tiers)
    return Block("".join((*head, *printed(everything))), tokens, tuple(tiers), bounded(left_out, rules.left_out_limit))


def printed(lines: Sequence[Line]) -> Iterator[str]:
    """The lines of all tiers by section, each heading once."""
    done: set[str] = set()
    for line in sorted(lines, key=_order):
        for key, title in line.headings:
            if key not in done:
                done.add(key)
                yield title
        yield bullet(line.text)


def _order(line: Line) -> tuple[int, Place]:
    return SECTIONS.index(line.section), line.place


def bounded(left_out: Sequence[LeftOut], limit: int) -> tuple[LeftOut, ...]:
    """At most ``limit`` entries, each named once; one more says how many others there are."""
    unique = list(dict.fromkeys(left_out))
    if len(unique) <= limit:
        return tuple(unique)
    rest = len(unique) - limit
    return (*unique[:limit], LeftOut("more", None, "more", rest))


def item_of(line: Line) -> BlockItem:
    return BlockItem(line.kind, line.id, line.text, line.at, line.message_ids, line.marks)
