"""Assembles a context block from the rows read (P1–P4, P6, P8, P10, P33)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pkg_pipeline.memory.context import budget
from pkg_pipeline.memory.context.records import (
    TIERS,
    Block,
    BlockItem,
    BlockRules,
    BlockTier,
    ContextRows,
    KnownItem,
    LeftOut,
    Unsummarised,
)
from pkg_pipeline.memory.context.relevance import relevant_lines
from pkg_pipeline.memory.context.rendering import Line, LineRenderer, with_mark
from pkg_pipeline.memory.records import Tier
from pkg_pipeline.memory.text.language import detect
from pkg_pipeline.memory.text.lines import bullet, fit, one_line
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.phrases import phrases

CountMany = Callable[[Sequence[str]], list[int]]

LARGEST_PART_OF_TIER = 2
"""A single line may take at most 1/2 of its tier's share where not everything fits; the rest is cut off."""

SMALLEST_CUT_TOKENS = 24
"""Lines are not cut below this many tokens."""

IMPORTANCE_ORDER = {"high": 0, "medium": 1, "low": 2}


@dataclass(slots=True)
class _Wish:
    """The lines of one tier in order of preference, with their token counts."""

    tier: Tier
    share: int
    lines: list[Line]
    tokens: list[int]


def assemble(rows: ContextRows, rules: BlockRules, count_many: CountMany) -> Block:
    """The block of at most ``rules.max_tokens`` tokens; the same rows and rules give the same bytes.

    ``count_many`` counts printed lines, newline included. The caller counts the finished text once more (P6).
    """
    renderer = _renderer(rows, rules)
    left_out = list(rows.left_out)
    lines = _lines(rows, rules, renderer, left_out, count_many)

    def count(text: str) -> int:
        return count_many([text])[0]

    head = _head(renderer, rules, count)
    head_tokens = sum(count_many(head))
    total = rules.max_tokens - head_tokens
    wishes = [
        _Wish(tier, rules.shares[tier], lines[tier], count_many([bullet(line.text) for line in lines[tier]]))
        for tier in TIERS
    ]
    headings = [_headings(wish.lines) for wish in wishes]
    sizes = [count_many(list(own.values())) for own in headings]
    asked = [_request(wish, own, size) for wish, own, size in zip(wishes, headings, sizes, strict=True)]
    originals: dict[str, tuple[Line, int]] = {}
    if not _all_fit(asked, total):
        originals = _cut_long_lines(wishes, total, count)
        asked = [_request(wish, own, size) for wish, own, size in zip(wishes, headings, sizes, strict=True)]
    filled = budget.fill(asked, total=total)
    _give_back(wishes, filled, originals, total - sum(result.tokens for result in filled), count)
    return _block(head, head_tokens, wishes, filled, left_out, rules)


def _renderer(rows: ContextRows, rules: BlockRules) -> LineRenderer:
    language = rows.entity.language or detect(
        [message.text for message in rows.hot] or [summary.text for summary in rows.summaries] or [rows.entity.name]
    )
    services = {message.chat.source for message in rows.hot if message.chat.kind == "direct"}
    return LineRenderer(rules, rows.entity, names_dialogs=len(services) > 1, words=phrases(language))


def _lines(
    rows: ContextRows, rules: BlockRules, renderer: LineRenderer, left_out: list[LeftOut], count_many: CountMany
) -> dict[Tier, list[Line]]:
    """Printable lines per tier, in order of preference; withheld ones are added to ``left_out``."""
    decisions = _served(rows.decisions, left_out)
    open_items = _served(rows.open_items, left_out)
    lines: dict[Tier, list[Line]] = {
        "permanent": _permanent(rows, decisions, open_items, renderer),
        "hot": _hot(rows, rules, renderer, left_out),
        "warm": _warm(rows, rules, decisions, open_items, renderer, left_out),
        "cold": _cold(rows, rules, decisions, open_items, renderer),
    }
    # facts are worded differently there, but state the same
    says = {(line.kind, line.id): line.key for line in lines["permanent"]}
    found = relevant_lines(rows.relevant, renderer, count_many)
    lines["relevant"] = [replace(line, says=says.get((line.kind, line.id), line.says)) for line in found]
    worded = {line.id for tier in lines.values() for line in tier}
    # minor decisions of conversations beyond the limit have no heading, but must not be lost
    left_out += [LeftOut(item.kind, str(item.id), "limit") for item in decisions if str(item.id) not in worded]
    return lines


