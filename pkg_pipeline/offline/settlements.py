"""What may be a decision in a chat: agreements to what was said before, words that settle, lines that the head takes
for one; merged by matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from pkg_pipeline.memory.message.attachments import is_placeholder
from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.answers import asides
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.decisions import judged
from pkg_pipeline.offline.found import roots_and_days
from pkg_pipeline.offline.matters import sums_of
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.weighing import asks_for_facts, has_money, is_question, weigh_decision

LOOK_BACK = 4
"""Lines before an agreement in which the proposal is looked for."""
LINE_FROM = -4.0
"""From these log-odds of the head of lines on a line is looked at though no words settle anything."""
SURER = 1.0
"""By so many log-odds what was said before decides more surely than what is said beside it."""
SAME_REACH = 6
BARE_TERMS = 1
NO_SCORE = 0.0
SCORED_FROM = 1.5
"""From this score of the sentence rules on a sentence is looked at, though nobody answered it."""

SUM = re.compile(r"\d{2,}|\d[.,]\d")

_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "decided": ("decided", "it_is_decided", "fix_it"),
    "choose": ("go_with", "we_take", "just_use", "granted", "accept", "approve"),
    "propose": ("let_us",),
    "we do": ("we_do", "we_will"),
    "then": ("then", "so_it_is"),
    "agree": ("agreed", "agree", "deal"),
    "final": ("decision", "final"),
    "instead": ("instead",),
    "should be": ("should_be",),
    "refuse": ("refuse",),
    "so be it": ("so_be_it",),
}
CLASS_OF: Final = {name: kind for kind, names in _CLASSES.items() for name in names}
Agreement = Literal["consented", "accepted"]


@dataclass(frozen=True, slots=True)
class Settled:
    """What may be a decision: its content, who proposed it, who agreed in which lines, and the words that settle it."""

    content: Sentence
    lines: tuple[int, ...]
    proposed_by: Person | None
    agreed: tuple[tuple[Person, int], ...] = ()
    agreement: Agreement | None = None
    settling: Sentence | None = None
    offer: Sentence | None = None
    score: float = NO_SCORE
    sure: float = 0.0
    """Log-odds of the head of lines that the line of the content decides."""

    @property
    def said(self) -> tuple[Sentence, ...]:
        """The sentences that say what is fixed: the content, the offer that was agreed to, the words that settle it."""
        given = (self.content, self.offer, self.settling)
        return tuple(dict.fromkeys(sentence for sentence in given if sentence is not None))


def settled_of(reading: Reading) -> list[Settled]:
    """Every agreement to something said before and every sentence with words of settlement, merged by matter."""
    found: list[Settled] = []
    for line in reading.lines:
        if line.is_data or not line.sentences:
            continue
        agreed = _agreement(reading, line)
        if agreed is not None:
            found.append(agreed)
        for sentence in line.sentences:
            said = _settlement(reading, line, sentence)
            if said is not None:
                found.append(said)
            scored = judged(reading, line, sentence)
            if scored is not None and scored.score >= SCORED_FROM:
                agreed = tuple((person, scored.lines[-1]) for person in scored.agreed_by)
                kind = "accepted" if agreed else None
                found.append(
                    Settled(scored.sentence, scored.lines, scored.proposed_by, agreed, kind, score=scored.score)
                )
    found += _by_head(reading, {line for one in found for line in one.lines})
    said = (one for one in found if not is_placeholder(one.content.text))
    return _merged([replace(one, sure=reading.chances[one.content.line].decision) for one in said])


def _by_head(reading: Reading, known: set[int]) -> list[Settled]:
    """Lines that the head of lines takes for a decision: with the other's line before it that does, or alone."""
    found: list[Settled] = []
    for line in reading.lines:
        if not _decides(reading, line):
            continue
        earlier = (one for one in reversed(reading.lines[max(0, line.index - LOOK_BACK) : line.index]))
        offer = next((one for one in earlier if one.speaker != line.speaker and _decides(reading, one)), None)
        own = _richest(line)
        if offer is None:
            if line.index not in known:
                found.append(Settled(own, (line.index,), line.speaker))
        elif not {offer.index, line.index} <= known:
            first = _richest(offer)
            content = own if says_what(own, line) and not is_question(own.text) else first
            lines = tuple(dict.fromkeys((content.line, offer.index, line.index)))
            found.append(Settled(content, lines, offer.speaker, ((line.speaker, line.index),), "accepted", offer=first))
    return found


def _decides(reading: Reading, line: Line) -> bool:
    return bool(line.sentences) and not line.is_data and reading.chances[line.index].decision >= LINE_FROM


def _richest(line: Line) -> Sentence:
    return max(line.sentences, key=lambda s: (says_what(s, line), min(len(s.terms), 3), -s.place))


def _kind_of_agreement(line: Line) -> Agreement | None:
    first = line.sentences[0]
    whole = " ".join(s.text for s in line.sentences[:2])
    said = asides(first.text, line.language)
    if "refusal" in said or "already" in said:
        return None
    table = phrases(line.language)
    if table.consent.search(whole) and not is_question(first.text):
        return "consented"
    return "accepted" if "acceptance" in said or table.acceptance.search(first.text) else None


