"""What a message says of an open item: the features of the pair that the weights of ``closing.json`` judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pkg_pipeline.memory.text.language_data import in_any
from pkg_pipeline.offline.claims import CLAIMS, TELLS_DONE, affirmed, claims, reminds
from pkg_pipeline.offline.dates import due_date
from pkg_pipeline.offline.deeds import deeds_done
from pkg_pipeline.offline.matters import (
    Matter,
    Open,
    Weights,
    kinds_attached,
    latin_roots,
    matter_of,
    things_of_text,
)
from pkg_pipeline.offline.reading import Line, Reading, words_of
from pkg_pipeline.offline.weighing import is_question

NEAR = 3
"""Lines before a message that may say what it speaks of."""
BARE_ROOTS = 2
DAYS_KNOWN = 365
AT_ONCE_DAYS = 0.5
AROUND = 0.7
"""What a word said around an item is worth, beside one of its own."""
BESIDE = 2
"""So many things may be named with words of something done that are none of an item's."""
NOT_HANDED_OVER = frozenset({"buy", "pay", "bring", "call", "meet", "register"})
"""Deeds that a file of another kind does not show."""
HOLDING = frozenset({"not_yet", "later", "cancelled", "postponed"})


@dataclass(frozen=True)
class Heard:
    """A message as evidence. ``says``, ``done``: of its statements, not of its questions.

    ``before``: lines shortly before it, nearest first; ``answer``: the next line of somebody else. ``stated``,
    ``asked``: the things that its statements, and that its questions name. ``only_reminds``: it states no more than
    that something was due.
    """

    line: Line
    matter: Matter
    says: frozenset[str]
    done: frozenset[str]
    is_question: bool
    only_asks: bool
    only_reminds: bool
    asks_if_done: bool
    before: tuple[Heard, ...]
    answer: Line | None
    stated: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @cached_property
    def is_bare(self) -> bool:
        return len(self.matter.roots) <= BARE_ROOTS and not self.matter.sums

    @cached_property
    def has_file(self) -> bool:
        return bool(self.line.message.attachments)

    @cached_property
    def is_acknowledged(self) -> bool:
        """Whether the next message of somebody else thanks or says that it came."""
        return self.answer is not None and bool({"thanks", "received"} & claims(self.answer.message.text))


def heard(reading: Reading, names: frozenset[str]) -> tuple[Heard, ...]:
    """The messages of a talk as evidence, without those that give orders (B15)."""
    found: list[Heard] = []
    asked = in_any("offline", "closing", "asks_if_done")
    for line in reading.lines:
        if line.is_data:
            continue
        statements = [one.text for one in line.sentences if not is_question(one.text)]
        text = " ".join(statements)
        questions = " ".join(one.text for one in line.sentences if is_question(one.text))
        before = tuple(one for one in reversed(found[-NEAR:]) if line.index - one.line.index <= NEAR)
        found.append(
            Heard(
                line=line,
                matter=_matter(line, names),
                says=claims(text),
                done=deeds_done(affirmed(text)),
                is_question=bool(line.sentences) and len(statements) < len(line.sentences),
                only_asks=bool(line.sentences) and not statements,
                only_reminds=bool(statements) and all(map(reminds, statements)),
                asks_if_done=any(asked.search(one.text) for one in line.sentences if is_question(one.text)),
                before=before,
                answer=_answer(reading, line),
                stated=things_of_text(text) - names,
                asked=things_of_text(questions) - names,
            )
        )
    return tuple(found)


def asked_of(items: Mapping[int, Open], said: Heard) -> frozenset[int]:
    """The items whose thing a message names in questions alone, with those that it then leaves out: "got the photos,
    and the drawing?" tells of the photos and of nothing else. Of all of them where it only says that something was due.
    """
    if said.only_reminds:
        return frozenset(items)
    asked = {i for i, item in items.items() if _only_asks_of(item, said)}
    if asked and said.stated:
        asked |= {i for i, item in items.items() if not said.stated & (item.matter.roots | item.around)}
    return frozenset(asked)


def shows(item: Open, said: Heard) -> bool:
    """Whether a message, or what was said just before, shares something with an item, or is a bare "done" or a file
    that may be of any: "I got the job!" brings no ladder back, and a photo books no tickets.
    """
    matter, mine = said.matter, item.matter
    if matter.things & mine.things or matter.sums & mine.sums or matter.files & mine.files:
        return True
    if any(one.matter.things & (mine.things | item.things_around) for one in said.before):
        return True
    if said.has_file:
        return bool(matter.latin & mine.latin) or not mine.deeds or not mine.deeds <= NOT_HANDED_OVER
    return len(matter.things) <= (BESIDE if said.done or TELLS_DONE & said.says else 0)


def _only_asks_of(item: Open, said: Heard) -> bool:
    """Whoever has to do it may tell in bare words that it is done before asking: "sent! is the drawing clear?"."""
    if said.has_file or not item.matter.things & said.asked or item.matter.things & said.stated:
        return False
    is_bare = not said.stated or "all" in said.says
    return not (is_bare and item.owner in (None, said.line.speaker.entity_id))


