"""The context of somebody with whom little was said: the words themselves; what is known beside them as it fits (B21).

A block with its head, headings and lists would leave most of so little out, to say what the rest says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from pkg_pipeline.memory.context.assembly import bounded, item_of, printed, renderer_of
from pkg_pipeline.memory.context.card import about
from pkg_pipeline.memory.context.records import (
    TIERS,
    Block,
    BlockItem,
    BlockRules,
    BlockTier,
    ContextRows,
    HeardMessage,
    LeftOut,
)
from pkg_pipeline.memory.context.relevance import CountMany
from pkg_pipeline.memory.context.rendering import Line, LineRenderer
from pkg_pipeline.memory.context.tiers import tier_lines
from pkg_pipeline.memory.records import Tier
from pkg_pipeline.memory.text.lines import bullet, in_full, one_line
from pkg_pipeline.memory.text.marks import named
from pkg_pipeline.memory.text.phrases import clock

SHORT_TEXT_TOKENS: Final = 600
"""With less said, a block of lists within the size of the full text shows fewer than half of the messages (labelled
accounts).
"""

_Printed = tuple[HeardMessage, str, str]
"""A message, the heading before it or "", its line without a bullet."""


@dataclass(slots=True)
class _Rest:
    """Lines that stand above the words, as far as they fit; a heading is counted with the first line under it."""

    left: int
    count: Callable[[str], int]
    lines: dict[Tier, list[Line]] = field(default_factory=lambda: {tier: [] for tier in TIERS})
    tokens: Counter[Tier] = field(default_factory=Counter[Tier])
    keys: set[str] = field(default_factory=set[str])
    headings: set[str] = field(default_factory=set[str])

    def add(self, line: Line, tier: Tier) -> None:
        titles = [(key, title) for key, title in line.headings if key not in self.headings]
        size = self.count(bullet(line.text)) + sum(self.count(title) for _, title in titles)
        if size <= self.left and line.key not in self.keys:
            self.left -= size
            self.lines[tier].append(line)
            self.keys.add(line.key)
            self.headings.update(key for key, _ in titles)
            self.tokens[tier] += size


def full_tokens(rows: ContextRows, rules: BlockRules, count_many: CountMany) -> int:
    """Tokens of all that a context stands for in its own words: what was said, that of the last minutes too, and
    what is known from elsewhere. 0: nothing was said.
    """
    said = rows.entity.hypothetical_tokens
    messages = _all_messages(rows)
    if len(messages) > rows.entity.messages:  # some stand in no conversation yet
        known = in_full(messages=len(messages), text_tokens=sum(count_many([one.text for one in messages])))
        said = max(said, known)
    return said + elsewhere_tokens(rows, rules, count_many) if said else 0


def elsewhere_tokens(rows: ContextRows, rules: BlockRules, count_many: CountMany) -> int:
    """Tokens of the facts about somebody of few words that these do not settle: decided by a person, told by others."""
    if rows.entity.hypothetical_tokens > SHORT_TEXT_TOKENS:
        return 0
    return _tokens_of(_elsewhere(rows, renderer_of(rows, rules)), count_many)


def _tokens_of(lines: Sequence[Line], count_many: CountMany) -> int:
    titles = dict(chain.from_iterable(line.headings for line in lines))
    return sum(count_many([*(bullet(line.text) for line in lines), *titles.values()]))


def short_block(rows: ContextRows, rules: BlockRules, count_many: CountMany) -> Block | None:
    """Every message, oldest first, within ``rules.max_tokens``; None where that is not short, not known or no room."""
    messages = _all_messages(rows)
    if rows.entity.hypothetical_tokens > SHORT_TEXT_TOKENS or len(messages) < max(rows.entity.messages, 1):
        return None
    if any(one.is_cut for one in messages) or len(rows.hot) > rules.hot_limit:
        return None
    renderer = renderer_of(rows, rules)
    ways: list[tuple[str, int, list[_Printed], list[int]]] = []
    for name, told in _ways(messages, rows, renderer):
        sizes = count_many([text for _, heading, line in told for text in (heading, bullet(line))])
        ways.append((name, count_many([name])[0], told, sizes))
    left_out: list[LeftOut] = []
    known = tier_lines(rows, rules, renderer, left_out, count_many)
    elsewhere = elsewhere_tokens(rows, rules, count_many)
    to_do = _tokens_of([line for line in known["cold"] if line.is_to_do], count_many)
    # what is to be done is worth more than the hour of every message
    for kept in sorted({elsewhere + to_do, elsewhere, 0}, reverse=True):
        for name, head, told, sizes in ways:
            if sum(sizes) + head + kept <= rules.max_tokens:
                return _block(rows, rules, renderer, (name, head), told, sizes, known, left_out, count_many)
    return None


def _all_messages(rows: ContextRows) -> list[HeardMessage]:
    told = {one.id: one for one in chain(rows.hot, *(talk.messages for talk in rows.whole.values()))}
    return sorted(told.values(), key=lambda one: (one.sent_at, one.id))


def _ways(
    messages: Sequence[HeardMessage], rows: ContextRows, renderer: LineRenderer
) -> Iterator[tuple[str, list[_Printed]]]:
    """The name's heading and the lines, the fullest first: with each time; with the first of a day; with days alone."""
    name = f"# {named(rows.entity.name) or renderer.words.unknown}\n"
    names_chats = len({one.chat for one in messages}) > 1
    yield name, _by_day(messages, renderer, is_timed=True, names_chats=names_chats)
    yield name, _by_day(messages, renderer, is_timed=False, names_chats=names_chats)
    dated = list(_dated(messages, renderer))
    yield name, dated
    yield "", dated


