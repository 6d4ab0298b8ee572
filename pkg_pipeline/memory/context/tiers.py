"""The lines that each tier asks for, in order of preference (P1–P4, P10, P33, B16, B17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from uuid import UUID

from pkg_pipeline.memory.context.card import SAID_BY_A_PERSON
from pkg_pipeline.memory.context.records import (
    BlockRules,
    ContextRows,
    KnownItem,
    LeftOut,
    PastSummary,
    Unsummarised,
    WholeTalk,
)
from pkg_pipeline.memory.context.relevance import CountMany, relevant_lines
from pkg_pipeline.memory.context.rendering import Line, LineRenderer, talk_place
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.recall.wishes import says_little
from pkg_pipeline.memory.records import Tier
from pkg_pipeline.memory.text.lines import bullet

IMPORTANCE_ORDER = {"high": 0, "medium": 1, "low": 2}

PERHAPS_DAYS = 60
"""Something perhaps done is asked after for so long, from its day on too; then it is taken for done."""

MOST_LAPSED = 5
LAPSED_DAYS = 90
"""What nobody spoke of for longer was kept or dropped without a word; it is listed, but no context tells it."""


def tier_lines(
    rows: ContextRows, rules: BlockRules, renderer: LineRenderer, left_out: list[LeftOut], count_many: CountMany
) -> dict[Tier, list[Line]]:
    """Lines per tier in order of preference; what is withheld or beyond a limit is added to ``left_out``."""
    items = _served(rows.open_items, left_out)
    open_words = {words for item in items if (words := bare(item.text))}
    decided = [one for one in _served(rows.decisions, left_out) if open_words.isdisjoint(words_of(one))]
    decisions = [one for one in decided if one.status != "lapsed"]
    left_out += [LeftOut(one.kind, str(one.id), "over") for one in decided if one.status == "lapsed"]
    left_out += [LeftOut("fact", str(one.id), "limit") for one in rows.facts if one.is_bare]
    lines: dict[Tier, list[Line]] = {
        "permanent": _permanent(rows, rules, decisions, items, renderer),
        "hot": _hot(rows, rules, renderer, left_out),
        "warm": _warm(rows, rules, decisions, renderer, left_out, count_many),
        "cold": _cold(rows, rules, decisions, items, renderer, left_out),
    }
    # recalled ones are worded differently there, but state the same
    says = {(line.kind, line.id): line.key for line in chain.from_iterable(lines.values())}
    gone = {item.id for item in (*rows.open_items, *rows.decisions) if item.status == "lapsed"}
    relevant = [one for one in rows.relevant if one.candidate.subject_id not in gone]
    found = relevant_lines(relevant, renderer, count_many, hint=rules.hint)
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
    rows: ContextRows, rules: BlockRules, decisions: list[KnownItem], items: list[KnownItem], renderer: LineRenderer
) -> list[Line]:
    """Facts, then HIGH decisions of any age that hold: those with something still open win, then the newest (P4)."""
    facts = [fact for fact in rows.told_facts if fact.fact_type != SAID_BY_A_PERSON]
    lines = [renderer.fact(fact, order=order) for order, fact in enumerate(facts)]
    unfinished = {item.interaction_id for item in items if item.status == "open"}
    high = [item for item in decisions if item.importance == "high" and _holds(item, rules)]
    high.sort(key=lambda item: (item.interaction_id not in unfinished, -item.first_at.timestamp(), str(item.id)))
    headings = renderer.under("permanent", renderer.words.permanent)
    for item in high:
        place = (len(rows.facts), -item.first_at.timestamp())
        lines.append(renderer.decision(item, section="permanent", place=place, headings=headings))
    return lines


def _hot(rows: ContextRows, rules: BlockRules, renderer: LineRenderer, left_out: list[LeftOut]) -> list[Line]:
    """The newest messages first; they are printed in order of time (P1, P10)."""
    left_out += [LeftOut("message", message.id, "limit") for message in rows.hot[rules.hot_limit :]]
    kept = enumerate(rows.hot[: rules.hot_limit])
    return [line for order, message in kept if (line := renderer.hot(message, order=-order)) is not None]


def _warm(
    rows: ContextRows,
    rules: BlockRules,
    decisions: list[KnownItem],
    renderer: LineRenderer,
    left_out: list[LeftOut],
    count_many: CountMany,
) -> list[Line]:
    """Conversations, newest first: a summary with its decisions (P2), or excerpts (P33); the words themselves where
    they are not longer (B21). What would be told by pleasantries alone is left out, but not of a conversation that
    goes on in the hot tier.
    """
    told = [one for one in rows.summaries if one.ended_at >= rules.warm_from]
    kept = [*told[: rules.summary_limit], *rows.unsummarised[: rules.summary_limit]]
    left_out += [LeftOut("summary", str(one.id), "limit") for one in told[rules.summary_limit :]]
    left_out += [
        LeftOut("interaction", str(one.interaction_id), "limit") for one in rows.unsummarised[rules.summary_limit :]
    ]
    kept.sort(key=lambda one: (-one.ended_at.timestamp(), str(one.interaction_id)))
    minor: dict[UUID, list[KnownItem]] = {}
    for item in decisions:
        if item.importance != "high":
            minor.setdefault(item.interaction_id, []).append(item)
    lines: list[Line] = []
    for one in kept:
        told = talk_lines(one, renderer)
        mine = minor.get(one.interaction_id, [])
        mine.sort(key=lambda item: (IMPORTANCE_ORDER[item.importance], str(item.id)))
        place, headings = talk_place(one), renderer.within(one)
        told += [
            renderer.decision(item, section="warm", place=(*place, 1, n), headings=headings)
            for n, item in enumerate(mine)
        ]
        talk = rows.whole.get(one.interaction_id)
        whole = [] if talk is None or isinstance(one, Unsummarised) else renderer.whole(talk)
        sizes = count_many([bullet(line.text) for line in (*told, *whole)]) if whole else []
        is_short = bool(whole) and sum(sizes[len(told) :]) <= sum(sizes[: len(told)])
        if not mine and one.ended_at < rules.hot_from and _tells_nothing(talk if is_short else one):
            left_out.append(LeftOut("interaction", str(one.interaction_id), "limit"))
        else:
            lines += whole if is_short else told
    return lines


def _tells_nothing(talk: PastSummary | Unsummarised | WholeTalk | None) -> bool:
    """Whether a conversation would be told by messages of a few words without a figure: "wow!" - "thanks"."""
    said = () if talk is None or isinstance(talk, PastSummary) else talk.messages
    return bool(said) and all(says_little(one.text) for one in said)


def talk_lines(talk: PastSummary | Unsummarised, renderer: LineRenderer) -> list[Line]:
    """A conversation as it is served where there is little room."""
    place = talk_place(talk)
    if isinstance(talk, PastSummary):
        told = [renderer.summary(talk, place=(*place, 0))]
    else:
        told = [
            renderer.excerpt(message, talk, place=(*place, 0, -number)) for number, message in enumerate(talk.messages)
        ]
    return [line for line in told if line is not None]


def _cold(
    rows: ContextRows,
    rules: BlockRules,
    decisions: list[KnownItem],
    items: list[KnownItem],
    renderer: LineRenderer,
    left_out: list[LeftOut],
) -> list[Line]:
    """P3: the relationship; what is open, overdue first; important milestones; what is doubted or perhaps done; the
    rest.
    """
    about = [] if rows.profile is None else [renderer.profile(rows.profile)]
    high, other = _milestones(rows, renderer)
    asked_after = rules.as_of - timedelta(days=PERHAPS_DAYS)
    surely = [item for item in items if item.status == "open" and not item.is_doubted]
    doubted = [item for item in items if item.status == "open" and item.is_doubted]
    perhaps = [item for item in items if item.status == "perhaps_done"]
    past = [
        item
        for item in perhaps
        if item.at < asked_after or (item.due_date or date.max) < asked_after.date() or _is_said_again(item, surely)
    ]
    lapsed = [item for item in items if item.status == "lapsed"]
    lapsed.sort(key=lambda item: (_was_sure(item), item.at), reverse=True)
    spoken_since = rules.as_of - timedelta(days=LAPSED_DAYS)
    told = [item for item in lapsed if _was_sure(item) and item.at >= spoken_since and not _is_said_again(item, surely)]
    told = told[:MOST_LAPSED]
    beyond = past + [item for item in lapsed if item not in told]
    left_out += [LeftOut(item.kind, str(item.id), "limit") for item in beyond]
    before = [
        item
        for item in decisions
        if (item.importance != "low" and item.first_at < rules.warm_from)
        or (item.importance == "high" and not _holds(item, rules))
    ]
    older = [item for item in before if _was_sure(item)]
    left_out += [LeftOut(item.kind, str(item.id), "limit") for item in before if not _was_sure(item)]
    older.sort(
        key=lambda item: (
            not _holds(item, rules),
            IMPORTANCE_ORDER[item.importance],
            -item.first_at.timestamp(),
            str(item.id),
        )
    )
    headings = renderer.under("decisions", renderer.words.key_decisions)
    return [
        *(line for line in about if line is not None),
        *(renderer.action(item, order=n) for n, item in enumerate(surely)),
        *high,
        *(renderer.action(item, order=n) for n, item in enumerate(doubted)),
        *(renderer.action(item, order=n) for n, item in enumerate(perhaps) if item not in past),
        *(
            renderer.decision(item, section="decisions", place=(-item.first_at.timestamp(),), headings=headings)
            for item in older
        ),
        *other,
        *(renderer.action(item, order=n) for n, item in enumerate(told)),
    ]


def _holds(decision: KnownItem, rules: BlockRules) -> bool:
    """Whether it may still be in force: the last day that it speaks of is not past, and it is sure or not long ago."""
    is_over = decision.due_date is not None and decision.due_date < rules.today
    return not is_over and (decision.is_sure or decision.first_at >= rules.warm_from)


def _was_sure(item: KnownItem) -> bool:
    """Whether something of before was surely said, or matters."""
    return item.is_sure or item.importance == "high"


def _is_said_again(lapsed: KnownItem, items: Sequence[KnownItem]) -> bool:
    """Whether something open of the same owner tells the same deed to the same thing."""
    said = content(lapsed.text)
    owner = (lapsed.owner, lapsed.owner_name)
    shared = (said & content(item.text) for item in items if (item.owner, item.owner_name) == owner)
    return any(not all(map(str.isalpha, both)) and any(map(str.isalpha, both)) for both in shared)


def _milestones(rows: ContextRows, renderer: LineRenderer) -> tuple[list[Line], list[Line]]:
    """Important ones and others, newest first. Milestones that repeat a decision are left out."""
    if rows.profile is None:
        return [], []
    said = [bare(item.text) for item in rows.decisions]
    chosen = sorted(rows.profile.milestones, key=lambda one: (-one.day.toordinal(), one.id))
    new = [one for one in chosen if not any(text.startswith(bare(one.title)) for text in said)]
    lines = [(one, renderer.milestone(one, rows.profile)) for one in new]
    high = [line for one, line in lines if line is not None and one.importance == "high"]
    return high, [line for one, line in lines if line is not None and one.importance != "high"]


def words_of(decision: KnownItem) -> tuple[str, str, str]:
    """Its words, those without who said them, who may stand behind in brackets, and the sentence that it rests on."""
    said = decision.text.rstrip()
    by = said.rfind(" (") if said.endswith(")") else len(said)
    return bare(said), bare(said[:by]), bare(decision.quote)


def bare(text: str) -> str:
    """Its letters and digits: the same words may be told with other marks between them."""
    return "".join(filter(str.isalnum, text.casefold()))
