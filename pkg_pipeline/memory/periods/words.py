# ruff: noqa: E501 - a turn of phrase stays on its line
"""The words of time in English, Russian and Chinese questions, and the words that only look like them.

Here: tables and expressions. Not here: what day a word means (``periods``). A space in a pattern stands for one to three
blanks; no part of a pattern is unbounded, so that reading is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal, NamedTuple

Op = Literal["in", "loose", "pair", "since", "after", "before", "by"]
STRONG: Final = 0
NEEDS_PREPOSITION: Final = 1
"""A time only after a word such as "in" or "since": a bare 2021 is also a room."""
MAYBE_A_NAME: Final = 2
"""As above, but "of" and "for" are not enough: a photo of June may show a person."""


class Row(NamedTuple):
    """One form of words: which rule reads it, how sure it is alone, and its expression.

    The expression is compiled when a text is first read by it: a question is in one language, and all 90 take longer
    to compile than the question takes to answer.
    """

    kind: str
    weak: int
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.source)


MONTHS: Final = {
    stem: number
    for stems in ("jan feb mar apr may jun jul aug sep oct nov dec", "янв фев мар апр май июн июл авг сен окт ноя дек")
    for number, stem in enumerate(stems.split(), 1)
} | {"мая": 5, "мае": 5, "маю": 5}
WEEKDAYS: Final = {
    stem: number
    for stems in ("mon tue wed thu fri sat sun", "пон вто сре чет пят суб вос", "一 二 三 四 五 六 日")
    for number, stem in enumerate(stems.split())
} | {"天": 6}
SEASONS: Final = {"spr": 3, "sum": 6, "aut": 9, "fal": 9, "win": 12, "вес": 3, "лет": 6, "осе": 9, "зим": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}  # fmt: skip
UNITS: Final = {
    "hou": "hour", "day": "day", "wee": "week", "for": "fortnight", "mon": "month", "qua": "quarter", "yea": "year",
    "час": "hour", "ден": "day", "дня": "day", "дне": "day", "сут": "day", "нед": "week", "мес": "month", "ква": "quarter",
    "год": "year", "лет": "year", "小": "hour", "天": "day", "日": "day", "周": "week", "星": "week", "礼": "week", "月": "month",
    "季": "quarter", "年": "year",
}  # fmt: skip
WHICH: Final = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "прош": -1, "мину": -1, "пред": -1,
    "поза": -2, "это": 0, "этой": 0, "этом": 0, "этот": 0, "эту": 0, "этим": 0, "этих": 0, "эти": 0, "этог": 0, "этого": 0, "теку": 0,
    "ныне": 0, "след": 1, "буду": 1, "ближ": 1, "上上": -2, "前": -2, "上": -1, "去": -1, "这": 0, "本": 0, "今": 0, "当": 0, "下": 1, "明": 1, "下下": 2,
}  # fmt: skip
FEW: Final = 0
"""What ``number_of`` gives for "a few": two to six."""
NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "couple": 2, "a couple": 2, "couple of": 2, "a couple of": 2, "few": FEW, "a few": FEW, "several": FEW,
    "один": 1, "одну": 1, "одного": 1, "два": 2, "две": 2, "пару": 2, "пара": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7,
    "восемь": 8, "девять": 9, "десять": 10, "двенадцать": 12, "несколько": FEW,
    "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": FEW, "好几": FEW,
}  # fmt: skip
DAY_WORDS: Final = {
    "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "this": 0, "day before": -2, "day after": 2,
    "позавчера": -2, "вчера": -1, "сегодня": 0, "завтра": 1, "послезавтра": 2,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "今早": 0, "今晚": 0, "明天": 1, "后天": 2,
}  # fmt: skip


def number_of(words: str | None) -> int:
    """A count in digits or words: 1 for nothing, ``FEW`` for "a few"."""
    text = " ".join((words or "").lower().split())
    if text.isdecimal():
        return int(text)
    if len(text) > 1 and "十" in text:
        tens, _, ones = text.partition("十")
        return NUMBERS.get(tens, 1) * 10 + NUMBERS.get(ones, 0)
    return NUMBERS.get(text, 1)


def stem_of(table: dict[str, int], word: str) -> int:
    """What a table says of an inflected word, by its first letters; ``KeyError`` where it says nothing."""
    word = word.lower()
    return table[next(key for length in (5, 4, 3, 2, 1) if (key := word[:length]) in table)] if word else table[word]


def unit_of(word: str) -> str:
    """The unit ("day", "week" …) of an inflected word."""
    return UNITS.get(word[:3].lower()) or UNITS[word[0]]


def _expression(pattern: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return _compiled(f"{before}(?:{pattern}){after}")


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source.replace(" ", r"\s{1,3}"), re.IGNORECASE)


def _rows(before: str, after: str, *rows: tuple[str, int, str]) -> tuple[Row, ...]:
    return tuple(Row(kind, weak, f"{before}(?:{pattern}){after}") for kind, weak, pattern in rows)


_Y = r"(?:19[5-9][0-9]|20[0-9][0-9])"
_D = r"(?:3[01]|[12][0-9]|0?[1-9])"
_MON = r"(?:1[0-2]|0?[1-9])"
_N = r"[0-9]{1,3}"
_COUNTED = (  # what follows a number that counts and so is no day or year
    r"(?!:[0-9]|[.,][0-9]| ?[%$€₽]| (?:people|persons?|words?|met(?:er|re)s?|miles?|km|kg|dollars?|euros?|bucks|rows?|lines?|items?|pages?|users?|steps?"
    r"|calories|kcal|times|degrees|pieces|chapters|feet|percent|pm|am|o'clock"
    r"|человек\w*|слов\w*|метр\w*|рубл\w*|км|кг|строк\w*|евро|доллар\w*|тысяч\w*|штук\w*|шаг\w*|страниц\w*|раз|градус\w*|процент\w*|километр\w*)(?!\w))"
)
_MAY_IS_A_VERB = (
    r"(?! (?:be|have|not|also|still|well|i|we|you|he|she|it|they|need|cause|contain|help|get|go|want|come|take)(?!\w))"
)
NUMBERED: Final = _expression(  # a number after these is a name, not a day
    r"(?:rooms?|iphone|version|chapter|page|flat|apartment|bus|line|gate|track|level|windows|android|ios|python|galaxy|pixel|number|no\.?|step|episode|season|part"
    r"|комнат\w{1,2}|кабинет\w{0,2}|квартир\w{1,2}|дом\w{0,2}|этаж\w{0,2}|автобус\w{0,2}|номер\w{0,2}|глав\w{1,2}|страниц\w{1,2}|айфон\w{0,2}|версия|версии|серия|серии|房间|第) ?[#№]?",
    r"(?<![A-Za-z\u0400-\u04ff])", "$",
)  # fmt: skip

_COMMON = _rows(
    r"(?<![0-9A-Za-z.,/:-])", r"(?![0-9A-Za-z/-]|[.,:][0-9])",
    ("date", STRONG, rf"(?P<year>{_Y})(?:-(?P<mon>{_MON})-(?P<day>{_D})|/(?P<mon2>{_MON})/(?P<day2>{_D})|\.(?P<mon3>{_MON})\.(?P<day3>{_D}))"),
    ("date", STRONG, rf"(?P<day>{_D})\.(?P<mon>{_MON})\.(?P<year>{_Y}|[0-9][0-9])"),
    ("slashed", STRONG, rf"(?P<a>{_D})/(?P<b>{_D})/(?P<year>{_Y}|[0-9][0-9])"),
    ("date", STRONG, rf"(?P<year>{_Y})-(?P<mon>0[1-9]|1[0-2])"),
    ("date", STRONG, rf"(?P<mon>0[1-9]|1[0-2])\.(?P<year>{_Y})"),
    ("day_month", NEEDS_PREPOSITION, rf"(?P<day>{_D})\.(?P<month>0[1-9]|1[0-2]){_COUNTED}"),
)  # fmt: skip

_EN_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_EN_YEAR = rf"(?:(?:,? | of ){'(?P<year>' + _Y + ')'}{_COUNTED}|,? (?:of )?(?P<ywhich>last|this|next|previous) year)"
_EN_DAY = rf"(?P<day>{_D})(?:st|nd|rd|th)?"
_EN_WEEKDAY = r"(?P<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)day"
_EN_SEASON = r"(?P<season>summer|autumn|fall|winter|spring)(?! (?:boot|framework|rolls?|cleaning|water|mvc|cloud|t[iy]res?|coat|jacket|boots|house|camp|school|sales?|asleep|apart|down)(?!\w))"
_EN_N = (
    rf"(?P<n>{_N}|(?:a )?couple(?: of)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|(?:a )?few|several)"
)
_EN_UNIT = r"(?P<unit>hour|day|week|fortnight|month|year)s?"
_EN_PART_OF_DAY = r"(?: (?:morning|afternoon|evening|night))?"
_WD = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?"
_EN = _rows(
    r"(?<![A-Za-z0-9_'’.$€£#№-])", r"(?![A-Za-z0-9_])",
    ("day_range", STRONG, rf"{_EN_DAY}(?: to | and | through |-|–| - | – )(?P<day2>{_D})(?:st|nd|rd|th)?(?: of)? {_EN_MONTH}{_EN_YEAR}?"),
    ("day_range", STRONG, rf"{_EN_MONTH} {_EN_DAY}(?: to | through |-|–| - | – )(?P<day2>{_D})(?:st|nd|rd|th)?{_EN_YEAR}?{_COUNTED}"),
    ("day_month", STRONG, rf"{_WD}(?:the )?{_EN_DAY}(?: of)? {_EN_MONTH}{_EN_YEAR}"),
    ("day_month", STRONG, rf"{_WD}(?:the )?{_EN_DAY}(?: of)? {_EN_MONTH}{_MAY_IS_A_VERB}"),
    ("day_month", STRONG, rf"{_WD}{_EN_MONTH} (?:the )?{_EN_DAY}{_EN_YEAR}"),
    ("day_month", STRONG, rf"{_WD}{_EN_MONTH} (?:the )?{_EN_DAY}(?![0-9A-Za-z]){_COUNTED}"),
    ("month", STRONG, rf"{_EN_MONTH}{_EN_YEAR}"),
    ("month_which", STRONG, r"(?P<which>last|this|next) (?P<month>january|february|march|april|may|june|july|august|september|october|november|december)"),
    ("season", STRONG, rf"{_EN_SEASON}(?: (?:of )?(?P<winter>{_Y})[-/–](?:20)?[0-9][0-9]|{_EN_YEAR})"),
    ("season_which", STRONG, rf"(?P<which>last|this|next) {_EN_SEASON}"),
    ("ago", STRONG, r"(?P<half>half a year) (?:ago|back)"),
    ("ago", STRONG, rf"{_EN_N} {_EN_UNIT} (?:ago|back)(?: today)?"),
    ("rolling", STRONG, r"(?:the )?(?:last|past) (?P<half>half a year|half year)"),
    ("rolling", STRONG, rf"(?:the )?(?:last|past|previous) {_EN_N} {_EN_UNIT}"),
    ("rolling", STRONG, r"(?:the past|past|(?<=\bin\s)the last|(?<=\bover\s)the last|(?<=\bduring\s)the last|(?<=\bfor\s)the last|(?<=\bwithin\s)the last) (?P<unit>hour|day|week|fortnight|month|year)"),
    ("weekday", STRONG, rf"{_EN_WEEKDAY} (?P<week>last|this|next) week"),
    ("unit_which", STRONG, r"(?P<which>last|previous|this|next) (?P<unit>week|month|quarter|year)(?!-| (?:end|book|old))"),
    ("before_last", STRONG, r"(?:the )?(?P<unit>week|month|year) before last"),
    ("last_night", STRONG, r"last night|yesterday night"),
    ("day_word", STRONG, r"(?:the )?(?P<word>day before|day after) (?:yesterday|tomorrow)"),
    ("day_word", STRONG, rf"(?P<word>yesterday|today|tomorrow){_EN_PART_OF_DAY}|(?P<word2>tonight|this) ?(?:(?<=this\s)(?:morning|afternoon|evening)|(?<=tonight))"),
    ("weekend", STRONG, r"(?P<which>last|this|next) weekend"),
    ("weekend", NEEDS_PREPOSITION, r"weekend"),
    ("weekday", STRONG, rf"(?P<which>last|this|next) {_EN_WEEKDAY}{_EN_PART_OF_DAY}"),
    ("weekday", STRONG, rf"(?<!black\s)(?<!good\s)(?<!every\s)(?<!each\s){_EN_WEEKDAY}{_EN_PART_OF_DAY}"),
    ("weekday", NEEDS_PREPOSITION, r"(?P<weekday>mon|tues?|thu(?:rs?)?|fri)"),
    ("quarter", STRONG, rf"q(?P<n>[1-4])(?:,? (?:of )?(?P<year>{_Y}))?"),
    ("unit_which", STRONG, r"(?<=of\s)the (?P<unit>week|month|year)"),
    ("day_only", STRONG, rf"(?:(?<=\bon\s)|(?<=since\s)|(?<=before\s)|(?<=after\s)|(?<=until\s)|(?<=by\s))the (?P<day>{_D})(?:st|nd|rd|th)(?=\s*(?:[?.!,]|$)|\s(?:i|we|did|do|what|who|and)(?!\w))"),
    ("year", NEEDS_PREPOSITION, rf"(?:the year )?(?P<year>{_Y}){_COUNTED}"),
    ("month", STRONG, r"(?P<month>january|february|july|september|october|november|december)"),
    ("month", NEEDS_PREPOSITION, r"(?P<month>feb|jul|sept?|oct|nov|dec)"),
    ("month", MAYBE_A_NAME, r"(?P<month>mar(?:ch)?|april?|may|june?|aug(?:ust)?|jan)"),
    ("season", NEEDS_PREPOSITION, _EN_SEASON),
)  # fmt: skip

_RU_MONTH = r"(?P<month>январ(?:ём|ем|[яьюе])|феврал(?:ём|ем|[яьюе])|март(?:ом|[ауе])?|апрел(?:ем|[яьюе])|ма(?:ем|[йяюе])|июн(?:ем|[яьюе])|июл(?:ем|[яьюе])|август(?:ом|[ауе])?|сентябр(?:ём|ем|[яьюе])|октябр(?:ём|ем|[яьюе])|ноябр(?:ём|ем|[яьюе])|декабр(?:ём|ем|[яьюе]))"
_RU_WHICH = r"(?:позапрошл|прошл|минувш|предыдущ|эт|текущ|нынешн|следующ|будущ|ближайш)(?:ого|его|ому|ему|ой|ей|ом|ем|ый|ий|ую|юю|ым|им|ые|ие|ых|их|от|у|и|о)"
_RU_YEAR = rf"(?: (?P<year>{_Y})(?:-?(?:го|м))?{_COUNTED}(?: (?:год(?:а|у|ом)?|г\.?)(?!\w))?| (?P<ywhich>{_RU_WHICH}) год(?:а|у)?)"
_RU_DAY = rf"(?P<day>{_D})(?:-?(?:го|е|му|ое))?"
_RU_WEEKDAY = r"(?P<weekday>понедельник[ауе]?|вторник[ауе]?|сред[уы](?! (?:обитания|разработки))|четверг[ауе]?|пятниц[уые]|суббот[уые]|воскресень[еяю])"
_RU_N = rf"(?P<n>{_N}|один|одну|одного|два|две|пару|пара|три|четыре|пять|шесть|семь|восемь|девять|десять|двенадцать|несколько)"
_RU_UNIT = r"(?P<unit>час(?:а|ов)?|день|дня|дней|сутки|суток|недел[юиья]|недель|месяц(?:а|ев)?|год(?:а)?|лет)"
_RU_PART_OF_DAY = r"(?: (?:утром|днём|днем|вечером|ночью))?"
_RU = _rows(
    r"(?<![\w.№-])", r"(?!\w|-(?:то|нибудь|либо))",
    ("day_range", STRONG, rf"{_RU_DAY}(?: по | до | и |-|–| - | – )(?P<day2>{_D})(?:-?(?:го|е))? {_RU_MONTH}{_RU_YEAR}?"),
    ("day_month", STRONG, rf"(?:{_RU_WEEKDAY},? )?{_RU_DAY} {_RU_MONTH}{_RU_YEAR}?"),
    ("month", STRONG, rf"{_RU_MONTH}{_RU_YEAR}"),
    ("month_which", STRONG, rf"(?P<which>{_RU_WHICH}) {_RU_MONTH}"),
    ("season", STRONG, rf"(?P<season>(?:лето|зима|весна|осень|лет[ау]|летом|зим[ыуе]|зимой|весн[ыуе]|весной|осени|осенью)){_RU_YEAR}"),
    ("season_which", STRONG, rf"(?P<which>{_RU_WHICH}) (?P<season>лето|лета|летом|зимой|зим[уы]|весной|весн[уы]|осенью|осень|осени)"),
    ("ago", STRONG, r"(?P<half>полгода) (?:тому )?назад"),
    ("ago", STRONG, rf"(?:{_RU_N} )?{_RU_UNIT} (?:тому )?назад"),
    ("ago", STRONG, rf"{_RU_UNIT} {_RU_N} (?:тому )?назад"),
    ("rolling", STRONG, r"(?:последн|прошедш|минувш)(?:ие|ий|ее|ие) (?P<half>полгода)"),
    ("rolling", STRONG, rf"(?:последн|прошедш|минувш)(?:ие|ий|ее|ую|юю|их) (?:{_RU_N} )?{_RU_UNIT}"),
    ("weekday", STRONG, rf"{_RU_WEEKDAY} (?:на )?(?P<week>{_RU_WHICH}) недел[еюи]"),
    ("unit_which", STRONG, rf"(?P<which>{_RU_WHICH}) (?P<unit>недел[еиюя]|неделей|месяц(?:а|е|у|ем)?|квартал(?:а|е)?|год(?:а|у|ом)?)"),
    ("unit_which", STRONG, r"(?:(?<=начала\s)|(?<=начале\s)|(?<=середине\s)|(?<=середины\s)|(?<=конце\s)|(?<=конца\s))(?P<unit>недели|месяца|года)"),
    ("last_night", STRONG, r"вчера ночью|прошлой ночью"),
    ("day_word", STRONG, rf"(?P<word>позавчера|вчера|сегодня|послезавтра|завтра)(?:шн(?:его|ем|ий|ему|им)(?: дн[яею])?)?{_RU_PART_OF_DAY}"),
    ("weekend", STRONG, rf"(?P<which>{_RU_WHICH}) выходны(?:х|е)"),
    ("weekend", NEEDS_PREPOSITION, r"выходны(?:х|е)"),
    ("weekday", STRONG, rf"(?P<which>{_RU_WHICH}) {_RU_WEEKDAY}{_RU_PART_OF_DAY}"),
    ("weekday", NEEDS_PREPOSITION, rf"{_RU_WEEKDAY}{_RU_PART_OF_DAY}"),
    ("day_only", STRONG, rf"{_RU_DAY} числа"),
    ("year", STRONG, rf"(?P<year>{_Y})(?:-?(?:го|м))? (?:год(?:а|у|ом)?|г\.?)"),
    ("year", NEEDS_PREPOSITION, rf"(?P<year>{_Y})(?:-?(?:го|м))?{_COUNTED}"),
    ("season", STRONG, r"(?P<season>летом|зимой|весной|осенью)"),
    ("season", NEEDS_PREPOSITION, r"(?P<season>лет[оау]|зим[ыуе]|весн[ыуе]|осень|осени)"),
    ("month", NEEDS_PREPOSITION, _RU_MONTH),
)  # fmt: skip

_ZH_N = r"(?:[0-9]{1,2}|[一二两三四五六七八九十]{1,3})"
_ZH_YEAR = rf"(?:(?<![0-9])(?P<year>{_Y})年|(?P<ywhich>[去今前明])年)的?"
_ZH_MONTH = (
    r"(?<![0-9一二三四五六七八九十])(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?!饼|亮|球|薪|龄|经|嫂)"
)
_ZH_UNIT = r"(?:个?(?P<unit>小时|天|日|周|星期|礼拜|年|(?<=个)月))"
_ZH_COUNT = rf"(?P<n>(?<![0-9]){_ZH_N}|好?几)"
_ZH = _rows(
    "", "",
    ("day_range", STRONG, rf"(?:{_ZH_YEAR})?{_ZH_MONTH}(?P<day>{_ZH_N})[日号]?[到至-](?P<day2>{_ZH_N})[日号]"),
    ("day_month", STRONG, rf"(?:{_ZH_YEAR})?{_ZH_MONTH}(?P<day>{_ZH_N})(?:[日号](?:(?:星期|周|礼拜)[一二三四五六日天])?|(?![0-9个年月]))"),
    ("month", STRONG, rf"(?:{_ZH_YEAR})?{_ZH_MONTH}份?"),
    ("season", STRONG, rf"{_ZH_YEAR}(?P<season>[春夏秋冬])[天季]?"),
    ("season_which", STRONG, r"(?P<which>上|这|下)个?(?P<season>[春夏秋冬])[天季]"),
    ("season", STRONG, r"(?P<season>[春夏秋冬])[天季]"),
    ("ago", STRONG, r"(?P<half>半年)(?:以|之)?前"),
    ("ago", STRONG, rf"{_ZH_COUNT}{_ZH_UNIT}(?:以|之)?前"),
    ("ago", STRONG, r"前(?P<n>几|两|些)(?P<unit>天|年|周)"),
    ("rolling", STRONG, r"(?:最近|过去|近|这)的?(?P<half>半年)(?:内|里|以来)?"),
    ("rolling", STRONG, rf"(?:最近|过去|近|这)的?(?P<n>{_ZH_N}|几){_ZH_UNIT}(?:以?内|里|以来)?"),
    ("weekday", STRONG, r"(?P<week>上上|上|这|本|下下|下)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"),
    ("weekend", STRONG, r"(?P<which>上上|上|这|本|下)个?周末|周末"),
    ("weekday", STRONG, r"(?<![一二两三四五六七八九十几每0-9])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"),
    ("unit_which", STRONG, r"(?P<which>上上|上|这|本|下下|下)(?:个?(?P<unit>周|星期|礼拜|月|季度))(?!刊)"),
    ("unit_which", STRONG, r"(?P<which>[去今明]|(?<!以)(?<!之)前)(?P<unit>年)"),
    ("last_night", STRONG, r"昨晚|昨夜"),
    ("day_word", STRONG, r"(?P<word>大前天|前天|昨天|昨日|今天|今日|今早|今晚|明天|后天)(?:早上|上午|下午|晚上|中午)?"),
    ("year", STRONG, rf"(?<![0-9])(?P<year>{_Y})年"),
    ("day_only", STRONG, r"(?<![0-9第月])(?P<day>3[01]|[12][0-9]|[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])号(?!楼|线|店|机|院|馆|桌|房|码|厅|门|柜|电池)"),
)  # fmt: skip

SCRIPTS: Final = (
    (re.compile(r"[0-9]"), _COMMON),
    (re.compile(r"[\u4e00-\u9fff]"), _ZH),
    (re.compile(r"[\u0400-\u04ff]"), _RU),
    (re.compile(r"[A-Za-z]"), _EN),
)
"""Which rows are worth trying for a text that holds such a sign; the first row that takes a stretch of text keeps it."""

OPS: Final[dict[str, Op]] = {
    word: op
    for op, words in (
        ("in", "in on during at around throughout over within в во за на около примерно в_течение по 在 于"),
        ("loose", "of for about от про о 的"),
        ("pair", "between from между"),
        ("since", "since ever_since starting_from beginning_from с со начиная_с начиная_со 自从 自 从"),
        ("after", "after later_than после позже позднее 晚于"),
        ("before", "before until till prior_to earlier_than до перед раньше ранее 早于"),
        ("by", "by no_later_than к ко не_позднее не_позже 截至 截止到"),
    )
    for raw in words.split()
    if (word := raw.replace("_", " "))
}  # type: ignore[assignment]


def _ops(letters: str) -> str:
    words = sorted((word for word in OPS if re.match(letters, word)), key=len, reverse=True)
    return "|".join(words)


_PART_EN = r"(?P<part>early(?: in)?|mid|late(?: in)?|(?:the )?(?:very )?(?:beginning|start|middle|end) of)[\s-]?"
_PART_RU = r"(?P<part>(?:самого )?(?:начал[аеуо]|середин[аеыу]|кон(?:ец|ца|це|цу))) "
PREFIXES: Final = {
    "en": _expression(rf"(?:(?<!\w)(?P<op>{_ops('[a-z]')}) )?(?:{_PART_EN})?(?P<the>the )?$"),
    "ru": _expression(rf"(?:(?<!\w)(?P<op>{_ops('[а-я]')}) )?(?:{_PART_RU})?$"),
    "zh": _expression(rf"(?P<op>{_ops('[一-鿿]')})?$"),
}
"""What stands before a mention, read in the letters of the sign before it."""
SUFFIX_ZH: Final = _expression(
    r"(?P<part>初|底|末|中旬|上旬|下旬)?(?:(?P<before>以前|之前|前(?![任面天后年]))|(?P<after>以后|之后|后(?![来面天]))|(?P<since>以来|开始|起))?"
)
JOIN: Final = _expression(
    r"\s{0,3}(?:(?P<firm>to|through|-|–|—|到|至)|(?P<opened>till|until|up to|по|до)|(?P<both>and|и|和|与))\s{0,3}"
    r"(?:the )?(?:(?:beginning|end|start) of |(?:начал|кон)[а-я]{1,3} )?",
    after="$",
)
"""Between the two ends of a range: ``opened`` needs a "from" before it, ``both`` a "between"."""
AND: Final = _expression(r" (?:and|or|и|или) |[和或]")
