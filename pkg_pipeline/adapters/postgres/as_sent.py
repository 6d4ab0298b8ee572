"""Parameters in PostgreSQL's binary format: vectors and bit strings. Imported by ``engine`` so that every connection
adapts it.
"""

from __future__ import annotations

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format


class AsSent(bytes):
    """The bytes that the server receives."""


class _AsSentDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: AsSent) -> bytes:
        return bytes(obj)


psycopg.adapters.register_dumper(AsSent, _AsSentDumper)
