"""What a dbt build needs around it: the variables that its profile reads, and the place to itself.

dbt itself is not run here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, unquote, urlsplit

from pkg_pipeline.adapters.process_environment import in_environment

MARTS_SCHEMA = "marts"


def variables(url: str) -> dict[str, str]:
    """``PKG_DBT_*`` for a libpq URL: a server by name, or the folder of a unix socket."""
    from pkg_pipeline.adapters.postgres.engine import libpq_url  # brings the driver, which loading definitions must not

    parts = urlsplit(libpq_url(url))
    query = dict(parse_qsl(parts.query))
    return {
        "PKG_DBT_HOST": parts.hostname or query.get("host", "localhost"),
        "PKG_DBT_PORT": str(parts.port or query.get("port", 5432)),
        "PKG_DBT_USER": unquote(parts.username or query.get("user", "postgres")),
        "PKG_DBT_PASSWORD": unquote(parts.password or query.get("password", "")),
        "PKG_DBT_DATABASE": unquote(parts.path.lstrip("/")) or "postgres",
        "PKG_DBT_SSLMODE": query.get("sslmode", "prefer"),
        "PKG_DBT_SCHEMA": MARTS_SCHEMA,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }


@contextmanager
def building(url: str) -> Iterator[None]:
    """The variables in this process's environment, which dbt inherits; afterwards as before.

    Waits until no other build is under way: two that make the same view or table for the first time would meet.
    """
    import psycopg

    from pkg_pipeline.adapters.postgres.engine import libpq_url
    from pkg_pipeline.adapters.postgres.queries import query

    with psycopg.connect(libpq_url(url), autocommit=True) as connection, in_environment(variables(url)):
        connection.execute(query("marts", "build_alone"))  # let go with the connection, whatever ends it
        yield
