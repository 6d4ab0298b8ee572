"""The synthetic memory of the session benchmarks: threads of given lengths, folded almost to the end; idle sessions."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice

from psycopg import Connection

from benchmarks.threads import made
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.text.tokens import TiktokenCounter
from pkg_pipeline.memory.hashing import chat_id, content_hash, entity_id

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
SOURCE = "bench"
FOLD_MESSAGES = 20
UNFOLDED = 9
"""The last of them is the user's."""

SUMMARY = (
    "They agreed that the first delivery comes a week later because of the customs and that the price stays as it was."
    " Anna will send the estimate before the call; the question of the discount is open until the second delivery."
)
TOPICS = ("delivery", "customs", "estimate", "discount", "acceptance", "harbour", "invoice", "second delivery")
SPEAKERS = ("user", "assistant")


def key_of(messages: int) -> str:
    """The chat key of the thread of that length."""
    return f"{SOURCE}:{messages}"


def fill(url: str, sizes: Sequence[int]) -> None:
    """Threads of these lengths in a migrated, empty database."""
    said = [row["text"] for row in made(300, tools_every=0).rows]
    counts = TiktokenCounter().count_many(said)
    words = list(zip(said, counts, strict=True))
    with engine.connect(url, autocommit=True) as connection:
        _speakers(connection)
        for size in sizes:
            _thread(connection, size, words)
        connection.execute("VACUUM ANALYZE")


def idle_sessions(url: str, count: int, *, due: int) -> None:
    """``count`` live sessions without messages, ``due`` of them to be asked now, the others in an hour."""
    with engine.connect(url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO chats (id, source, external_id, kind, title_at)"
            " SELECT md5('idle ' || n)::uuid, 'idle', n::text, 'thread', %s FROM generate_series(1, %s) n",
            (NOW, count),
        )
        connection.execute(
            "INSERT INTO conversation_sessions (id, policy, strategy, message_count, token_count, messages_since_hwm,"
            " tokens_since_hwm, first_since_at, last_message_at, next_due_at)"
            " SELECT md5('idle ' || n)::uuid, 'hysteresis', 'hybrid', 8, 400, 8, 400, %(now)s, %(now)s,"
            " CASE WHEN n <= %(due)s THEN %(now)s ELSE %(later)s END FROM generate_series(1, %(count)s) n",
            {"now": NOW, "later": NOW + timedelta(hours=1), "due": due, "count": count},
        )
        connection.execute("VACUUM ANALYZE")


def _speakers(connection: Connection) -> None:
    for role in SPEAKERS:
        speaker = entity_id(SOURCE, role)
        connection.execute(
            "INSERT INTO entities (id, name, name_at, is_self) VALUES (%s, %s, %s, %s)",
            (speaker, role.title(), NOW, role == "user"),
        )
        connection.execute("INSERT INTO entity_identities VALUES (%s, %s, %s)", (SOURCE, role, speaker))


def _thread(connection: Connection, size: int, words: Sequence[tuple[str, int]]) -> None:
    chat = chat_id(SOURCE, str(size))
    connection.execute(
        "INSERT INTO chats (id, source, external_id, kind, title_at) VALUES (%s, %s, %s, 'thread', %s)",
        (chat, SOURCE, str(size), NOW),
    )
    for role in SPEAKERS:
        connection.execute("INSERT INTO chat_members VALUES (%s, %s)", (chat, entity_id(SOURCE, role)))
    columns = "chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score, is_outgoing, role"
    copy = f"COPY messages ({columns}, external_id, content, content_hash) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(copy) as stream:  # type: ignore[arg-type]
        for place, (text, tokens) in enumerate(islice(cycle(words), size)):
            role = SPEAKERS[(size - 1 - place) % 2]  # the last one is the user's
            at = NOW - timedelta(minutes=size - place)
            row = (chat, entity_id(SOURCE, role), at, NOW, tokens, 0.1, role == "user", role, f"{place}")
            stream.write_row((*row, f"{text} ({place})", content_hash(f"{text} ({place})")))
    mark = marked(connection, chat)
    connection.execute(
        "INSERT INTO conversation_sessions (id, policy, strategy, hwm_message_id, last_message_id, message_count,"
        " token_count, messages_since_hwm, tokens_since_hwm, first_since_at, last_message_at, last_fold_at,"
        " running_summary, running_token_count, running_fold_id)"
        " SELECT %(chat)s, 'hysteresis', 'hybrid', %(mark)s, max(id), count(*), sum(token_count),"
        " count(*) FILTER (WHERE id > %(mark)s), sum(token_count) FILTER (WHERE id > %(mark)s),"
        " min(sent_at) FILTER (WHERE id > %(mark)s), max(sent_at), max(sent_at), %(running)s, 900, NULL"
        " FROM messages WHERE chat_id = %(chat)s",
        {"chat": chat, "mark": mark, "running": "\n".join([SUMMARY] * 18)},
    )
    _folds(connection, chat, mark)


def marked(connection: Connection, chat: uuid.UUID) -> int:
    """The id of the last message that a fold covers."""
    found = connection.execute(
        "SELECT id FROM messages WHERE chat_id = %s ORDER BY id DESC OFFSET %s LIMIT 1", (chat, UNFOLDED)
    ).fetchone()
    assert found is not None
    return found[0]


def _folds(connection: Connection, chat: uuid.UUID, mark: int) -> None:
    """One fold every twenty messages, the last one up to ``mark``; topics as often as they are named."""
    connection.execute(
        "INSERT INTO session_summaries (id, session_id, from_message_id, to_message_id, from_at, to_at, status,"
        " trigger, input_hash, prompt_version, model_version, language, summary, topics, message_ids, message_count,"
        " source_token_count, summary_token_count, cost_usd, generation_seconds)"
        " SELECT md5(%(chat)s::text || min(id))::uuid, %(chat)s, min(id), max(id), min(sent_at), max(sent_at),"
        " 'completed', 'turns', md5(min(id)::text), 'session_fold/1', 'bench', 'en', %(summary)s, %(topics)s,"
        " array_agg(id ORDER BY id), count(*), sum(token_count), 50, 0, 0 FROM ("
        " SELECT id, sent_at, token_count, (row_number() OVER (ORDER BY id) - 1) / %(size)s AS part FROM messages"
        " WHERE chat_id = %(chat)s AND id <= %(mark)s) m GROUP BY part",
        {"chat": chat, "mark": mark, "summary": SUMMARY, "topics": list(TOPICS), "size": FOLD_MESSAGES},
    )
    connection.execute(
        "INSERT INTO memory_topics SELECT %(chat)s, unnest(%(topics)s::text[]), count(*), max(to_at)"
        " FROM session_summaries WHERE session_id = %(chat)s",
        {"chat": chat, "topics": list(TOPICS)},
    )