def _served(items: Sequence[KnownItem], left_out: list[LeftOut]) -> list[KnownItem]:
    """Items that do not rest on a deleted message (P29)."""
    left_out += [LeftOut(item.kind, str(item.id), "withheld") for item in items if item.is_withheld]
    return [item for item in items if not item.is_withheld]


def _permanent(
    rows: ContextRows, decisions: list[KnownItem], open_items: list[KnownItem], renderer: LineRenderer
) -> list[Line]:
    """Facts, then HIGH decisions of any age: those with something still open win, then the newest (P4)."""
    lines = [renderer.fact(fact, order=order) for order, fact in enumerate(rows.facts)]
    unfinished = {item.interaction_id for item in open_items}
    high = [item for item in decisions if item.importance == "high"]
    high.sort(key=lambda item: (item.interaction_id not in unfinished, -item.at.timestamp(), str(item.id)))
    headings = renderer.under("permanent", renderer.words.permanent)
    for item in high:
        place = (len(rows.facts), -item.at.timestamp())
        lines.append(renderer.decision(item, place=place, headings=headings))
    return lines


def _hot(rows: ContextRows, rules: BlockRules, renderer: LineRenderer, left_out: list[LeftOut]) -> list[Line]:
    """The newest messages first; they are printed in order of time (P1, P10)."""
    lines: list[Line] = []
    left_out += [LeftOut("message", message.id, "limit") for message in rows.hot[rules.hot_limit :]]
    for order, message in enumerate(rows.hot[: rules.hot_limit]):
        line = renderer.hot(message, order=-order)
        if line is not None:
            lines.append(line)
    return lines


def _warm(
    rows: ContextRows,
    rules: BlockRules,
    decisions: list[KnownItem],
    open_items: list[KnownItem],
    renderer: LineRenderer,
    left_out: list[LeftOut],
) -> list[Line]:
    """Conversations, newest first: a summary with its decisions and open items (P2), or excerpts (P33)."""
    left_out += [LeftOut("summary", str(one.id), "limit") for one in rows.summaries[rules.summary_limit :]]
    left_out += [
        LeftOut("interaction", str(one.interaction_id), "limit") for one in rows.unsummarised[rules.summary_limit :]
    ]
    kept = [*rows.summaries[: rules.summary_limit], *rows.unsummarised[: rules.summary_limit]]
    kept.sort(key=lambda one: (-one.ended_at.timestamp(), str(one.interaction_id)))
    lines: list[Line | None] = []
    for position, one in enumerate(kept):
        if isinstance(one, Unsummarised):
            lines += [
                renderer.excerpt(message, one, place=(position, -number)) for number, message in enumerate(one.messages)
            ]
            continue
        headings = renderer.within(one)
        mine = [item for item in decisions if item.interaction_id == one.interaction_id]
        mine.sort(key=lambda item: (IMPORTANCE_ORDER[item.importance or "low"], str(item.id)))
        due = [item for item in open_items if item.interaction_id == one.interaction_id]
        lines.append(renderer.summary(one, place=(position, 0)))
        lines += [renderer.decision(item, place=(position, 1, n), headings=headings) for n, item in enumerate(mine)]
        lines += [renderer.action(item, place=(position, 2, n), headings=headings) for n, item in enumerate(due)]
    return [line for line in lines if line is not None]


