"""The vocabulary of the importance table: its row type and the word lists and number shapes its patterns are made of.

Here: months, weekdays, units, how a number stands free. Not here: which rule they belong to, weights, examples: that
is the table, ``importance_patterns.py``. All of it is written for lower-cased text with ``е`` for ``ё``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Row:
    """One rule in one language: each of ``positives`` fires by this row alone, none of ``negatives`` by any row."""

    alternatives: tuple[str, ...]
    examples: str
    false_friends: str

    @property
    def positives(self) -> tuple[str, ...]:
        return _split(self.examples)

    @property
    def negatives(self) -> tuple[str, ...]:
        return _split(self.false_friends)


def _split(block: str) -> tuple[str, ...]:
    return tuple(part.strip() for line in block.splitlines() for part in line.split(" | ") if part.strip())


NUM: Final = r"(?<![a-zа-я_\d.,:/+-])"
"""In front of a number that is no piece of a version, address, time, phone or range."""
SUM: Final = r"(?<![a-zа-я_\d.,/])(?<!\d:)"
"""In front of a sum: as ``NUM``, but after a dash, a plus or a colon too."""
END: Final = r"(?![\w-])"
GROUPED: Final = r"\d{1,12}+(?:[\s.,']\d{3}(?!\d)){0,4}+(?:[.,]\d{1,2}(?!\d))?+"
"""500 · 1 500 · 1,200.50, taken whole: what follows is never tried after a part of the number."""
D: Final = r"(?:0?[1-9]|[12]\d|3[01])"
M: Final = r"(?:0?[1-9]|1[0-2])"
MM: Final = r"(?:0[1-9]|1[0-2])"
YEAR: Final = r"(?:(?:19|20)\d\d|\d\d)"
NO_MORE_NUMBER: Final = r"(?![\d:])(?![.,/]\d)"
NOT_A_UNIT: Final = (
    r"(?!\s{0,2}(?:%|°|км|кг|мм|см|мб|гб|тб|м\b|л\b|руб|₽|\$|€|usd|eur|евро|долл|тыс|млн|балл|раз|km|kg|mb|gb|mi\b))"
)
DOTTED_REST: Final = rf"(?:\.{YEAR})?{NO_MORE_NUMBER}{NOT_A_UNIT}"
"""Behind day and month of a date with dots."""

RU_MONTH: Final = (
    r"(?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|янв|фев|апр|авг|сент?|окт|нояб?|дек)"
)
RU_DAY_ACC: Final = r"(?:понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье|пн|вт|ср|чт|пт|сб|вс)"
RU_DAY_GEN: Final = r"(?:понедельника|вторника|среды|четверга|пятницы|субботы|воскресенья)"
RU_DAY_DAT: Final = r"(?:понедельнику|вторнику|среде|четвергу|пятнице|субботе|воскресенью)"
RU_SOON: Final = rf"(?:{RU_DAY_GEN}|завтра|послезавтра|вечера|обеда|утра)"
RU_THIS_OR_NEXT: Final = r"(?:эту |этот |это |следующ(?:ий|ую|ее) |ближайш(?:ий|ую|ее) )"
RU_MUST: Final = r"(?:нужно|надо|успе|сдел|сда|жду|пришл|отправ|должн|необходимо|обязательно|закон)"
RU_SHELF_LIFE: Final = r"(?! (?:годност|службы|действ|хранен|жизни|беременност|давност|заключен|лишен))"
RU_SPAN: Final = (
    r"(?:(?:этого|этой|следующего|следующей|текущего|рабочего) )?"
    r"(?:дня|недели|месяца|года|квартала|лета|зимы|весны|осени)"
)
RU_MANY: Final = r"(?:тыс\.?|тысяч[аи]?|млн\.?|миллион(?:а|ов)?|млрд\.?|миллиард(?:а|ов)?)"
RU_MONEY: Final = (
    r"(?:руб(?:л(?:ь|я|ей|ю|ям|ями|ях))?(?![а-я])|р\.|р(?![\w-])|₽|доллар(?:а|ов|ам|ами|ах)?(?![а-я])|долл(?![а-я])"
    r"|евро(?![а-я])|бакс(?:а|ов|ам|ами)?(?![а-я])|юан(?:ь|я|ей)(?![а-я])|тенге|грн|гривен|тг(?!\w)|usd|eur)"
)
RU_NUMERALS: Final = ("тысяч", "тысячи", "тысяча", "сто", "двести", "триста", "пятьсот", "миллион", "миллиона")
RU_COUNTED: Final = (
    r"(?! (?:человек|людей|жител|пользовател|подписчик|просмотр|раз|лет|строк|слов|шагов|километр|км|метр|тонн|шт"
    r"|деревьев|запис|сообщен|токен|квадрат|зрител|клиент|студент|детей))"
)
RU_PROMISED: Final = r"(?:сделаю|сделаем|договорились|куплю|приеду|приду|отправлю|пришлю|подготовлю|оплачу|беру)"

EN_DAY: Final = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
EN_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
EN_MONTHS_BUT_MAY: Final = (
    *("january", "february", "march", "april", "june", "july", "august", "september", "october", "november"),
    *("december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
)
EN_MONTH_BUT_MAY: Final = f"(?:{'|'.join(EN_MONTHS_BUT_MAY)})"
EN_MONTH: Final = f"(?:may|{'|'.join(EN_MONTHS_BUT_MAY)})"
NTH: Final = r"(?:\d?1st|\d?2nd|\d?3rd|\d{1,2}th)"
EN_NOT_DAYS: Final = (
    r"(?! (?:people|miles|km|steps|laps|men|women|kids|points|pages|times|floor|street|st|avenue|place|time|grade"
    r"|century|edition|version|row|item|one|step|votes))"
)
EN_NOT_A_DAY: Final = rf"(?![\d:%.]\d|[\d%k]|st|nd|rd|th|\s?[ap]m\b){EN_NOT_DAYS}"
EN_NOT_A_SHARE: Final = r"(?![\d/.%:]\d|[\d/%])(?! (?:of|inch|cup|people|points|passed|vision))"
EN_MONEY: Final = r"(?:usd|eur|gbp|rub|cny|dollars?|bucks|euros?|roubles?|rubles?|yuan|grand|quid|cents|€|£|\$(?!\d))"
EN_SPENDING: Final = ("for", "costs", "cost", "pay", "paid", "budget", "price", "worth", "salary", "owe", "about")
EN_COUNTED: Final = (
    r"(?! (?:people|users|views|followers|subscribers|years|times|lines|rows|tokens|records|stars|copies|downloads"
    r"|other|different))"
)
K_NOUN: Final = (
    r"(?!\s?-?(?:run|race|video|tv|monitor|display|screen|resolution|quality|people|users?|followers|subs|views|likes"
    r"|steps|words|lines|rows|messages|tokens|records|km|miles|photos|stars|человек|людей|видео|подписчик|просмотр"
    r"|строк|слов|шагов|лайк|разрешен|монитор|экран|телевизор|токен|сообщен|метров|км))"
)
"""Behind 50k, 50к: what is counted is no money."""
EN_NO_DEAL_BEFORE: Final = (
    r"(?<!big\s)(?<!great\s)(?<!good\s)(?<!the\sreal\s)(?<!what's\sthe\s)(?<!can't\s)(?<!not\s)(?<!to\s)(?<!no\s)"
)

ZH_NUM: Final = "[一二三四五六七八九十]"
ZH_DAY: Final = "[一二三四五六日天]"
ZH_WEEK: Final = ("周", "星期", "礼拜")
ZH_BEFORE: Final = r"\s?(?:之前|以前|前)(?![天面后往台期者端列])"
ZH_FIGURE: Final = r"(?<![\d.])\d{1,12}+(?:[.,]\d{1,3}+){0,4}+\s?"
ZH_MONEY: Final = (
    r"(?:元(?![一二素旦年件])|块钱|万块|千块|百块|美元|美金|欧元|港币|日元|卢布|人民币|rmb|毛钱|刀(?![具片]))"
)
ZH_PIECES: Final = r"(?!钱|蛋糕|手表|石头|肉|地|布|糖|巧克力|饼|面包|豆腐|电池|屏|板|硬盘|显卡|砖|肥皂|木)"
ZH_COUNTED: Final = (
    r"(?![个人次里字步名位条张篇行米只辆件种类平吨年]|公里|粉|用户|观众|多[人个次]|播放|浏览|\s(?:people|人))"
)
ZH_SPAN: Final = r"\s?个?(?:天|小时|工作日|周|星期|月|分钟)(?:之内|以内|内)"
ZH_SOON: Final = (
    *("明天", "后天", "今天", "今晚", "明晚", "中午", "下班", "周末"),
    *("本周", "下周", "下个月", "月底", "月末", "年底"),
)
