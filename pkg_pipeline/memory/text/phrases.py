"""The words of a context block in English, Russian and Chinese: titles, labels, dates. No choice of what is printed.

A phrase is a complete pattern per language, never a sentence glued from parts, since word order and cases differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from pkg_pipeline.memory.profile.records import Frequency, RelationshipType
from pkg_pipeline.memory.recall.chunk_records import ChunkSource
from pkg_pipeline.memory.records import Language, Owner

_MONTHS_EN = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTHS_RU = [
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
]
_DAYS_EN = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_DAYS_RU = ["понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"]
_DAYS_ZH = ["星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"]

SOURCE_NAMES = {
    "telegram": "Telegram",
    "whatsapp": "WhatsApp",
    "signal": "Signal",
    "slack": "Slack",
    "discord": "Discord",
    "irc": "IRC",
    "email": "e-mail",
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "langgraph": "LangGraph",
    "jsonl": "JSONL",
}
"""Sources that write their name in their own way; any other is shown as it is called."""

FACT_NAMES: dict[str, tuple[str, str]] = {
    "phone": ("телефон", "电话"),
    "email": ("почта", "邮箱"),
    "birthday": ("день рождения", "生日"),
    "position": ("должность", "职位"),
    "address": ("адрес", "地址"),
    "city": ("город", "城市"),
    "company": ("компания", "公司"),
    "organization": ("организация", "机构"),
    "name": ("имя", "姓名"),
    "website": ("сайт", "网站"),
    "url": ("ссылка", "链接"),
    "account": ("счёт", "账户"),
    "handle": ("имя в сети", "网名"),
    "language": ("язык", "语言"),
    "family": ("семья", "家庭"),
}
"""Usual fact types in Russian and Chinese; any other is shown as it was extracted."""


LABELS: dict[ChunkSource, tuple[str, str, str]] = {
    "summary": ("summary", "итог", "小结"),
    "decision": ("decided", "решено", "决定"),
    "action_item": ("to do", "сделать", "待办"),
    "fact": ("fact", "факт", "事实"),
    "session_fold": ("summary", "итог", "小结"),
    "tool_result": ("tool", "инструмент", "工具"),
}
"""What a recalled line that nobody said is called, in English, Russian and Chinese."""

RELATIONSHIPS: dict[RelationshipType, tuple[str, str, str]] = {
    "client": ("client", "клиент", "客户"),
    "partner": ("partner", "партнёр", "合作伙伴"),
    "colleague": ("colleague", "коллега", "同事"),
    "friend": ("friend", "друг", "朋友"),
    "acquaintance": ("acquaintance", "знакомство", "熟人"),
    "vendor": ("vendor", "поставщик", "供应商"),
    "other": ("other relationship", "иные отношения", "其他关系"),
}
FREQUENCIES: dict[Frequency, tuple[str, str, str]] = {
    "daily": ("in touch about daily", "на связи почти каждый день", "几乎每天联系"),
    "weekly": ("in touch about weekly", "на связи примерно раз в неделю", "大约每周联系"),
    "monthly": ("in touch about monthly", "на связи примерно раз в месяц", "大约每月联系"),
    "quarterly": ("in touch every few months", "на связи раз в несколько месяцев", "每隔几个月联系"),
    "rare": ("rarely in touch", "на связи редко", "很少联系"),
}
"""What a relationship is and how often one talks, in English, Russian and Chinese."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language. Patterns are filled with ``str.format``; keys are the words inside braces."""

    me: str
    both: str
    unknown: str
    colon: str
    comma: str
    bracket: str
    organization: str
    as_of: str
    messages_since: str
    messages_only: str
    last_contact: str
    no_contact: str
    today: str
    yesterday: str
    days_ago: str
    via: str
    permanent: str
    hot: str
    warm: str
    unsummarised: str
    stale: str
    relationship: str
    open_items: str
    key_decisions: str
    decided: str
    to_do: str
    overdue: str
    due: str
    relevant: str


ENGLISH = Phrases(
    me="me",
    both="both of us",
    unknown="unknown",
    colon=": ",
    comma=", ",
    bracket=" ({text})",
    organization="Organisation: {name}",
    as_of="As of {date}, {time}",
    messages_since="messages: {count} (since {date})",
    messages_only="messages: {count}",
    last_contact="last contact {date} ({ago})",
    no_contact="no contact yet",
    today="today",
    yesterday="yesterday",
    days_ago="{days} days ago",
    via="via {sources}",
    permanent="Facts and agreements",
    hot="Messages of the last {days} days",
    warm="Earlier conversations",
    unsummarised="excerpts, unsummarised",
    stale="a message was edited since; summary is being renewed",
    relationship="Relationship, as of {date}",
    open_items="Open action items",
    key_decisions="Older decisions",
    decided="Decided",
    to_do="To do",
    overdue="OVERDUE, was due {date}",
    due="due {date}",
    relevant="Relevant to the task",
)

