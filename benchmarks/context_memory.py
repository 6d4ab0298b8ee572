"""The synthetic memory of the context benchmark: background by Zipf, and probes of one size in every database."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from pkg_pipeline.adapters.postgres import engine

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
PROBES = 20
PROBE_MESSAGES = 400
MESSAGES_AN_ENTITY = 200
STEPS = ("entities", "interactions", "messages", "summaries", "groups", "totals")

SENTENCES = [
    "Привет! Договор подписали, деньги придут до пятницы.",
    "Посмотрю сегодня вечером и отвечу.",
    "Can you send me the updated estimate before the call tomorrow?",
    "Давай перенесём встречу на среду в 15:00, так удобнее, а документы я пришлю заранее, чтобы ты успел прочесть.",
    "ок",
    "The delivery is late again, I will talk to them and come back to you with a new date by Monday at the latest.",
    "Сколько в итоге получилось? У меня вышло 120 000 с доставкой, но я не уверен, что учёл всё.",
    "Спасибо, получил!",
]
SUMMARY = (
    "Обсудили сроки поставки и стоимость. Анна сообщила, что первая партия задерживается на неделю из-за таможни, "
    "и предложила перенести приёмку на конец месяца. Договорились зафиксировать цену и вернуться к вопросу о скидке "
    "после получения второй партии. Тон деловой, спокойный."
)
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def zipf(messages: int) -> list[tuple[int, int]]:
    """(entity, messages) of the background, in tens, the first entity having the most."""
    count = max(messages // MESSAGES_AN_ENTITY, 1)
    weight = sum(1 / rank for rank in range(1, count + 1))
    return [(rank, max(int(messages / rank / weight) // 10 * 10, 10)) for rank in range(1, count + 1)]


def probe(number: int) -> UUID:
    """The id of a probe, as the statements form it."""
    return UUID(hashlib.md5(f"entity {-number}".encode(), usedforsecurity=False).hexdigest())


def heaviest() -> UUID:
    """The background entity with the most messages."""
    return UUID(hashlib.md5(b"entity 1", usedforsecurity=False).hexdigest())


def fill(url: str, *, messages: int) -> int:
    """Fill a migrated, empty database; gives the number of messages in it."""
    text = (Path(__file__).with_name("context_memory.sql")).read_text(encoding="utf-8")
    marks = list(_NAME.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    statements = {mark[1]: text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)}
    plan = [(0, 0), *((-number, PROBE_MESSAGES) for number in range(1, PROBES + 1))]
    plan += zipf(messages - PROBES * PROBE_MESSAGES)
    values = {"now": NOW, "sentences": SENTENCES, "count": len(SENTENCES), "summary": SUMMARY}
    with engine.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE plan (k int PRIMARY KEY, messages int)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO plan VALUES (%s, %s)", plan)
        for step in STEPS:
            for statement in statements[step].split(";\n"):
                connection.execute(statement, values)  # type: ignore[arg-type]
        connection.execute("VACUUM ANALYZE")
        found = connection.execute("SELECT count(*) FROM messages").fetchone()
    assert found is not None
    return found[0]
