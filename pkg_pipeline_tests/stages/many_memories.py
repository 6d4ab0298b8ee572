"""Many memories of one deployment on the run's server: copies of a filled one, each with a mark of its own wherever
words of messages can get to. All ids are the same in all of them, so that nothing but the memory tells them apart.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from pkg_pipeline.adapters.postgres import engine, memories
from pkg_pipeline_tests import databases
from pkg_pipeline_tests.stages import deleted_words as words

MARK = re.compile(r"DE\d{20}", re.IGNORECASE)


def name_of(number: int) -> str:
    return f"m{number}"


def mark_of(number: int) -> str:
    """Of the form of the text that stands in the filled memory."""
    return f"DE{number:020d}"


def url_of(own: str, number: int) -> str:
    return own if number == 0 else memories.url_of(own, name_of(number))


def marks_in(text: str) -> set[str]:
    return {found.upper() for found in MARK.findall(text)}


@contextmanager
def deployment(server_url: str, home: Path, *, count: int) -> Iterator[str]:
    """The URL of the own memory, filled as well and with the mark 0, beside ``count`` named ones, ``m1`` and so on."""
    with named_deployment(server_url) as url, psycopg.connect(server_url, autocommit=True) as server:
        words.fill(url, home)
        places = _places(url)
        for number in range(1, count + 1):
            _copy(server, memories.database_of(url, name_of(number)), memories.own_database(url))
        for number in range(count + 1):
            options = "-csession_replication_role=replica"
            with psycopg.connect(url_of(url, number), options=options, cursor_factory=psycopg.ClientCursor) as one:
                given = {"from": words.IBAN, "to": mark_of(number)}
                one.execute(places, given | {f"small_{key}": value.lower() for key, value in given.items()})
        yield url


def _copy(server: psycopg.Connection, name: str, template: str) -> None:
    made = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    server.execute(made.format(sql.Identifier(name), sql.Identifier(template)))


def _places(url: str) -> sql.Composed:
    """One script that changes the text wherever it stands, in this letter case or in small letters."""
    columns = """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'pkg'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attgenerated = ''
            AND format_type(a.atttypid, a.atttypmod) IN ('text', 'text[]', 'jsonb', 'json', 'tsvector', 'bytea')
        ORDER BY 1, 2"""
    changes: list[sql.Composable] = []
    with psycopg.connect(url) as connection:
        for table, column, kind in connection.execute(columns).fetchall():
            place, name = sql.Identifier("pkg", table), sql.Identifier(column)
            held = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE strpos(lower({}::text), %s) > 0)").format(place, name)
            if connection.execute(held, (words.IBAN.lower(),)).fetchone() == (True,):
                change = "UPDATE {place} SET {name} = replace(replace({name}::text, %(from)s, %(to)s),"
                change += " %(small_from)s, %(small_to)s)::{kind} WHERE strpos(lower({name}::text), %(small_from)s) > 0"
                changes.append(sql.SQL(change).format(place=place, name=name, kind=sql.SQL(kind)))  # type: ignore[arg-type]
    assert len(changes) > 10, "the filled memory has the text in many places"
    return sql.SQL("; ").join(changes)


@contextmanager
def named_deployment(server_url: str) -> Iterator[str]:
    """The URL of an own memory that is empty; at the end it goes with every memory that was made beside it."""
    own = f"d_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as server:
        _copy(server, own, databases.TEMPLATE)
        try:
            yield engine.with_database(server_url, own)
        finally:
            _drop(server, own)


def _drop(server: psycopg.Connection, own: str) -> None:
    found = server.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", (own,)).fetchall()
    for (database,) in found:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))
