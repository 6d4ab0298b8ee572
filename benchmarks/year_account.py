"""The account of a simulated year: who writes to whom on which day, and the facts planted among it. Seeded, no I/O.

Twelve months of about 3,000 messages, in English, Russian and Chinese; most of it is talk about nothing. Some messages
are edited, deleted or reach the export later, a day or two weeks. A planted fact is a sum that was agreed on, an
address or number that somebody gave, or a promise; each has a key that occurs nowhere else in the account.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

MESSAGES_A_MONTH = 3_000
FACTS = 200
FIRST_DAY = date(2025, 1, 1)
DAYS = 365
CONVERSATIONS_A_DAY = 7
LONG_AFTER_DAYS = 12
EDITED_SHARE, DELETED_SHARE, LATE_SHARE = 0.01, 0.003, 0.004

Kind = Literal["decision", "contact", "promise"]
KINDS: tuple[Kind, ...] = ("decision", "decision", "decision", "contact", "promise")
"""Three of five facts are HIGH decisions: they are what must never get lost."""

PEOPLE = {
    "en": ["Anna Weber", "Tom Harris", "Lucy Chen", "Omar Said", "Nina Roth", "Paul Kent", "Ida Moe", "Max Brandt"],
    "ru": ["Ольга Серова", "Иван Мельник", "Пётр Гусев", "Дарья Лис", "Глеб Чернов", "Вера Орлова", "Юрий Панин"],
    "zh": ["王芳", "李伟", "张敏", "刘洋", "陈静", "赵磊"],
}
TALK = {
    "en": (
        ["The {a} went well today", "I was thinking about the {a} again", "Nobody told me about the {a}",
         "There is still some work on the {a}", "We saw the {a} and the {b} yesterday", "The {b} looks better now",
         "Honestly the {a} is harder than the {b}", "Somebody asked me about the {b} this morning"],
        ["garden", "report", "kitchen", "meeting", "trip", "budget review", "bicycle", "lecture", "office move",
         "translation", "concert", "roof", "recipe", "survey", "training"],
    ),
    "ru": (
        ["С темой {a} сегодня всё хорошо", "Я опять думал про {a}", "Мне никто не говорил про {a}",
         "Там ещё есть работа: {a}", "Вчера смотрели {a} и {b}", "Теперь {b} выглядит лучше",
         "Если честно, {a} сложнее, чем {b}", "Утром меня спрашивали про {b}"],
        ["сад", "отчёт", "ремонт", "встреча", "поездка", "смета", "велосипед", "лекция", "переезд", "перевод",
         "концерт", "крыша", "рецепт", "опрос", "учёба"],
    ),
    "zh": (
        ["今天{a}进行得不错", "我又在想{a}的事情", "没有人告诉我关于{a}的事", "{a}还有一些工作没有做完",
         "昨天我们看了{a}和{b}", "现在{b}看起来好多了", "说实话{a}比{b}难一些", "早上有人问我{b}的情况"],
        ["花园", "报告", "厨房", "会议", "旅行", "预算", "自行车", "讲座", "搬家", "翻译", "音乐会", "屋顶", "菜谱",
         "问卷", "培训"],
    ),
}  # fmt: skip
SAID = {
    "en": {
        "decision": "Agreed, the {thing} costs {key} EUR and is paid by the end of the month",
        "contact": "By the way, write to me at {key} from now on",
        "promise": "I will send the {thing} under the number {key} next week",
    },
    "ru": {
        "decision": "Договорились: {thing} стоит {key} EUR, оплата до конца месяца",
        "contact": "Кстати, теперь пишите мне на {key}",
        "promise": "На следующей неделе пришлю {thing}, номер документа {key}",
    },
    "zh": {
        "decision": "同意，{thing}的价格是{key} EUR，月底之前付款",
        "contact": "顺便说一下，以后请写到 {key}",
        "promise": "我会在下周把{thing}发过去，编号是{key}",
    },
}
THINGS = {
    "en": ["contract", "printer", "insurance", "web site", "delivery", "study", "fence", "licence"],
    "ru": ["договор", "принтер", "страховка", "сайт", "доставка", "исследование", "забор", "лицензия"],
    "zh": ["合同", "打印机", "保险", "网站", "运输", "研究", "围栏", "许可证"],
}


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    language: str
    chat: str


@dataclass(frozen=True, slots=True)
class Fact:
    """``key`` is the text that tells whether the fact is known; ``day`` is the day on which it was said."""

    person: Person
    kind: Kind
    key: str
    day: date
    message_id: str


class Account:
    """The year, day by day. ``line`` objects are those of the generic format; what changed comes a day later."""

    def __init__(self, *, seed: int = 7, days: int = DAYS, facts: int = FACTS) -> None:
        self._random = random.Random(seed)
        self._days = days
        self.people = [
            Person(name, language, f"chat-{number}")
            for number, (language, name) in enumerate((code, name) for code, names in PEOPLE.items() for name in names)
        ]
        self._random.shuffle(self.people)
        self.facts: list[Fact] = []
        self.messages = 0
        self._planted = self._plan(facts)

    def _plan(self, facts: int) -> dict[int, list[tuple[Person, Kind]]]:
        """Day → who says which kind of fact. Some people matter more, as it is."""
        weights = [1 / (rank + 4) for rank in range(len(self.people))]
        found: dict[int, list[tuple[Person, Kind]]] = {}
        for number in range(facts):
            # evenly over the year: by month twelve six times as much is known as by month two
            day = int((number + self._random.random()) * self._days / facts)
            person = self._random.choices(self.people, weights)[0]
            found.setdefault(day, []).append((person, KINDS[number % len(KINDS)]))
        return found

    def day_exports(self) -> Iterator[tuple[date, list[dict[str, Any]]]]:
        """Each day with the lines of its export: what was said, and what changed of earlier days."""
        changed: dict[int, list[dict[str, Any]]] = {}
        for offset in range(self._days):
            day = FIRST_DAY + timedelta(days=offset)
            said = self._day(day, self._planted.get(offset, []))
            plain = [line for line in said if not line["metadata"]["fact"]]
            is_last = offset == self._days - 1
            late = [line for line in plain if self._random.random() < LATE_SHARE and not is_last]
            now = [line for line in said if line not in late]
            yield day, [*changed.pop(offset, []), *now]
            for line in [*late, *self._changes(day, [line for line in plain if line not in late])]:
                # the next day as a rule; some only when the summary is long made
                wait = self._random.choice((1, 1, LONG_AFTER_DAYS))
                changed.setdefault(min(offset + wait, self._days - 1), []).append(line)

    def _day(self, day: date, planted: list[tuple[Person, Kind]]) -> list[dict[str, Any]]:
        weights = [1 / (rank + 2) for rank in range(len(self.people))]
        talks: dict[Person, list[Kind]] = {}
        for person, kind in planted:
            talks.setdefault(person, []).append(kind)
        while len(talks) < CONVERSATIONS_A_DAY:
            talks.setdefault(self._random.choices(self.people, weights)[0], [])
        length = MESSAGES_A_MONTH * 12 // DAYS // len(talks)
        lines: list[dict[str, Any]] = []
        for person, kinds in talks.items():
            start = datetime(day.year, day.month, day.day, 8 + self._random.randrange(9), tzinfo=UTC)
            lines += self._talk(person, start, max(4, length + self._random.randint(-4, 4)), kinds)
        return lines

    def _talk(self, person: Person, start: datetime, length: int, kinds: list[Kind]) -> list[dict[str, Any]]:
        places = dict(zip(self._random.sample(range(1, length), len(kinds)), kinds, strict=True))
        lines: list[dict[str, Any]] = []
        for number in range(length):
            kind = places.get(number)
            text = self._filler(person) if kind is None else self._fact(person, kind, start.date(), self.messages)
            is_self = number % 2 == 0 and kind is None
            lines.append(
                {
                    "source": "year",
                    "chat_id": person.chat,
                    "chat_title": person.name,
                    "chat_kind": "direct",
                    "message_id": f"m{self.messages}",
                    "sender_id": "owner" if is_self else person.chat.replace("chat", "user"),
                    "sender_name": "Robin Vale" if is_self else person.name,
                    "is_self": is_self,
                    "sent_at": (start + timedelta(minutes=3 * number)).isoformat(),
                    "text": text,
                    "metadata": {"fact": kind is not None},
                }
            )
            self.messages += 1
        return lines

    def _filler(self, person: Person) -> str:
        frames, words = TALK[person.language]
        a, b = self._random.sample(words, 2)
        first, second = self._random.sample(frames, 2)
        joiner, stop = ("，", "。") if person.language == "zh" else (". ", ".")
        text = first if self._random.random() < 0.5 else f"{first}{joiner}{second}"
        return text.format(a=a, b=b) + stop

    def _fact(self, person: Person, kind: Kind, day: date, message: int) -> str:
        number = len(self.facts)
        key = {
            "decision": f"{10_000 + 37 * number}",
            "contact": f"box{number:03}@post.example.org",
            "promise": f"DOC-{number:03}-{self._random.randrange(100, 999)}",
        }[kind]
        self.facts.append(Fact(person, kind, key, day, f"m{message}"))
        thing = self._random.choice(THINGS[person.language])
        return SAID[person.language][kind].format(thing=thing, key=key)

    def _changes(self, day: date, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        at = datetime(day.year, day.month, day.day, 22, tzinfo=UTC).isoformat()
        changed: list[dict[str, Any]] = []
        for line in lines:
            drawn = self._random.random()
            if drawn < DELETED_SHARE:
                changed.append({**line, "deleted": True, "text": ""})
            elif drawn < DELETED_SHARE + EDITED_SHARE:
                changed.append({**line, "edited_at": at, "text": f"{line['text']} ({self._random.randrange(9)})"})
        return changed