def _matter(line: Line, names: frozenset[str]) -> Matter:
    own = matter_of(line.message.text, names=names)
    files = line.message.attachments
    titles = " ".join(one.name.rpartition(".")[0] or one.name for one in files if one.name)
    in_titles = matter_of(titles.replace("_", " ").replace("-", " "), names=names)
    latin = latin_roots(words_of(titles.replace("-", " "), "en"))
    things = own.things | in_titles.things
    return Matter(own.roots | in_titles.roots, own.deeds, own.sums, kinds_attached(files), latin, things)


def _answer(reading: Reading, line: Line) -> Line | None:
    later = reading.lines[line.index + 1 : line.index + 1 + NEAR]
    return next((one for one in later if one.speaker.entity_id != line.speaker.entity_id), None)


def fit(item: Open, said: Heard, weights: Weights) -> float:
    """How much a message is about an item, from its own words and, less, from those shortly before; 0 to about 1.5."""
    own = max(own_fit(item, said, weights), AROUND * around_fit(item, said, weights))
    near = max((own_fit(item, one, weights) * _carry(said, one) for one in said.before), default=0.0)
    return max(own, near)


def around_fit(item: Open, said: Heard, weights: Weights) -> float:
    """How much a message shares with what was said when the item came up."""
    return weights.shared(said.matter.roots, item.around)


def own_fit(item: Open, said: Heard, weights: Weights) -> float:
    words = weights.shared(said.matter.roots, item.matter.roots)
    titles = 0.5 * bool(said.matter.latin & item.matter.latin)
    return min(1.5, words + titles + 0.25 * bool(said.matter.sums & item.matter.sums))


def _carry(said: Heard, earlier: Heard) -> float:
    """A question is answered, an own sentence goes on; the further, the less."""
    same = earlier.line.speaker.entity_id == said.line.speaker.entity_id
    strength = 0.9 if earlier.is_question and not same else 0.7
    return strength * 0.85 ** (said.line.index - earlier.line.index - 1)


@dataclass(frozen=True, slots=True)
class Rivals:
    """The other open items that a message may be about: how well it fits the best of them, how many the owner has in
    all and with the deed that is told, and how many of the owner's were said later.
    """

    best_fit: float
    of_owner: int
    of_deed: int
    newer: int


