"""Revision 0018: receipts of what was forgotten."""

from __future__ import annotations

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.migrations import migrate


def test_revision_0018_goes_down_to_where_nothing_is_kept_out(database_url: str) -> None:
    salt = "SELECT length(value) FROM installation WHERE key = 'erasure_salt'"
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() == (64,)
    migrate.downgrade(database_url, "0017")
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() is None
        assert connection.execute("SELECT to_regclass('tombstones')").fetchone() == (None,)
    migrate.upgrade(database_url)
    with engine.connect(database_url) as connection:
        assert connection.execute(salt).fetchone() == (64,)
