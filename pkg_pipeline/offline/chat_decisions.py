"""Finds the decisions of a chat: what one proposed and another agreed to, or what somebody says is fixed (P13, B16)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.answers import asides
from pkg_pipeline.offline.dates import find_dates
from pkg_pipeline.offline.decisions import judged
from pkg_pipeline.offline.found import FoundDecision, roots_of
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.phrases import mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence
from pkg_pipeline.offline.weighing import asks_for_facts, has_money, is_question, weigh_action, weigh_decision

HEAD: Final = "chat_decisions"
THRESHOLD = 0.4
"""From this probability on a decision is published."""
ALONE_THRESHOLD = 0.5
"""Where nobody agreed, more is needed."""
LOOK_BACK = 4
"""Lines before an agreement in which the proposal is looked for."""
SAME_REACH = 6
CONTEST_REACH = 3
BARE_TERMS = 1
NO_SCORE = 0.0
SCORED_FROM = 1.5
"""From this score of the sentence rules on a sentence is looked at, though nobody answered it."""

_SUM = re.compile(r"\d{2,}|\d[.,]\d")

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
    return _merged(found)


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
    own = next((s for s in line.sentences if _says_what(s, line) and not is_question(s.text)), None)
    if not offers:
        return Settled(own, (line.index,), line.speaker, (), kind) if own is not None and earlier else None
    content = offers[-1]
    if any(one.index > content.line and _refuses(one) for one in between):
        return None
    proposer = reading.lines[content.line].speaker
    quoted = own if own is not None and (is_question(content.text) or not _says_what(content, line)) else content
    lines = tuple(dict.fromkeys((quoted.line, content.line, line.index)))
    return Settled(quoted, lines, proposer, ((line.speaker, line.index),), kind, offer=content)


def _refuses(line: Line) -> bool:
    return bool(line.sentences) and "refusal" in asides(line.sentences[0].text, line.language)


def _says_what(sentence: Sentence, line: Line) -> bool:
    """Whether a sentence names something that can be fixed: a number, a day, an hour."""
    return (
        _SUM.search(sentence.text) is not None
        or mark("clock").search(sentence.text) is not None
        or _dated(sentence, line)
    )


def _may_be_agreed(sentence: Sentence, line: Line) -> bool:
    if asks_for_facts(sentence) or not (sentence.terms or _says_what(sentence, line)):
        return False
    return (
        phrases(sentence.language).proposal.search(sentence.text) is not None
        or _says_what(sentence, line)
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
    if is_own or _says_what(sentence, line):
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
    first, second = roots_of(a.content.terms), roots_of(b.content.terms)
    return len(first & second) >= max(1.0, 0.5 * min(len(first), len(second)))


def _united(earlier: Settled, later: Settled) -> Settled:
    """Both as one: the later content unless it says less; who proposed it does not agree with oneself."""
    thin = len(later.content.terms) <= BARE_TERMS and len(earlier.content.terms) > len(later.content.terms)
    confirmed = _confirms(earlier, later)
    lead, other = (earlier, later) if thin or confirmed or later.content == earlier.content else (later, earlier)
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


def features(reading: Reading, one: Settled) -> dict[str, float]:
    """What the head weighs: agreement, words of settlement, what is fixed, and what speaks against it."""
    said = set[str]().union(*(asides(s.text, s.language) for s in one.said))
    signals = [w for s in one.said if (w := weigh_decision(s, reading.lines[s.line], in_chat=True)) is not None]
    found = {f"settles {CLASS_OF[g.name]}" for w in signals for g in w.signals if g.name in CLASS_OF}
    found |= {f"aside {name}" for name in said & {"wish", "playful", "care", "advice", "agenda", "immediate", "phatic"}}
    found |= {one.agreement} if one.agreement else {"nobody agreed"}
    duty = weigh_action(one.offer or one.content, reading.lines[(one.offer or one.content).line], in_chat=True)
    text = " ".join(reading.lines[i].message.text for i in one.lines)
    decided = "settles decided" in found
    checks = {
        "money": any(has_money(s.text) for s in one.said),
        "number": any(_SUM.search(s.text) for s in one.said),
        "clock": any(mark("clock").search(s.text) for s in one.said),
        "dated": any(_dated(s, reading.lines[s.line]) for s in one.said),
        "echo": _echoes(reading, one),
        "question": is_question(one.content.text),
        "question for facts": mark("information").search(one.content.text) is not None
        and is_question(one.content.text),
        "condition": "condition" in said and "polite" not in said,
        "unreal": "unreal" in said and "polite" not in said,
        "hedge": mark("hedge").search(one.content.text) is not None,
        "past": mark("past").search(one.content.text) is not None,
        "request": duty is not None and duty.giver == "addressee",
        "promise": duty is not None and duty.giver == "speaker",
        "says done": phrases(one.content.language).done.search(one.content.text) is not None,
        "laughter": "laughter" in asides(text, one.content.language),
        "recalled": "recalled" in said,
        "contested": _contested(reading, one),
        "no terms": not one.content.terms,
        "one term": len(one.content.terms) == 1,
        "long": one.content.words > 40,
        "several agreed": len(one.agreed) > 1,
        "alone": not one.agreed and not decided,
        "proposal": any(phrases(s.language).proposal.search(s.text) for s in one.said),
        "also settled": one.settling is not None and bool(one.agreed),
    }
    found |= {name for name, holds in checks.items() if holds}
    return dict.fromkeys(sorted(found), 1.0) | {"score": min(one.score, 5.0)}


def _echoes(reading: Reading, one: Settled) -> bool:
    """Whether an agreement repeats a number or a word of what was offered."""
    if one.offer is None:
        return False
    offered = set(re.findall(r"\d+", one.offer.text)) | roots_of(one.offer.terms)
    answers = [s for _, i in one.agreed for s in reading.lines[i].sentences]
    return any(offered & (set(re.findall(r"\d+", s.text)) | roots_of(s.terms)) for s in answers)


def _contested(reading: Reading, one: Settled) -> bool:
    """Whether another took it back or spoke against it right after."""
    last = max(one.lines)
    own = {reading.lines[one.content.line].speaker} if not one.agreed else set[Person]()
    for later in reading.lines[last + 1 : last + 1 + CONTEST_REACH]:
        if later.sentences:
            said = asides(later.message.text[:200], later.language)
            if "contest" in said or (later.speaker not in own and "refusal" in said and not one.agreed):
                return True
    return "contest" in asides(one.content.text, one.content.language)


def _dated(sentence: Sentence, line: Line) -> bool:
    return any(found.day >= line.day for found in find_dates(sentence.text, sentence.language, line.day))


def _importance(one: Settled, line: Line, text: str) -> Literal["high", "medium", "low"]:
    """P13: money, deadlines and obligations are high, two-word talk is low."""
    deadline = any(d.is_deadline for d in find_dates(one.content.text, one.content.language, line.day))
    if has_money(text) or deadline or phrases(one.content.language).obligation.search(text):
        return "high"
    return "low" if len(one.content.terms) <= 2 and not _says_what(one.content, line) else "medium"


def _told(reading: Reading, one: Settled) -> tuple[Sentence, Sentence | None] | None:
    """What states the decision, and what it answers where it says little; None if it is only asked, not answered."""
    if not _asks(one.content):
        is_thin = len(one.content.terms) <= BARE_TERMS and one.offer is not None and one.offer.line < one.content.line
        return one.content, one.offer if is_thin else None
    answers = [s for _, i in one.agreed for s in reading.lines[i].sentences if i > one.content.line and not _asks(s)]
    for answer in answers[:1]:
        agrees = phrases(answer.language).consent.search(answer.text) is not None or not answer.terms
        if _says_what(answer, reading.lines[answer.line]) or (agrees and not asks_for_facts(one.content)):
            return answer, one.content
    return None


def _asks(sentence: Sentence) -> bool:
    return is_question(sentence.text) or sentence.text.rstrip(" )").endswith(("?", "？"))


def find_chat_decisions(reading: Reading) -> list[FoundDecision]:
    """The decisions of a chat in order, one of each matter."""
    found: list[FoundDecision] = []
    for one in settled_of(reading):
        sure = probability(HEAD, features(reading, one))
        told = _told(reading, one)
        if told is None or sure < (THRESHOLD if one.agreed else ALONE_THRESHOLD):
            continue
        sentence, before = told
        line = reading.lines[one.content.line]
        text = " ".join(reading.lines[i].message.text[:300] for i in one.lines)
        agreed = tuple(person for person, _ in one.agreed)
        day = reading.lines[max(one.lines)].day
        found.append(
            FoundDecision(
                sentence,
                sure,
                one.lines,
                day,
                _importance(one, line, text),
                agreed_by=agreed,
                proposed_by=one.proposed_by if agreed else None,
                probability=sure,
                before=before,
            )
        )
    return sorted(found, key=lambda d: (d.lines[0], d.sentence.place))