def features(item: Open, said: Heard, weights: Weights, rivals: Rivals) -> dict[str, float]:
    """The features of a pair."""
    own = own_fit(item, said, weights)
    whole = fit(item, said, weights)
    speaker = said.line.speaker
    by_owner = item.owner is not None and item.owner == speaker.entity_id
    by_other = item.owner is not None and not by_owner
    done = bool(item.matter.deeds & said.done)
    finished = bool(said.done) or "finished" in said.says
    got = bool({"received", "thanks"} & said.says)
    fits_file = said.has_file and bool(item.matter.files & said.matter.files)
    asked = next((one for one in said.before if one.asks_if_done and one.line.speaker != speaker), None)
    answers = asked is not None and own_fit(item, asked, weights) >= 0.25
    holds_off = bool({"not_yet", "later", "postponed"} & said.says)
    days = max(0.0, (said.line.message.sent_at - item.said_at).total_seconds() / 86_400)
    late = 0 if item.due is None else (said.line.day - item.due).days
    day = None if said.line.is_data else due_date(said.line.message.text, said.line.language, said.line.day)
    is_ahead = day is not None and day > said.line.day
    is_plain = not (HOLDING & said.says) and not is_ahead and not said.only_asks
    deeds = said.done | said.matter.deeds
    others = [one for one in said.before if one.line.speaker != speaker]
    asked_of = max(
        (max(own_fit(item, one, weights), AROUND * around_fit(item, one, weights)) for one in others), default=0
    )
    around = around_fit(item, said, weights)
    given: dict[str, float] = {name: float(name in said.says) for name in CLAIMS}
    given |= {
        "one": 1.0,
        "own_fit": own,
        "fit": whole,
        "covered": weights.covered(said.matter.roots, item.matter.roots),
        "alike": weights.alike(said.matter.roots, item.matter.roots),
        "ahead_of_others": max(-1.0, min(1.0, whole - rivals.best_fit)),
        "same_sum": float(bool(item.matter.sums & said.matter.sums)),
        "same_title": float(bool(said.matter.latin & item.matter.latin) and said.has_file),
        "done_deed": float(done),
        "done_deed_fit": done * min(1.0, whole),
        "done_deed_by_owner": float(done and by_owner),
        "other_deed": float(bool(said.done) and not done and bool(item.matter.deeds)),
        "finished_fit": finished * min(1.0, whole),
        "finished_by_owner": float(finished and by_owner),
        "bare_finished": float(finished and said.is_bare),
        "got_by_other": float(got and by_other),
        "got_fit": got * min(1.0, whole),
        "got_by_owner": float(got and by_owner and not finished),
        "by_owner": float(by_owner),
        "by_other": float(by_other),
        "later_alone": float("later" in said.says and not finished),
        "file": float(said.has_file),
        "file_fits": float(fits_file),
        "file_fits_by_owner": float(fits_file and by_owner),
        "file_fit": said.has_file * min(1.0, whole),
        "acknowledged": float(said.is_acknowledged),
        "acknowledged_fit": said.is_acknowledged * min(1.0, whole),
        "answers": float(answers),
        "around_fit": around,
        "asked_fit": asked_of,
        "asked_fit_by_owner": by_owner * asked_of,
        "asked_fit_held": by_owner * asked_of * holds_off,
        "day_ahead_by_owner": float(is_ahead and by_owner),
        "day_ahead_held": float(is_ahead and holds_off),
        "day_ahead_fit": is_ahead * min(1.0, whole),
        "day_ahead_asked": is_ahead * by_owner * asked_of,
        "held_by_owner": float(holds_off and by_owner),
        "held_fit": holds_off * min(1.0, whole),
        "sorry_by_owner": float("sorry" in said.says and by_owner),
        "same_deed_ahead": float(is_ahead and by_owner and bool(item.matter.deeds & said.matter.deeds)),
        "day_ahead": float(is_ahead),
        "plain_fit_by_owner": by_owner * is_plain * min(1.0, own),
        "plain_fit_by_other": by_other * is_plain * min(1.0, own),
        "there_fit": float("there" in said.says) * is_plain * min(1.0, whole),
        "there_by_owner": float("there" in said.says and by_owner and is_plain),
        "praise_by_other": float("praise" in said.says and by_other),
        "praise_fit": float("praise" in said.says) * min(1.0, whole),
        "got_deed": float(got and by_other and bool(item.matter.deeds & deeds)),
        "got_newest": float(got and by_other and not rivals.newer),
        "got_bare": float(got and by_other and said.is_bare),
        "past_due_plain": float(item.due is not None and late >= 0 and is_plain) * min(1.0, whole),
        "answers_no": float(answers and holds_off),
        "answers_yes": float(answers and not by_other and ("yes" in said.says or finished) and not holds_off),
        "age": math.log1p(min(days, DAYS_KNOWN)) / math.log1p(DAYS_KNOWN),
        "near_due": float(item.due is not None and -3 <= late <= 7),
        "rivals": math.log1p(1 + rivals.of_owner),
        "only_of_deed": float(done and by_owner and not rivals.of_deed),
        "newest": float(not rivals.newer),
        "newest_bare": float(not rivals.newer and by_owner and finished and said.is_bare),
        "newest_file": float(not rivals.newer and by_owner and said.has_file),
        "at_once": float(days < AT_ONCE_DAYS),
        "at_once_finished": float(days < AT_ONCE_DAYS and by_owner and finished),
        "at_once_file": float(days < AT_ONCE_DAYS and by_owner and said.has_file),
    }
    return given | _things(item, said, weights)


def _things(item: Open, said: Heard, weights: Weights) -> dict[str, float]:
    """Whether both speak of the same things, whatever is done with them: "ordered a phone" orders no table."""
    around, own = item.things_around, said.matter.things
    mine = item.matter.things | around
    by_speaker: dict[bool, float] = {False: 0.0, True: 0.0}
    for one in said.before:
        is_own = one.line.speaker == said.line.speaker
        by_speaker[is_own] = max(by_speaker[is_own], weights.shared(one.matter.things, mine))
    shared = weights.shared(own, mine)
    same = item.matter.sums & said.matter.sums or item.matter.latin & said.matter.latin
    return {
        "things": weights.shared(own, item.matter.things),
        "things_around": weights.shared(own, around),
        "things_asked": by_speaker[False],
        "things_before": by_speaker[True],
        "other_things": len(own - mine) / len(own) if own else 0.0,
        "things_said": math.log1p(len(own)),
        "things_of_item": math.log1p(len(item.matter.things)),
        "only_deed": float(bool(item.matter.deeds & said.done) and bool(own) and bool(mine) and not shared),
        "no_link": float(not (shared or same or any(by_speaker.values()))),
    }


def rivals_of(items: Sequence[Open], open_now: Sequence[int], place: int, said: Heard, fits: Sequence[float]) -> Rivals:
    """Of the item ``open_now[place]``; ``fits``: of the message to each of ``open_now``."""
    item = items[open_now[place]]
    others = [items[i] for n, i in enumerate(open_now) if n != place and items[i].owner == item.owner]
    told = item.matter.deeds & said.done
    return Rivals(
        best_fit=others_best(fits, place),
        of_owner=len(others),
        of_deed=sum(bool(one.matter.deeds & told) for one in others),
        newer=sum(one.said_at > item.said_at for one in others),
    )


def others_best(fits: Sequence[float], index: int) -> float:
    return max((value for i, value in enumerate(fits) if i != index), default=0.0)
