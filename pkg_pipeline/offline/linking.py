"""An open item meets every later message: kept, perhaps kept, cancelled, renewed, or still open (B16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pkg_pipeline.memory.gate.progress import acknowledges, says_done, tells_done
from pkg_pipeline.memory.items.records import CandidateChange, CandidateEnd, ShownItem
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.actions import FoundAction
from pkg_pipeline.offline.called_off import called_off
from pkg_pipeline.offline.closing_context import log_odds
from pkg_pipeline.offline.dates import EXACT, find_dates
from pkg_pipeline.offline.decisions import FoundDecision
from pkg_pipeline.offline.deeds import deeds_done
from pkg_pipeline.offline.evidence import Heard, heard, shows
from pkg_pipeline.offline.few_words import NOT_YET, kept_in_few_words
from pkg_pipeline.offline.judging import PERHAPS, SURE, Judged, cancellations, closings, meet, renewals
from pkg_pipeline.offline.line_head import Embed
from pkg_pipeline.offline.matters import Open, matter_of, roots_of_names, roots_of_text, shown_matter
from pkg_pipeline.offline.new_days import is_asked_of, new_days
from pkg_pipeline.offline.reading import Reading
from pkg_pipeline.offline.same_matter import may_be_same, same_tasks
from pkg_pipeline.offline.settling import cancelled_by, put_off, quote_of, sentence_of
from pkg_pipeline.offline.superseding import replaced

KEPT_AHEAD = 0.92
"""From here on a promise counts as kept before its day, by words that may promise it again, or that share nothing."""
EXCUSES = frozenset({"sorry", "not_yet"})
"""Words by which one speaks of what was promised before, whatever else is named."""


@dataclass(frozen=True, slots=True)
class Linked:
    """``changes`` of shown items; ``repeats``: indices of found tasks that only repeat a shown one; ``ends``: of found
    tasks ended in the same talk; ``replaces``: by index of a decision the ref that it supersedes; ``again``: indices
    of decisions that only repeat a shown one.
    """

    changes: tuple[CandidateChange, ...] = ()
    repeats: frozenset[int] = frozenset()
    replaces: Mapping[int, str] = field(default_factory=dict[int, str])
    ends: Mapping[int, CandidateEnd] = field(default_factory=dict[int, CandidateEnd])
    again: frozenset[int] = frozenset()


def link(
    reading: Reading,
    shown: Sequence[ShownItem],
    found: Sequence[FoundAction],
    decided: Sequence[FoundDecision],
    embed: Embed,
) -> Linked:
    """What a talk, judged line by line, says of the items shown to it and of its own. Pure."""
    names = roots_of_names(reading.source.participants)
    due = [item for item in shown if item.kind == "action_item" and item.status in ("open", "perhaps_done")]
    tasks = [item for item in due if not item.is_silent]
    items = [_shown(reading, item, names) for item in tasks] + [found_open(reading, one, names) for one in found]
    since = [-1] * len(tasks) + [max(one.lines[:1] or (one.sentence.line,)) for one in found]
    talk = heard(reading, names)
    met = meet(items, since, talk)
    says_kept, says_again = log_odds(reading, items, met, embed)
    kept = closings(met, says_kept, least=PERHAPS)
    told = kept_in_few_words(items, since, talk)
    kept |= {i: one for i, one in told.items() if i not in kept or kept[i].probability < one.probability}
    renewed = {i: one for i, one in renewals(met, says_again, says_kept).items() if i < len(tasks)}
    renewed = new_days(reading, items[: len(tasks)], talk) | renewed
    kept = {i: one for i, one in kept.items() if i not in renewed or one.probability >= KEPT_AHEAD}
    promised = {one.sentence.text for one in found}
    kept = {i: one for i, one in kept.items() if not _is_promise(one, items[i], promised)}
    given_up = cancellations(met)
    repeated = same_tasks(items[: len(tasks)], items[len(tasks) :], found)
    known = set(repeated)
    for index, one in list(renewed.items()):
        new = [i for i, action in enumerate(found) if action.sentence.line == one.said.line.index and i not in known]
        if len(new) != 1:
            continue
        old, again = items[index], items[len(tasks) + new[0]]
        is_of_it = may_be_same(old, again) or (is_asked_of(old, one.said) and not again.matter.things)
        if one.said.says & EXCUSES or is_of_it:
            repeated[new[0]] = index
        else:
            del renewed[index]
    changes: list[CandidateChange] = []
    for index, shown_item in enumerate(tasks):
        of_it = [found[i] for i, at in repeated.items() if at == index]
        change = (
            cancelled_by(shown_item, items[index], given_up.get(index))
            or _closed(shown_item.ref, items[index], kept.get(index), reading)
            or put_off(reading, shown_item, items[index], renewed.get(index), of_it)
        )
        if change is not None:
            changes.append(change)
    silent = [item for item in due if item.is_silent]
    if silent:
        unseen = [_shown(reading, item, names) for item in silent]
        changes += _silently(silent, unseen, items, since, kept, reading, talk, embed)
    in_force = [item for item in shown if item.kind == "decision"]
    replaces, again = replaced(reading, in_force, decided, names, embed)
    stands = (item for item in in_force if item.status == "open" and item.ref not in replaces.values())
    changes += called_off(talk, list(stands), names)
    return Linked(
        changes=tuple(changes),
        repeats=frozenset(repeated),
        replaces=replaces,
        ends={
            i: end
            for i in range(len(found))
            if (at := len(tasks) + i) in kept and (end := _end(items[at], kept[at], reading)) is not None
        },
        again=again,
    )


def _silently(
    silent: Sequence[ShownItem],
    unseen: Sequence[Open],
    items: Sequence[Open],
    since: Sequence[int],
    kept: Mapping[int, Judged],
    reading: Reading,
    talk: Sequence[Heard],
    embed: Embed,
) -> list[CandidateChange]:
    """The silent items that the talk surely keeps, by messages that close nothing else."""
    met = meet([*items, *unseen], [*since, *(-1 for _ in unseen)], talk)
    found = closings(met, log_odds(reading, [*items, *unseen], met, embed)[0], least=SURE)
    taken = {one.said.line.index for one in kept.values()}
    ends = (
        _closed(item.ref, one, found.get(len(items) + place), reading)
        for place, (item, one) in enumerate(zip(silent, unseen, strict=True))
    )
    by_line = {reading.lines[place].message.number for place in taken}
    return [end for end in ends if end is not None and end.to == "done" and not by_line.intersection(end.numbers)]


def _is_promise(kept: Judged, item: Open, promised: Collection[str]) -> bool:
    """Whether the sentence that is to keep an item promises or asks for something itself."""
    told = sentence_of(kept.said, item)
    return told is not None and told.text in promised and not _tells_its_deed(item, kept, told.text)


def _tells_its_deed(item: Open, kept: Judged, text: str) -> bool:
    """Whether who has to do it tells its very deed as done: "sent!", "looked at it, please change page 12"."""
    is_owners = item.owner is not None and item.owner == kept.said.line.speaker.entity_id
    is_to_come = in_any("offline", "closing", "later").search(text) is not None
    return is_owners and not is_to_come and bool(deeds_done(text) & item.matter.deeds)


def _closed(ref: str, item: Open, kept: Judged | None, reading: Reading) -> CandidateChange | None:
    end = None if kept is None else _end(item, kept, reading)
    if end is None:
        return None
    return CandidateChange(ref=ref, to=end.state, quote=end.quote, numbers=end.numbers, probability=end.probability)


def _end(item: Open, kept: Judged, reading: Reading) -> CandidateEnd | None:
    """That an item was kept; perhaps kept, if that is not sure. Before the day on which it is due more is needed."""
    message, quote = kept.said.line.message, quote_of(kept.said, item)
    talk = reading.source.messages
    is_ahead = item.due is not None and kept.said.line.day < item.due
    if is_ahead and not (message.attachments or tells_done(message.text) or acknowledges(message, _before(talk, kept))):
        return None
    says_it = says_done([message], quote, talk, item.text)
    excuses = kept.said.says & EXCUSES and not message.attachments
    if not says_it and (excuses or in_any("offline", "closing", "not_yet").search(quote)):
        return None
    if _is_ahead(quote, kept) and not (message.attachments or tells_done(message.text)):
        return None
    tells_it = says_it and _tells_its_deed(item, kept, quote)
    if is_ahead and not tells_it and kept.probability < KEPT_AHEAD:
        return None
    is_shown = shows(item, kept.said)
    is_clear = is_shown or kept.probability >= KEPT_AHEAD
    if not is_shown and (kept.said.says & NOT_YET or _is_ahead(message.text, kept)):
        return None
    state = "done" if kept.probability >= SURE and is_clear else "perhaps_done"
    return CandidateEnd(state, quote, (message.number,), round(kept.probability, 2))


def _is_ahead(quote: str, kept: Judged) -> bool:
    """Whether words name a day to come: "6052, paid on 29 March" is no payment yet."""
    line = kept.said.line
    return any(one.day > line.day and one.kind in EXACT for one in find_dates(quote, line.language, line.day))


def _before(talk: Sequence[SourceMessage], kept: Judged) -> Sequence[SourceMessage]:
    return [one for one in talk if one.number < kept.said.line.message.number]


def _shown(reading: Reading, item: ShownItem, names: frozenset[str]) -> Open:
    me, others = reading.source.self_person, reading.source.others
    owner = item.owner_entity_id
    if item.owner == "self" and me is not None:
        owner = me.entity_id
    elif item.owner == "them" and owner is None and len(others) == 1:
        owner = others[0].entity_id
    around = roots_of_text(item.said) - names
    return Open(shown_matter(item, names), owner, item.said_at, item.due_date, item.text, item.said, around)


def found_open(reading: Reading, one: FoundAction, names: frozenset[str]) -> Open:
    text = one.sentence.text if one.helper is None else f"{one.sentence.text}\n{one.helper.text}"
    owner = None if one.owner_person is None or one.owner == "both" else one.owner_person.entity_id
    said_at = reading.lines[one.sentence.line].message.sent_at
    said = "\n".join(reading.lines[line].message.text for line in one.lines)
    return Open(matter_of(text, names=names), owner, said_at, one.due, text, said, roots_of_text(said) - names)
