"""Whether each figure of a text stands with the words that it was said with: "timber 1,450, roofing 380" (B18).

A figure is a number, a day or a time. It is read with the words of its clause. It is wrong where every time that it
was said, another figure of its kind stood nearer to those words: in the same message, or in a later one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.amounts import CURRENCIES, SHORTEST_THING, Amount, Unit, amounts, is_unit, unit_of
from pkg_pipeline.memory.gate.calendar import EXACT, mentions
from pkg_pipeline.memory.gate.nearest import ANSWERS, is_question
from pkg_pipeline.memory.gate.number_words import spelled
from pkg_pipeline.memory.gate.wording import meaning, tokens
from pkg_pipeline.memory.languages import entries
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import sentences

ALIKE: Final = 2.0
"""A number may replace one that is at most so many times as large or small."""
HOUR: Final = 60
MOST_TIMES: Final = 100
"""A total is at most so many times its rate."""
BARE: Final = 1
"""A figure with so few words of its own takes the place of one that was named before."""
_PIECE: Final = re.compile(
    r"(?<!\d),|,(?!\d{3}(?!\d))|[;。、]|(?<!\d)\.(?=\s)|\s(?:—|–|-)\s(?=\D)|"
    r"\s(?:а|но|потом|but|then|plus|плюс)\s|(?<!\d)\s(?:и|and)\s|\s(?:и|and)\s(?!\d)|但是?|不过|而且|然后"
)
_LEAD: Final = re.compile(r"до |(?:until|till) (?:the )?")
_HAN_ONLY: Final = re.compile(f"[{HAN}]")


class Figure(NamedTuple):
    """``kind``: what can be confused with it. ``thing``: what it counts; ``others``: what others of its clause count.

    ``role``: old or new, if said so. ``rate``: of a price.
    """

    text: str
    kind: str
    values: frozenset[float]
    words: frozenset[str]
    thing: str = ""
    others: frozenset[str] = frozenset()
    role: str = ""
    rate: str | Unit = ""
    speaker: UUID | None = None
    place: int = 0


@cache
def _roles() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = [(role, source) for _, table in entries("quantities", "roles") for role, source in table.items()]
    return tuple((role, re.compile(source)) for role, source in rows)


@cache
def _rate() -> re.Pattern[str]:
    sources = [re.sub(r"\?P<\w+>", "", source) for _, source in entries("quantities", "rate")]
    return re.compile("|".join(f"(?:{source})" for source in sources))


def _rate_of(text: str) -> str | Unit:
    match = _rate().search(text)
    word = next((group for group in match.groups() if group), "") if match else ""
    return unit_of(word) or word


def _kind(number: Amount) -> str:
    if number.unit is None:
        return "count"
    return "sum" if number.unit.dimension in CURRENCIES else number.unit.dimension


@lru_cache(maxsize=4_096)
def figures(text: str, base: date) -> tuple[Figure, ...]:
    """The figures of a text said on ``base``, each with the words of its clause."""
    found: list[Figure] = []
    for sentence in sentences(text) or [text]:
        plain = spelled(sentence)
        head, colon, rest = plain.partition(": ")
        header = _words(head) if colon and not any(map(str.isdigit, head)) else frozenset[str]()
        pieces = [list(_of_piece(one, base, header)) for one in _PIECE.split(rest if header else plain)]
        told = [piece for piece in pieces if piece]
        if len(told) > 1:
            told = [[one._replace(words=one.words - header) for one in piece] for piece in told]
        found += _with_rates([figure for piece in told for figure in piece])
    return tuple(found)


def _with_rates(row: Sequence[Figure]) -> Iterator[Figure]:
    """A price without a rate has that of the one before in its sentence: "45 an hour in person, 32 online"."""
    last: Figure | None = None
    for one in row:
        if last is not None and not one.rate and one.kind in ("sum", "count") and not _is_total(one, last):
            yield one._replace(rate=last.rate)
        else:
            last = one if one.rate else last
            yield one


def _words(text: str) -> frozenset[str]:
    return frozenset(one for word, one in tokens(text) if one and not is_unit(word))


def _of_piece(piece: str, base: date, header: frozenset[str]) -> Iterator[Figure]:
    """The figures of one clause; what another one counts is not among its words."""
    days = [one for one in mentions(piece, base) if one.kind in EXACT]
    rest = piece
    for day in mentions(piece, base):
        if day.kind not in ("in", "ago", "now", "year"):
            rest = rest.replace(day.text, " ; ", 1)
    read = amounts(rest)
    rate = _rate_of(rest)
    words = (_words(_rate().sub(" ", rest)) | header) - {""}
    counted = [_counted(number) for number in read.numbers]
    for day in days:
        values = frozenset(float(one.toordinal()) for one in day.all_days)
        yield Figure(day.text, "day", values, words, role=_role(day.text, piece))
    for shown, minutes in read.clocks:
        yield Figure(shown, "clock", frozenset(map(float, minutes)), words, role=_role(shown, piece))
    for number, thing in zip(read.numbers, counted, strict=True):
        size = number.unit.size if number.unit else 1.0
        yield Figure(
            number.text,
            _kind(number),
            frozenset(round(value * size, 2) for value in number.values),
            words - (set(counted) - {thing}),
            thing,
            frozenset(counted) - {thing, ""},
            _role(number.text, rest),
            rate,
        )


def _counted(number: Amount) -> str:
    """The meaning of what a number counts."""
    if len(number.thing) >= SHORTEST_THING or _HAN_ONLY.match(number.thing):
        return meaning(number.thing) if len(number.thing) > 1 else number.thing
    return ""


def _role(shown: str, piece: str) -> str:
    """Whether a figure is what was before or what is to be, by the word before it."""
    before, _, after = piece.partition(shown)
    before += (_LEAD.match(shown) or [""])[0]
    return next((role for role, pattern in _roles() if pattern.search(f"{before[-24:]}<>{after[:24]}")), "")


def misbound(text: str, messages: Sequence[SourceMessage], bases: Sequence[date]) -> str | None:
    """The first figure of a text that was said of something else, or None."""
    said = _said(messages, bases)
    return next((figure.text for figure in figures(text, bases[-1]) if _is_misbound(figure, said)), None)


def _said(messages: Sequence[SourceMessage], bases: Sequence[date]) -> list[Figure]:
    return [
        one._replace(place=place, speaker=message.sender.entity_id)
        for place, (message, base) in enumerate(zip(messages, bases, strict=True))
        for one in figures(message.text, base)
    ]


def outdated(text: str, messages: Sequence[SourceMessage], bases: Sequence[date]) -> str | None:
    """The first number of a text that one person named before two settled on another for the same, or None."""
    said = _said(messages, bases)
    mine = figures(text, bases[-1])
    told = frozenset(value for figure in mine for value in figure.values)
    return next((one.text for one in mine if _is_outdated(one, [o for o in said if not o.values & told], said)), None)


def only_asked(text: str, messages: Sequence[SourceMessage], zone: ZoneInfo) -> str | None:
    """The first figure of a text that was only asked about, and got another of its kind for an answer; or None."""
    if "?" not in "".join(message.text for message in messages).replace("？", "?"):
        return None
    bases = [message.sent_at.astimezone(zone).date() for message in messages]
    said = [
        (one._replace(place=place, speaker=message.sender.entity_id), is_question(sentence))
        for place, (message, base) in enumerate(zip(messages, bases, strict=True))
        for sentence in sentences(message.text) or [message.text]
        for one in figures(sentence, base)
    ]
    mine = figures(text, bases[-1])
    told = frozenset(value for figure in mine for value in figure.values)
    for figure in mine:
        own = [pair for pair in said if _is_same(figure, pair[0])]
        if not own or not all(is_asked for _, is_asked in own):
            continue
        asked = own[-1][0]
        answers = [one for one, is_asked in said if not is_asked and 0 < one.place - asked.place <= ANSWERS]
        others = [one for one in answers if one.speaker != asked.speaker and not one.values & told]
        if any(_are_alike(figure, one) and _may_count_same(figure, one) for one in others):
            return figure.text
    return None


def _may_count_same(figure: Figure, one: Figure) -> bool:
    return not (figure.thing and one.thing) or figure.thing == one.thing


def _is_outdated(figure: Figure, others: Sequence[Figure], said: Sequence[Figure]) -> bool:
    own = [one for one in said if _is_same(figure, one)]
    if figure.kind in ("day", "clock") or len({one.speaker for one in own}) != 1:
        return False
    last = max(own, key=lambda one: one.place)
    later = [one for one in others if one.place > last.place and _are_alike(last, one)]
    settled = {
        value
        for other in later
        if _is_like(last, other)
        for value in other.values
        if len({one.speaker for one in later if value in one.values}) > 1
    }
    beside = [one for one in said if one.place == last.place and not one.values & (last.values | settled)]
    return bool(settled) and not any(_are_alike(last, one) and _is_like(last, one) for one in beside)


def _is_like(figure: Figure, one: Figure) -> bool:
    """Whether one number may replace another: they are of the same size, and of one thing as far as was said."""
    near = any(1 / ALIKE <= value / other <= ALIKE for value in figure.values for other in one.values if other)
    return (
        near and (not one.words or not figure.words or bool(figure.words & one.words)) and one.rate in ("", figure.rate)
    )


def unsure(text: str, messages: Sequence[SourceMessage], bases: Sequence[date]) -> str | None:
    """The first figure of a text that its messages do not say in so many words, or None.

    One is unsure that nobody said, that counted another thing, or of whose words more stand with another of its kind;
    unless it was said by itself after that one ("six? – seven").
    """
    said = _said(messages, bases)
    for figure in figures(text, bases[-1]):
        own = [one for one in said if _is_same(figure, one)]
        rivals = [one for one in said if not _is_same(figure, one) and _are_alike(figure, one)]
        if not any(_counts_same(figure, one) for one in own):
            return figure.text
        named = [one.place for one in own if one.words <= figure.words and one.rate in ("", figure.rate)]
        later = [one for one in rivals if one.place >= max(named, default=0)]
        if _most_shared(figure, own) < _most_shared(figure, later):
            return figure.text
    return None


def _counts_same(figure: Figure, one: Figure) -> bool:
    """Whether a number that was said counts what the figure does, as far as it says so ("14 boxes, two cracked")."""
    return not figure.thing or one.thing == figure.thing or (not one.thing and bool(figure.words & one.words))


def overtaken(text: str, messages: Sequence[SourceMessage], bases: Sequence[date]) -> str | None:
    """The first figure of a text after which its messages name another of its kind, which it leaves out; or None."""
    said = _said(messages, bases)
    mine = figures(text, bases[-1])
    told = frozenset(value for figure in mine for value in figure.values)
    for figure in mine:
        last = max((one.place for one in said if _is_same(figure, one)), default=len(messages))
        later = [one for one in said if one.place > last and _are_alike(figure, one) and not one.values & told]
        same = [one for one in later if not figure.thing or not one.thing or figure.thing == one.thing]
        if any(len(one.words - figure.words) <= BARE for one in same):
            return figure.text
    return None


def _most_shared(figure: Figure, others: Sequence[Figure]) -> int:
    return max((len(figure.words & one.words) for one in others), default=0)


def _is_misbound(figure: Figure, said: Sequence[Figure]) -> bool:
    own = [one for one in said if _is_same(figure, one)]
    rivals = [one for one in said if not _is_same(figure, one) and _are_alike(figure, one)]
    if figure.role == "by" and own and all(one.role == "new" for one in own):
        return True
    if figure.rate and own and all(one.rate not in ("", figure.rate) for one in own):
        return True
    return bool(own and rivals) and all(any(_is_nearer(figure, rival, one, said) for rival in rivals) for one in own)


def _is_same(figure: Figure, one: Figure) -> bool:
    if figure.values & one.values and _are_alike(figure, one):
        return True
    if {figure.kind, one.kind} == {"clock", "count"} and not one.thing:
        return bool(_half_days(figure) & _half_days(one))
    return figure.kind in ("sum", "count") and bool(
        {round(value / scale, 2) for value in figure.values for scale in (1000.0, 10_000.0)} & one.values
    )


def _half_days(figure: Figure) -> frozenset[float]:
    """Minutes since midnight or noon of a time, or of a mere hour ("at 5")."""
    size = 1 if figure.kind == "clock" else HOUR
    return frozenset(value * size % (12 * HOUR) for value in figure.values if value * size <= 24 * HOUR)


def _are_alike(figure: Figure, one: Figure) -> bool:
    if figure.kind == one.kind:
        return True
    kinds = {figure.kind: figure, one.kind: one}
    return kinds.keys() == {"sum", "count"} and not kinds["count"].thing


def _is_total(own: Figure, rate: Figure) -> bool:
    """Whether a sum is another one several times, as of several hours."""
    times = {round(value / one, 2) for value in own.values for one in rate.values if one}
    return any(value == int(value) and 2 <= value <= MOST_TIMES for value in times)


def _is_nearer(figure: Figure, rival: Figure, own: Figure, said: Sequence[Figure]) -> bool:
    """Whether ``rival`` was said with more of the figure's words than ``own``, and not before it."""
    if figure.rate and not own.rate and rival.rate == figure.rate and _is_total(own, rival):
        return True
    if figure.thing and figure.thing in own.others:
        return True
    if not any(one.place >= own.place for one in said if one.values & rival.values and _are_alike(one, rival)):
        return False
    if figure.role and figure.role == own.role:
        return False
    if figure.role and figure.role == rival.role and own.role not in ("", figure.role):
        return True
    if not own.words:
        return False
    if figure.thing and figure.thing == rival.thing and rival.place > own.place and figure.thing not in own.words:
        return True
    theirs, ours = figure.words & rival.words, figure.words & own.words
    return ours < theirs