RUSSIAN = Phrases(
    me="я",
    both="мы оба",
    unknown="неизвестно",
    colon=": ",
    comma=", ",
    bracket=" ({text})",
    organization="Организация: {name}",
    as_of="На {date}, {time}",
    messages_since="сообщений: {count} (с {date})",
    messages_only="сообщений: {count}",
    last_contact="последний контакт {date} ({ago})",
    no_contact="общения ещё не было",
    today="сегодня",
    yesterday="вчера",
    days_ago="{days} дн. назад",
    via="{sources}",
    permanent="Факты и договорённости",
    hot="Сообщения за последние дни ({days})",
    warm="Предыдущие разговоры",
    unsummarised="выдержки, без резюме",
    stale="сообщение позже правили, резюме обновляется",
    relationship="Отношения, на {date}",
    open_items="Открытые задачи",
    key_decisions="Прежние решения",
    decided="Решено",
    to_do="Сделать",
    overdue="ПРОСРОЧЕНО, срок {date}",
    due="до {date}",
    relevant="К задаче",
)

CHINESE = Phrases(
    me="我",
    both="双方",
    unknown="未知",
    colon="：",
    comma="，",
    bracket="（{text}）",
    organization="所属机构：{name}",
    as_of="截至{date}{time}",
    messages_since="自{date}起共{count}条消息",
    messages_only="共{count}条消息",
    last_contact="最近联系：{date}（{ago}）",
    no_contact="尚无联系",
    today="今天",
    yesterday="昨天",
    days_ago="{days}天前",
    via="来源：{sources}",
    permanent="事实与约定",
    hot="最近{days}天的消息",
    warm="以往对话",
    unsummarised="摘录，尚未总结",
    stale="有消息后来被编辑，总结待更新",
    relationship="关系概况，截至{date}",
    open_items="未完成事项",
    key_decisions="过往决定",
    decided="决定",
    to_do="待办",
    overdue="已逾期，原定{date}",
    due="截止{date}",
    relevant="与任务相关",
)

LANGUAGES: tuple[Language, ...] = ("en", "ru", "zh")
_PHRASES: dict[Language, Phrases] = {"en": ENGLISH, "ru": RUSSIAN, "zh": CHINESE}


def phrases(language: Language) -> Phrases:
    """The words of ``language``."""
    return _PHRASES[language]


def day(value: date, language: Language) -> str:
    """``13 March 2026``, ``13 марта 2026``, ``2026年3月13日``."""
    if language == "zh":
        return f"{value.year}年{value.month}月{value.day}日"
    months = _MONTHS_RU if language == "ru" else _MONTHS_EN
    return f"{value.day} {months[value.month - 1]} {value.year}"


def weekday(value: date, language: Language) -> str:
    """The day with its name, as a heading over messages."""
    if language == "zh":
        return f"{day(value, language)} {_DAYS_ZH[value.weekday()]}"
    names = _DAYS_RU if language == "ru" else _DAYS_EN
    return f"{day(value, language)}, {names[value.weekday()]}"


def clock(value: datetime) -> str:
    """``14:05`` of a local time."""
    return f"{value.hour:02}:{value.minute:02}"


def number(value: int, language: Language) -> str:
    """With the language's mark between thousands: a comma, in Russian a no-break space."""
    return f"{value:,}".replace(",", "\u00a0") if language == "ru" else f"{value:,}"


def ago(value: date, today: date, language: Language) -> str:
    """How long before ``today``: today, yesterday, N days ago."""
    words = phrases(language)
    days = (today - value).days
    if days <= 0:
        return words.today
    return words.yesterday if days == 1 else words.days_ago.format(days=number(days, language))


def owner(value: Owner | None, *, name: str, language: Language) -> str:
    """Who has to do it; ``name`` stands for "them"."""
    words = phrases(language)
    if value == "self":
        return words.me
    return words.both if value == "both" else name


def in_language(words: tuple[str, str, str], language: Language) -> str:
    """Of one word in English, Russian and Chinese the one that is wanted."""
    return words[("en", "ru", "zh").index(language)]


def relationship(kind: RelationshipType, language: Language) -> str:
    """What somebody is to the reader."""
    return in_language(RELATIONSHIPS[kind], language)


def frequency(value: Frequency, language: Language) -> str:
    """How often one is in touch."""
    return in_language(FREQUENCIES[value], language)


def fact_name(fact_type: str, language: Language) -> str:
    """The kind of a fact as the reader calls it."""
    russian, chinese = FACT_NAMES.get(fact_type.casefold(), (fact_type, fact_type))
    return {"en": fact_type, "ru": russian, "zh": chinese}[language]


def source_name(source: str) -> str:
    """How the service writes its own name."""
    return SOURCE_NAMES.get(source, source)