def _agreement(reading: Reading, line: Line) -> Settled | None:
    """What a line agrees to: the last thing worth agreeing to that another said just before."""
    kind = _kind_of_agreement(line)
    if kind is None:
        return None
    earlier = [
        one
        for one in reading.lines[max(0, line.index - LOOK_BACK) : line.index]
        if one.speaker.entity_id != line.speaker.entity_id and not one.is_data
    ]
    between = [one for one in reading.lines[max(0, line.index - LOOK_BACK) : line.index] if one not in earlier]
    offers = [s for one in earlier for s in one.sentences if _may_be_agreed(s, one)]
    own = next((s for s in line.sentences if says_what(s, line) and not is_question(s.text)), None)
    if not offers:
        return Settled(own, (line.index,), line.speaker, (), kind) if own is not None and earlier else None
    content = offers[-1]
    if any(one.index > content.line and _refuses(one) for one in between):
        return None
    proposer = reading.lines[content.line].speaker
    quoted = own if own is not None and (is_question(content.text) or not says_what(content, line)) else content
    lines = tuple(dict.fromkeys((quoted.line, content.line, line.index)))
    return Settled(quoted, lines, proposer, ((line.speaker, line.index),), kind, offer=content)


def _refuses(line: Line) -> bool:
    return bool(line.sentences) and "refusal" in asides(line.sentences[0].text, line.language)


def says_what(sentence: Sentence, line: Line) -> bool:
    """Whether a sentence names something that can be fixed: a number, a day, an hour."""
    return (
        SUM.search(sentence.text) is not None
        or mark("clock").search(sentence.text) is not None
        or dated(sentence, line)
    )


def _may_be_agreed(sentence: Sentence, line: Line) -> bool:
    if asks_for_facts(sentence) or not (sentence.terms or says_what(sentence, line)):
        return False
    return (
        phrases(sentence.language).proposal.search(sentence.text) is not None
        or says_what(sentence, line)
        or weigh_decision(sentence, line, in_chat=True) is not None
        or (is_question(sentence.text) and mark("information").search(sentence.text) is None)
    )


def _settlement(reading: Reading, line: Line, sentence: Sentence) -> Settled | None:
    weighed = weigh_decision(sentence, line, in_chat=True)
    if weighed is None or is_question(sentence.text):
        return None
    kinds = {CLASS_OF.get(signal.name) for signal in weighed.signals}
    if not kinds & {"decided", "choose", "agree", "final", "then", "propose", "so be it"}:
        return None
    is_own = len(sentence.terms) > BARE_TERMS or (sentence.terms and "so be it" in kinds)
    if is_own or says_what(sentence, line):
        return Settled(sentence, (line.index,), line.speaker, settling=sentence)
    if not kinds & {"decided", "agree"}:
        return None
    earlier = reading.lines[max(0, line.index - LOOK_BACK) : line.index]
    rich = [s for one in earlier if not one.is_data for s in one.sentences if _may_be_agreed(s, one)]
    if not rich:
        return None
    said = rich[-1]
    return Settled(
        said, tuple(dict.fromkeys((said.line, line.index))), reading.lines[said.line].speaker, settling=sentence
    )


def _merged(found: list[Settled]) -> list[Settled]:
    """One of each matter: the last content that says what, with all who agreed."""
    kept: list[Settled] = []
    for one in sorted(found, key=lambda s: (max(s.lines), s.content.place)):
        twin = next((k for k in reversed(kept) if _same_matter(k, one)), None)
        if twin is None:
            kept.append(one)
            continue
        kept[kept.index(twin)] = _united(twin, one)
    return kept


def _same_matter(a: Settled, b: Settled) -> bool:
    if min(b.lines) - max(a.lines) > SAME_REACH:
        return False
    if set(a.lines) & set(b.lines):
        return True
    if has_money(a.content.text) and has_money(b.content.text) and sums_of(a.content.text) & sums_of(b.content.text):
        return True  # "350 000 ₽ for all of it" - "agreed, 350 thousand"
    first, second = roots_and_days(a.content), roots_and_days(b.content)
    return len(first & second) >= max(1.0, 0.5 * min(len(first), len(second)))


def _united(earlier: Settled, later: Settled) -> Settled:
    """Both as one: the later content unless it says less, or decides less surely; who proposed it does not agree with
    oneself.
    """
    thin = len(later.content.terms) <= BARE_TERMS and len(earlier.content.terms) > len(later.content.terms)
    confirmed = _confirms(earlier, later)
    is_beside = later.sure < earlier.sure - SURER
    stays = thin or confirmed or is_beside or later.content == earlier.content
    lead, other = (earlier, later) if stays else (later, earlier)
    kept = confirmed or (lead.agreement is None and earlier.agreement is not None)
    proposer = earlier.proposed_by if kept else lead.proposed_by
    agreed = {person: line for person, line in (*earlier.agreed, *later.agreed) if person != proposer}
    return replace(
        lead,
        lines=tuple(dict.fromkeys((lead.content.line, *sorted({*earlier.lines, *later.lines})))),
        proposed_by=proposer,
        agreed=tuple(agreed.items()),
        agreement="consented"
        if "consented" in (lead.agreement, other.agreement)
        else lead.agreement or other.agreement,
        settling=later.settling or earlier.settling,
        offer=later.offer or earlier.offer,
        score=max(later.score, earlier.score),
    )


def _confirms(earlier: Settled, later: Settled) -> bool:
    """Whether the later one only agrees to an agreement: no counter-offer with a number or hour of its own."""
    if later.offer is None or earlier.offer is None or later.offer.line not in {line for _, line in earlier.agreed}:
        return False
    return _named(later.offer.text) <= _named(earlier.offer.text)


def _named(text: str) -> set[str]:
    return {*re.findall(r"\d+", text), *(m.group().lower() for m in mark("clock").finditer(text))}


def dated(sentence: Sentence, line: Line) -> bool:
    return any(found.day >= line.day for found in find_dates(sentence.text, sentence.language, line.day))
