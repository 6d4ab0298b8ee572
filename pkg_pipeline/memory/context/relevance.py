"""Which recalled lines a context prints for a task hint (P5), without repeating a statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pkg_pipeline.memory.context.records import ItemKind, Mark
from pkg_pipeline.memory.context.rendering import Line, LineRenderer
from pkg_pipeline.memory.recall.block import FEW_MESSAGES
from pkg_pipeline.memory.recall.records import SPOKEN, Candidate, Ranked
from pkg_pipeline.memory.text.content_words import content
from pkg_pipeline.memory.text.lines import bullet, one_line
from pkg_pipeline.memory.text.phrases import clock

CountMany = Callable[[Sequence[str]], list[int]]

AS_GOOD = 0.8
"""A shorter text may stand for a longer one if its score is at least this share of the other's."""

FIT_FLOOR = 0.5
"""What scores below this share of the best does not bear on the task."""

MOST_LINES = 10

NEAR_FLOOR = 0.8
"""As ``FIT_FLOOR`` for what shares no word with the task, where something else does."""

RETOLD_SHARE = 0.6
"""A derived text is left out if this share of its content words stands in the messages that come in."""

STATED = ("fact", "decision", "action_item")
"""These go before others: they are short, and say how things stand."""

_KINDS: dict[str, ItemKind] = {
    "message": "message",
    "tool_result": "message",
    "summary": "summary",
    "decision": "decision",
    "action_item": "action_item",
    "fact": "fact",
    "session_fold": "summary",
}


def relevant_lines(
    ranked: Sequence[Ranked], renderer: LineRenderer, count_many: CountMany, *, hint: str = ""
) -> list[Line]:
    """Lines in order of preference, of what fits the task well: one passage a message, no statement twice."""
    ranked = _fitting(ranked, content(hint))[:MOST_LINES]
    ranked.sort(key=lambda entry: entry.candidate.source not in STATED)
    worded = [(entry, _line(entry.candidate, renderer)) for entry in ranked]
    kept = [(entry, line) for entry, line in worded if line is not None]
    tokens = count_many([bullet(line.text) for _, line in kept])
    told = _shortest([entry for entry, _ in kept], tokens)
    said = frozenset[str]().union(
        *(
            content(entry.candidate.text)
            for (entry, _), is_told in zip(kept, told, strict=True)
            if is_told and entry.candidate.source in SPOKEN
        )
    )
    lines: dict[str, Line] = {}
    for (entry, line), is_told in zip(kept, told, strict=True):
        if is_told and not (line.kind == "summary" and _is_retold(entry.candidate.text, said)):
            lines.setdefault(line.key, line)
    return list(lines.values())


def _fitting(ranked: Sequence[Ranked], task: frozenset[str]) -> list[Ranked]:
    """What scores well beside the best; what holds no word of the task has to score better."""
    best = max((entry.score for entry in ranked), default=0.0)
    of_task = [bool(task & content(entry.candidate.text)) for entry in ranked]
    near = NEAR_FLOOR if any(of_task) else FIT_FLOOR
    return [
        entry
        for entry, shares_words in zip(ranked, of_task, strict=True)
        if entry.score >= (FIT_FLOOR if shares_words else near) * best
    ]


def _is_retold(text: str, said: frozenset[str]) -> bool:
    words = content(text)
    return bool(words) and len(words & said) >= RETOLD_SHARE * len(words)


def _shortest(ranked: Sequence[Ranked], tokens: Sequence[int]) -> list[bool]:
    """Marks, among a derived text and its messages, whichever needs fewer tokens."""
    told = [True] * len(ranked)
    place: dict[str, int] = {}
    for index, entry in enumerate(ranked):
        if entry.candidate.source in SPOKEN:
            for key in entry.candidate.message_ids:
                place.setdefault(key, index)
    for index, entry in enumerate(ranked):
        if entry.candidate.source in SPOKEN:
            continue
        rests_on = entry.candidate.message_ids
        same = [place[key] for key in rests_on if key in place and told[place[key]]]
        if not same or len(rests_on) > FEW_MESSAGES:
            continue
        best = max(ranked[one].score for one in same)
        if tokens[index] < sum(tokens[one] for one in same) and entry.score >= AS_GOOD * best:
            for one in same:
                told[one] = False
        else:
            told[index] = False
    return told


def _line(one: Candidate, renderer: LineRenderer) -> Line | None:
    text = one_line(one.text)
    if not text:
        return None
    kind = _KINDS[one.source]
    at = renderer.local(one.at)
    when = f"{renderer.day(at.date())} {clock(at)}"
    if kind == "message":
        speaker = renderer.words.me if one.is_self else one_line(one.speaker or "") or renderer.words.unknown
        said, identity = f"{when} {speaker}{renderer.words.colon}{text}", one.message_ids[0]
    else:
        label = renderer.words.label(one.source)
        note = renderer.bracket(renderer.words.edited if one.is_stale else "")
        said, identity = f"{when} {label}{note}{renderer.words.colon}{text}", str(one.subject_id or one.id)
    headings = renderer.under("relevant", renderer.words.relevant)
    marks: tuple[Mark, ...] = ("stale",) if one.is_stale else ()
    return Line(
        "relevant", kind, identity, said, one.at, one.message_ids, (one.at.timestamp(), one.no), headings, marks
    )
