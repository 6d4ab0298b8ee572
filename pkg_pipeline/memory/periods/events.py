# ruff: noqa: E501 - a turn of phrase stays on its line
"""Whether a question asks for a time, and the events by which it orders itself: "before the vacation", "после свадьбы".

Here: reading both out of the words. Not here: dates (``periods``), finding the event.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Direction = Literal["before", "after", "during"]
MOST_EVENT_WORDS: Final = 6
_MOST_EVENT_LETTERS = 120
_MOST_HAN_LETTERS = 14


@dataclass(frozen=True, slots=True)
class EventRelation:
    """What is asked lies before, after or during ``event``, the words ``question[text_start:text_end]``."""

    direction: Direction
    event: str
    text_start: int
    text_end: int


def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(" ", r"\s{1,3}"), re.IGNORECASE)


_AUXILIARY = r"(?:did|do|does|was|were|is|are|am|have|has|had|will|would|should|can|could|'s|’s)"
_ASKS: Final = _expression(
    rf"\bwhen {_AUXILIARY}\b|\bwhen(?:'s|’s)\b|\b(?:since|until|till|by) when\b"
    r"|\b(?:tell me|remember|know|recall|say|said|ask|asked|check|find out|remind me|sure|exactly|wonder|and|or) (?:exactly )?when\b|\bwhen\s{0,3}\?"
    r"|\b(?:what|which) (?:exact )?(?:date|day|month|year|time|week|season|weekday)\b(?!-|s\b| (?:night|job|idea|palm|book|zone|old|machine|trip))"
    r"|\bhow (?:long|many (?:days|weeks|months|years)) (?:ago|back|since|has it been|is it since)\b"
    r"|(?<![\w-])(?:какого (?:числа|месяца|года)|в каком (?:году|месяце)|в какой (?:день|год|месяц)|какой (?:это )?(?:был )?(?:день|год|месяц)|какая (?:была )?дата|какую дату|на какой неделе|в какое время|с какого (?:числа|года|месяца|времени|дня)|с каких пор|как давно|давно ли|сколько (?:времени|лет|месяцев|дней|недель) (?:тому )?назад|во сколько|до какого (?:числа|года|месяца))(?!\w)"
    r"|什么时候|什么时间|啥时候|何时|几时|哪一?天|哪一?年|哪个月|哪个星期|哪一?周|哪日|几月|几号(?!楼|线|店|房)|几点|什么日子|什么日期|多久(?:以|之)?前|多长时间(?:以|之)?前"
)
_OPENING_WHEN: Final = re.compile(r"(?:^|[.!?…]\s{0,3})(?:(?:so|and|but|hey|ok|okay|also),?\s{1,3})?when(?=\s|$)", re.IGNORECASE)  # fmt: skip
_CLAUSE: Final = re.compile(r"\s{1,3}(?:i|we|you|he|she|they|it|my|our)\b[^.?!]{0,200}?,", re.IGNORECASE)
_KOGDA: Final = re.compile(r"(?<![\w-])когда(?![\w-])", re.IGNORECASE)
_KOGDA_ASKED: Final = re.compile(r"(?:^|[.!?…(]|(?:скаж|помн|вспомн|зна|напомн|интересно|уточн|подскаж|поня|спрос|говор)\w{0,8}(?: мне)?,?|(?<!\w)(?:а|и|ну|с|до|но|так))\s{0,3}$", re.IGNORECASE)  # fmt: skip

_REFERENCES = (
    r"(?:that|this|it|then|all|these|those|him|her|them|us|me|you|when|now|long|ever|и|этого|того|это|этим|тем|этой|всего|всё|все|сих|них|нее|неё|него|меня|тебя|нас|вас"
    r"|мной|тобой|нами|вами|ним|ней|ними|какого|каких|скольки|свидания|конца|настоящего)"
)
_NO_EVENT: Final = re.compile(
    rf"{_REFERENCES}$|(?:hours?|work hours)$|[0-9]|(?:вечера|утра|обеда|ночи)$", re.IGNORECASE
)
_CUTS: Final = re.compile(
    r"[,.;:!?()\n\"«»“”，。？！；：、（）]|\s(?:what|who|whom|where|which|how|why|did|when|что|кто|кого|кому|где|куда|откуда|как|какой|какая|какие|какое|какую|сколько|почему|зачем|когда)(?!\w)"
    r"|\s(?:on|in|at|during|в|на|за)\s{0,3}$",
    re.IGNORECASE,
)
_WORDS: Final = (
    _expression(r"(?<![\w'’-])(?:(?<!look\s)(?<!looks\s)(?<!looked\s)(?<!looking\s)(?<!named\s)(?<!takes\s)(?<!take\s)(?<!took\s)(?<!ask\s)(?<!asked\s)(?<!day\s)(?<!one\s)(?P<after>after|following|ever since|since)|(?P<before>before|until|till|prior to|ahead of)|(?P<during>during|while|throughout|in the middle of))(?:$| )(?=\S)"),
    _expression(r"(?<![\w-])(?:(?P<after>после(?: того,? как)?|с момента|со времени|со времён|со дня|с тех пор,? как|сразу после)|(?P<before>до(?: того,? как)?|перед(?: тем,? как)?|раньше|накануне|прежде чем)|(?P<during>во время|в ходе|в период|пока(?= (?:я|мы|ты|вы|он|она|они|шёл|шел|шла|шло|шли)(?!\w))))(?: )(?=\S)"),
)  # fmt: skip
_SPATIAL: Final = re.compile(
    r"(?:(?<!\w)(?:до|по)?(?:ехать|ездить|идти|йти|бежать|лететь|брат\w{2,4}|бир\w{2,6}|вез\w{1,3}|ехал\w?|ш[её]л|шла|шли|звон\w{2,5}|тянут\w{1,4})|далеко|близко|километров|км|метров|рас?стояние|дорог[аиу]|путь|маршрут|от \S{1,20}|почему)\s{1,3}$",
    re.IGNORECASE,
)  # fmt: skip
_IN_FRONT_OF: Final = re.compile(r"(?:дом|двер|зеркал|окн|экран|телевизор|компьютер|здани|подъезд|глаз|камер|люд|публик|вход)\w{0,4}$", re.IGNORECASE)  # fmt: skip
_ZH: Final = re.compile(r"(?P<before>之前|以前|前(?=[，,？?！。我你他她它咱在]|$))|(?P<after>之后|以后|后(?=[，,？?！。我你他她它咱在住做买去吃学用说有还都就的]|$))|(?P<during>的时候|期间|时(?=[，,？?]|$))")  # fmt: skip
_ZH_CUT: Final = re.compile(r".*[，。？！；：、,.?!\s\n]", re.DOTALL)
_ZH_HEAD: Final = re.compile(r".*(?:自从|在|从|有没有|记得)|^(?:[我你他她咱]们?)", re.DOTALL)
_ZH_NO_EVENT: Final = re.compile(r"(?:目|以|之|从|面|多久|不久|那|这|此|什么|啥|小|有|当|同|[0-9几两一二三四五六七八九十]+(?:个?月|[天年周日]))?$")  # fmt: skip


def asks_for_a_time(text: str) -> bool:
    """Whether the question wants a time for its answer. "What did I eat when I was in Rome" does not."""
    if _ASKS.search(text):
        return True
    if any(not _CLAUSE.match(text, m.end()) for m in _OPENING_WHEN.finditer(text)):
        return True
    return any(_kogda_asks(text, m) for m in _KOGDA.finditer(text))


def _kogda_asks(text: str, m: re.Match[str]) -> bool:
    before = text[max(0, m.start() - 24) : m.start()]
    if before.rstrip().endswith(","):
        return _KOGDA_ASKED.search(before) is not None
    after = text[m.end() : m.end() + 200]
    opens_a_clause = not before.strip() and re.match(r"\s{1,3}(?:я|мы|он|она|они|ты|вы)\s[^.?!]{0,180}?,", after)
    return not opens_a_clause


def find_relations(text: str, taken: Sequence[tuple[int, int]]) -> tuple[EventRelation, ...]:
    """The events named after "before", "во время" or ahead of 之后, in order; ``taken`` are the places of periods."""
    places = sorted(taken)
    starts = [start for start, _ in places]
    found = [
        relation for words in _WORDS for m in words.finditer(text) if (relation := _after_word(text, m, places, starts))
    ]
    found += [relation for m in _ZH.finditer(text) if (relation := _before_word(text, m, places, starts))]
    found += _when_clauses(text)
    return tuple(sorted(found, key=lambda relation: relation.text_start))


def _inside(places: list[tuple[int, int]], starts: list[int], at: int) -> bool:
    index = bisect_right(starts, at)
    return index > 0 and places[index - 1][1] > at


def _after_word(text: str, m: re.Match[str], places: list[tuple[int, int]], starts: list[int]) -> EventRelation | None:
    direction = m.lastgroup
    word = m.group().lower().split()[0]
    if direction not in ("before", "after", "during") or _inside(places, starts, m.start()):
        return None
    if word in ("до", "раньше") and _SPATIAL.search(text[max(0, m.start() - 32) : m.start()]):
        return None
    if word == "since" and not text[: m.start()][-40:].strip() and _CLAUSE.match(" " + text[m.end() : m.end() + 200]):
        return None  # "since I like tea, …" gives a reason
    stop = m.end() + _MOST_EVENT_LETTERS
    index = bisect_right(starts, m.end())
    if index < len(starts):
        stop = min(stop, starts[index])
    relation = _event(text, direction, m.end(), stop)
    if relation is not None and word == "перед" and _IN_FRONT_OF.match(relation.event.split()[0]):
        return None
    return relation


def _event(text: str, direction: Direction, start: int, stop: int) -> EventRelation | None:
    window = text[start:stop]
    cut = _CUTS.search(window)
    words = list(re.finditer(r"\S+", window[: cut.start()] if cut else window))[:MOST_EVENT_WORDS]
    if not words or _NO_EVENT.match(words[0].group()):
        return None
    first, last = words[0].start(), words[-1].end()
    return EventRelation(direction, window[first:last], start + first, start + last)


def _before_word(text: str, m: re.Match[str], places: list[tuple[int, int]], starts: list[int]) -> EventRelation | None:
    direction = m.lastgroup
    if direction not in ("before", "after", "during") or _inside(places, starts, m.start()):
        return None
    start = max(0, m.start() - _MOST_HAN_LETTERS)
    index = bisect_right(starts, m.start())
    if index:
        start = max(start, places[index - 1][1])
    for cut in (_ZH_CUT, _ZH_HEAD, _ZH_HEAD):
        if head := cut.match(text[start : m.start()]):
            start += head.end()
    event = text[start : m.start()]
    if _ZH_NO_EVENT.fullmatch(event) or event.endswith(("什么", "那", "有")):
        return None
    return EventRelation(direction, event, start, m.start())


_SUBORDINATE: Final = (
    re.compile(r"(?<=\w)\s{1,3}when\s{1,3}(?=(?:i|we|you|he|she|they|it|my|our)\s)|^when\s{1,3}(?=(?:i|we|he|she|they|my|our)\s[^.?!]{0,200}?,)", re.IGNORECASE),
    re.compile(r",\s{0,3}когда\s{1,3}(?=\w)|^когда\s{1,3}(?=(?:я|мы|он|она|они|ты|вы)\s[^.?!]{0,180}?,)", re.IGNORECASE),
)  # fmt: skip


def _when_clauses(text: str) -> list[EventRelation]:
    """During "… when I was in Rome", in a question that does not ask for the time itself."""
    if asks_for_a_time(text):
        return []
    clauses = (m for words in _SUBORDINATE for m in words.finditer(text))
    return [found for m in clauses if (found := _event(text, "during", m.end(), m.end() + _MOST_EVENT_LETTERS))]