def _cold(
    rows: ContextRows,
    rules: BlockRules,
    decisions: list[KnownItem],
    open_items: list[KnownItem],
    renderer: LineRenderer,
) -> list[Line]:
    """P3: the relationship; open items, overdue first; milestones (lower preference); older decisions by importance."""
    about = [] if rows.profile is None else [renderer.profile(rows.profile, place=(-1, 0))]
    lines = [line for line in about if line is not None]
    headings = renderer.under("open", renderer.words.open_items)
    lines += [renderer.action(item, place=(0, number), headings=headings) for number, item in enumerate(open_items)]
    lines += _milestones(rows, renderer)
    older = [item for item in decisions if item.importance != "low" and item.at < rules.warm_from]
    older.sort(key=lambda item: (IMPORTANCE_ORDER[item.importance or "low"], -item.at.timestamp(), str(item.id)))
    headings = renderer.under("decisions", renderer.words.key_decisions)
    lines += [renderer.decision(item, place=(1, -item.at.timestamp()), headings=headings) for item in older]
    return lines


def _milestones(rows: ContextRows, renderer: LineRenderer) -> list[Line]:
    """By importance, then newest. Milestones that repeat a decision are left out."""
    if rows.profile is None:
        return []
    said = [_bare(item.description) for item in rows.decisions]
    chosen = sorted(rows.profile.milestones, key=lambda one: (one.importance != "high", -one.day.toordinal(), one.id))
    lines = [
        renderer.milestone(one, rows.profile, place=(-1, 1, one.day.toordinal()))
        for one in chosen
        if not any(text.startswith(_bare(one.title)) for text in said)
    ]
    return [line for line in lines if line is not None]


def _bare(text: str) -> str:
    return one_line(text).casefold().rstrip(" .…。")


def _head(renderer: LineRenderer, rules: BlockRules, count: Callable[[str], int]) -> list[str]:
    """The two head lines; cut to fit, or empty, where the budget is too small for them."""
    head = renderer.head()
    if count(head[0]) + count(head[1]) <= rules.max_tokens:
        return head
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
    return budget.Request(wish.share, units, tuple(sizes))


def _all_fit(requests: list[budget.Request], total: int) -> bool:
    return sum(budget.demands(requests)) <= total


def _cut_long_lines(wishes: list[_Wish], total: int, count: Callable[[str], int]) -> dict[str, tuple[Line, int]]:
    """Shorten lines that exceed their part of the tier; returns the originals by key."""
    originals: dict[str, tuple[Line, int]] = {}
    for wish, part in zip(wishes, budget.scaled([wish.share for wish in wishes], total=total), strict=True):
        limit = max(part // LARGEST_PART_OF_TIER, SMALLEST_CUT_TOKENS)
        for index, (line, tokens) in enumerate(zip(wish.lines, wish.tokens, strict=True)):
            if tokens > limit:
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
    text = list(head)
    tiers: list[BlockTier] = []
    printed: set[str] = set()
    for wish, result in zip(wishes, filled, strict=True):
        lines = sorted((wish.lines[index] for index in result.units), key=lambda line: line.place)
        done: set[str] = set()
        for line in lines:
            text += [title for key, title in line.headings if key not in done]
            done.update(key for key, _ in line.headings)
            text.append(bullet(line.text))
            printed.add(line.key)
        tokens = result.tokens + (head_tokens if wish.tier == "permanent" else 0)
        tiers.append(BlockTier(wish.tier, tokens, tuple(_item(line) for line in lines)))
    for wish, result in zip(wishes, filled, strict=True):
        taken = set(result.units)
        for index, line in enumerate(wish.lines):
            if index in taken and "shortened" in line.marks:
                left_out.append(LeftOut(line.kind, line.id, "shortened"))
            elif line.key not in printed:
                left_out.append(LeftOut(line.kind, line.id, "budget"))
                printed.add(line.key)
    tokens = sum(tier.tokens for tier in tiers)
    return Block("".join(text), tokens, tuple(tiers), bounded(left_out, rules.left_out_limit))


def bounded(left_out: Sequence[LeftOut], limit: int) -> tuple[LeftOut, ...]:
    """At most ``limit`` entries, each named once; one more says how many others there are."""
    unique = list(dict.fromkeys(left_out))
    if len(unique) <= limit:
        return tuple(unique)
    rest = len(unique) - limit
    return (*unique[:limit], LeftOut("more", None, "more", rest))


def _item(line: Line) -> BlockItem:
    return BlockItem(line.kind, line.id, line.text, line.at, line.message_ids, line.marks)
