"""Parameters in the binary form of the type that a statement casts them to: vectors and bits as they lie in memory.

Known to every connection, since a connection takes over what is registered when it is made: ``engine`` imports this.
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