def _by_day(
    messages: Sequence[HeardMessage], renderer: LineRenderer, *, is_timed: bool, names_chats: bool
) -> list[_Printed]:
    found: list[_Printed] = []
    before: object = None
    for one in messages:
        if not (text := one_line(one.text)):
            continue
        sent = renderer.local(one.sent_at)
        place = (sent.date(), one.chat if names_chats else None)
        when = (
            renderer.day(sent.date()) if is_timed else f"{renderer.day(sent.date())}{renderer.words.comma}{clock(sent)}"
        )
        heading = f"### {when}{f' · {renderer.chat(one.chat)}' if names_chats else ''}\n" if place != before else ""
        time = f"{clock(sent)} " if is_timed else ""
        found.append((one, heading, f"{time}{_speaker(one, renderer)}{renderer.words.colon}{text}"))
        before = place
    return found


def _dated(messages: Sequence[HeardMessage], renderer: LineRenderer) -> Iterator[_Printed]:
    before: object = None
    for one in messages:
        if not (text := one_line(one.text)):
            continue
        day = renderer.local(one.sent_at).date()
        when = f"{renderer.day(day)} " if day != before else ""
        yield one, "", f"{when}{_speaker(one, renderer)}{renderer.words.colon}{text}"
        before = day


def _speaker(one: HeardMessage, renderer: LineRenderer) -> str:
    return renderer.words.me if one.is_self else named(one.speaker or "") or renderer.words.unknown


def _elsewhere(rows: ContextRows, renderer: LineRenderer) -> list[Line]:
    theirs = {one.id for one in _all_messages(rows)}
    return [
        renderer.fact(fact, order=order)
        for order, fact in enumerate(rows.told_facts)
        if fact.is_decided or theirs.isdisjoint(fact.message_ids)
    ]


def _block(
    rows: ContextRows,
    rules: BlockRules,
    renderer: LineRenderer,
    name: tuple[str, int],
    told: Sequence[_Printed],
    sizes: Sequence[int],
    known: dict[Tier, list[Line]],
    left_out: list[LeftOut],
    count_many: CountMany,
) -> Block:
    def count(text: str) -> int:
        return count_many([text])[0]

    rest = _Rest(rules.max_tokens - sum(sizes) - name[1], count)
    for line in _elsewhere(rows, renderer):
        rest.add(line, "permanent")
    tasks = [line for line in known["cold"] if line.kind == "action_item"]
    for line in tasks:
        if line.is_to_do:
            rest.add(line, "cold")
    head, head_tokens = _who(rows, rules, renderer, rest.left, count)
    rest.left -= head_tokens
    asked: list[tuple[Tier, Line]] = [
        *(("cold", line) for line in tasks),
        *(("permanent", line) for line in known["permanent"]),
    ]
    for tier, line in asked:
        rest.add(line, tier)
    items = {tier: [item_of(line) for line in rest.lines[tier]] for tier in TIERS}
    tokens = rest.tokens
    tokens["permanent"] += name[1] + head_tokens
    said: list[str] = []
    for number, (one, heading, line) in enumerate(told):
        tier = "hot" if one.sent_at > rules.hot_from else "warm"
        items[tier].append(BlockItem("message", one.id, line, one.sent_at, (one.id,)))
        tokens[tier] += sizes[2 * number] + sizes[2 * number + 1]
        said += [heading, bullet(line)]
    left_out = [entry for entry in (*rows.left_out, *left_out) if entry.reason != "limit"]
    left_out += [LeftOut(line.kind, line.id, "budget") for _, line in asked if line.key not in rest.keys]
    return Block(
        "".join((name[0], head, *printed(list(chain(*rest.lines.values()))), *said)),
        tokens.total(),
        tuple(BlockTier(tier, tokens[tier], tuple(items[tier])) for tier in TIERS),
        bounded(left_out, rules.left_out_limit),
    )


def _who(
    rows: ContextRows, rules: BlockRules, renderer: LineRenderer, room: int, count: Callable[[str], int]
) -> tuple[str, int]:
    """Of the card's line the parts that fit: who it is, how often and since when we talk, the last contact."""
    moment = renderer.local(rules.as_of)
    parts = [
        *about(rows, rules, renderer.words),
        renderer.words.as_of.format(date=renderer.day(moment.date()), time=clock(moment)),
    ]
    kept: list[str] = []
    text, tokens = "", 0
    for part in parts:
        line = bullet(" · ".join((*kept, part)))
        if (size := count(line)) <= room:
            kept, text, tokens = [*kept, part], line, size
    return text, tokens
